#include "meta/tiering/tiering_int.h"

const char *tiering_state_name(enum tiering_state state)
{
    static const char *const names[TIERING_STATE_COUNT] = {"idle", "scheduled", "pending", "running"};
    ASSERT((unsigned)state < TIERING_STATE_COUNT);
    return names[state];
}

bool tiering_status(struct tiering *tiering, int64_t table_id, struct tiering_status *status)
{
    os_mutex_lock(&tiering->mutex);
    const struct tiering_table *table = map_get_i64(&tiering->tables, table_id);
    if (table) {
        *status = (struct tiering_status){
            .state = table->state,
            .tiering_epoch = table->epoch,
            .due_in_ms = -1,
            .behind_since_ms = table->behind_since_ms,
            .lake_row_count = table->lake_row_count,
            .round_started_ms = table->started_ms,
            .round_finished_ms = table->finished_ms,
            .failed_ms = table->failed_ms,
            .failures_in_row = table->failures_in_row,
        };
        if (table->state == TIERING_SCHEDULED)
            status->due_in_ms = MAX(table->deadline_ns - os_mono_ns(tiering->os), 0) / 1000000;
        memcpy(status->failed_text, table->failed_text, sizeof status->failed_text);
    }
    os_mutex_unlock(&tiering->mutex);
    return table != NULL;
}

bool tiering_is_running(struct tiering *tiering, int64_t table_id)
{
    struct tiering_status status;
    return tiering_status(tiering, table_id, &status) && status.state == TIERING_RUNNING;
}
