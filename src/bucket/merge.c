/* What an upsert or a delete makes of the row that is there: whole rows, some columns, merge engines. */
#include "bucket/put_int.h"

/* ---- which columns ---- */

static enum err_code targets_mark(struct put *put, const struct bucket_put *what, bool *targets, struct err *err)
{
    const struct schema *schema = &put->state->table->descriptor->schema;
    for (size_t i = 0; i < what->target_column_count; i++) {
        if (what->target_columns[i] >= schema->column_count)
            return err_set(err, ERR_INVALID_TARGET_COLUMN, "target column %u: the table has %u columns",
                           what->target_columns[i], schema->column_count);
        targets[what->target_columns[i]] = true;
    }
    for (uint32_t i = 0; i < schema->primary_key_count; i++) {
        struct slice name = schema->columns[schema->primary_key[i]].name;
        if (!targets[schema->primary_key[i]])
            return err_set(err, ERR_INVALID_TARGET_COLUMN,
                           "the target columns must include the primary key, and '%.*s' is missing", SLICE_ARGS(name));
    }
    return OK;
}

/* Any of them can be null some day: the others at an insert, the targets at a delete. */
static enum err_code others_check(const struct schema *schema, struct err *err)
{
    for (uint32_t i = 0; i < schema->column_count; i++)
        if (!schema->columns[i].type->nullable && !schema_in_key(schema, i))
            return err_set(err, ERR_INVALID_TARGET_COLUMN,
                           "a table with partial updates can have NOT NULL columns in its primary key only, and '%.*s' "
                           "is one beside it",
                           SLICE_ARGS(schema->columns[i].name));
    return OK;
}

enum err_code put_targets_set(struct put *put, const struct bucket_put *what, struct err *err)
{
    const struct schema *schema = &put->state->table->descriptor->schema;
    uint32_t count = 0;
    put->overwrite = what->overwrite;
    TRY(put_number_targets_check(put, what, err));
    if (what->target_column_count == 0)
        return OK;
    bool *targets = arena_zalloc(&put->state->scratch, schema->column_count * sizeof *targets);
    TRY(targets_mark(put, what, targets, err));
    for (uint32_t i = 0; i < schema->column_count; i++)
        count += targets[i];
    if (count == schema->column_count)
        return OK; /* a whole row */
    TRY(others_check(schema, err));
    enum table_merge engine = put->state->table->settings.merge_engine;
    if (!put->overwrite && (engine == MERGE_FIRST_ROW || engine == MERGE_VERSIONED))
        return err_set(err, ERR_NOT_SUPPORTED, "the table's merge engine takes whole rows, no partial updates");
    put->targets = targets;
    put->targets_are_key = count == schema->primary_key_count;
    return OK;
}

/* ---- whether a row counts ---- */

static int64_t least_of(enum type_kind kind)
{
    return kind == TYPE_INTEGER ? INT32_MIN : INT64_MIN;
}

/* Null is the least value of the type. */
static int version_compare(const struct type *type, struct datum a, struct datum b)
{
    bool is_time = type->kind == TYPE_TIMESTAMP || type->kind == TYPE_TIMESTAMP_LTZ;
    struct datum *sides[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        if (!sides[i]->is_null)
            continue;
        *sides[i] = (struct datum){.i64 = least_of(type->kind)};
        if (is_time)
            *sides[i] = (struct datum){.ts = {INT64_MIN, 0}};
    }
    return datum_compare(type, &a, &b);
}

/* Does the new row replace the old one? Both are decoded. */
static bool replaces(const struct put *put)
{
    const struct state *state = put->state;
    int32_t column = state->version_column;
    if (put->overwrite)
        return true;
    switch (state->table->settings.merge_engine) {
    case MERGE_NONE:
    case MERGE_AGGREGATION:
        return true;
    case MERGE_FIRST_ROW:
        return false;
    case MERGE_VERSIONED:
        break;
    }
    return version_compare(state->table->descriptor->schema.columns[column].type, state->new_row[column],
                           state->old_row[column]) >= 0;
}

/* ---- upserts ---- */

/* A value of the newest schema, from a row of it. */
static enum err_code row_store(struct put *put, struct slice key, const struct datum *row, struct err *err)
{
    struct state *state = put->state;
    int32_t schema_id = state->table->schema_id;
    buf_reset(&put->value);
    kv_value_put_header(&put->value, (int16_t)schema_id);
    TRY(row_encode(state->table->settings.kv_format, state_schema_find(state, schema_id)->row, row, &put->value, err));
    put_store(put, key, buf_view(&put->value));
    return OK;
}

static bool aggregates(const struct put *put)
{
    return put->state->aggregates && !put->overwrite;
}

/* The new row becomes the old one with the new one's values taken in. */
static enum err_code aggregate(struct put *put, struct err *err)
{
    struct state *state = put->state;
    const struct schema *schema = &state->table->descriptor->schema;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct datum *value = &state->new_row[i], merged = state->old_row[i];
        if (!put->targets || put->targets[i])
            TRY(agg_fold(&state->aggregates[i], &state->old_row[i], value, &state->scratch, &merged, err));
        if (merged.is_null && !schema->columns[i].type->nullable)
            return err_set(err, ERR_INVALID_ARGUMENT,
                           "the column '%.*s', which is NOT NULL, would become null: its aggregate has more digits "
                           "than its type holds",
                           SLICE_ARGS(schema->columns[i].name));
        *value = merged;
    }
    return OK;
}

static bool tells_old_rows(const struct put *put)
{
    return put->state->table->settings.changelog_image == IMAGE_FULL;
}

static enum err_code changes_add(struct put *put, bool was_there, struct err *err)
{
    struct state *state = put->state;
    if (was_there) {
        if (tells_old_rows(put))
            TRY(put_change(put, CHANGE_UPDATE_BEFORE, state->old_row, err));
        return put_change(put, CHANGE_UPDATE_AFTER, state->new_row, err);
    }
    put->row_count++;
    return put_change(put, CHANGE_INSERT, state->new_row, err);
}

/* The other columns keep what they were; of a new row they are null. */
static void others_keep(struct put *put, bool was_there)
{
    struct state *state = put->state;
    for (uint32_t i = 0; i < state->table->descriptor->schema.column_count; i++) {
        if (put->targets[i])
            continue;
        state->new_row[i] = (struct datum){.is_null = true};
        if (was_there)
            state->new_row[i] = state->old_row[i];
    }
}

/* A look-up finds a row by the key that came with it, a replay of the changelog by the one that its columns make, and
 * the lake has only the columns: they must be the same. */
static enum err_code key_check(struct put *put, struct slice key, struct err *err)
{
    const struct state *state = put->state;
    const struct table_keys *keys = &state->keys;
    buf_reset(&put->key);
    enum err_code code =
        key_encode(keys->primary_encoder, keys->primary_type, state->new_row, keys->primary, &put->key, NULL);
    if (code == OK && slice_equal(key, buf_view(&put->key)))
        return OK;
    return err_set(err, ERR_INVALID_ARGUMENT, "a key of %zu bytes is not the one that its row's key columns make",
                   key.len);
}

/* Nobody could take such a row into a lake table. */
/* The row is there: does the new one count, and what is in it then? */
static enum err_code old_row_merge(struct put *put, struct slice old, bool *counts, struct err *err)
{
    TRY(state_row_decode(put->state, old, put->state->old_row, err));
    if (aggregates(put))
        return aggregate(put, err);
    *counts = put->targets ? !put->targets_are_key : replaces(put);
    if (put->targets)
        others_keep(put, true);
    return OK;
}

/* The new row takes the old one's place whatever that is, and the changelog does not want it: nobody looks for it. An
 * insert is told as an update then. */
static bool is_blind(const struct put *put)
{
    bool replaces_all = put->overwrite || put->state->table->settings.merge_engine == MERGE_NONE;
    return replaces_all && !put->targets && !tells_old_rows(put);
}

enum err_code put_upsert(struct put *put, const struct kv_record *record, struct err *err)
{
    struct state *state = put->state;
    struct slice old;
    bool counts = true;
    TRY(row_decode_mapped(state->table->settings.kv_format, &put->schema->to_newest, record->row, &state->scratch,
                          state->new_row, err));
    TRY(datum_row_check(state->changelog.type, state->new_row, err));
    TRY(key_check(put, record->key, err));
    bool blind = is_blind(put), there = blind;
    if (!blind) {
        TRY(put_newest_get(put, record->key, &old, err));
        there = old.ptr != NULL;
    }
    if (there && !blind)
        TRY(old_row_merge(put, old, &counts, err));
    else if (put->targets)
        others_keep(put, false);
    if (!there)
        TRY(put_number(put, err));
    if (!counts)
        return OK;
    TRY(changes_add(put, there, err));
    if (put->targets || (there && aggregates(put)))
        return row_store(put, record->key, state->new_row, err);
    /* The bytes are kept as they came, under the schema that they came with. */
    buf_reset(&put->value);
    kv_value_put_header(&put->value, put->batch.schema_id);
    buf_put_slice(&put->value, record->row);
    put_store(put, record->key, buf_view(&put->value));
    return OK;
}

/* ---- deletes ---- */

static enum err_code whole_delete(struct put *put, struct slice key, struct err *err)
{
    TRY(put_change(put, CHANGE_DELETE, put->state->old_row, err));
    put->row_count--;
    put_store(put, key, (struct slice){0});
    return OK;
}

static bool others_are_null(const struct put *put)
{
    for (uint32_t i = 0; i < put->state->table->descriptor->schema.column_count; i++)
        if (!put->targets[i] && !put->state->old_row[i].is_null)
            return false;
    return true;
}

/* The targets become null; with nothing left beside the key the row goes. */
static enum err_code partial_delete(struct put *put, struct slice key, struct err *err)
{
    struct state *state = put->state;
    const struct schema *schema = &state->table->descriptor->schema;
    if (others_are_null(put))
        return whole_delete(put, key, err);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        state->new_row[i] = state->old_row[i];
        if (put->targets[i] && !schema_in_key(schema, i))
            state->new_row[i] = (struct datum){.is_null = true};
    }
    TRY(changes_add(put, true, err));
    return row_store(put, key, state->new_row, err);
}

/* Asked before the key is looked at, so absent keys make no difference. */
static enum err_code delete_check(const struct put *put, bool *ignored, struct err *err)
{
    const struct table_info *table = put->state->table;
    enum table_delete behavior = put->overwrite ? DELETE_ALLOW : table->settings.delete_behavior;
    *ignored = behavior == DELETE_IGNORE;
    if (behavior != DELETE_DISABLE)
        return OK;
    return err_set(err, ERR_DELETION_DISABLED_EXCEPTION, "table %.*s.%.*s does not take deletes",
                   SLICE_ARGS(table->database), SLICE_ARGS(table->name));
}

enum err_code put_delete(struct put *put, struct slice key, struct err *err)
{
    struct slice old;
    bool ignored;
    TRY(delete_check(put, &ignored, err));
    if (ignored)
        return OK;
    TRY(put_newest_get(put, key, &old, err));
    if (!old.ptr)
        return OK; /* nothing there, nothing to say */
    TRY(state_row_decode(put->state, old, put->state->old_row, err));
    return put->targets ? partial_delete(put, key, err) : whole_delete(put, key, err);
}
