/* Any bytes as a condition and batches with statistics: it may match, or not; nothing is read that is not there.
 * First the condition, a node after the other: a byte of kind; of AND and OR a byte of children; of a leaf a byte of
 * column, then literals: a byte (0 null), the value. The rest are batches. */
#include "base/reader.h"
#include "format/batch/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NODES_MAX 64
#define DEPTH_MAX 8

struct input {
    struct reader r;
    struct arena arena;
    struct schema schema;
    unsigned nodes;
};

static struct datum literal_read(struct input *in, const struct type *type)
{
    struct datum value = {.is_null = reader_u8(&in->r) == 0};
    uint64_t bits = value.is_null ? 0 : reader_u64(&in->r);
    switch (type->kind) {
    case TYPE_STRING:
        value.bytes = reader_slice(&in->r, bits % 16);
        break;
    case TYPE_DOUBLE:
        memcpy(&value.f64, &bits, sizeof bits);
        break;
    case TYPE_DECIMAL:
        value.decimal = (__int128)(int64_t)bits * ((__int128)1 << (bits & 63));
        break;
    case TYPE_TIMESTAMP:
        value.ts.millis = (int64_t)bits;
        value.ts.nanos = (int32_t)(bits % 1000000);
        break;
    default:
        value.i64 = (int32_t)bits;
    }
    return value;
}

static void leaf_read(struct input *in, struct predicate *out)
{
    const struct schema_column *column = &in->schema.columns[reader_u8(&in->r) % in->schema.column_count];
    bool is_text = column->type->kind == TYPE_STRING;
    if (out->kind >= PREDICATE_STARTS_WITH && out->kind <= PREDICATE_ENDS_WITH && !is_text)
        out->kind = PREDICATE_EQUAL;
    out->column_id = column->id;
    out->type = column->type;
    out->literal_count = 1;
    if (out->kind == PREDICATE_IN || out->kind == PREDICATE_NOT_IN)
        out->literal_count = reader_u8(&in->r) % 5;
    else if (out->kind == PREDICATE_IS_NULL || out->kind == PREDICATE_IS_NOT_NULL)
        out->literal_count = 0;
    struct datum *literals = ARENA_NEW_ARRAY(&in->arena, struct datum, out->literal_count);
    for (uint32_t i = 0; i < out->literal_count; i++)
        literals[i] = literal_read(in, column->type);
    out->literals = literals;
}

static void predicate_read(struct input *in, struct predicate *out, int depth)
{
    out->kind = reader_u8(&in->r) % (PREDICATE_OR + 1);
    if (out->kind < PREDICATE_AND || depth == DEPTH_MAX) {
        out->kind %= PREDICATE_AND;
        leaf_read(in, out);
        return;
    }
    uint32_t count = reader_u8(&in->r) % 4;
    struct predicate *children = ARENA_NEW_ARRAY(&in->arena, struct predicate, count);
    for (; out->child_count < count && in->nodes < NODES_MAX; in->nodes++)
        predicate_read(in, &children[out->child_count++], depth + 1);
    out->children = children;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char columns[] =
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":0},"
        "{\"name\":\"b\",\"data_type\":{\"type\":\"STRING\"},\"id\":1},"
        "{\"name\":\"c\",\"data_type\":{\"type\":\"DOUBLE\"},\"id\":2},"
        "{\"name\":\"d\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":30,\"scale\":2},\"id\":3},"
        "{\"name\":\"e\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\",\"precision\":9},\"id\":4}],"
        "\"highest_field_id\":4}";
    struct input in = {.r = reader_of(slice_of(data, size))};
    struct predicate predicate = {0};
    struct slice one;
    struct arena scratch = {0};
    ASSERT(schema_from_json(&in.arena, slice_str(columns), &in.schema, NULL) == OK);
    predicate_read(&in, &predicate, 0);
    struct slice rest = reader_ok(&in.r) ? reader_slice(&in.r, reader_left(&in.r)) : (struct slice){0};
    while (log_batch_next(&rest, &one, NULL) == OK && one.len) {
        struct log_batch batch;
        if (log_batch_read(one, &batch, NULL) == OK)
            (void)log_batch_may_match(&batch, &in.schema, &predicate, &scratch);
        arena_reset(&scratch);
    }
    arena_deinit(&scratch);
    arena_deinit(&in.arena);
    return 0;
}
