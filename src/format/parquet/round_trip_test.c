/* What is written comes back: random schemas, values, sizes and options, from seeds. */
#include "format/parquet/parquet.h"
#include "lib/test.h"

#define COLUMNS_MAX 6
#define PROGRAMS 400

struct random {
    uint64_t state;
    bool micros_only; /* Iceberg holds no more of a timestamp */
    uint32_t domain;  /* how many different values */
};

static uint32_t below(struct random *r, uint32_t n)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)((r->state >> 11) % n);
}

static uint64_t bits(struct random *r)
{
    return (uint64_t)below(r, UINT32_MAX) << 32 | below(r, UINT32_MAX);
}

/* ---- schemas ---- */

static const struct type *random_type(struct random *r, struct arena *arena, int depth, bool key);

static void random_fields(struct random *r, struct arena *arena, struct type *type, uint32_t count, int depth)
{
    static const char *const names[] = {"a", "b", "c"};
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, count);
    for (uint32_t i = 0; i < count; i++)
        fields[i] = (struct field){
            .name = slice_str(names[i]),
            .type = random_type(r, arena, depth - 1, type->kind == TYPE_MAP && i == 0),
            .id = (int32_t)(100 + i),
        };
    type->fields = fields;
    type->field_count = count;
}

static const struct type *random_type(struct random *r, struct arena *arena, int depth, bool key)
{
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = (enum type_kind)below(r, depth > 0 && !key ? TYPE_KIND_COUNT : TYPE_ARRAY);
    type->nullable = !key && below(r, 4) != 0;
    type->length = (int32_t)(1 + below(r, 20));
    type->precision = (int32_t)below(r, 10);
    if (type->kind == TYPE_DECIMAL) {
        type->precision = (int32_t)(1 + below(r, 38));
        type->scale = (int32_t)below(r, (uint32_t)type->precision + 1);
    }
    if (type->kind == TYPE_ARRAY)
        random_fields(r, arena, type, 1, depth);
    else if (type->kind == TYPE_MAP)
        random_fields(r, arena, type, 2, depth);
    else if (type->kind == TYPE_ROW)
        random_fields(r, arena, type, 1 + below(r, 3), depth);
    return type;
}

static uint32_t random_columns(struct random *r, struct arena *arena, struct schema_column *columns)
{
    uint32_t count = 1 + below(r, COLUMNS_MAX);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = (struct schema_column){
            .name = arena_printf(arena, "col%u", i), .type = random_type(r, arena, 3, false), .id = (int32_t)i};
    return count;
}

/* ---- values ---- */

static void random_value(struct random *r, struct arena *arena, const struct type *type, struct datum *out);

static struct datum *random_values(struct random *r, struct arena *arena, const struct type *type, uint32_t count)
{
    struct datum *values = ARENA_NEW_ARRAY(arena, struct datum, count);
    for (uint32_t i = 0; i < count; i++)
        random_value(r, arena, type, &values[i]);
    return values;
}

static struct slice random_bytes(struct random *r, struct arena *arena, size_t len)
{
    uint8_t *p = arena_alloc(arena, len);
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)('a' + below(r, 26));
    return slice_of(p, len);
}

static void random_decimal(struct random *r, const struct type *type, struct datum *out)
{
    __int128 limit = 1;
    for (int32_t i = 0; i < type->precision; i++)
        limit *= 10;
    __int128 v = (__int128)((unsigned __int128)bits(r) << 64 | bits(r));
    out->decimal = below(r, 8) ? v % limit : (below(r, 2) ? limit - 1 : 1 - limit);
}

static void random_timestamp(struct random *r, const struct type *type, struct datum *out)
{
    int64_t range = type->precision > 6 ? 9000000000000 : 300000000000000;
    out->ts.millis = (int64_t)(bits(r) % (uint64_t)(2 * range)) - range;
    out->ts.nanos = (int32_t)below(r, 1000000);
    if (r->micros_only)
        out->ts.nanos -= out->ts.nanos % 1000;
}

static void random_scalar(struct random *r, struct arena *arena, const struct type *type, struct datum *out)
{
    static const int64_t int_ranges[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    switch (type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = below(r, 2);
        break;
    case TYPE_FLOAT:
        out->f32 = (float)(int32_t)below(r, UINT32_MAX) / 1024;
        break;
    case TYPE_DOUBLE:
        out->f64 = below(r, 50) ? (double)(int64_t)bits(r) / 1024 : __builtin_nan("");
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        out->bytes = random_bytes(r, arena, below(r, 2) ? below(r, 4) : below(r, 80));
        break;
    case TYPE_BINARY:
        out->bytes = random_bytes(r, arena, (size_t)type->length);
        break;
    case TYPE_DECIMAL:
        random_decimal(r, type, out);
        break;
    case TYPE_DATE:
        out->i64 = (int32_t)below(r, 5000000) - 2500000;
        break;
    case TYPE_TIME:
        out->i64 = below(r, 86400000);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        random_timestamp(r, type, out);
        break;
    default: {
        int64_t max = int_ranges[type->kind - TYPE_TINYINT];
        int64_t v = (int64_t)(bits(r) & (uint64_t)max);
        out->i64 = below(r, 2) ? v : -v - 1;
    }
    }
}

static void random_value(struct random *r, struct arena *arena, const struct type *type, struct datum *out)
{
    *out = (struct datum){.is_null = type->nullable && below(r, 4) == 0};
    if (out->is_null)
        return;
    uint32_t count = below(r, 3) ? below(r, 4) : 0;
    if (type->kind == TYPE_ARRAY) {
        out->list.items = random_values(r, arena, type->fields[0].type, count);
        out->list.count = count;
    } else if (type->kind == TYPE_MAP) {
        out->map.keys = random_values(r, arena, type->fields[0].type, count);
        out->map.values = random_values(r, arena, type->fields[1].type, count);
        out->map.count = count;
    } else if (type->kind == TYPE_ROW) {
        out->list.items = ARENA_NEW_ARRAY(arena, struct datum, type->field_count);
        out->list.count = type->field_count;
        for (uint32_t i = 0; i < type->field_count; i++)
            random_value(r, arena, type->fields[i].type, &out->list.items[i]);
    } else {
        random_scalar(r, arena, type, out);
    }
}

/* A few different values where r->domain says so, so that dictionaries come up. */
static void fill(struct random *r, struct column_builder *b, uint32_t rows)
{
    struct err err = {0};
    struct arena arena = {0};
    struct datum *some = random_values(r, &arena, b->type, r->domain ? r->domain : 1);
    for (uint32_t i = 0; i < rows; i++) {
        if (!r->domain)
            random_value(r, &arena, b->type, some);
        MUST(column_builder_append(b, r->domain ? &some[below(r, r->domain)] : some, &err));
    }
    arena_deinit(&arena);
}

/* ---- a program ---- */

static enum err_code to_buf(void *arg, struct slice bytes, struct err *err)
{
    (void)err;
    buf_put_slice(arg, bytes);
    return OK;
}

struct program {
    struct random random;
    struct arena arena;
    struct schema_column columns[COLUMNS_MAX];
    uint32_t column_count;
    struct column_builder builders[COLUMNS_MAX];
    struct column written[COLUMNS_MAX];
    uint32_t rows;
    struct buf file;
};

static struct parquet_writer_options random_options(struct random *r)
{
    static const enum codec codecs[] = {CODEC_NONE, CODEC_ZSTD, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4_RAW};
    return (struct parquet_writer_options){.codec = codecs[below(r, ARRAY_LEN(codecs))],
                                           .level = 1,
                                           .row_group_bytes = below(r, 2) ? 2000 + below(r, 20000) : 1 << 20,
                                           .page_bytes = below(r, 2) ? 50 + below(r, 1000) : 1 << 16,
                                           .dictionary = below(r, 4) != 0};
}

/* Rows [from, from + count) of the columns, as a batch of its own. */
static void write_part(struct program *p, struct parquet_writer *w, uint32_t from, uint32_t count)
{
    struct err err = {0};
    struct arena arena = {0};
    struct column_builder parts[COLUMNS_MAX];
    struct column views[COLUMNS_MAX];
    for (uint32_t c = 0; c < p->column_count; c++) {
        column_builder_init(&parts[c], p->columns[c].type);
        for (uint32_t i = from; i < from + count; i++)
            column_builder_append_from(&parts[c], &p->written[c], i);
        column_builder_view(&parts[c], &arena, &views[c]);
    }
    MUST(parquet_writer_write(w, views, count, &err));
    for (uint32_t c = 0; c < p->column_count; c++)
        column_builder_deinit(&parts[c]);
    arena_deinit(&arena);
}

static void write_file(struct program *p, enum parquet_profile profile)
{
    struct err err = {0};
    struct parquet_schema schema;
    struct parquet_writer *w;
    struct parquet_writer_options options = random_options(&p->random);
    MUST(parquet_schema_build(&p->arena, profile, p->columns, p->column_count, &schema, &err));
    MUST(parquet_writer_create(p->columns, p->column_count, &schema, &options, to_buf, &p->file, &w, &err));
    for (uint32_t at = 0; at < p->rows;) {
        uint32_t count = below(&p->random, 3) ? p->rows - at : 1 + below(&p->random, p->rows - at);
        write_part(p, w, at, count);
        at += count;
    }
    MUST(parquet_writer_finish(w, &err));
    assert_int_equal(parquet_writer_file_bytes(w), p->file.len);
    assert_int_equal(parquet_writer_row_count(w), p->rows);
    parquet_writer_destroy(w);
}

static void compare(const struct column *got, uint32_t got_at, const struct column *want, uint32_t want_at)
{
    struct arena arena = {0};
    struct datum a, b;
    column_get(got, got_at, &arena, &a);
    column_get(want, want_at, &arena, &b);
    if (!datum_equal(want->type, &a, &b)) {
        struct buf text = {0}, hex = {0};
        type_to_sql(want->type, &text);
        buf_printf(&text, " row %u: ", want_at);
        datum_canonical(want->type, &a, &hex);
        buf_put_hex(&text, buf_view(&hex));
        buf_reset(&hex);
        buf_printf(&text, " is not ");
        datum_canonical(want->type, &b, &hex);
        buf_put_hex(&text, buf_view(&hex));
        fail_msg("%s", buf_cstr(&text));
    }
    arena_deinit(&arena);
}

static void read_file(struct program *p, enum parquet_match match)
{
    struct err err = {0};
    struct parquet_reader *r;
    struct slice file = buf_view(&p->file);
    struct column columns[COLUMNS_MAX];
    uint32_t rows = 1, at = 0;
    MUST(parquet_reader_open(parquet_source_memory, &file, file.len, &r, &err));
    assert_int_equal(parquet_reader_row_count(r), p->rows);
    MUST(parquet_reader_select(r, p->columns, p->column_count, match, &err));
    for (; rows; at += rows) {
        MUST(parquet_reader_next(r, 1 + below(&p->random, 3000), columns, &rows, &err));
        for (uint32_t c = 0; c < p->column_count && rows; c++) {
            assert_int_equal(columns[c].length, rows);
            for (uint32_t i = 0; i < rows; i++)
                compare(&columns[c], i, &p->written[c], at + i);
        }
    }
    assert_int_equal(at, p->rows);
    parquet_reader_close(r);
}

static void run_program(uint64_t seed, uint32_t rows)
{
    struct program p = {.random = {.state = seed * 0x9e3779b97f4a7c15u + 1}, .rows = rows};
    enum parquet_profile profile = below(&p.random, 2) ? PARQUET_ICEBERG : PARQUET_PAIMON;
    p.random.micros_only = profile == PARQUET_ICEBERG;
    p.random.domain = below(&p.random, 2) ? 1 + below(&p.random, 40) : 0;
    p.column_count = random_columns(&p.random, &p.arena, p.columns);
    for (uint32_t c = 0; c < p.column_count; c++) {
        column_builder_init(&p.builders[c], p.columns[c].type);
        fill(&p.random, &p.builders[c], rows);
        column_builder_view(&p.builders[c], &p.arena, &p.written[c]);
    }
    write_file(&p, profile);
    read_file(&p, PARQUET_BY_NAME);
    read_file(&p, PARQUET_BY_ID);
    for (uint32_t c = 0; c < p.column_count; c++)
        column_builder_deinit(&p.builders[c]);
    buf_deinit(&p.file);
    arena_deinit(&p.arena);
}

static void any_schema_and_values_come_back(void **state)
{
    (void)state;
    static const uint32_t rows[] = {0, 1, 2, 63, 64, 65, 300, 1000};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        run_program(seed, rows[seed % ARRAY_LEN(rows)]);
}

static void many_rows_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1001; seed <= 1006; seed++)
        run_program(seed, 10000);
}

TESTS("format.parquet.round_trip", TEST(any_schema_and_values_come_back), TEST(many_rows_come_back))
