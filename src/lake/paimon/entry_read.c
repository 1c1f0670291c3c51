/* Manifests and lists of manifests, read by field name, whoever wrote them.
 *
 * Fields that the oldest writers have are asked for; those that came later may be missing. Drawn in entry_write.c. */
#include "lake/paimon/entry_int.h"

static enum err_code lacks(const char *name, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "%s of a manifest is missing or of another type", name);
}

static enum err_code get_i64(const struct avro_value *record, const char *name, int64_t *out, struct err *err)
{
    return avro_get_i64(avro_field(record, name), out) ? OK : lacks(name, err);
}

static enum err_code get_i32(const struct avro_value *record, const char *name, int32_t *out, struct err *err)
{
    return avro_get_i32(avro_field(record, name), out) ? OK : lacks(name, err);
}

static enum err_code get_bytes(const struct avro_value *record, const char *name, struct slice *out, struct err *err)
{
    return avro_get_bytes(avro_field(record, name), out) ? OK : lacks(name, err);
}

static struct optional_i64 maybe_i64(const struct avro_value *record, const char *name)
{
    struct optional_i64 out = {0};
    out.there = avro_get_i64(avro_field(record, name), &out.value);
    return out;
}

static enum err_code get_names(const struct avro_value *record, const char *name, struct arena *arena,
                               struct entry_names *out, struct err *err)
{
    const struct avro_value *list = avro_field(record, name);
    *out = (struct entry_names){0};
    if (avro_is_null(list))
        return OK;
    if (list->type->kind != AVRO_ARRAY)
        return lacks(name, err);
    out->items = ARENA_NEW_ARRAY(arena, struct slice, list->list.count + 1);
    out->count = list->list.count;
    for (uint32_t i = 0; i < out->count; i++)
        if (!avro_get_bytes(&list->list.items[i], &out->items[i]))
            return lacks(name, err);
    return OK;
}

static enum err_code get_counts(const struct avro_value *list, struct arena *arena, struct entry_stats *stats,
                                struct err *err)
{
    if (avro_is_null(list))
        return OK;
    if (list->type->kind != AVRO_ARRAY)
        return lacks("_NULL_COUNTS", err);
    stats->null_count_count = list->list.count;
    stats->null_counts = ARENA_NEW_ARRAY(arena, struct optional_i64, list->list.count + 1);
    for (uint32_t i = 0; i < list->list.count; i++) {
        struct optional_i64 *count = &stats->null_counts[i];
        *count = (struct optional_i64){0};
        count->there = avro_get_i64(&list->list.items[i], &count->value);
    }
    return OK;
}

static enum err_code get_stats(const struct avro_value *record, const char *name, struct arena *arena,
                               struct entry_stats *stats, struct err *err)
{
    const struct avro_value *value = avro_field(record, name);
    *stats = (struct entry_stats){0};
    TRY(get_bytes(value, "_MIN_VALUES", &stats->min_values, err));
    TRY(get_bytes(value, "_MAX_VALUES", &stats->max_values, err));
    return get_counts(avro_field(value, "_NULL_COUNTS"), arena, stats, err);
}

static bool name_is_plain(struct slice name)
{
    return name.len && !memchr(name.ptr, '/', name.len) && !memchr(name.ptr, 0, name.len) && !slice_is(name, ".") &&
           !slice_is(name, "..");
}

/* A name without a slash, so that what is opened, or removed at expiry, is in the table's directory. */
static enum err_code get_file_name(const struct avro_value *record, struct slice *name, struct err *err)
{
    TRY(get_bytes(record, "_FILE_NAME", name, err));
    return name_is_plain(*name) ? OK : err_set(err, ERR_CORRUPT, "a manifest names a file that can't be one");
}

static enum err_code read_file(const struct avro_value *file, struct arena *arena, struct entry *e, struct err *err)
{
    TRY(get_file_name(file, &e->name, err));
    TRY(get_i64(file, "_FILE_SIZE", &e->size, err));
    TRY(get_i64(file, "_ROW_COUNT", &e->row_count, err));
    TRY(get_bytes(file, "_MIN_KEY", &e->min_key, err));
    TRY(get_bytes(file, "_MAX_KEY", &e->max_key, err));
    TRY(get_stats(file, "_KEY_STATS", arena, &e->key_stats, err));
    TRY(get_stats(file, "_VALUE_STATS", arena, &e->value_stats, err));
    TRY(get_i64(file, "_MIN_SEQUENCE_NUMBER", &e->sequence_min, err));
    TRY(get_i64(file, "_MAX_SEQUENCE_NUMBER", &e->sequence_max, err));
    TRY(get_i64(file, "_SCHEMA_ID", &e->schema_id, err));
    TRY(get_i32(file, "_LEVEL", &e->level, err));
    TRY(get_names(file, "_EXTRA_FILES", arena, &e->extra_files, err));
    for (uint32_t i = 0; i < e->extra_files.count; i++)
        if (!name_is_plain(e->extra_files.items[i]))
            return err_set(err, ERR_CORRUPT, "a manifest names a file that can't be one");
    e->creation_ms = maybe_i64(file, "_CREATION_TIME");
    e->delete_count = maybe_i64(file, "_DELETE_ROW_COUNT");
    (void)avro_get_bytes(avro_field(file, "_EMBEDDED_FILE_INDEX"), &e->embedded_index);
    e->source = maybe_i64(file, "_FILE_SOURCE");
    TRY(get_names(file, "_VALUE_STATS_COLS", arena, &e->value_stats_columns, err));
    (void)avro_get_bytes(avro_field(file, "_EXTERNAL_PATH"), &e->external_path);
    e->first_row_id = maybe_i64(file, "_FIRST_ROW_ID");
    return get_names(file, "_WRITE_COLS", arena, &e->write_columns, err);
}

static enum err_code check_entry(const struct entry *e, struct err *err)
{
    if (e->kind != ENTRY_ADD && e->kind != ENTRY_DELETE)
        return err_set(err, ERR_CORRUPT, "a manifest has an entry of kind %d", e->kind);
    if (e->bucket < 0 || e->level < 0 || e->size < 0 || e->row_count < 0 || e->schema_id < 0)
        return err_set(err, ERR_CORRUPT, "a manifest has an entry with a negative bucket, level, size or count");
    return OK;
}

enum err_code paimon_entry_read(const struct avro_value *value, struct arena *arena, struct entry *entry,
                                struct err *err)
{
    struct entry e = {0};
    TRY(get_i32(value, "_KIND", &e.kind, err));
    TRY(get_bytes(value, "_PARTITION", &e.partition, err));
    TRY(get_i32(value, "_BUCKET", &e.bucket, err));
    TRY(get_i32(value, "_TOTAL_BUCKETS", &e.total_buckets, err));
    TRY(read_file(avro_field(value, "_FILE"), arena, &e, err));
    TRY(check_entry(&e, err));
    *entry = e;
    return OK;
}

enum err_code paimon_manifest_read(const struct avro_value *value, struct arena *arena, struct manifest *manifest,
                                   struct err *err)
{
    struct manifest m = {0};
    TRY(get_file_name(value, &m.name, err));
    TRY(get_i64(value, "_FILE_SIZE", &m.size, err));
    TRY(get_i64(value, "_NUM_ADDED_FILES", &m.added_count, err));
    TRY(get_i64(value, "_NUM_DELETED_FILES", &m.deleted_count, err));
    TRY(get_stats(value, "_PARTITION_STATS", arena, &m.partition_stats, err));
    TRY(get_i64(value, "_SCHEMA_ID", &m.schema_id, err));
    m.bucket_min = maybe_i64(value, "_MIN_BUCKET");
    m.bucket_max = maybe_i64(value, "_MAX_BUCKET");
    m.level_min = maybe_i64(value, "_MIN_LEVEL");
    m.level_max = maybe_i64(value, "_MAX_LEVEL");
    *manifest = m;
    return OK;
}

/* ---- files ---- */

typedef enum err_code record_fn(void *arg, const struct avro_value *value, struct arena *arena, struct err *err);

static enum err_code records_each(struct slice file, record_fn *fn, void *arg, struct err *err)
{
    struct avro_reader reader;
    struct arena arena = {0};
    struct avro_value *value;
    TRY(avro_reader_init(&reader, file, err));
    enum err_code code = avro_reader_next(&reader, &arena, &value, err);
    while (code == OK && value) {
        code = fn(arg, value, &arena, err);
        arena_reset(&arena);
        if (code == OK)
            code = avro_reader_next(&reader, &arena, &value, err);
    }
    arena_deinit(&arena);
    avro_reader_deinit(&reader);
    return code;
}

struct entry_walk {
    entry_fn *fn;
    void *arg;
};

static enum err_code entry_record(void *arg, const struct avro_value *value, struct arena *arena, struct err *err)
{
    struct entry_walk *walk = arg;
    struct entry entry;
    TRY(paimon_entry_read(value, arena, &entry, err));
    return walk->fn(walk->arg, &entry, err);
}

enum err_code paimon_entries_each(struct slice file, entry_fn *fn, void *arg, struct err *err)
{
    struct entry_walk walk = {fn, arg};
    return records_each(file, entry_record, &walk, err);
}

struct manifest_walk {
    manifest_fn *fn;
    void *arg;
};

static enum err_code manifest_record(void *arg, const struct avro_value *value, struct arena *arena, struct err *err)
{
    struct manifest_walk *walk = arg;
    struct manifest manifest;
    TRY(paimon_manifest_read(value, arena, &manifest, err));
    return walk->fn(walk->arg, &manifest, err);
}

enum err_code paimon_manifests_each(struct slice file, manifest_fn *fn, void *arg, struct err *err)
{
    struct manifest_walk walk = {fn, arg};
    return records_each(file, manifest_record, &walk, err);
}
