/* Numbers of an auto-increment column. A bucket takes them from the table's counter many at a time; those that are left
 * when it closes are never given, nor those that a refused batch drew. */
#include "bucket/put_int.h"

static enum err_code more_numbers(struct put *put, struct err *err)
{
    struct state *state = put->state;
    const struct table_info *table = state->table;
    int64_t first = 0, count = MIN(table->settings.auto_increment_cache, META_SEQUENCE_COUNT_MAX);
    int32_t column_id = table->descriptor->schema.columns[state->number_column].id;
    TRY(meta_sequence_take(put->bucket->env->meta, table->table_id, column_id, count, &first, err));
    state->number_next = first;
    state->number_end = first + count;
    return OK;
}

enum err_code put_number(struct put *put, struct err *err)
{
    struct state *state = put->state;
    if (state->number_column < 0)
        return OK;
    const struct schema_column *column = &state->table->descriptor->schema.columns[state->number_column];
    if (state->number_next == state->number_end)
        TRY(more_numbers(put, err));
    if (column->type->kind == TYPE_INTEGER && state->number_next > INT32_MAX)
        return err_set(err, ERR_LIMIT, "the numbers of the INT column '%.*s' are used up", SLICE_ARGS(column->name));
    state->new_row[state->number_column] = (struct datum){.i64 = state->number_next++};
    return OK;
}

enum err_code put_number_targets_check(const struct put *put, const struct bucket_put *what, struct err *err)
{
    int32_t column = put->state->number_column;
    if (column < 0)
        return OK;
    struct slice name = put->state->table->descriptor->schema.columns[column].name;
    if (what->target_column_count == 0)
        return err_set(err, ERR_INVALID_TARGET_COLUMN,
                       "the table numbers its rows in the column '%.*s': name the columns to write, without that one",
                       SLICE_ARGS(name));
    for (size_t i = 0; i < what->target_column_count; i++)
        if (what->target_columns[i] == (uint32_t)column)
            return err_set(err, ERR_INVALID_TARGET_COLUMN,
                           "the auto-increment column '%.*s' can't be among the columns to write", SLICE_ARGS(name));
    return OK;
}
