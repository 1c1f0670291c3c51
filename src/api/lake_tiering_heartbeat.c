/* A worker of the tiering service reports, and takes a table that is due. With weir's own field max_wait_ms the request
 * is held until one is, so that nobody polls. */
#include "api/api_int.h"

#define HEARTBEAT_WAIT_MS_MAX 60000

struct heartbeat {
    struct api_held held;
    int64_t deadline_mono_ns;
};

static struct tiering_reports reports_of(struct api_call *call, const struct wire_pb_heartbeat_req_for_table *in,
                                         size_t count)
{
    struct tiering_report *items = ARENA_NEW_ARRAY(&call->arena, struct tiering_report, count);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct tiering_report){
            .table_id = in[i].table_id,
            .coordinator_epoch = in[i].coordinator_epoch,
            .tiering_epoch = in[i].tiering_epoch,
            .error_text = in[i].failed_text,
            .has_row_count = in[i].lake_tiering_stats && in[i].lake_tiering_stats->has_record_count,
            .row_count = in[i].lake_tiering_stats ? in[i].lake_tiering_stats->record_count : 0,
        };
    return (struct tiering_reports){items, count};
}

static struct wire_pb_heartbeat_resp_for_table *results_fill(struct api_call *call,
                                                             const struct tiering_results *results, size_t *count)
{
    struct wire_pb_heartbeat_resp_for_table *out =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_heartbeat_resp_for_table, results->count);
    for (size_t i = 0; i < results->count; i++) {
        const struct tiering_result *result = &results->items[i];
        out[i].table_id = result->table_id;
        if (result->code == OK)
            continue;
        out[i].error = ARENA_NEW(&call->arena, struct wire_error_response);
        out[i].error->error_code = err_wire(result->code);
        WIRE_SET(out[i].error, error_message, result->text);
    }
    *count = results->count;
    return out;
}

static void table_fill(struct api_call *call, const struct tiering_answer *answer)
{
    struct wire_lake_tiering_heartbeat_response *resp = call->response;
    if (!answer->has_table)
        return;
    resp->tiering_table = ARENA_NEW(&call->arena, struct wire_pb_lake_tiering_table_info);
    *resp->tiering_table = (struct wire_pb_lake_tiering_table_info){.table_id = answer->table_id,
                                                                    .table_path = {answer->database, answer->name},
                                                                    .tiering_epoch = answer->tiering_epoch};
}

static void again(struct api_held *held, bool time_over)
{
    struct heartbeat *hb = CONTAINER_OF(held, struct heartbeat, held);
    struct api_call *call = held->call;
    struct tiering_heartbeat ask = {.request_table = true};
    struct tiering_answer answer = {0};
    struct err err = {0};
    enum err_code code = OK;
    /* A worker that is gone must not be given a table: nobody would hear of it for two minutes. */
    if (!net_conn_closed(call->conn) && !api_is_stopping(call->api))
        code = tiering_heartbeat(call->api->config.tiering, &ask, &call->arena, &answer, &err);
    if (code == OK && !answer.has_table && !time_over) {
        api_hold(held, hb->deadline_mono_ns);
        return;
    }
    table_fill(call, &answer);
    api_call_finish(call, code, &err);
}

static void hold(struct api_call *call, int64_t wait_ms)
{
    struct heartbeat *hb = ARENA_NEW(&call->arena, struct heartbeat);
    hb->held.call = call;
    hb->held.again = again;
    hb->deadline_mono_ns = loop_now_ns(net_conn_loop(call->conn)) + MIN(wait_ms, HEARTBEAT_WAIT_MS_MAX) * 1000000;
    api_call_later(call);
    api_hold(&hb->held, hb->deadline_mono_ns);
    /* Between the look at the schedule and the hold a table may have become due. */
    if (tiering_pending_count(call->api->config.tiering) > 0)
        api_held_wake(&hb->held);
}

void api_tiering_due(struct api *api)
{
    os_mutex_lock(&api->mutex);
    for (struct api_held *held = api->held; held; held = held->next)
        if (held->again == again)
            api_held_wake(held);
    os_mutex_unlock(&api->mutex);
}

enum err_code lake_tiering_heartbeat(struct api_call *call, struct err *err)
{
    const struct wire_lake_tiering_heartbeat_request *req = call->request;
    struct wire_lake_tiering_heartbeat_response *resp = call->response;
    struct tiering_answer answer;
    struct tiering_heartbeat heartbeat = {
        .running = reports_of(call, req->tiering_tables, req->tiering_tables_count),
        .finished = reports_of(call, req->finished_tables, req->finished_tables_count),
        .failed = reports_of(call, req->failed_tables, req->failed_tables_count),
        .force_finished = req->force_finished_tables,
        .force_finished_count = req->force_finished_tables_count,
        .request_table = req->request_table,
    };
    TRY(tiering_heartbeat(call->api->config.tiering, &heartbeat, &call->arena, &answer, err));
    resp->coordinator_epoch = TIERING_COORDINATOR_EPOCH;
    resp->tiering_table_resp = results_fill(call, &answer.running, &resp->tiering_table_resp_count);
    resp->finished_table_resp = results_fill(call, &answer.finished, &resp->finished_table_resp_count);
    resp->failed_table_resp = results_fill(call, &answer.failed, &resp->failed_table_resp_count);
    table_fill(call, &answer);
    if (!answer.has_table && req->request_table && req->has_max_wait_ms && req->max_wait_ms > 0)
        hold(call, req->max_wait_ms);
    return OK;
}
