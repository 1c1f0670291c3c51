#include "api/api_int.h"

/* There are far fewer options that can be altered; each change of a list makes it anew. */
#define CHANGES_MAX 256

/* All changes or none. */
enum err_code alter_cluster_configs(struct api_call *call, struct err *err)
{
    const struct wire_alter_cluster_configs_request *req = call->request;
    const struct api_config *config = &call->api->config;
    if (req->alter_configs_count > CHANGES_MAX)
        return err_set(err, ERR_CONFIG_EXCEPTION, "a request with %zu changes of options: at most %d fit",
                       req->alter_configs_count, CHANGES_MAX);
    struct api_option_change *changes =
        ARENA_NEW_ARRAY(&call->arena, struct api_option_change, req->alter_configs_count);
    for (size_t i = 0; i < req->alter_configs_count; i++) {
        const struct wire_pb_alter_config *in = &req->alter_configs[i];
        if (in->op_type < API_OPTION_SET || in->op_type > API_OPTION_SUBTRACT)
            return err_set(err, ERR_CONFIG_EXCEPTION,
                           "an option is set, removed, appended to or subtracted from; %d"
                           " is none of these",
                           in->op_type);
        changes[i] = (struct api_option_change){.op = (enum api_option_op)in->op_type,
                                                .name = in->config_key,
                                                .value = in->has_config_value ? in->config_value : (struct slice){0}};
    }
    TRY(config->options_alter(config->options_arg, changes, req->alter_configs_count, err));
    for (size_t i = 0; i < req->alter_configs_count; i++)
        trace_info(config->trace, "api", "option_altered", trace_slice("option", changes[i].name),
                   trace_slice("by", call->user));
    return OK;
}
