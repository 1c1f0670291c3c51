/* Heartbeats, as stock tiering jobs send them, with weir's own max_wait_ms and failed_text. */
#include "tier/tier_int.h"

#define REPORT_MS 500 /* what the last word of a service that stops may take */

static struct wire_pb_heartbeat_req_for_table entry_of(const struct worker *worker, const struct job *job)
{
    return (struct wire_pb_heartbeat_req_for_table){
        .table_id = job->table_id,
        .coordinator_epoch = worker->coordinator_epoch,
        .tiering_epoch = job->tiering_epoch,
    };
}

/* What request needs to live as long as it. */
struct beat_parts {
    struct wire_pb_heartbeat_req_for_table table;
    struct wire_pb_lake_tiering_stats stats;
    int64_t forced;
};

static void put_report(const struct worker *worker, const struct report *report,
                       struct wire_lake_tiering_heartbeat_request *request, struct beat_parts *parts)
{
    parts->table = entry_of(worker, report->job);
    if (report->failed) {
        WIRE_SET(&parts->table, failed_text, slice_str(report->text));
        request->failed_tables = &parts->table;
        request->failed_tables_count = 1;
        return;
    }
    if (report->row_count >= 0) {
        WIRE_SET(&parts->stats, record_count, report->row_count);
        parts->table.lake_tiering_stats = &parts->stats;
    }
    request->finished_tables = &parts->table;
    request->finished_tables_count = 1;
    if (report->more) {
        parts->forced = report->job->table_id;
        request->force_finished_tables = &parts->forced;
        request->force_finished_tables_count = 1;
    }
}

/* The first heartbeat only asks for the coordinator's epoch. */
static enum err_code learn_epoch(struct worker *worker, struct err *err)
{
    struct arena arena = {0};
    struct wire_lake_tiering_heartbeat_request request = {0};
    struct wire_lake_tiering_heartbeat_response response;
    if (worker->epoch_known)
        return OK;
    enum err_code code = client_tiering_heartbeat(worker->link.client, &request, &arena, &response, err);
    if (code == OK) {
        worker->coordinator_epoch = response.coordinator_epoch;
        worker->epoch_known = true;
    }
    arena_deinit(&arena);
    return code;
}

enum err_code beat(struct worker *worker, const struct report *report, struct arena *arena, struct job *job, bool *have,
                   struct err *err)
{
    struct wire_lake_tiering_heartbeat_request request = {0};
    struct wire_lake_tiering_heartbeat_response response;
    struct beat_parts parts = {0};
    TRY(learn_epoch(worker, err));
    WIRE_SET(&request, request_table, true);
    WIRE_SET(&request, max_wait_ms, TIER_WAIT_MS);
    if (report)
        put_report(worker, report, &request, &parts);
    TRY(client_tiering_heartbeat(worker->link.client, &request, arena, &response, err));
    worker->coordinator_epoch = response.coordinator_epoch;
    *have = response.tiering_table != NULL;
    if (*have)
        *job = (struct job){.table_id = response.tiering_table->table_id,
                            .database = response.tiering_table->table_path.database_name,
                            .table = response.tiering_table->table_path.table_name,
                            .tiering_epoch = response.tiering_table->tiering_epoch};
    return OK;
}

void beat_report(struct worker *worker, const struct report *report)
{
    struct arena arena = {0};
    struct wire_lake_tiering_heartbeat_request request = {0};
    struct wire_lake_tiering_heartbeat_response response;
    struct beat_parts parts = {0};
    struct client *client = worker->link.client;
    put_report(worker, report, &request, &parts);
    client_cancel(client, false);
    (void)client_deadline(client, os_mono_ns(worker->link.tier->config.os) + REPORT_MS * INT64_C(1000000));
    /* Where it does not arrive, the server takes the table back after two minutes of silence. */
    (void)!client_tiering_heartbeat(client, &request, &arena, &response, NULL);
    arena_deinit(&arena);
}

enum err_code beat_renew(struct worker *worker, const struct job *job, struct err *err)
{
    struct arena arena = {0};
    struct wire_pb_heartbeat_req_for_table table = entry_of(worker, job);
    struct wire_lake_tiering_heartbeat_request request = {.tiering_tables = &table, .tiering_tables_count = 1};
    struct wire_lake_tiering_heartbeat_response response;
    enum err_code code;
    TRY_OR_FAIL(client_tiering_heartbeat(worker->link.client, &request, &arena, &response, err));
    for (size_t i = 0; i < response.tiering_table_resp_count && code == OK; i++)
        if (response.tiering_table_resp[i].error) {
            const struct wire_error_response *error = response.tiering_table_resp[i].error;
            code = err_set(err, err_from_wire(error->error_code), "the server took the table back: %.*s",
                           (int)MIN(error->error_message.len, 150), (const char *)error->error_message.ptr);
        }
fail:
    arena_deinit(&arena);
    return code;
}
