#include "auth/auth.h"

/* The text of a JAAS configuration, and the same as a list of users. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct auth_users *users = auth_users_create();
    enum err_code jaas = auth_users_add_jaas(users, slice_of(data, size), NULL);
    ASSERT(jaas == OK || jaas == ERR_INVALID_CONFIG_EXCEPTION || jaas == ERR_LIMIT);
    enum err_code list = auth_users_add_list(users, slice_of(data, size), NULL);
    ASSERT(list == OK || list == ERR_INVALID_CONFIG_EXCEPTION || list == ERR_LIMIT);
    ASSERT(auth_users_count(users) <= AUTH_USERS_MAX);
    auth_users_destroy(users);
    return 0;
}
