/* The lake side of a table: where it is, and its rows in the table's schema. */
#include "tier/tier.h"
#include "union/union_int.h"

#define CATALOG_PREFIX "table.datalake.paimon."

struct union_lake {
    struct client_table *table;
    struct paimon_table *paimon;
    bool has_system_columns;
    struct schema_column system[UNION_SYSTEM_COLUMNS];
};

/* ---- open ---- */

enum err_code no_lake(const struct client_table *table, struct err *err)
{
    return err_set(err, ERR_LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION, "%.*s.%.*s is not brought to the lake",
                   SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
}

static enum err_code check_format(const struct client_table *table, struct err *err)
{
    const struct slice *format = properties_get(&table->descriptor.properties, "table.datalake.format");
    if (!table->lake_enabled)
        return no_lake(table, err);
    if (!format || !slice_equal_nocase(*format, SLICE("paimon")))
        return err_set(err, ERR_NOT_SUPPORTED, "the lake of %.*s.%.*s is %.*s; weir reads paimon",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), format ? (int)format->len : 7,
                       format ? (const char *)format->ptr : "unknown");
    return OK;
}

static void find_system_columns(struct union_lake *lake)
{
    const struct paimon_schema *schema = paimon_table_schema(lake->paimon);
    lake->has_system_columns = schema->has_system_columns && schema->column_count >= UNION_SYSTEM_COLUMNS;
    if (lake->has_system_columns)
        memcpy(lake->system, schema->columns + schema->column_count - UNION_SYSTEM_COLUMNS, sizeof lake->system);
}

enum err_code union_lake_open(struct client_table *table, struct union_lake **out, struct err *err)
{
    struct paimon_place place = {.database = table->path.database, .table = table->path.table};
    struct paimon_table *paimon;
    TRY(check_format(table, err));
    TRY(paimon_warehouse(&table->descriptor.properties, CATALOG_PREFIX, &place.warehouse, err));
    TRY(paimon_table_open(client_os(table->client), &place, &paimon, err));
    struct union_lake *lake = mem_zalloc(sizeof *lake);
    lake->table = client_table_ref(table);
    lake->paimon = paimon;
    find_system_columns(lake);
    *out = lake;
    return OK;
}

void union_lake_close(struct union_lake *lake)
{
    if (!lake)
        return;
    paimon_table_close(lake->paimon);
    client_table_unref(lake->table);
    mem_free(lake);
}

enum err_code union_lake_newest(struct union_lake *lake, int64_t *snapshot_id, struct err *err)
{
    int64_t earliest;
    return paimon_snapshot_range(lake->paimon, &earliest, snapshot_id, err);
}

enum err_code union_lake_row_count(struct union_lake *lake, int64_t snapshot_id, int64_t *count, struct err *err)
{
    struct arena arena = {0};
    struct paimon_snapshot snapshot;
    int64_t told = -1;
    enum err_code code = paimon_snapshot_read(lake->paimon, snapshot_id, &arena, &snapshot, err);
    const struct slice *text = code == OK ? properties_get(&snapshot.properties, TIER_ROW_COUNT_PROPERTY) : NULL;
    *count = text && slice_to_i64(*text, &told) && told >= 0 ? told : -1;
    arena_deinit(&arena);
    return code;
}

const struct schema_column *union_system_columns(const struct union_lake *lake)
{
    return lake->has_system_columns ? lake->system : NULL;
}

/* ---- read ---- */

struct reading {
    struct union_lake *lake;
    uint32_t given; /* columns that the caller gets */
    const struct union_lake_options *options;
    uint32_t bucket_column; /* where __bucket is read from, UINT32_MAX: Paimon's bucket is the table's */
    struct schema_column *wanted;
    uint32_t wanted_count;
    struct column *columns;
    struct datum *values;
    struct arena arena; /* of one row */
    struct arena texts; /* of one slice: those that were not UTF-8 */
    struct paimon_scan *scan;
};

/* The bucket of a table without bucket key is known only from __bucket: Paimon puts all its rows into bucket 0. */
static void choose_columns(struct reading *reading)
{
    bool system_columns = reading->options->system_columns;
    const struct union_lake *lake = reading->lake;
    const struct schema *schema = &lake->table->schema.schema;
    bool by_column = lake->table->keys.bucket_count == 0 && lake->has_system_columns;
    uint32_t own = schema->column_count;
    reading->given = own + (system_columns ? UNION_SYSTEM_COLUMNS : 0);
    reading->wanted_count = reading->options->from ? own + UNION_SYSTEM_COLUMNS : MAX(reading->given, own + by_column);
    reading->bucket_column = by_column ? own : UINT32_MAX;
    reading->wanted = mem_alloc((own + UNION_SYSTEM_COLUMNS) * sizeof *reading->wanted);
    memcpy(reading->wanted, schema->columns, own * sizeof *reading->wanted);
    memcpy(reading->wanted + own, lake->system, sizeof lake->system);
    reading->columns = mem_zalloc(reading->wanted_count * sizeof *reading->columns);
    reading->values = mem_zalloc(reading->wanted_count * sizeof *reading->values);
}

static int32_t row_bucket(const struct reading *reading)
{
    if (reading->bucket_column != UINT32_MAX) {
        const struct datum *bucket = &reading->values[reading->bucket_column];
        return bucket->is_null ? -1 : (int32_t)bucket->i64;
    }
    return reading->lake->table->keys.bucket_count ? paimon_scan_bucket(reading->scan) : -1;
}

static bool is_left_out(const struct reading *reading, const struct union_row *row)
{
    const struct union_lake_options *options = reading->options;
    if (!options->from)
        return false;
    const struct client_table *table = reading->lake->table;
    const struct datum *offset = &reading->values[table->schema.schema.column_count + 1];
    int32_t place = row_place(table, row);
    bool out =
        place >= 0 && (size_t)place < options->from_count && !offset->is_null && offset->i64 < options->from[place];
    if (out && options->left_out)
        ++*options->left_out;
    return out;
}

static enum err_code give_slice(struct reading *reading, uint32_t row_count, union_row_fn *fn, void *arg, bool *enough,
                                struct err *err)
{
    const struct client_partition *partition =
        client_partition_by_values(reading->lake->table, row_count ? paimon_scan_partition(reading->scan) : NULL);
    for (uint32_t i = 0; i < row_count && !*enough; i++) {
        arena_reset(&reading->arena);
        for (uint32_t c = 0; c < reading->wanted_count; c++)
            column_get(&reading->columns[c], i, &reading->arena, &reading->values[c]);
        struct union_row row = {reading->values, row_bucket(reading), partition ? (int32_t)partition->index : -1, 1};
        if (!is_left_out(reading, &row))
            TRY(fn(arg, &row, enough, err));
    }
    return OK;
}

/* As those of the log are (client.h): a stock worker hands on what it was given. */
static void repair_texts(struct reading *reading)
{
    arena_reset(&reading->texts);
    for (uint32_t c = 0; c < reading->wanted_count; c++)
        column_text_repair(&reading->texts, &reading->columns[c]);
}

/* A failure of the lake's, apart from those of the caller's function. */
static enum err_code next_slice(struct reading *reading, int64_t snapshot_id, uint32_t *row_count, struct err *err)
{
    if (reading->scan)
        return paimon_scan_next(reading->scan, reading->columns, row_count, err);
    struct paimon_scan_options options = {snapshot_id, -1, reading->wanted, reading->wanted_count};
    TRY(paimon_scan_open(reading->lake->paimon, &options, &reading->scan, err));
    return paimon_scan_next(reading->scan, reading->columns, row_count, err);
}

/* A file that is gone while its snapshot still stands is a broken lake; with its snapshot it has expired. */
static enum err_code why_unreadable(struct union_lake *lake, int64_t snapshot_id, struct err *err)
{
    struct arena arena = {0};
    struct paimon_snapshot snapshot;
    struct err again = {0};
    enum err_code code = paimon_snapshot_read(lake->paimon, snapshot_id, &arena, &snapshot, &again);
    arena_deinit(&arena);
    if (code == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND, "lake snapshot %lld has expired", (long long)snapshot_id);
    char text[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    return err_set(err, ERR_LAKE, "lake snapshot %lld can't be read whole: %.180s", (long long)snapshot_id, text);
}

static bool is_lakes_fault(enum err_code code)
{
    return code == ERR_NOT_FOUND || code == ERR_CORRUPT || code == ERR_LAKE;
}

enum err_code union_lake_read(struct union_lake *lake, const struct union_lake_options *options, union_row_fn *fn,
                              void *arg, struct err *err)
{
    struct reading reading = {.lake = lake, .options = options};
    struct err own = {0};
    bool enough = false;
    uint32_t row_count = 1;
    if ((options->system_columns || options->from) && !lake->has_system_columns)
        return err_set(err, ERR_NOT_SUPPORTED, "the lake table of %.*s.%.*s has no system columns",
                       SLICE_ARGS(lake->table->path.database), SLICE_ARGS(lake->table->path.table));
    choose_columns(&reading);
    enum err_code code = OK;
    while (code == OK && row_count && !enough) {
        code = next_slice(&reading, options->snapshot_id, &row_count, &own);
        if (is_lakes_fault(code))
            code = why_unreadable(lake, options->snapshot_id, &own);
        if (code == OK && row_count)
            repair_texts(&reading);
        if (code == OK)
            code = give_slice(&reading, row_count, fn, arg, &enough, &own);
    }
    paimon_scan_close(reading.scan);
    arena_deinit(&reading.arena);
    arena_deinit(&reading.texts);
    mem_free(reading.wanted);
    mem_free(reading.columns);
    mem_free(reading.values);
    if (code != OK && err)
        *err = own;
    return code;
}
