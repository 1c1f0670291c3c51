#include "auth/auth.h"

/* A token of SASL/PLAIN against one user. Whoever gets in has sent exactly that user's name and password. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct auth_users *users = auth_users_create();
    struct slice name, token = slice_of(data, size);
    enum err_code code = auth_users_add_list(users, SLICE("al:pw"), NULL);
    ASSERT(code == OK);
    code = auth_plain(users, token, &name, NULL);
    ASSERT(code == OK || code == ERR_AUTHENTICATE_EXCEPTION);
    ASSERT((code == OK) == (slice_equal(token, SLICE("\0al\0pw")) || slice_equal(token, SLICE("al\0al\0pw"))));
    auth_users_destroy(users);
    return 0;
}
