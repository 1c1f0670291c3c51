#include "format/agg/agg_int.h"
#include "lib/golden_value.h"

static struct arena arena;

/* A tree of values for comparing: chunks spread out into bits. */
static void assert_same_values(const char *id, const struct chunks *a, const struct chunks *b)
{
    if (a->count != b->count)
        fail_msg("%s: %u chunks, not %u", id, a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].high != b->items[i].high || a->items[i].count != b->items[i].count)
            fail_msg("%s: chunk %u", id, i);
}

typedef bool read_fn(struct slice, struct arena *, struct chunks *);
typedef void write_fn(const struct chunks *, struct buf *);

static struct slice fold(bool wide, struct slice a, struct slice b)
{
    struct schema_column column = {.name = SLICE("v"), .type = type_simple(TYPE_BYTES)};
    struct datum old = {.bytes = a}, new = {.bytes = b}, got;
    struct agg agg;
    struct err err = {0};
    column.agg_function = wide ? SLICE("rbm64") : SLICE("rbm32");
    agg_init(&agg, &column, false);
    MUST(agg_fold(&agg, &old, &new, &arena, &got, &err));
    return got.bytes;
}

static void cuts_are_refused(read_fn *read, struct slice whole)
{
    struct chunks chunks;
    for (size_t len = 0; len < whole.len; len += 1 + len / 64) {
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, whole.ptr, len);
        assert_false(read(slice_of(copy, len), &arena, &chunks));
        free(copy);
    }
}

struct seen {
    int all, equal;
};

static void golden_line(void *arg, struct slice line)
{
    struct seen *seen = arg;
    json_t *root = golden_parse(line);
    const char *id = golden_text(root, "id");
    bool wide = strncmp(id, "rbm64/", 6) == 0;
    read_fn *read = wide ? bitmap64_read : bitmap32_read;
    write_fn *write = wide ? bitmap64_write : bitmap32_write;
    struct slice sides[] = {golden_hex(&arena, root, "a"), golden_hex(&arena, root, "b"),
                            golden_hex(&arena, root, "union")};
    struct buf again = {0};
    struct chunks want, got;
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        assert_true(read(sides[i], &arena, &want));
        buf_reset(&again);
        write(&want, &again);
        assert_true(read(buf_view(&again), &arena, &got));
        assert_same_values(id, &got, &want);
        cuts_are_refused(read, sides[i]);
    }
    /* What is in the union already changes nothing: so equal counts are equal values. */
    struct slice mine = fold(wide, sides[0], sides[1]);
    assert_true(read(mine, &arena, &got));
    assert_same_values(id, &got, &want);
    struct slice both = fold(wide, mine, sides[2]);
    assert_true(read(both, &arena, &got));
    assert_same_values(id, &got, &want);
    seen->all++;
    seen->equal += slice_equal(mine, sides[2]);
    buf_deinit(&again);
    json_decref(root);
    arena_reset(&arena);
}

static void unions_are_those_of_java(void **state)
{
    (void)state;
    struct seen seen = {0};
    test_each_line("bitmaps", golden_line, &seen);
    print_message("%d of %d with the very bytes\n", seen.equal, seen.all);
    assert_int_equal(seen.all, 61);
    arena_deinit(&arena);
}

TESTS("format.agg.bitmap", TEST(unions_are_those_of_java))
