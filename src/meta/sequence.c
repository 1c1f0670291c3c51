/* Numbers of auto-increment columns: one counter a table and column, as a row of `counters`. */
#include "meta/meta_int.h"

#include <stdio.h>

#define NAME_BYTES 64

static void put_name(char name[NAME_BYTES], int64_t table_id, const char *column)
{
    snprintf(name, NAME_BYTES, "sequence/%lld/%s", (long long)table_id, column);
}

static enum err_code take(struct meta *meta, const char *name, int64_t count, int64_t *first, struct err *err)
{
    char query[NAME_BYTES + 64];
    int64_t next = 0;
    TRY(db_run(&meta->db, err,
               "INSERT INTO counters VALUES (?1, 1 + ?2) ON CONFLICT (name) DO UPDATE SET next = next + ?2", "ti",
               slice_str(name), count));
    snprintf(query, sizeof query, "SELECT next FROM counters WHERE name = '%s'", name);
    TRY(db_number(&meta->db, query, &next, err));
    *first = next - count;
    return OK;
}

enum err_code meta_sequence_take(struct meta *meta, int64_t table_id, int32_t column_id, int64_t count, int64_t *first,
                                 struct err *err)
{
    char name[NAME_BYTES], column[16];
    ASSERT(count > 0 && count <= META_SEQUENCE_COUNT_MAX);
    snprintf(column, sizeof column, "%d", column_id);
    put_name(name, table_id, column);
    os_mutex_lock(&meta->write);
    enum err_code code = db_begin(&meta->db, err);
    if (code == OK) {
        code = take(meta, name, count, first, err);
        if (code == OK)
            code = db_commit(&meta->db, err);
        if (code != OK)
            db_rollback(&meta->db);
    }
    os_mutex_unlock(&meta->write);
    return code;
}

enum err_code sequence_drop_rows(struct meta *meta, int64_t table_id, struct err *err)
{
    char name[NAME_BYTES];
    put_name(name, table_id, "%");
    return db_run(&meta->db, err, "DELETE FROM counters WHERE name LIKE ?1", "t", slice_str(name));
}
