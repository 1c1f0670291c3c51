/* The condition of a fetch: batches whose statistics rule it out are left away, rows are never looked at. What can't be
 * understood is no condition, as in Fluss: clients check the rows themselves. */
#include "api/fetch_log_int.h"

#define DECIMAL_BYTES_MAX 16

enum { PB_LEAF, PB_COMPOUND };
enum { PB_AND, PB_OR };

struct reading {
    struct api_call *call;
    const struct schema *schema; /* that the client had */
    size_t parts;
};

/* What literals of each type are called; the numbers are those of requests. */
static const enum type_kind literal_kinds[] = {TYPE_BOOLEAN,   TYPE_TINYINT,       TYPE_SMALLINT, TYPE_INTEGER,
                                               TYPE_BIGINT,    TYPE_FLOAT,         TYPE_DOUBLE,   TYPE_CHAR,
                                               TYPE_STRING,    TYPE_DECIMAL,       TYPE_DATE,     TYPE_TIME,
                                               TYPE_TIMESTAMP, TYPE_TIMESTAMP_LTZ, TYPE_BINARY,   TYPE_BYTES};

static bool is_text(enum type_kind kind)
{
    return kind == TYPE_CHAR || kind == TYPE_STRING;
}

static bool is_binary(enum type_kind kind)
{
    return kind == TYPE_BINARY || kind == TYPE_BYTES;
}

static bool kind_fits(enum type_kind kind, int32_t literal_type)
{
    if (literal_type < 0 || (size_t)literal_type >= ARRAY_LEN(literal_kinds))
        return false;
    enum type_kind sent = literal_kinds[literal_type];
    return sent == kind || (is_text(sent) && is_text(kind)) || (is_binary(sent) && is_binary(kind));
}

/* Two's complement, most significant byte first. */
static bool decimal_read(const struct wire_pb_literal_value *pb, __int128 *decimal)
{
    *decimal = pb->decimal_value;
    if (!pb->has_decimal_bytes)
        return pb->has_decimal_value;
    struct slice bytes = pb->decimal_bytes;
    if (!bytes.len || bytes.len > DECIMAL_BYTES_MAX)
        return false;
    unsigned __int128 value = bytes.ptr[0] & 0x80 ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | bytes.ptr[i];
    *decimal = (__int128)value;
    return true;
}

/* False where the field of the type is not set. */
static bool value_read(const struct wire_pb_literal_value *pb, enum type_kind kind, struct datum *value)
{
    switch (kind) {
    case TYPE_BOOLEAN:
        value->boolean = pb->boolean_value;
        return pb->has_boolean_value;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_TIME:
        value->i64 = pb->int_value;
        return pb->has_int_value;
    case TYPE_BIGINT:
    case TYPE_DATE:
        value->i64 = pb->bigint_value;
        return pb->has_bigint_value;
    case TYPE_FLOAT:
        value->f32 = pb->float_value;
        return pb->has_float_value;
    case TYPE_DOUBLE:
        value->f64 = pb->double_value;
        return pb->has_double_value;
    case TYPE_CHAR:
    case TYPE_STRING:
        value->bytes = pb->string_value;
        return pb->has_string_value;
    case TYPE_DECIMAL:
        return decimal_read(pb, &value->decimal);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        value->ts.millis = pb->timestamp_millis_value;
        value->ts.nanos = pb->timestamp_nano_of_millis_value;
        return pb->has_timestamp_millis_value;
    default:
        value->bytes = pb->binary_value;
        return pb->has_binary_value;
    }
}

static bool literals_read(struct reading *reading, const struct wire_pb_leaf_predicate *pb, struct predicate *out)
{
    bool takes_list = out->kind == PREDICATE_IN || out->kind == PREDICATE_NOT_IN;
    size_t wanted = out->kind == PREDICATE_IS_NULL || out->kind == PREDICATE_IS_NOT_NULL ? 0 : 1;
    if ((!takes_list && pb->literals_count != wanted) || pb->literals_count > UINT32_MAX)
        return false;
    reading->parts += pb->literals_count;
    struct datum *literals = ARENA_NEW_ARRAY(&reading->call->arena, struct datum, pb->literals_count);
    for (size_t i = 0; i < pb->literals_count; i++) {
        literals[i].is_null = pb->literals[i].is_null;
        if (!pb->literals[i].is_null && (!kind_fits(out->type->kind, pb->literals[i].literal_type) ||
                                         !value_read(&pb->literals[i], out->type->kind, &literals[i])))
            return false;
    }
    out->literals = literals;
    out->literal_count = (uint32_t)pb->literals_count;
    return true;
}

static bool leaf_read(struct reading *reading, const struct wire_pb_leaf_predicate *pb, struct predicate *out)
{
    reading->parts++;
    if (!pb || pb->function < PREDICATE_EQUAL || pb->function > PREDICATE_NOT_IN)
        return false;
    int32_t position = schema_find_id(reading->schema, pb->field_id);
    if (position < 0)
        return false;
    out->kind = (enum predicate_kind)pb->function;
    out->column_id = pb->field_id;
    out->type = reading->schema->columns[position].type;
    bool of_text = out->kind >= PREDICATE_STARTS_WITH && out->kind <= PREDICATE_ENDS_WITH;
    return (!of_text || is_text(out->type->kind)) && literals_read(reading, pb, out);
}

/* As deep as messages may be nested. */
static bool predicate_read(struct reading *reading, const struct wire_pb_predicate *pb, struct predicate *out)
{
    if (pb->type == PB_LEAF)
        return leaf_read(reading, pb->leaf, out);
    const struct wire_pb_compound_predicate *compound = pb->compound;
    if (pb->type != PB_COMPOUND || !compound || compound->function < PB_AND || compound->function > PB_OR ||
        compound->children_count > UINT32_MAX)
        return false;
    struct predicate *children = ARENA_NEW_ARRAY(&reading->call->arena, struct predicate, compound->children_count);
    for (size_t i = 0; i < compound->children_count; i++)
        if (!predicate_read(reading, &compound->children[i], &children[i]))
            return false;
    out->kind = compound->function == PB_AND ? PREDICATE_AND : PREDICATE_OR;
    out->children = children;
    out->child_count = (uint32_t)compound->children_count;
    return true;
}

struct fetch_filter *fetch_filter_read(struct api_call *call, const struct wire_pb_fetch_log_req_for_table *req)
{
    const struct table_info *table;
    if (!req->filter_predicate || !req->has_filter_schema_id ||
        meta_table_get_by_id(call->api->config.meta, req->table_id, &table, NULL) != OK)
        return NULL;
    struct fetch_filter *filter = ARENA_NEW(&call->arena, struct fetch_filter);
    filter->table = table;
    const struct schema_version *version = table_schema(table, req->filter_schema_id);
    if (version) {
        struct reading reading = {call, version->schema, 0};
        if (predicate_read(&reading, req->filter_predicate, &filter->predicate)) {
            filter->parts = reading.parts;
            return filter;
        }
    }
    fetch_filter_drop(filter);
    return NULL;
}

bool fetch_filter_keeps(struct fetch_filter *filter, const struct log_batch *batch)
{
    const struct schema_version *version = table_schema(filter->table, batch->schema_id);
    arena_reset(&filter->scratch);
    return !version || log_batch_may_match(batch, version->schema, &filter->predicate, &filter->scratch);
}

void fetch_filter_drop(struct fetch_filter *filter)
{
    if (!filter)
        return;
    arena_deinit(&filter->scratch);
    table_unref(filter->table);
}
