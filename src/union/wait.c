/* Waiting until the lake holds what the log held. */
#include "union/union_int.h"

#define PAUSE_NS_FIRST 5000000
#define PAUSE_NS_MAX 200000000
#define SAY_NS_MAX 2000000000

static enum err_code rows_behind(struct client_table *table, const int64_t *wanted, size_t place_count, int64_t *behind,
                                 int64_t *snapshot_id, struct err *err)
{
    struct arena arena = {0};
    struct client_lake_snapshot snapshot = {0};
    struct err own = {0};
    enum err_code code = client_lake_snapshot(table, CLIENT_LAKE_READABLE, 0, &arena, &snapshot, &own);
    if (code == OK || code == ERR_LAKE_SNAPSHOT_NOT_EXIST) {
        *behind = 0;
        *snapshot_id = code == OK ? snapshot.id : 0;
        for (size_t i = 0; i < place_count; i++)
            if (!client_place_is_gone(table, (int32_t)i))
                *behind += MAX(wanted[i] - (code == OK ? MAX(snapshot.offsets[i], 0) : 0), 0);
        code = OK;
    } else if (err) {
        *err = own;
    }
    arena_deinit(&arena);
    return code;
}

/* What the server says now of the table's tiering, for people. The caller's own deadline may be over: this has one of
 * its own, and leaves the client with the caller's, who may wait on. */
static enum err_code too_late(struct client_table *table, int64_t behind, struct err *err)
{
    struct client_table *now = NULL;
    const char *name = "tiering: ";
    struct slice says = {0};
    int64_t before = client_deadline(table->client, os_mono_ns(client_os(table->client)) + SAY_NS_MAX);
    if (client_table_open(table->client, table->path, &now, NULL) == OK)
        says = now->tiering_error.len ? now->tiering_error : now->tiering_state;
    (void)client_deadline(table->client, before);
    err_set(err, ERR_DEADLINE, "the lake is %lld rows of the log behind %.*s.%.*s%s%s%.*s", (long long)behind,
            SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), says.len ? "; " : "", says.len ? name : "",
            (int)MIN(says.len, 120), says.len ? (const char *)says.ptr : "");
    client_table_unref(now);
    return ERR_DEADLINE;
}

enum err_code union_wait(struct client_table *table, const int64_t *wanted, int64_t deadline_mono_ns,
                         const struct union_watch *watch, int64_t *snapshot_id, struct err *err)
{
    struct os *os = client_os(table->client);
    int64_t pause_ns = PAUSE_NS_FIRST, first = -1, behind = 0, id = 0;
    size_t place_count = client_place_count(table);
    if (!table->lake_enabled)
        return no_lake(table, err);
    for (;;) {
        enum err_code code = rows_behind(table, wanted, place_count, &behind, &id, err);
        if (code == OK && behind && table->is_partitioned) { /* perhaps of a partition that is gone */
            code = client_partitions_refresh(table, err);
            if (code == OK)
                code = rows_behind(table, wanted, place_count, &behind, &id, err);
        }
        if (code == ERR_DEADLINE || (code == OK && behind && os_mono_ns(os) >= deadline_mono_ns))
            return too_late(table, behind, err);
        if (code == OK && !behind && snapshot_id)
            *snapshot_id = id;
        if (code != OK || !behind)
            return code;
        first = MAX(first, behind);
        if (watch && watch->progress)
            watch->progress(watch->arg, "waiting for the lake", first - behind, first);
        os_sleep_ns(os, MIN(pause_ns, MAX(deadline_mono_ns - os_mono_ns(os), 0)));
        pause_ns = MIN(pause_ns * 2, PAUSE_NS_MAX);
    }
}
