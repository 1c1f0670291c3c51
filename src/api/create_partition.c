#include "api/api_int.h"

static enum err_code time_check(struct api_call *call, const struct table_info *table, struct slice name,
                                struct err *err)
{
    const struct time_partitions *time = &table->settings.time;
    struct properties values;
    struct zone *zone;
    if (!time->enabled && !time->format.ptr)
        return OK;
    TRY(table_partition_values(table->descriptor, name, &call->arena, &values, err));
    TRY(api_time_zone(call->api, time, &zone, err));
    enum err_code code = time_partition_check_new(time, zone, os_wall_ms(call->api->config.os) / 1000,
                                                  values.items[time->key].value, &call->arena, err);
    zone_close(zone);
    return code;
}

/* ignore_if_not_exists is the wire's name of it; it means: fine where the partition is there. */
enum err_code create_partition(struct api_call *call, struct err *err)
{
    const struct wire_create_partition_request *req = call->request;
    const struct table_info *table;
    struct slice name;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    struct properties spec = api_partition_spec(call, &req->partition_spec);
    enum err_code code = table_partition_check_new(table->descriptor, &spec, &call->arena, &name, err);
    if (code == OK)
        code = time_check(call, table, name, err);
    if (code == OK)
        code = api_partition_create(call->api, table, name, req->ignore_if_not_exists, err);
    table_unref(table);
    return code;
}
