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

/* Fluss's Java writer asks for the partition of a row before it queues the row. A "no" fails what is queued by then:
 * one that comes sooner fails nothing, and the row waits for ever for a partition that never comes. */
#define REFUSAL_AFTER_NS 100000000

struct refusal {
    struct api_held held;
    struct task task;
    struct err err;
};

static void refuse(struct api_held *held, bool time_over)
{
    struct refusal *refusal = CONTAINER_OF(held, struct refusal, held);
    (void)time_over;
    api_call_finish(held->call, refusal->err.code, &refusal->err);
}

static void refusal_hold(struct task *task)
{
    struct refusal *refusal = CONTAINER_OF(task, struct refusal, task);
    api_hold(&refusal->held, loop_now_ns(net_conn_loop(refusal->held.call->conn)) + REFUSAL_AFTER_NS);
}

static void refuse_later(struct api_call *call, enum err_code code, const struct err *err)
{
    struct refusal *refusal = ARENA_NEW(&call->arena, struct refusal);
    *refusal = (struct refusal){.held = {.call = call, .again = refuse}, .task.fn = refusal_hold, .err = *err};
    refusal->err.code = code;
    api_call_later(call);
    loop_post(net_conn_loop(call->conn), &refusal->task);
}

/* ignore_if_not_exists is the wire's name of it; it means: fine where the partition is there. Writers set it. */
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
    if (code == OK || code == ERR_WOULD_BLOCK || !req->ignore_if_not_exists)
        return code;
    refuse_later(call, code, err);
    return OK;
}
