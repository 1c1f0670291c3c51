/* Offsets that writers leave with the server. */
#include "meta/meta_int.h"

#include <stdlib.h>

/* Letters as in names of tables; those may not begin with two underscores, these may. */
static enum err_code check_id(struct slice id, struct err *err)
{
    struct slice rest = id;
    while (rest.len > 1 && rest.ptr[0] == '_') {
        rest.ptr++;
        rest.len--;
    }
    if (id.len <= NAME_BYTES_MAX && (name_is_valid(rest) || slice_is(rest, "_")))
        return OK;
    return err_set(err, ERR_INVALID_PRODUCER_ID_EXCEPTION,
                   "'%.*s' can't be the id of a producer: 1 to %d of the characters a-z A-Z 0-9 _ -.",
                   (int)MIN(id.len, 60), (const char *)id.ptr, NAME_BYTES_MAX);
}

static enum err_code take_expiry(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    *(int64_t *)arg = sqlite3_column_int64(row, 0);
    return OK;
}

/* -1: there is none. */
static enum err_code find_expiry(struct meta *meta, struct slice id, int64_t *expires_ms, struct err *err)
{
    *expires_ms = -1;
    return db_each_bound(&meta->db, err, "SELECT expires_ms FROM producers WHERE producer_id = ?1", id, take_expiry,
                         expires_ms);
}

static enum err_code insert_rows(struct meta *meta, struct slice id, const struct producer_offset *items, size_t count,
                                 int64_t expires_ms, struct err *err)
{
    struct db *db = &meta->db;
    TRY(db_run(db, err, "INSERT INTO producers VALUES (?1, ?2)", "ti", id, expires_ms));
    for (size_t i = 0; i < count; i++)
        TRY(db_run(db, err, "INSERT OR REPLACE INTO producer_offsets VALUES (?1, ?2, ?3, ?4, ?5)", "tiiii", id,
                   items[i].table_id, items[i].partition_id, (int64_t)items[i].bucket, items[i].end_offset));
    return OK;
}

static enum err_code register_locked(struct meta *meta, struct slice id, const struct producer_offset *items,
                                     size_t count, int64_t ttl_ms, bool *created, struct err *err)
{
    enum err_code code;
    struct db *db = &meta->db;
    int64_t now = os_wall_ms(meta->os), found, producers;
    TRY(find_expiry(meta, id, &found, err));
    if (found >= now) {
        *created = false;
        return OK;
    }
    TRY(db_begin(db, err));
    TRY_OR_FAIL(db_run(db, err, "DELETE FROM producers WHERE expires_ms < ?1", "i", now));
    TRY_OR_FAIL(db_number(db, "SELECT count(*) FROM producers", &producers, err));
    if (producers >= META_PRODUCERS_MAX) {
        code = err_set(err, ERR_LIMIT, "the offsets of %d producers are kept; no more fit", META_PRODUCERS_MAX);
        goto fail;
    }
    TRY_OR_FAIL(insert_rows(meta, id, items, count, ttl_ms > INT64_MAX - now ? INT64_MAX : MAX(now + ttl_ms, 0), err));
    TRY_OR_FAIL(db_commit(db, err));
    *created = true;
    return OK;
fail:
    db_rollback(db);
    return code;
}

enum err_code meta_producer_register(struct meta *meta, struct slice producer_id, const struct producer_offset *items,
                                     size_t count, int64_t ttl_ms, bool *created, struct err *err)
{
    TRY(check_id(producer_id, err));
    if (count > META_PRODUCER_BUCKETS_MAX)
        return err_set(err, ERR_LIMIT, "offsets of %zu buckets; at most %d of a producer are kept", count,
                       META_PRODUCER_BUCKETS_MAX);
    os_mutex_lock(&meta->write);
    enum err_code code = register_locked(meta, producer_id, items, count, ttl_ms, created, err);
    os_mutex_unlock(&meta->write);
    return code;
}

struct offsets_read {
    struct arena *arena;
    struct producer_offsets *offsets;
    size_t cap;
};

static enum err_code take_offset(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct offsets_read *read = arg;
    struct producer_offsets *offsets = read->offsets;
    (void)err;
    if (offsets->count == read->cap) {
        read->cap = MAX(read->cap * 2, 16);
        struct producer_offset *items = ARENA_NEW_ARRAY(read->arena, struct producer_offset, read->cap);
        if (offsets->count)
            memcpy(items, offsets->items, offsets->count * sizeof *items);
        offsets->items = items;
    }
    offsets->items[offsets->count++] =
        (struct producer_offset){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int(row, 2),
                                 sqlite3_column_int64(row, 3)};
    return OK;
}

static enum err_code read_locked(struct meta *meta, struct slice id, struct offsets_read *read, bool *found,
                                 struct err *err)
{
    TRY(find_expiry(meta, id, &read->offsets->expires_ms, err));
    *found = read->offsets->expires_ms >= os_wall_ms(meta->os);
    if (!*found)
        return OK;
    return db_each_bound(&meta->db, err,
                         "SELECT table_id, partition_id, bucket_id, end_offset FROM producer_offsets WHERE "
                         "producer_id = ?1 ORDER BY 1, 2, 3",
                         id, take_offset, read);
}

enum err_code meta_producer_offsets(struct meta *meta, struct slice producer_id, struct arena *arena, bool *found,
                                    struct producer_offsets *offsets, struct err *err)
{
    struct producer_offsets got = {0};
    struct offsets_read read = {.arena = arena, .offsets = &got};
    TRY(check_id(producer_id, err));
    os_mutex_lock(&meta->write);
    enum err_code code = read_locked(meta, producer_id, &read, found, err);
    os_mutex_unlock(&meta->write);
    if (code == OK)
        *offsets = got;
    return code;
}

enum err_code meta_producer_delete(struct meta *meta, struct slice producer_id, struct err *err)
{
    TRY(check_id(producer_id, err));
    os_mutex_lock(&meta->write);
    enum err_code code = db_run(&meta->db, err, "DELETE FROM producers WHERE producer_id = ?1", "t", producer_id);
    os_mutex_unlock(&meta->write);
    return code;
}
