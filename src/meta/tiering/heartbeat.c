/* A worker's heartbeat: its reports, then perhaps one table to take. */
#include "meta/tiering/tiering_int.h"

#define NS_PER_MS 1000000

static void refuse(struct tiering_result *result, struct arena *arena, enum err_code code, const char *text)
{
    result->code = code;
    result->text = arena_dup(arena, slice_str(text));
}

/* The table that the report is about, or NULL with the reason in result. */
static struct tiering_table *believed(struct tiering *tiering, const struct tiering_report *report, struct arena *arena,
                                      struct tiering_result *result)
{
    *result = (struct tiering_result){.table_id = report->table_id, .code = OK};
    struct tiering_table *table = map_get_i64(&tiering->tables, report->table_id);
    if (report->coordinator_epoch != TIERING_COORDINATOR_EPOCH)
        refuse(result, arena, ERR_INVALID_COORDINATOR_EXCEPTION, "the coordinator epoch is not this server's (0)");
    else if (!table)
        refuse(result, arena, ERR_TABLE_NOT_EXIST, "the table is not tiered here (dropped, or its lake is off)");
    else if (report->tiering_epoch != table->epoch)
        refuse(result, arena, ERR_FENCED_TIERING_EPOCH_EXCEPTION,
               "the table was given to another worker, or the server started anew; drop this round");
    else
        return table;
    return NULL;
}

static struct tiering_results new_results(struct arena *arena, struct tiering_reports reports)
{
    return (struct tiering_results){ARENA_NEW_ARRAY(arena, struct tiering_result, reports.count), reports.count};
}

static void take_failed(struct tiering *tiering, const struct tiering_heartbeat *heartbeat, struct arena *arena,
                        struct tiering_answer *answer, int64_t now_ns)
{
    answer->failed = new_results(arena, heartbeat->failed);
    for (size_t i = 0; i < heartbeat->failed.count; i++) {
        const struct tiering_report *report = &heartbeat->failed.items[i];
        struct tiering_table *table = believed(tiering, report, arena, &answer->failed.items[i]);
        struct slice text = report->error_text.len ? report->error_text : SLICE("the worker gave no reason");
        if (table && table->state == TIERING_RUNNING) /* else a repeated report: no effect */
            state_fail(tiering, table, text, now_ns, true);
    }
}

static void take_running(struct tiering *tiering, const struct tiering_heartbeat *heartbeat, struct arena *arena,
                         struct tiering_answer *answer, int64_t now_ns)
{
    answer->running = new_results(arena, heartbeat->running);
    for (size_t i = 0; i < heartbeat->running.count; i++) {
        struct tiering_result *result = &answer->running.items[i];
        struct tiering_table *table = believed(tiering, &heartbeat->running.items[i], arena, result);
        if (!table)
            continue;
        if (table->state == TIERING_RUNNING)
            state_enter(tiering, table, TIERING_RUNNING, now_ns + TIERING_SILENCE_MS_MAX * (int64_t)NS_PER_MS);
        else
            refuse(result, arena, ERR_UNKNOWN_SERVER_ERROR, "the table is not in the hands of a worker");
    }
}

static bool is_forced(const struct tiering_heartbeat *heartbeat, int64_t table_id)
{
    for (size_t i = 0; i < heartbeat->force_finished_count; i++)
        if (heartbeat->force_finished[i] == table_id)
            return true;
    return false;
}

static void finish(struct tiering *tiering, struct tiering_table *table, const struct tiering_report *report,
                   bool forced, int64_t now_ns)
{
    if (report->has_row_count)
        table->lake_row_count = report->row_count;
    table->behind_since_ms = table->started_ms; /* what is still missing came after the round took its ends */
    table->finished_ms = os_wall_ms(tiering->os);
    table->failures_in_row = 0;
    table->failed_ms = 0;
    table->failed_text[0] = 0;
    state_settle(tiering, table, now_ns, forced ? now_ns : table->started_ns + table->freshness_ns);
}

static void take_finished(struct tiering *tiering, const struct tiering_heartbeat *heartbeat, struct arena *arena,
                          struct tiering_answer *answer, int64_t now_ns)
{
    answer->finished = new_results(arena, heartbeat->finished);
    for (size_t i = 0; i < heartbeat->finished.count; i++) {
        const struct tiering_report *report = &heartbeat->finished.items[i];
        struct tiering_table *table = believed(tiering, report, arena, &answer->finished.items[i]);
        if (table && table->state == TIERING_RUNNING)
            finish(tiering, table, report, is_forced(heartbeat, report->table_id), now_ns);
    }
}

/* The first in the queue that still has something new: another worker's commit may have covered it meanwhile. */
static struct tiering_table *next_pending(struct tiering *tiering)
{
    struct tiering_table *table;
    while ((table = tiering->queue_first) && !state_has_news(table))
        state_settle(tiering, table, 0, 0);
    return table;
}

static void hand_out(struct tiering *tiering, struct arena *arena, struct tiering_answer *answer, int64_t now_ns)
{
    struct tiering_table *table = next_pending(tiering);
    if (!table)
        return;
    state_enter(tiering, table, TIERING_RUNNING, now_ns + TIERING_SILENCE_MS_MAX * (int64_t)NS_PER_MS);
    table->started_ns = now_ns;
    table->started_ms = os_wall_ms(tiering->os);
    answer->has_table = true;
    answer->table_id = table->table_id;
    answer->database = arena_dup(arena, table->database);
    answer->name = arena_dup(arena, table->name);
    answer->tiering_epoch = table->epoch;
}

static int64_t next_deadline_ns(const struct tiering *tiering)
{
    const struct tiering_table *first = deadlines_first(&tiering->deadlines);
    return first ? first->deadline_ns : INT64_MAX;
}

enum err_code tiering_heartbeat(struct tiering *tiering, const struct tiering_heartbeat *heartbeat, struct arena *arena,
                                struct tiering_answer *answer, struct err *err)
{
    const size_t counts[] = {heartbeat->running.count, heartbeat->finished.count, heartbeat->failed.count,
                             heartbeat->force_finished_count};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (counts[i] > TIERING_REPORTS_MAX)
            return err_set(err, ERR_LIMIT, "a heartbeat with %zu reports; at most %d are taken", counts[i],
                           TIERING_REPORTS_MAX);
    *answer = (struct tiering_answer){0};
    os_mutex_lock(&tiering->mutex);
    int64_t now_ns = os_mono_ns(tiering->os);
    size_t pending_before = tiering->pending_count;
    int64_t next_before =
        deadlines_first(&tiering->deadlines) ? deadlines_first(&tiering->deadlines)->deadline_ns : INT64_MAX;
    take_failed(tiering, heartbeat, arena, answer, now_ns);
    take_running(tiering, heartbeat, arena, answer, now_ns);
    take_finished(tiering, heartbeat, arena, answer, now_ns);
    state_expire(tiering, now_ns);
    if (heartbeat->request_table)
        hand_out(tiering, arena, answer, now_ns);
    bool wake = tiering->pending_count > pending_before || next_deadline_ns(tiering) < next_before;
    os_mutex_unlock(&tiering->mutex);
    if (wake)
        tiering->wake(tiering->wake_arg);
    return OK;
}
