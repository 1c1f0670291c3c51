/* A batch is only left away where no row of it meets the condition: against rows, a condition at a time. */
#include "format/batch/batch.h"

#include "base/hash.h"
#include "format/row/row.h"
#include "lib/test.h"

#include <math.h>

#define ROWS 6
#define COLUMNS 6

static const struct type types[COLUMNS] = {
    {.kind = TYPE_INTEGER, .nullable = true},
    {.kind = TYPE_STRING, .nullable = true},
    {.kind = TYPE_DOUBLE, .nullable = true},
    {.kind = TYPE_DECIMAL, .nullable = true, .precision = 30, .scale = 2},
    {.kind = TYPE_TIMESTAMP, .nullable = true, .precision = 6},
    {.kind = TYPE_BOOLEAN, .nullable = true},
};
static const char *const texts[] = {"", "a", "ab", "abc", "b", "ba", "\xc3\xa4", "zz"};
static const double numbers[] = {-INFINITY, -1, -0.0, 0.0, 0.5, 2, INFINITY, NAN};

static struct schema_column columns[COLUMNS];
static const struct schema schema = {.columns = columns, .column_count = COLUMNS};
static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
    unsigned __int128 hash = hash128(seed++, 7, (struct slice){0});
    return (uint32_t)((uint64_t)hash % below);
}

static struct datum value_of(uint32_t column, uint32_t n)
{
    switch (types[column].kind) {
    case TYPE_STRING:
        return (struct datum){.bytes = slice_str(texts[n % ARRAY_LEN(texts)])};
    case TYPE_DOUBLE:
        return (struct datum){.f64 = numbers[n % ARRAY_LEN(numbers)]};
    case TYPE_DECIMAL:
        return (struct datum){.decimal = ((__int128)n - 3) * ((__int128)1 << 70)};
    case TYPE_TIMESTAMP:
        return (struct datum){.ts = {(int64_t)(n / 2) - 2, (int32_t)(n % 2) * 1000}};
    case TYPE_BOOLEAN:
        return (struct datum){.boolean = n % 2};
    default:
        return (struct datum){.i64 = (int64_t)n - 4};
    }
}

static struct datum random_value(uint32_t column, uint32_t nulls_in_8)
{
    return draw(8) < nulls_in_8 ? (struct datum){.is_null = true} : value_of(column, draw(8));
}

/* ---- what a row says: three values, as SQL has them ---- */

enum truth { NO, YES, NULL_ };

static int order(uint32_t column, const struct datum *a, const struct datum *b)
{
    if (types[column].kind == TYPE_DOUBLE)
        return (a->f64 > b->f64) - (a->f64 < b->f64);
    return datum_compare(&types[column], a, b);
}

static bool leaf_holds(uint32_t column, enum predicate_kind kind, const struct datum *v, const struct datum *literal)
{
    bool nan = types[column].kind == TYPE_DOUBLE && (isnan(v->f64) || isnan(literal->f64));
    int o = nan ? 1 : order(column, v, literal);
    switch (kind) {
    case PREDICATE_EQUAL:
        return !nan && o == 0;
    case PREDICATE_NOT_EQUAL:
        return nan || o != 0;
    case PREDICATE_LESS:
        return !nan && o < 0;
    case PREDICATE_LESS_OR_EQUAL:
        return !nan && o <= 0;
    case PREDICATE_GREATER:
        return !nan && o > 0;
    case PREDICATE_GREATER_OR_EQUAL:
        return !nan && o >= 0;
    case PREDICATE_STARTS_WITH:
        return slice_starts_with(v->bytes, literal->bytes);
    case PREDICATE_ENDS_WITH:
        return slice_ends_with(v->bytes, literal->bytes);
    case PREDICATE_CONTAINS:
        return !literal->bytes.len || memmem(v->bytes.ptr, v->bytes.len, literal->bytes.ptr, literal->bytes.len);
    default:
        fail();
        return false;
    }
}

static enum truth in_list(const struct predicate *p, uint32_t column, const struct datum *v)
{
    enum truth found = NO;
    for (uint32_t i = 0; i < p->literal_count; i++) {
        if (p->literals[i].is_null)
            found = found == YES ? YES : NULL_;
        else if (leaf_holds(column, PREDICATE_EQUAL, v, &p->literals[i]))
            found = YES;
    }
    return found;
}

static enum truth row_truth(const struct predicate *p, const struct datum *row)
{
    if (p->kind == PREDICATE_AND || p->kind == PREDICATE_OR) {
        bool all = p->kind == PREDICATE_AND;
        enum truth result = all ? YES : NO;
        for (uint32_t i = 0; i < p->child_count; i++) {
            enum truth child = row_truth(&p->children[i], row);
            if (child == (all ? NO : YES))
                return child;
            result = child == NULL_ ? NULL_ : result;
        }
        return result;
    }
    uint32_t column = (uint32_t)p->column_id - 10;
    const struct datum *v = &row[column];
    if (p->kind == PREDICATE_IS_NULL || p->kind == PREDICATE_IS_NOT_NULL)
        return v->is_null == (p->kind == PREDICATE_IS_NULL) ? YES : NO;
    if (v->is_null)
        return NULL_;
    if (p->kind == PREDICATE_IN || p->kind == PREDICATE_NOT_IN) {
        enum truth in = in_list(p, column, v);
        return in == NULL_ || p->kind == PREDICATE_IN ? in : in == YES ? NO : YES;
    }
    if (p->literals[0].is_null)
        return NULL_;
    return leaf_holds(column, p->kind, v, &p->literals[0]) ? YES : NO;
}

/* ---- making statistics and conditions ---- */

static void put_bounds(struct buf *out, const uint32_t *positions, uint32_t count, struct datum rows[ROWS][COLUMNS],
                       int sign, struct arena *arena)
{
    struct err err;
    struct datum bounds[COLUMNS];
    for (uint32_t i = 0; i < count; i++) {
        bounds[i] = (struct datum){.is_null = true};
        for (uint32_t r = 0; r < ROWS; r++) {
            const struct datum *v = &rows[r][positions[i]];
            if (!v->is_null && (bounds[i].is_null || datum_compare(&types[positions[i]], v, &bounds[i]) * sign > 0))
                bounds[i] = *v;
        }
    }
    size_t at = out->len;
    buf_put_u32(out, 0);
    MUST(row_encode(ROW_ALIGNED, row_type_of(arena, &schema, positions, count), bounds, out, &err));
    store_u32(out->ptr + at, (uint32_t)(out->len - at - 4));
}

/* Of some of the columns, in any order. */
static void put_statistics(struct buf *out, struct datum rows[ROWS][COLUMNS], struct arena *arena)
{
    uint32_t positions[COLUMNS], count = 0, from = draw(COLUMNS);
    for (uint32_t i = 0; i < COLUMNS; i++)
        if (draw(4))
            positions[count++] = (from + i) % COLUMNS;
    buf_put_u8(out, LOG_BATCH_STATISTICS_VERSION);
    buf_put_u16(out, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++)
        buf_put_u16(out, (uint16_t)positions[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t nulls = 0;
        for (uint32_t r = 0; r < ROWS; r++)
            nulls += rows[r][positions[i]].is_null;
        buf_put_u32(out, nulls);
    }
    put_bounds(out, positions, count, rows, -1, arena);
    put_bounds(out, positions, count, rows, 1, arena);
}

static struct predicate random_predicate(struct arena *arena, unsigned depth)
{
    struct predicate p = {0};
    if (depth && draw(3) == 0) {
        p.kind = draw(2) ? PREDICATE_AND : PREDICATE_OR;
        p.child_count = draw(4);
        struct predicate *children = ARENA_NEW_ARRAY(arena, struct predicate, p.child_count);
        for (uint32_t i = 0; i < p.child_count; i++)
            children[i] = random_predicate(arena, depth - 1);
        p.children = children;
        return p;
    }
    uint32_t column = draw(COLUMNS);
    do
        p.kind = (enum predicate_kind)draw(PREDICATE_NOT_IN + 1);
    while (p.kind >= PREDICATE_STARTS_WITH && p.kind <= PREDICATE_ENDS_WITH && types[column].kind != TYPE_STRING);
    p.column_id = (int32_t)column + 10;
    p.type = &types[column];
    bool list = p.kind == PREDICATE_IN || p.kind == PREDICATE_NOT_IN;
    p.literal_count = list ? draw(4) : p.kind == PREDICATE_IS_NULL || p.kind == PREDICATE_IS_NOT_NULL ? 0 : 1;
    struct datum *literals = ARENA_NEW_ARRAY(arena, struct datum, p.literal_count);
    for (uint32_t i = 0; i < p.literal_count; i++)
        literals[i] = random_value(column, draw(4) == 0);
    p.literals = literals;
    return p;
}

static void setup(void)
{
    for (uint32_t i = 0; i < COLUMNS; i++)
        columns[i] = (struct schema_column){.type = &types[i], .id = (int32_t)i + 10};
}

/* Rows of few values, so that bounds are narrow and conditions often fail. */
static void random_rows(struct datum rows[ROWS][COLUMNS])
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        uint32_t nulls = draw(4) ? draw(3) : 8, base = draw(8), width = 1 + draw(4);
        for (uint32_t r = 0; r < ROWS; r++)
            rows[r][c] = draw(8) < nulls ? (struct datum){.is_null = true} : value_of(c, base + draw(width));
    }
}

static void a_batch_with_a_row_that_matches_is_never_left_away(void **state)
{
    (void)state;
    unsigned skipped = 0, kept_for_nothing = 0;
    setup();
    for (unsigned i = 0; i < 3000; i++) {
        struct arena arena = {0}, scratch = {0};
        struct buf statistics = {0};
        struct datum rows[ROWS][COLUMNS];
        random_rows(rows);
        put_statistics(&statistics, rows, &arena);
        struct log_batch batch = {.record_count = ROWS, .statistics = buf_view(&statistics)};
        for (unsigned k = 0; k < 10; k++) {
            struct predicate p = random_predicate(&arena, 3);
            bool may = log_batch_may_match(&batch, &schema, &p, &scratch), any = false;
            for (uint32_t r = 0; r < ROWS; r++)
                any |= row_truth(&p, rows[r]) == YES;
            if (any && !may)
                fail_msg("program %u.%u: a row matches a batch that was left away", i, k);
            skipped += !may;
            kept_for_nothing += may && !any;
        }
        buf_deinit(&statistics);
        arena_deinit(&arena);
        arena_deinit(&scratch);
    }
    assert_true(skipped > kept_for_nothing); /* it is worth something */
}

static void damaged_statistics_keep_the_batch(void **state)
{
    (void)state;
    struct arena arena = {0}, scratch = {0};
    struct buf statistics = {0};
    struct datum rows[ROWS][COLUMNS];
    setup();
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t c = 0; c < COLUMNS; c++)
            rows[r][c] = value_of(c, 1);
    do {
        buf_reset(&statistics);
        put_statistics(&statistics, rows, &arena);
    } while (load_u16(statistics.ptr + 1) != COLUMNS);
    struct datum far = {.i64 = 1000};
    struct predicate p = {
        .kind = PREDICATE_EQUAL, .column_id = 10, .type = &types[0], .literals = &far, .literal_count = 1};
    struct log_batch batch = {.record_count = ROWS, .statistics = buf_view(&statistics)};
    assert_false(log_batch_may_match(&batch, &schema, &p, &scratch));
    for (size_t len = 0; len < statistics.len; len++) {
        batch.statistics = slice_of(statistics.ptr, len);
        assert_true(log_batch_may_match(&batch, &schema, &p, &scratch));
    }
    batch.statistics = buf_view(&statistics);
    for (size_t at = 0; at < statistics.len; at++) { /* whatever they say then: no crash */
        statistics.ptr[at] ^= 0x81;
        (void)log_batch_may_match(&batch, &schema, &p, &scratch);
        statistics.ptr[at] ^= 0x81;
    }
    p.column_id = 99; /* of another schema */
    assert_true(log_batch_may_match(&batch, &schema, &p, &scratch));
    buf_deinit(&statistics);
    arena_deinit(&arena);
    arena_deinit(&scratch);
}

TESTS("batch.predicate", TEST(a_batch_with_a_row_that_matches_is_never_left_away),
      TEST(damaged_statistics_keep_the_batch))
