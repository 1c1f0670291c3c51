#include "api/api_int.h"

enum { OP_SET = 0, OP_DELETE = 1 }; /* of PbAlterConfig */

enum err_code api_config_changes_check(size_t count, struct err *err)
{
    if (count <= PROPERTIES_MAX)
        return OK;
    return err_set(err, ERR_LIMIT, "a request with %zu changes of options: at most %d fit", count, PROPERTIES_MAX);
}

enum err_code api_config_change(struct arena *arena, struct properties *properties,
                                const struct wire_pb_alter_config *change, struct err *err)
{
    if (change->op_type == OP_DELETE) {
        properties_remove(properties, arena_cstr(arena, change->config_key));
        return OK;
    }
    if (change->op_type != OP_SET || !change->has_config_value)
        return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "an option is set with a value or removed, nothing else (op %d)",
                       change->op_type);
    properties_set(arena, properties, change->config_key, change->config_value);
    return OK;
}
