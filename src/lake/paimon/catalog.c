/* The lake table of a Fluss table: made, compared, altered.
 *
 *   WAREHOUSE/DATABASE.db/TABLE/schema/schema-N     the table exists when there is one
 *
 * Source: Apache Fluss, fluss-lake-paimon, PaimonLakeCatalog and PaimonConversions. */
#include "lake/paimon/paimon_int.h"

#define DATABASE_SUFFIX ".db"

enum err_code paimon_place_dir(const struct paimon_place *place, struct path *path, struct err *err)
{
    return paimon_path_set(path, err, "%.*s/%.*s" DATABASE_SUFFIX "/%.*s", SLICE_ARGS(place->warehouse),
                           SLICE_ARGS(place->database), SLICE_ARGS(place->table));
}

/* ---- the schema that a table should have ---- */

static void add_system_columns(struct paimon_schema *schema, int32_t *next_id)
{
    static const struct type timestamp = {.kind = TYPE_TIMESTAMP_LTZ, .nullable = true, .precision = 3};
    const struct schema_column system[SYSTEM_COLUMN_COUNT] = {
        {.name = SLICE(SYSTEM_BUCKET), .type = type_simple(TYPE_INTEGER)},
        {.name = SLICE(SYSTEM_OFFSET), .type = type_simple(TYPE_BIGINT)},
        {.name = SLICE(SYSTEM_TIMESTAMP), .type = &timestamp}};
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++) {
        schema->columns[schema->column_count] = system[i];
        schema->columns[schema->column_count++].id = (*next_id)++;
    }
}

static bool is_system_name(struct slice name)
{
    return slice_is(name, SYSTEM_BUCKET) || slice_is(name, SYSTEM_OFFSET) || slice_is(name, SYSTEM_TIMESTAMP);
}

static enum err_code wanted_schema(struct arena *arena, const struct table_descriptor *table,
                                   struct paimon_schema *schema, struct err *err)
{
    const struct schema *from = &table->schema;
    int32_t next_id = 0;
    *schema = (struct paimon_schema){.primary_key = from->primary_key,
                                     .primary_key_count = from->primary_key_count,
                                     .partition_keys = table->partition_keys,
                                     .partition_key_count = table->partition_key_count,
                                     .comment = table->comment,
                                     .has_system_columns = true};
    schema->columns = ARENA_NEW_ARRAY(arena, struct schema_column, from->column_count + SYSTEM_COLUMN_COUNT);
    for (uint32_t i = 0; i < from->column_count; i++) {
        const struct schema_column *column = &from->columns[i];
        if (is_system_name(column->name))
            return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "the column name %.*s belongs to the lake",
                           SLICE_ARGS(column->name));
        int32_t id = next_id++;
        schema->columns[schema->column_count++] =
            (struct schema_column){.name = column->name,
                                   .type = paimon_type_of(arena, column->type, &next_id),
                                   .comment = column->comment,
                                   .id = id};
    }
    add_system_columns(schema, &next_id);
    schema->highest_field_id = next_id - 1;
    return paimon_options_of(arena, table, &schema->options, err);
}

enum err_code paimon_table_check(const struct table_descriptor *descriptor, struct err *err)
{
    struct arena arena = {0};
    struct paimon_schema wanted;
    enum err_code code = wanted_schema(&arena, descriptor, &wanted, err);
    arena_deinit(&arena);
    return code;
}

/* ---- comparing ---- */

#define differs(err, ...) \
    err_set(err, ERR_LAKE_TABLE_ALREADY_EXIST, "the lake has a table of this name, but " __VA_ARGS__)

static bool text_equal(struct slice a, struct slice b)
{
    return !a.ptr == !b.ptr && slice_equal(a, b);
}

/* The last system column had the precision 6 in old releases. */
static bool type_fits(const struct schema_column *have, const struct schema_column *want)
{
    if (type_equal(have->type, want->type, true))
        return true;
    return slice_is(want->name, SYSTEM_TIMESTAMP) && have->type->kind == TYPE_TIMESTAMP_LTZ && have->type->nullable &&
           have->type->precision == 6;
}

static bool column_fits(const struct schema_column *have, const struct schema_column *want)
{
    return slice_equal(have->name, want->name) && type_fits(have, want) && text_equal(have->comment, want->comment);
}

static bool keys_equal(const struct paimon_schema *a, const uint32_t *a_keys, uint32_t a_count,
                       const struct paimon_schema *b, const uint32_t *b_keys, uint32_t b_count)
{
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (!slice_equal(a->columns[a_keys[i]].name, b->columns[b_keys[i]].name))
            return false;
    return true;
}

static enum err_code keys_fit(const struct paimon_schema *have, const struct paimon_schema *want, struct err *err)
{
    if (!keys_equal(have, have->primary_key, have->primary_key_count, want, want->primary_key, want->primary_key_count))
        return differs(err, "with another primary key");
    if (!keys_equal(have, have->partition_keys, have->partition_key_count, want, want->partition_keys,
                    want->partition_key_count))
        return differs(err, "with other partition keys");
    if (!text_equal(have->comment, want->comment))
        return differs(err, "with another comment");
    return OK;
}

/* Every option that is wanted is there with the same value; that tiering was off there is fine. */
static enum err_code options_fit(const struct properties *have, const struct properties *want, struct err *err)
{
    for (uint32_t i = 0; i < want->count; i++) {
        struct slice key = want->items[i].key, wanted = want->items[i].value;
        const struct slice *value = paimon_properties_find(have, key);
        if (value && (slice_equal(*value, wanted) ||
                      (slice_is(key, "fluss.table.datalake.enabled") && slice_is(*value, "false"))))
            continue;
        return differs(err, "its option %.*s is %.*s, not %.*s", (int)MIN(key.len, 60), (const char *)key.ptr,
                       value ? (int)MIN(value->len, 60) : 5, value ? (const char *)value->ptr : "unset",
                       (int)MIN(wanted.len, 60), (const char *)wanted.ptr);
    }
    return OK;
}

static enum err_code columns_fit(const struct paimon_schema *have, const struct paimon_schema *want, struct err *err)
{
    if (have->column_count != want->column_count)
        return differs(err, "with %u columns, not %u", have->column_count, want->column_count);
    for (uint32_t i = 0; i < want->column_count; i++)
        if (!column_fits(&have->columns[i], &want->columns[i]))
            return differs(err, "its column %u (%.*s) is another than %.*s", i, (int)MIN(have->columns[i].name.len, 60),
                           (const char *)have->columns[i].name.ptr, (int)MIN(want->columns[i].name.len, 60),
                           (const char *)want->columns[i].name.ptr);
    return OK;
}

static enum err_code schema_fits(const struct paimon_schema *have, const struct paimon_schema *want, struct err *err)
{
    TRY(columns_fit(have, want, err));
    TRY(keys_fit(have, want, err));
    return options_fit(&have->options, &want->options, err);
}

/* ---- making ---- */

static enum err_code schema_publish(struct os *os, const char *dir, const struct paimon_schema *schema, struct err *err)
{
    struct path schema_dir, tmp, path;
    struct buf text = {0};
    char uuid[37];
    TRY(paimon_path_set(&schema_dir, err, "%s/schema", dir));
    TRY(paimon_dir_make(os, schema_dir.text, err));
    os_uuid(os, uuid);
    TRY(paimon_path_set(&tmp, err, "%s/.schema-%s.tmp", schema_dir.text, uuid));
    TRY(paimon_path_set(&path, err, "%s/schema-%" PRId64, schema_dir.text, schema->id));
    paimon_schema_put(&text, schema, os_wall_ms(os));
    enum err_code code = paimon_file_publish(os, schema_dir.text, tmp.text, path.text, buf_view(&text), err);
    buf_deinit(&text);
    return code;
}

/* ---- the next schema ---- */

/* A lake table that is wider already keeps its columns, if a row may lack them: the metadata can be behind it. */
static enum err_code keep_more(struct arena *arena, const struct paimon_schema *have, struct paimon_schema *want,
                               struct err *err)
{
    uint32_t more = have->column_count - want->column_count, own = want->column_count - SYSTEM_COLUMN_COUNT;
    for (uint32_t i = 0; i < more; i++)
        if (!have->columns[own + i].type->nullable)
            return differs(err, "with %u columns more", more);
    struct schema_column *columns = ARENA_NEW_ARRAY(arena, struct schema_column, have->column_count);
    memcpy(columns, want->columns, own * sizeof *columns);
    memcpy(columns + own, have->columns + own, more * sizeof *columns);
    memcpy(columns + own + more, want->columns + own, SYSTEM_COLUMN_COUNT * sizeof *columns);
    want->columns = columns;
    want->column_count = have->column_count;
    return OK;
}

/* The columns that are there keep their ids; new ones take the next. */
static enum err_code keep_ids(struct arena *arena, const struct paimon_schema *have, struct paimon_schema *want,
                              struct err *err)
{
    uint32_t system = have->has_system_columns ? SYSTEM_COLUMN_COUNT : 0, old = have->column_count - system;
    int32_t next_id = have->highest_field_id + 1;
    if (!have->has_system_columns)
        return differs(err, "it lacks the columns __bucket, __offset and __timestamp");
    if (want->column_count < have->column_count)
        TRY(keep_more(arena, have, want, err));
    for (uint32_t i = 0; i < want->column_count; i++) {
        uint32_t from_end = want->column_count - i;
        struct schema_column *column = &want->columns[i];
        const struct schema_column *match = i < old              ? &have->columns[i]
                                            : from_end <= system ? &have->columns[have->column_count - from_end]
                                                                 : NULL;
        if (match && !column_fits(match, column))
            return differs(err, "its column %.*s is another", (int)MIN(match->name.len, 60),
                           (const char *)match->name.ptr);
        if (match) {
            *column = *match;
            continue;
        }
        if (!column->type->nullable)
            return differs(err, "a new column can't be NOT NULL");
        column->id = next_id++;
        column->type = paimon_type_of(arena, column->type, &next_id);
    }
    want->highest_field_id = MAX(have->highest_field_id, next_id - 1);
    return OK;
}

/* What others set stays; what Fluss sets is as wanted, and what it no longer sets goes. */
static void merge_options(struct arena *arena, const struct properties *have, struct properties *want)
{
    for (uint32_t i = 0; i < have->count; i++) {
        struct slice key = have->items[i].key;
        if (!slice_starts_with(key, SLICE("fluss.")) && !paimon_properties_find(want, key))
            properties_set(arena, want, key, have->items[i].value);
    }
}

/* The columns that are lacking behind what is there; everything else stays. */
static enum err_code publish_next(struct os *os, const char *dir, struct arena *arena, const struct paimon_schema *have,
                                  struct paimon_schema *wanted, struct err *err)
{
    TRY(keys_fit(have, wanted, err));
    TRY(keep_ids(arena, have, wanted, err));
    merge_options(arena, &have->options, &wanted->options);
    wanted->id = have->id + 1;
    return schema_publish(os, dir, wanted, err);
}

static enum err_code has_snapshot(struct os *os, const char *dir, bool *has, struct err *err)
{
    struct path snapshots;
    struct numbered found = {.prefix = "snapshot-"};
    TRY(paimon_path_set(&snapshots, err, "%s/snapshot", dir));
    TRY(paimon_numbered_find(os, snapshots.text, &found, err));
    *has = found.any;
    return OK;
}

static enum err_code check_existing(struct os *os, const char *dir, struct arena *arena, struct slice text,
                                    struct paimon_schema *wanted, enum paimon_existing existing, struct err *err)
{
    struct paimon_schema have;
    bool filled;
    TRY(paimon_schema_read(arena, text, &have, err));
    if (existing == PAIMON_MAY_HOLD_ROWS && have.column_count < wanted->column_count) {
        TRY(options_fit(&have.options, &wanted->options, err));
        return publish_next(os, dir, arena, &have, wanted, err);
    }
    TRY(schema_fits(&have, wanted, err));
    if (existing == PAIMON_MAY_HOLD_ROWS)
        return OK;
    TRY(has_snapshot(os, dir, &filled, err));
    return filled ? differs(err, "it is not empty") : OK;
}

static enum err_code create(struct os *os, const char *dir, struct arena *arena, struct buf *text,
                            struct paimon_schema *wanted, enum paimon_existing existing, struct err *err)
{
    int64_t id;
    TRY(paimon_table_newest_schema(os, dir, &id, text, err));
    if (id < 0) {
        enum err_code code = schema_publish(os, dir, wanted, err);
        if (code != ERR_ALREADY_EXISTS)
            return code;
        TRY(paimon_table_newest_schema(os, dir, &id, text, err)); /* somebody else was faster */
    }
    return check_existing(os, dir, arena, buf_view(text), wanted, existing, err);
}

enum err_code paimon_table_create(struct os *os, const struct paimon_place *place,
                                  const struct table_descriptor *descriptor, enum paimon_existing existing,
                                  struct err *err)
{
    struct arena arena = {0};
    struct buf text = {0};
    struct paimon_schema wanted;
    struct path dir;
    enum err_code code;
    TRY_OR_FAIL(wanted_schema(&arena, descriptor, &wanted, err));
    TRY_OR_FAIL(paimon_place_dir(place, &dir, err));
    TRY_OR_FAIL(create(os, dir.text, &arena, &text, &wanted, existing, err));
fail:
    buf_deinit(&text);
    arena_deinit(&arena);
    return code;
}

/* ---- altering ---- */

static enum err_code alter(struct os *os, const char *dir, struct arena *arena, struct buf *text,
                           struct paimon_schema *wanted, struct err *err)
{
    struct paimon_schema have;
    int64_t id;
    TRY(paimon_table_newest_schema(os, dir, &id, text, err));
    if (id < 0)
        return err_set(err, ERR_NOT_FOUND, "there is no lake table at %s", dir);
    TRY(paimon_schema_read(arena, buf_view(text), &have, err));
    if (schema_fits(&have, wanted, NULL) == OK)
        return OK;
    return publish_next(os, dir, arena, &have, wanted, err);
}

enum err_code paimon_table_alter(struct os *os, const struct paimon_place *place,
                                 const struct table_descriptor *descriptor, struct err *err)
{
    struct arena arena = {0};
    struct buf text = {0};
    struct paimon_schema wanted;
    struct path dir;
    enum err_code code;
    TRY_OR_FAIL(wanted_schema(&arena, descriptor, &wanted, err));
    TRY_OR_FAIL(paimon_place_dir(place, &dir, err));
    TRY_OR_FAIL(alter(os, dir.text, &arena, &text, &wanted, err));
fail:
    buf_deinit(&text);
    arena_deinit(&arena);
    return code;
}
