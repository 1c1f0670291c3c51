/* Who stands above the access lists. */
#include "conf/conf_int.h"

enum err_code conf_super_users(const struct conf *conf, struct acl_supers *supers, struct err *err)
{
    struct err cause;
    *supers = (struct acl_supers){0};
    enum err_code code = acl_supers_parse(supers, slice_str(conf_str(conf, CONF_SUPER_USERS)), &cause);
    if (code == OK)
        return OK;
    acl_supers_deinit(supers);
    return err_set(err, code, "super.users: %s", cause.text);
}

enum err_code access_check(const struct conf *conf, struct err *err)
{
    struct acl_supers supers;
    TRY(conf_super_users(conf, &supers, err));
    acl_supers_deinit(&supers);
    return OK;
}
