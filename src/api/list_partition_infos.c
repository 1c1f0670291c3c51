#include "api/api_int.h"

static struct wire_pb_partition_spec spec_of(struct api_call *call, const struct properties *values)
{
    struct wire_pb_partition_spec spec = {.partition_key_values_count = values->count};
    spec.partition_key_values = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_key_value, values->count);
    for (uint32_t i = 0; i < values->count; i++)
        spec.partition_key_values[i] =
            (struct wire_pb_key_value){arena_dup(&call->arena, values->items[i].key), values->items[i].value};
    return spec;
}

static enum err_code fill(struct api_call *call, const struct table_info *table, struct err *err)
{
    const struct wire_list_partition_infos_request *req = call->request;
    struct wire_list_partition_infos_response *resp = call->response;
    struct properties wanted = {0};
    struct slice *filter;
    struct partition_info *infos;
    size_t count;
    if (req->partial_partition_spec)
        wanted = api_partition_spec(call, req->partial_partition_spec);
    TRY(table_partition_filter(table->descriptor, &wanted, &call->arena, &filter, err));
    meta_partition_list(call->api->config.meta, table->table_id, &call->arena, &infos, &count);
    TRY(api_answer_list(call, count, sizeof *resp->partitions_info, err));
    resp->partitions_info = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_partition_info, count);
    for (size_t i = 0; i < count; i++) {
        struct properties values;
        TRY(table_partition_values(table->descriptor, infos[i].name, &call->arena, &values, err));
        if (!table_partition_matches(filter, &values))
            continue;
        struct wire_pb_partition_info *info = &resp->partitions_info[resp->partitions_info_count++];
        *info = (struct wire_pb_partition_info){.partition_id = infos[i].partition_id,
                                                .partition_spec = spec_of(call, &values)};
        if (infos[i].is_remade)
            WIRE_SET(info, lake_has_earlier, true);
    }
    /* There are none, so the list is whole with them. */
    if (req->include_system_partitions)
        WIRE_SET(resp, system_partitions_included, true);
    return OK;
}

enum err_code list_partition_infos(struct api_call *call, struct err *err)
{
    const struct wire_list_partition_infos_request *req = call->request;
    const struct table_info *table;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    enum err_code code = fill(call, table, err);
    table_unref(table);
    return code;
}
