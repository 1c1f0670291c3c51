/* Which functions there are, and which columns may have them. */
#include "format/agg/agg_int.h"

#define BIT(kind) (1u << TYPE_##kind)
#define BOOLEANS BIT(BOOLEAN)
#define BITMAPS BIT(BYTES)
#define TEXT BIT(STRING) /* not CHAR: what is put together would not keep its length */
#define NUMBERS (BIT(TINYINT) | BIT(SMALLINT) | BIT(INTEGER) | BIT(BIGINT) | BIT(FLOAT) | BIT(DOUBLE) | BIT(DECIMAL))
#define TIMES (BIT(DATE) | BIT(TIME) | BIT(TIMESTAMP) | BIT(TIMESTAMP_LTZ))
#define ORDERED (NUMBERS | TIMES | BIT(CHAR) | BIT(STRING))
#define ALL ((1u << TYPE_KIND_COUNT) - 1)
#define AGG_NULLS (1u << 31) /* the function sees nulls */
_Static_assert(TYPE_KIND_COUNT < 31, "the kinds of types and AGG_NULLS share 32 bits");

struct agg_function {
    const char *name;
    uint32_t kinds;
    agg_fold_fn *fold;
};

static const struct agg_function functions[] = {
#define AGG(name, kinds, fold) {name, kinds, agg_##fold},
#include "agg_functions.def"
#undef AGG
};

static const struct agg_function *find(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (slice_is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

static const struct slice *delimiter_of(const struct schema_column *column)
{
    return properties_get(&column->agg_parameters, "delimiter");
}

static enum err_code parameters_check(const struct schema_column *column, const struct agg_function *function,
                                      struct err *err)
{
    const struct slice *delimiter = delimiter_of(column);
    bool takes_one = function->fold == agg_joined;
    for (uint32_t i = 0; i < column->agg_parameters.count; i++) {
        struct slice key = column->agg_parameters.items[i].key;
        if (!takes_one || !slice_is(key, "delimiter"))
            return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                           "Column '%.*s': the aggregation function %s takes no parameter '%.*s'.",
                           SLICE_ARGS(column->name), function->name, (int)MIN(key.len, 60), (const char *)key.ptr);
    }
    if (delimiter && delimiter->len == 0)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                       "Column '%.*s': the delimiter of the aggregation function %s can't be empty.",
                       SLICE_ARGS(column->name), function->name);
    return OK;
}

enum err_code agg_check(const struct schema_column *column, struct err *err)
{
    if (!column->agg_function.ptr)
        return OK;
    const struct agg_function *function = find(column->agg_function);
    if (!function)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "Column '%.*s': there is no aggregation function '%.*s'.",
                       SLICE_ARGS(column->name), SLICE_ARGS(column->agg_function));
    if (function->kinds >> column->type->kind & 1)
        return parameters_check(column, function, err);
    struct buf type = {0};
    type_to_sql(column->type, &type);
    enum err_code code =
        err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "Column '%.*s': the aggregation function %s does not take %s.",
                SLICE_ARGS(column->name), function->name, buf_cstr(&type));
    buf_deinit(&type);
    return code;
}

void agg_init(struct agg *agg, const struct schema_column *column, bool in_key)
{
    struct slice name = column->agg_function;
    const struct slice *delimiter = delimiter_of(column);
    if (in_key)
        name = SLICE("last_value");
    else if (!name.ptr)
        name = SLICE("last_value_ignore_nulls");
    *agg = (struct agg){find(name), column->type, delimiter ? *delimiter : SLICE(",")};
    ASSERT(agg->function);
}

enum err_code agg_fold(const struct agg *agg, const struct datum *acc, const struct datum *input, struct arena *arena,
                       struct datum *out, struct err *err)
{
    struct agg_call call = {agg, acc, input, arena};
    if ((acc->is_null || input->is_null) && !(agg->function->kinds & AGG_NULLS)) {
        *out = acc->is_null ? *input : *acc;
        return OK;
    }
    return agg->function->fold(&call, out, err);
}
