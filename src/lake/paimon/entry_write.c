/* Manifests and lists of manifests, written as Java Paimon 1.3 writes them (records, names and all; golden:
 * paimon-by-fluss/.../manifest).
 *
 * A manifest is an Avro file of entries, a list one of manifests; zstandard. The schemas are the texts below. Optional
 * fields are unions of null and the type; readers need logicalType timestamp-millis of _CREATION_TIME (Java) and every
 * field up to _VALUE_STATS_COLS (pypaimon). */
#include "lake/paimon/entry_int.h"

#define F(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define OPT(name, type) "{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null}"
#define STATS(name, record)                                                                            \
    F(name, "{\"type\":\"record\",\"name\":\"" record                                                  \
            "\",\"fields\":[" F("_MIN_VALUES", "\"bytes\"") "," F("_MAX_VALUES", "\"bytes\"") "," OPT( \
                "_NULL_COUNTS", "{\"type\":\"array\",\"items\":[\"null\",\"long\"]}") "]}")
#define STRINGS "{\"type\":\"array\",\"items\":\"string\"}"
#define RECORD(fields)                                                                                                \
    "{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"org.apache.paimon.avro.generated\",\"fields\":[" fields \
    "]}"

/* One field a line, in order. */
/* clang-format off */
static const char entry_schema[] = RECORD(
    F("_VERSION", "\"int\"") ","
    F("_KIND", "\"int\"") ","
    F("_PARTITION", "\"bytes\"") ","
    F("_BUCKET", "\"int\"") ","
    F("_TOTAL_BUCKETS", "\"int\"") ","
    F("_FILE", "{\"type\":\"record\",\"name\":\"record__FILE\",\"fields\":["
        F("_FILE_NAME", "\"string\"") ","
        F("_FILE_SIZE", "\"long\"") ","
        F("_ROW_COUNT", "\"long\"") ","
        F("_MIN_KEY", "\"bytes\"") ","
        F("_MAX_KEY", "\"bytes\"") ","
        STATS("_KEY_STATS", "record__FILE__KEY_STATS") ","
        STATS("_VALUE_STATS", "record__FILE__VALUE_STATS") ","
        F("_MIN_SEQUENCE_NUMBER", "\"long\"") ","
        F("_MAX_SEQUENCE_NUMBER", "\"long\"") ","
        F("_SCHEMA_ID", "\"long\"") ","
        F("_LEVEL", "\"int\"") ","
        F("_EXTRA_FILES", STRINGS) ","
        OPT("_CREATION_TIME", "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}") ","
        OPT("_DELETE_ROW_COUNT", "\"long\"") ","
        OPT("_EMBEDDED_FILE_INDEX", "\"bytes\"") ","
        OPT("_FILE_SOURCE", "\"int\"") ","
        OPT("_VALUE_STATS_COLS", STRINGS) ","
        OPT("_EXTERNAL_PATH", "\"string\"") ","
        OPT("_FIRST_ROW_ID", "\"long\"") ","
        OPT("_WRITE_COLS", STRINGS)
    "]}"));

static const char manifest_schema[] = RECORD(
    F("_VERSION", "\"int\"") ","
    F("_FILE_NAME", "\"string\"") ","
    F("_FILE_SIZE", "\"long\"") ","
    F("_NUM_ADDED_FILES", "\"long\"") ","
    F("_NUM_DELETED_FILES", "\"long\"") ","
    STATS("_PARTITION_STATS", "record__PARTITION_STATS") ","
    F("_SCHEMA_ID", "\"long\"") ","
    OPT("_MIN_BUCKET", "\"int\"") ","
    OPT("_MAX_BUCKET", "\"int\"") ","
    OPT("_MIN_LEVEL", "\"int\"") ","
    OPT("_MAX_LEVEL", "\"int\""));
/* clang-format on */

#define MANIFEST_VERSION 2

static const uint8_t empty_row[12];
const struct slice paimon_entry_empty_row = {empty_row, sizeof empty_row};

/* ---- values ---- */

static void put_optional_long(struct avro_writer *w, struct optional_i64 value)
{
    avro_put_branch(w, value.there);
    if (value.there)
        avro_put_long(w, value.value);
}

static void put_optional_int(struct avro_writer *w, struct optional_i64 value)
{
    avro_put_branch(w, value.there);
    if (value.there)
        avro_put_int(w, (int32_t)value.value);
}

static void put_optional_bytes(struct avro_writer *w, struct slice value)
{
    avro_put_branch(w, value.ptr != NULL);
    if (value.ptr)
        avro_put_bytes(w, value);
}

static void put_names(struct avro_writer *w, const struct entry_names *names)
{
    if (names->count)
        avro_put_count(w, names->count);
    for (uint32_t i = 0; i < names->count; i++)
        avro_put_string(w, names->items[i]);
    avro_put_end(w);
}

static void put_optional_names(struct avro_writer *w, const struct entry_names *names)
{
    avro_put_branch(w, names->items != NULL);
    if (names->items)
        put_names(w, names);
}

static void put_stats(struct avro_writer *w, const struct entry_stats *stats)
{
    avro_put_bytes(w, stats->min_values);
    avro_put_bytes(w, stats->max_values);
    avro_put_branch(w, stats->null_counts != NULL);
    if (!stats->null_counts)
        return;
    if (stats->null_count_count)
        avro_put_count(w, stats->null_count_count);
    for (uint32_t i = 0; i < stats->null_count_count; i++)
        put_optional_long(w, stats->null_counts[i]);
    avro_put_end(w);
}

static void put_entry(struct avro_writer *w, const struct entry *e, int kind)
{
    avro_put_int(w, MANIFEST_VERSION);
    avro_put_int(w, kind);
    avro_put_bytes(w, e->partition);
    avro_put_int(w, e->bucket);
    avro_put_int(w, e->total_buckets);
    avro_put_string(w, e->name);
    avro_put_long(w, e->size);
    avro_put_long(w, e->row_count);
    avro_put_bytes(w, e->min_key);
    avro_put_bytes(w, e->max_key);
    put_stats(w, &e->key_stats);
    put_stats(w, &e->value_stats);
    avro_put_long(w, e->sequence_min);
    avro_put_long(w, e->sequence_max);
    avro_put_long(w, e->schema_id);
    avro_put_int(w, e->level);
    put_names(w, &e->extra_files);
    put_optional_long(w, e->creation_ms);
    put_optional_long(w, e->delete_count);
    put_optional_bytes(w, e->embedded_index);
    put_optional_int(w, e->source);
    put_optional_names(w, &e->value_stats_columns);
    put_optional_bytes(w, e->external_path);
    put_optional_long(w, e->first_row_id);
    put_optional_names(w, &e->write_columns);
}

static void put_manifest(struct avro_writer *w, const struct manifest *m)
{
    avro_put_int(w, MANIFEST_VERSION);
    avro_put_string(w, m->name);
    avro_put_long(w, m->size);
    avro_put_long(w, m->added_count);
    avro_put_long(w, m->deleted_count);
    put_stats(w, &m->partition_stats);
    avro_put_long(w, m->schema_id);
    put_optional_int(w, m->bucket_min);
    put_optional_int(w, m->bucket_max);
    put_optional_int(w, m->level_min);
    put_optional_int(w, m->level_max);
}

/* ---- files ---- */

static enum err_code begin(struct os *os, struct avro_writer *w, const char *schema, struct buf *out, struct err *err)
{
    struct avro_writer_options options = {.schema = slice_str(schema), .codec = CODEC_ZSTD};
    os_random(os, options.sync, sizeof options.sync);
    return avro_writer_init(w, out, &options, err);
}

enum err_code paimon_entries_put(struct os *os, const struct entry *const *entries, const int *kinds, size_t count,
                                 struct buf *out, struct err *err)
{
    struct avro_writer w;
    TRY(begin(os, &w, entry_schema, out, err));
    enum err_code code = OK;
    for (size_t i = 0; i < count && code == OK; i++) {
        put_entry(&w, entries[i], kinds ? kinds[i] : ENTRY_ADD);
        code = avro_writer_end_record(&w, err);
    }
    if (code == OK)
        code = avro_writer_finish(&w, err);
    avro_writer_deinit(&w);
    return code;
}

enum err_code paimon_manifests_put(struct os *os, const struct manifest *manifests, size_t count, struct buf *out,
                                   struct err *err)
{
    struct avro_writer w;
    TRY(begin(os, &w, manifest_schema, out, err));
    enum err_code code = OK;
    for (size_t i = 0; i < count && code == OK; i++) {
        put_manifest(&w, &manifests[i]);
        code = avro_writer_end_record(&w, err);
    }
    if (code == OK)
        code = avro_writer_finish(&w, err);
    avro_writer_deinit(&w);
    return code;
}

/* ---- copies ---- */

static struct slice dup_slice(struct arena *arena, struct slice s)
{
    return s.ptr ? arena_dup(arena, s) : s;
}

static void dup_names(struct arena *arena, const struct entry_names *from, struct entry_names *to)
{
    *to = *from;
    if (!from->items)
        return;
    to->items = ARENA_NEW_ARRAY(arena, struct slice, from->count + 1);
    for (uint32_t i = 0; i < from->count; i++)
        to->items[i] = dup_slice(arena, from->items[i]);
}

static void dup_stats(struct arena *arena, const struct entry_stats *from, struct entry_stats *to)
{
    *to = *from;
    to->min_values = dup_slice(arena, from->min_values);
    to->max_values = dup_slice(arena, from->max_values);
    if (!from->null_counts)
        return;
    to->null_counts = ARENA_NEW_ARRAY(arena, struct optional_i64, from->null_count_count + 1);
    memcpy(to->null_counts, from->null_counts, from->null_count_count * sizeof *to->null_counts);
}

void paimon_entry_dup(struct arena *arena, const struct entry *from, struct entry *to)
{
    *to = *from;
    to->partition = dup_slice(arena, from->partition);
    to->name = dup_slice(arena, from->name);
    to->min_key = dup_slice(arena, from->min_key);
    to->max_key = dup_slice(arena, from->max_key);
    dup_stats(arena, &from->key_stats, &to->key_stats);
    dup_stats(arena, &from->value_stats, &to->value_stats);
    dup_names(arena, &from->extra_files, &to->extra_files);
    to->embedded_index = dup_slice(arena, from->embedded_index);
    dup_names(arena, &from->value_stats_columns, &to->value_stats_columns);
    to->external_path = dup_slice(arena, from->external_path);
    dup_names(arena, &from->write_columns, &to->write_columns);
}

void paimon_manifest_dup(struct arena *arena, const struct manifest *from, struct manifest *to)
{
    *to = *from;
    to->name = dup_slice(arena, from->name);
    dup_stats(arena, &from->partition_stats, &to->partition_stats);
}

void paimon_entry_identity(const struct entry *e, struct buf *out)
{
    buf_reset(out);
    buf_put_u32(out, (uint32_t)e->bucket);
    buf_put_u32(out, (uint32_t)e->level);
    buf_put_u32(out, (uint32_t)e->partition.len);
    buf_put_slice(out, e->partition);
    buf_put_slice(out, e->name);
    buf_put_u8(out, '/');
    for (uint32_t i = 0; i < e->extra_files.count; i++) {
        buf_put_slice(out, e->extra_files.items[i]);
        buf_put_u8(out, '/');
    }
    buf_put_slice(out, e->external_path);
}
