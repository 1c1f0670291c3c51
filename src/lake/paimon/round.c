/* A round of tiering: rows into files, bucket by bucket, then one commit. */
#include "lake/paimon/round_int.h"
#include "lake/paimon/row_int.h"

/* ---- begin ---- */

/* Columns that were added to the lake table and of which the caller does not know yet: they hold null. */
static enum err_code check_more(struct paimon_round *r, struct err *err)
{
    const struct paimon_schema *schema = r->schema;
    uint32_t own = schema->column_count - (schema->has_system_columns ? SYSTEM_COLUMN_COUNT : 0);
    bool nullable = true;
    if (r->options.column_count <= own) {
        r->more_count = own - r->options.column_count;
        for (uint32_t i = r->options.column_count; i < own; i++)
            nullable &= schema->columns[i].type->nullable;
        if (nullable)
            return OK;
    }
    return err_set(err, ERR_LAKE, "the lake table has %u columns, the table %u", own, r->options.column_count);
}

/* The caller's columns are the table's, in order, as many as it knows of; the system columns are added here. */
static enum err_code match_columns(struct paimon_round *r, const struct type ***types, struct err *err)
{
    const struct paimon_schema *schema = r->schema;
    *types = ARENA_NEW_ARRAY(&r->arena, const struct type *, schema->column_count);
    TRY(check_more(r, err));
    for (uint32_t i = 0; i < r->options.column_count; i++) {
        const struct schema_column *given = &r->options.columns[i], *lake = &schema->columns[i];
        if (!slice_equal(given->name, lake->name) || !paimon_type_same(given->type, lake->type))
            return err_set(err, ERR_LAKE, "the column %.*s of the lake table is another than %.*s",
                           (int)MIN(lake->name.len, 60), (const char *)lake->name.ptr, (int)MIN(given->name.len, 60),
                           (const char *)given->name.ptr);
        (*types)[i] = given->type;
    }
    return OK;
}

static struct slice place_key(struct paimon_round *r, struct slice partition, int32_t bucket)
{
    buf_reset(&r->place);
    buf_put_u32(&r->place, (uint32_t)bucket);
    buf_put_slice(&r->place, partition);
    return buf_view(&r->place);
}

static void index_sequences(struct paimon_round *r)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&r->live->by_identity, &at, &key, &value)) {
        const struct entry *e = value;
        struct slice place = place_key(r, e->partition, e->bucket);
        int64_t *greatest = map_get(&r->sequences, place);
        if (!greatest) {
            greatest = ARENA_NEW(&r->arena, int64_t);
            *greatest = -1;
            map_put(&r->sequences, place, greatest);
        }
        *greatest = MAX(*greatest, e->sequence_max);
    }
}

static enum err_code begin(struct paimon_round *r, struct err *err)
{
    struct paimon_snapshot snapshot;
    const struct type **types;
    TRY(paimon_table_refresh(r->table, err));
    r->schema = r->table->newest;
    TRY(paimon_file_options_read(r->schema, &r->file_options, err));
    TRY(match_columns(r, &types, err));
    TRY(paimon_layout_make(&r->arena, r->schema, types, &r->layout, err));
    TRY(paimon_snapshot_newest(r->table, &r->arena, &snapshot, err));
    TRY(paimon_table_live(r->table, &snapshot, &r->live, err));
    index_sequences(r);
    r->base_id = snapshot.id;
    return paimon_intent_put(r->table, r->options.rounds_dir, r->names.uuid, err);
}

enum err_code paimon_round_begin(struct paimon_table *table, const struct paimon_round_options *options,
                                 struct paimon_round **out, struct err *err)
{
    struct paimon_round *r = mem_zalloc(sizeof *r);
    r->table = table;
    r->options = *options;
    os_uuid(table->os, r->names.uuid);
    enum err_code code = begin(r, err);
    if (code == OK)
        *out = r;
    else
        paimon_round_destroy(r);
    return code;
}

int64_t paimon_round_base(const struct paimon_round *round)
{
    return round->base_id;
}

/* ---- buckets ---- */

static enum err_code partition_bytes(struct paimon_round *r, const struct datum *values, struct slice *out,
                                     struct err *err)
{
    struct buf bytes = {0};
    ASSERT(!values == !r->schema->partition_key_count);
    enum err_code code = paimon_row_encode(r->schema->partition_row, values, &bytes, err);
    if (code == OK)
        *out = arena_dup(&r->arena, buf_view(&bytes));
    buf_deinit(&bytes);
    return code;
}

/* One more than the greatest of the bucket's live files. */
static int64_t next_sequence(struct paimon_round *r, struct slice partition, int32_t bucket)
{
    const int64_t *greatest = map_get(&r->sequences, place_key(r, partition, bucket));
    return greatest ? *greatest + 1 : 0;
}

static void init_files(struct paimon_round *r, struct paimon_bucket *b, struct data_files *files, const char *prefix)
{
    *files = (struct data_files){.table = r->table,
                                 .layout = &r->layout,
                                 .options = &r->file_options,
                                 .names = &r->names,
                                 .prefix = prefix,
                                 .partition = b->partition,
                                 .bucket = b->bucket,
                                 .source = SOURCE_APPEND,
                                 .arena = &r->arena};
}

static struct paimon_bucket *add_bucket(struct paimon_round *r, struct slice partition, int32_t bucket)
{
    struct paimon_bucket *b = ARENA_NEW(&r->arena, struct paimon_bucket);
    b->round = r;
    b->partition = partition;
    b->bucket = bucket;
    b->sequence_base = next_sequence(r, partition, bucket);
    init_files(r, b, &b->data, "data-");
    init_files(r, b, &b->changelog, "changelog-");
    b->data.next_sequence = b->sequence_base;
    if (r->layout.key_count)
        paimon_changes_init(b);
    vec_push(&r->buckets, b);
    map_put(&r->by_place, place_key(r, partition, bucket), b);
    return b;
}

enum err_code paimon_round_bucket(struct paimon_round *r, const struct datum *partition, int32_t bucket,
                                  struct paimon_bucket **out, struct err *err)
{
    struct slice bytes;
    int32_t count = MAX(r->schema->bucket_count, 1);
    if (bucket < 0 || bucket >= count)
        return err_set(err, ERR_LAKE, "the lake table has %d buckets, there is no bucket %d", count, bucket);
    TRY(partition_bytes(r, partition, &bytes, err));
    *out = map_get(&r->by_place, place_key(r, bytes, bucket));
    if (!*out)
        *out = add_bucket(r, bytes, bucket);
    return OK;
}

/* ---- memory ---- */

enum err_code paimon_round_bound_memory(struct paimon_round *r, struct err *err)
{
    uint64_t held = 0, most = 0;
    struct data_files *largest = NULL;
    for (size_t i = 0; i < r->buckets.len; i++) {
        struct data_files *both[] = {&r->buckets.ptr[i]->data, &r->buckets.ptr[i]->changelog};
        for (size_t k = 0; k < 2; k++) {
            uint64_t bytes = paimon_data_files_held(both[k]);
            held += bytes;
            if (bytes > most) {
                most = bytes;
                largest = both[k];
            }
        }
    }
    return held > PAIMON_ROUND_BYTES ? paimon_data_files_end(largest, err) : OK;
}

/* ---- log tables ---- */

static void put_system(struct paimon_round *r, const struct paimon_rows *rows)
{
    const struct schema_column *timestamp = &r->schema->columns[r->schema->column_count - 1];
    int64_t ticks = rows->timestamp_ms * (timestamp->type->precision > 3 ? 1000 : 1);
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        buf_reset(&r->system[i]);
    for (uint32_t i = 0; i < rows->row_count; i++) {
        buf_put_u32(&r->system[0], (uint32_t)rows->fluss_bucket);
        buf_put_u64(&r->system[1], (uint64_t)rows->base_offset + i);
        buf_put_u64(&r->system[2], (uint64_t)ticks);
    }
}

void paimon_round_system_view(const struct paimon_round *r, const struct buf system[SYSTEM_COLUMN_COUNT],
                              uint32_t row_count, struct column *views)
{
    const struct schema_column *columns = &r->schema->columns[r->schema->column_count - SYSTEM_COLUMN_COUNT];
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        views[i] = (struct column){
            .type = columns[i].type, .length = row_count, .data = system[i].ptr, .data_len = system[i].len};
}

void paimon_round_null_views(const struct paimon_round *r, struct arena *arena, uint32_t row_count,
                             struct column *views)
{
    for (uint32_t i = 0; i < r->more_count; i++)
        column_nulls(arena, r->schema->columns[r->options.column_count + i].type, row_count, &views[i]);
}

enum err_code paimon_bucket_append(struct paimon_bucket *bucket, const struct paimon_rows *rows, struct err *err)
{
    struct paimon_round *r = bucket->round;
    ASSERT(!r->layout.key_count && !bucket->is_ended);
    if (rows->row_count == 0)
        return OK;
    struct arena arena = {0};
    struct column *views = ARENA_NEW_ARRAY(&arena, struct column, r->layout.column_count);
    memcpy(views, rows->columns, r->options.column_count * sizeof *views);
    paimon_round_null_views(r, &arena, rows->row_count, views + r->options.column_count);
    if (r->schema->has_system_columns) {
        put_system(r, rows);
        paimon_round_system_view(r, r->system, rows->row_count, views + r->layout.column_count - SYSTEM_COLUMN_COUNT);
    }
    enum err_code code = paimon_data_files_write(&bucket->data, views, rows->row_count, err);
    arena_deinit(&arena);
    return code == OK ? paimon_round_bound_memory(r, err) : code;
}

/* ---- the end ---- */

enum err_code paimon_bucket_roll(struct paimon_bucket *b, struct err *err)
{
    ASSERT(!b->round->layout.key_count);
    return paimon_data_files_end(&b->data, err);
}

enum err_code paimon_bucket_end(struct paimon_bucket *b, struct err *err)
{
    if (b->is_ended)
        return OK;
    if (b->round->layout.key_count)
        TRY(paimon_changes_flush(b, err));
    TRY(paimon_data_files_end(&b->data, err));
    TRY(paimon_data_files_end(&b->changelog, err));
    if (b->data.done.len)
        TRY(paimon_data_files_sync_names(&b->data, err));
    if (b->round->layout.key_count)
        paimon_changes_deinit(b);
    b->is_ended = true;
    return OK;
}

static void gather(struct paimon_round *r, struct commit *commit)
{
    size_t data = 0, changelog = 0;
    for (size_t i = 0; i < r->buckets.len; i++) {
        data += r->buckets.ptr[i]->data.done.len;
        changelog += r->buckets.ptr[i]->changelog.done.len;
    }
    commit->entries = ARENA_NEW_ARRAY(&r->arena, const struct entry *, data);
    commit->changelog = ARENA_NEW_ARRAY(&r->arena, const struct entry *, changelog);
    for (size_t i = 0; i < r->buckets.len; i++) {
        const struct paimon_bucket *b = r->buckets.ptr[i];
        for (size_t k = 0; k < b->data.done.len; k++)
            commit->entries[commit->entry_count++] = b->data.done.ptr[k];
        for (size_t k = 0; k < b->changelog.done.len; k++)
            commit->changelog[commit->changelog_count++] = b->changelog.done.ptr[k];
    }
}

enum err_code paimon_round_commit(struct paimon_round *r, const struct properties *properties,
                                  struct paimon_committed *committed, struct err *err)
{
    struct commit commit = {.table = r->table,
                            .names = &r->names,
                            .kind = PAIMON_APPEND,
                            .user = r->options.commit_user ? r->options.commit_user : PAIMON_TIERING_USER,
                            .properties = properties,
                            .alone = true,
                            .base_id = r->base_id};
    ASSERT(!r->is_over);
    r->is_over = true;
    for (size_t i = 0; i < r->buckets.len; i++)
        TRY(paimon_bucket_end(r->buckets.ptr[i], err));
    gather(r, &commit);
    enum err_code code = paimon_commit_run(&commit, committed, err);
    r->is_published = commit.published;
    if (code == OK) {
        paimon_intent_remove(r->table, r->options.rounds_dir, r->names.uuid);
        r->is_recorded_no_more = true;
    }
    return code;
}

void paimon_round_destroy(struct paimon_round *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->buckets.len; i++) {
        struct paimon_bucket *b = r->buckets.ptr[i];
        paimon_data_files_deinit(&b->data, !r->is_published);
        paimon_data_files_deinit(&b->changelog, !r->is_published);
        if (r->layout.key_count && !b->is_ended)
            paimon_changes_deinit(b);
    }
    /* Where nobody knows whether the snapshot is there, the record stays, and the next start looks. */
    if (!r->is_published && !r->is_recorded_no_more)
        paimon_intent_remove(r->table, r->options.rounds_dir, r->names.uuid);
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        buf_deinit(&r->system[i]);
    vec_deinit(&r->buckets);
    map_deinit(&r->by_place);
    map_deinit(&r->sequences);
    buf_deinit(&r->place);
    arena_deinit(&r->arena);
    mem_free(r);
}
