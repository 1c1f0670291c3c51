/* Options of a lake table: what Fluss sets, what users may set, and what weir can write under.
 *
 *   of a Fluss table         in the lake
 *   paimon.X = v             X = v
 *   table.datalake.paimon.*  nothing (the cluster's own, made at each answer)
 *   any other K = v          fluss.K = v
 *
 * Source: Apache Fluss, fluss-lake-paimon, PaimonConversions; golden: the options of paimon-by-fluss. */
#include "lake/paimon/paimon_int.h"

#define FLUSS_PREFIX "fluss."
#define PAIMON_PREFIX "paimon."
#define CLUSTER_PREFIX "table.datalake.paimon."

static const char *const reserved[] = {"bucket", "bucket-key", "partition.legacy-name", "path"};

static enum err_code check_reserved(const struct properties *props, struct err *err)
{
    for (uint32_t i = 0; i < props->count; i++) {
        struct slice key = props->items[i].key;
        if (slice_starts_with(key, SLICE(PAIMON_PREFIX)))
            key = slice_of(key.ptr + strlen(PAIMON_PREFIX), key.len - strlen(PAIMON_PREFIX));
        for (size_t k = 0; k < ARRAY_LEN(reserved); k++)
            if (slice_is(key, reserved[k]))
                return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                               "the lake option %s is set by the server from the table, not by users", reserved[k]);
    }
    return OK;
}

static void take(struct arena *arena, const struct properties *from, struct properties *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct slice key = from->items[i].key;
        if (slice_starts_with(key, SLICE(CLUSTER_PREFIX)))
            continue;
        if (slice_starts_with(key, SLICE(PAIMON_PREFIX)))
            key = slice_of(key.ptr + strlen(PAIMON_PREFIX), key.len - strlen(PAIMON_PREFIX));
        else
            key = arena_printf(arena, FLUSS_PREFIX "%.*s", SLICE_ARGS(key));
        properties_set(arena, to, key, from->items[i].value);
    }
}

static struct slice bucket_key_text(struct arena *arena, const struct table_descriptor *table)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < table->bucket_key_count; i++) {
        buf_put_slice(&text, i ? SLICE(",") : SLICE(""));
        buf_put_slice(&text, table->schema.columns[table->bucket_keys[i]].name);
    }
    struct slice kept = arena_dup(arena, buf_view(&text));
    buf_deinit(&text);
    return kept;
}

enum err_code paimon_options_of(struct arena *arena, const struct table_descriptor *table, struct properties *options,
                                struct err *err)
{
    struct properties made = {0};
    TRY(check_reserved(&table->properties, err));
    TRY(check_reserved(&table->custom_properties, err));
    if (table->bucket_key_count) {
        properties_set(arena, &made, SLICE("bucket"), arena_printf(arena, "%d", table->bucket_count));
        properties_set(arena, &made, SLICE("bucket-key"), bucket_key_text(arena, table));
    } else {
        properties_set(arena, &made, SLICE("bucket"), SLICE("-1"));
    }
    properties_set(arena, &made, SLICE("partition.legacy-name"), SLICE("false"));
    if (table->schema.primary_key_count)
        properties_set(arena, &made, SLICE("changelog-producer"), SLICE("input"));
    take(arena, &table->properties, &made);
    take(arena, &table->custom_properties, &made);
    TRY(paimon_options_writable(&made, ERR_INVALID_CONFIG_EXCEPTION, err));
    *options = made;
    return OK;
}

/* ---- what weir can write under ---- */

/* Options that change what a writer must do. The values that weir does, with '|' between them; "" none. */
static const struct {
    const char *key;
    const char *values;
} bound[] = {
    {"aggregation.remove-record-on-delete", "false"},
    {"branch", "main"},
    {"bucket-function.type", "default"},
    {"changelog-file.compression", "zstd|none|snappy|gzip"},
    {"changelog-file.format", "parquet"},
    {"changelog-file.prefix", "changelog-"},
    {"changelog-producer", "input|none"},
    {"data-evolution.enabled", "false"},
    {"data-file.external-paths", ""},
    {"data-file.path-directory", ""},
    {"data-file.prefix", "data-"},
    {"data-file.thin-mode", "false"},
    {"deletion-vectors.enabled", "false"},
    {"file.compression", "zstd|none|snappy|gzip"},
    {"file.compression.per.level", ""},
    {"file.format", "parquet"},
    {"file.format.per.level", ""},
    {"file.suffix.include.compression", "false"},
    {"ignore-delete", "false"},
    {"ignore-update-before", "false"},
    {"manifest.format", "avro"},
    {"merge-engine", "deduplicate"},
    {"partition", ""},
    {"pk-clustering-override", "false"},
    {"primary-key", ""},
    {"record-level.expire-time", ""},
    {"row-tracking.enabled", "false"},
    {"rowkind.field", ""},
    {"sequence.field", ""},
    {"type", "table"},
};

static bool is_one_of(struct slice value, const char *values)
{
    while (*values) {
        size_t len = strcspn(values, "|");
        if (slice_equal_nocase(value, slice_of(values, len)))
            return true;
        values += len + (values[len] == '|');
    }
    return false;
}

static bool positive(struct slice value, int64_t *number)
{
    return slice_to_i64(value, number) && *number > 0;
}

/* Java's form of a size: a number and b, kb, mb, gb (with or without a space), or the words for them. */
static bool memory_size(struct slice text, uint64_t *bytes)
{
    static const struct {
        const char *words;
        unsigned shift;
    } units[] = {{"b|bytes", 0}, {"k|kb|kibibytes", 10}, {"m|mb|mebibytes", 20}, {"g|gb|gibibytes", 30}};
    size_t digits = 0;
    int64_t number;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    struct slice unit = slice_of(text.ptr + digits, text.len - digits);
    while (unit.len && *unit.ptr == ' ')
        unit = slice_of(unit.ptr + 1, unit.len - 1);
    if (!positive(slice_of(text.ptr, digits), &number) || number > 1 << 30)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (is_one_of(unit, units[i].words) || (i == 0 && !unit.len)) {
            *bytes = (uint64_t)number << units[i].shift;
            return true;
        }
    return false;
}

static bool value_fits(struct slice key, struct slice value)
{
    int64_t number;
    uint64_t bytes;
    for (size_t i = 0; i < ARRAY_LEN(bound); i++)
        if (slice_is(key, bound[i].key))
            return is_one_of(value, bound[i].values);
    if (slice_is(key, "target-file-size"))
        return memory_size(value, &bytes);
    if (slice_is(key, "file.compression.zstd-level"))
        return positive(value, &number) && number <= 19;
    if (slice_is(key, "num-levels") || slice_is(key, "num-sorted-run.compaction-trigger"))
        return positive(value, &number) && number < 1000;
    return !slice_starts_with(key, SLICE("file-index.")) || slice_is(key, "file-index.read.enabled");
}

enum err_code paimon_options_writable(const struct properties *options, enum err_code code, struct err *err)
{
    for (uint32_t i = 0; i < options->count; i++) {
        struct slice key = options->items[i].key, value = options->items[i].value;
        if (!slice_starts_with(key, SLICE(FLUSS_PREFIX)) && !value_fits(key, value))
            return err_set(err, code, "weir does not write Paimon tables with %.*s = %.*s", (int)MIN(key.len, 80),
                           (const char *)key.ptr, (int)MIN(value.len, 80), (const char *)value.ptr);
    }
    return OK;
}

static int64_t number_of(const struct properties *options, const char *key, int64_t fallback)
{
    const struct slice *value = properties_get(options, key);
    int64_t number;
    return value && positive(*value, &number) ? number : fallback;
}

enum err_code paimon_file_options_read(const struct paimon_schema *schema, struct file_options *out, struct err *err)
{
    static const struct {
        const char *name;
        enum codec codec;
    } codecs[] = {{"none", CODEC_NONE}, {"snappy", CODEC_SNAPPY}, {"gzip", CODEC_GZIP}};
    const struct properties *options = &schema->options;
    TRY(paimon_options_writable(options, ERR_LAKE, err));
    if (schema->bucket_count == 0 || schema->bucket_count < -1 ||
        (schema->bucket_count < 0 && schema->primary_key_count))
        return err_set(err, ERR_LAKE, "weir does not write Paimon tables with bucket = %d", schema->bucket_count);
    *out = (struct file_options){.codec = CODEC_ZSTD, .file_bytes = PAIMON_FILE_BYTES};
    const struct slice *codec = properties_get(options, "file.compression");
    for (size_t i = 0; codec && i < ARRAY_LEN(codecs); i++)
        if (slice_equal_nocase(*codec, slice_str(codecs[i].name)))
            out->codec = codecs[i].codec;
    out->level = (int)number_of(options, "file.compression.zstd-level", 1);
    const struct slice *size = properties_get(options, "target-file-size");
    if (size)
        (void)memory_size(*size, &out->file_bytes);
    const struct slice *producer = properties_get(options, "changelog-producer");
    out->changelog = schema->primary_key_count && producer && slice_equal_nocase(*producer, SLICE("input"));
    out->run_count_max = (uint32_t)number_of(options, "num-sorted-run.compaction-trigger", 5);
    out->top_level = (int32_t)number_of(options, "num-levels", out->run_count_max + 1) - 1;
    return OK;
}
