#include "api/api_int.h"

/* Options in effect, those that were never set too; values of secrets are hidden. */
enum err_code describe_cluster_configs(struct api_call *call, struct err *err)
{
    struct wire_describe_cluster_configs_response *resp = call->response;
    const struct api_config *config = &call->api->config;
    struct api_option *options;
    size_t count;
    (void)err;
    config->options_list(config->options_arg, &call->arena, &options, &count);
    resp->configs = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_describe_config, count);
    resp->configs_count = count;
    for (size_t i = 0; i < count; i++) {
        resp->configs[i].config_key = options[i].name;
        resp->configs[i].config_source =
            options[i].altered ? SLICE("DYNAMIC_SERVER_CONFIG") : SLICE("INITIAL_SERVER_CONFIG");
        WIRE_SET(&resp->configs[i], config_value, options[i].value);
    }
    return OK;
}
