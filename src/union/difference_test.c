/* Comparing multisets of rows: what is the same is said to be, and one row that is not is always found and named. */
#include "lib/test.h"
#include "union/union_int.h"

#define ROWS_MAX 4096
#define BUCKETS 4

static struct schema_column columns[2];
static struct schema schema = {.columns = columns, .column_count = 2, .auto_increment = -1};

struct item {
    int32_t bucket;
    int32_t weight;
    int64_t id;
    char text[12];
};

struct side {
    struct item items[ROWS_MAX];
    size_t count;
    size_t reads;
};

static struct side sides[2];
static struct bag bags[2];
static struct arena arena;
static struct err err;
static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

static void start(uint64_t with)
{
    columns[0] = (struct schema_column){.name = SLICE("id"), .type = type_simple(TYPE_BIGINT)};
    columns[1] = (struct schema_column){.name = SLICE("v"), .type = type_simple(TYPE_STRING)};
    seed = with;
    sides[0].count = sides[1].count = 0;
    arena_reset(&arena);
}

static void add(struct side *side, struct item item)
{
    assert_true(side->count < ROWS_MAX);
    side->items[side->count++] = item;
}

static struct item random_item(void)
{
    struct item item = {(int32_t)random_below(BUCKETS), 1, (int64_t)random_below(500), ""};
    if (random_below(5))
        snprintf(item.text, sizeof item.text, "v%d", (int)random_below(50));
    return item;
}

static enum err_code read_side(void *arg, union_row_fn *fn, void *fn_arg, struct err *e)
{
    struct side *side = arg;
    bool enough = false;
    side->reads++;
    for (size_t i = 0; i < side->count && !enough; i++) {
        const struct item *item = &side->items[i];
        struct datum values[2] = {{.i64 = item->id}, {.is_null = !item->text[0], .bytes = slice_str(item->text)}};
        if (values[1].is_null)
            values[1] = (struct datum){.is_null = true};
        struct union_row row = {values, item->bucket, -1, item->weight};
        TRY(fn(fn_arg, &row, &enough, e));
    }
    return OK;
}

static void fill(size_t side)
{
    int64_t counted = 0;
    struct bag_fill task = {.schema = &schema, .bag = &bags[side], .rows_counted = &counted};
    memset(&bags[side], 0, sizeof bags[side]);
    MUST(read_side(&sides[side], bag_fill_row, &task, &err));
    assert_int_equal(counted, sides[side].count);
    buf_deinit(&task.scratch);
}

static bool equal(void)
{
    fill(0);
    fill(1);
    return bag_equal(&bags[0], &bags[1]);
}

static struct differences find(size_t tally_max, size_t row_max)
{
    struct difference_task task = {.schema = &schema,
                                   .sources = {{read_side, &sides[0]}, {read_side, &sides[1]}},
                                   .bags = {&bags[0], &bags[1]},
                                   .tally_max = tally_max,
                                   .row_max = row_max};
    struct differences found;
    MUST(differences_find(&task, &arena, &found, &err));
    return found;
}

static void shuffle(struct side *side)
{
    for (size_t i = side->count; i > 1; i--) {
        size_t other = random_below(i);
        struct item item = side->items[i - 1];
        side->items[i - 1] = side->items[other];
        side->items[other] = item;
    }
}

/* Both sides hold the same, in another order; side 0 by way of changes that it takes back. */
static void make_equal_sides(size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        struct item item = random_item();
        add(&sides[0], item);
        add(&sides[1], item);
        struct item passing = random_item();
        if (random_below(3) == 0) {
            add(&sides[0], passing);
            passing.weight = -1;
            add(&sides[0], passing);
        }
    }
    shuffle(&sides[0]);
    shuffle(&sides[1]);
}

static void the_same_rows_are_equal_in_any_order(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < 50; s++) {
        start(s);
        make_equal_sides(random_below(300));
        assert_true(equal());
        assert_int_equal(bags[0].all.row_count, sides[1].count);
    }
}

static int64_t count_of(const struct side *side, const struct item *item)
{
    int64_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct item *other = &side->items[i];
        if (other->bucket == item->bucket && other->id == item->id && !strcmp(other->text, item->text))
            count += other->weight;
    }
    return count;
}

static struct slice json_of(const struct item *item)
{
    return *item->text ? arena_printf(&arena, "{\"id\":%d,\"v\":\"%s\"}", (int)item->id, item->text)
                       : arena_printf(&arena, "{\"id\":%d,\"v\":null}", (int)item->id);
}

static void assert_names(const struct differences *found, const struct item *item)
{
    struct slice want = json_of(item);
    int64_t counts[2] = {count_of(&sides[0], item), count_of(&sides[1], item)};
    bool named = false;
    for (size_t i = 0; i < found->count; i++) {
        const struct union_difference *d = &found->items[i];
        if (!slice_equal(d->row, want) || d->bucket != item->bucket)
            continue;
        named = true;
        assert_int_equal(d->in_stream, counts[0]);
        assert_int_equal(d->in_other, counts[1]);
    }
    assert_true(named == (counts[0] != counts[1]));
}

enum fault { CHANGED, MISSING, DOUBLED, MOVED, FAULTS };

/* Puts one fault into a side, and gives the one or two rows in which the sides then differ. */
static void put_fault(struct side *side, enum fault fault, struct item touched[2])
{
    struct item *victim = &side->items[random_below(side->count)];
    touched[0] = touched[1] = *victim;
    switch (fault) {
    case CHANGED:
        snprintf(victim->text, sizeof victim->text, "other");
        touched[1] = *victim;
        return;
    case MISSING:
        *victim = side->items[--side->count];
        return;
    case DOUBLED:
        add(side, *victim);
        return;
    default:
        victim->bucket = (victim->bucket + 1) % BUCKETS;
        touched[1] = *victim;
    }
}

static void one_row_that_differs_is_found_and_named(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < 400; s++) {
        struct item touched[2];
        start(1000 + s);
        make_equal_sides(1 + random_below(300));
        enum fault fault = (enum fault)(s % FAULTS);
        put_fault(&sides[s / FAULTS % 2], fault, touched);
        assert_false(equal());
        struct differences found = find(0, 0);
        assert_true(found.all);
        assert_int_equal(found.differing_rows, fault == CHANGED || fault == MOVED ? 2 : 1);
        assert_int_equal(found.count, found.differing_rows);
        assert_names(&found, &touched[0]);
        assert_names(&found, &touched[1]);
    }
}

static void what_was_never_given_but_taken_back_is_named(void **state)
{
    (void)state;
    start(7);
    make_equal_sides(20);
    add(&sides[0], (struct item){2, -1, 9999, "ghost"});
    assert_false(equal());
    struct differences found = find(0, 0);
    assert_int_equal(found.count, 1);
    assert_slice_equal(found.items[0].row, SLICE("{\"id\":9999,\"v\":\"ghost\"}"));
    assert_int_equal(found.items[0].in_stream, -1);
    assert_int_equal(found.items[0].in_other, 0);
}

static void no_more_rows_are_shown_than_asked_for(void **state)
{
    (void)state;
    start(8);
    for (int i = 0; i < 1000; i++)
        add(&sides[i % 2], (struct item){0, 1, i, "x"});
    assert_false(equal());
    struct differences found = find(0, 10);
    assert_int_equal(found.count, 10);
    assert_int_equal(found.differing_rows, 1000);
    assert_true(found.all);
}

/* 1000 differing rows, room for 20: fewer and fewer parts are looked at until their rows fit. */
static void memory_is_bounded_by_looking_at_fewer_parts(void **state)
{
    (void)state;
    start(9);
    for (int i = 0; i < 1000; i++)
        add(&sides[i % 2], (struct item){0, 1, i, "x"});
    assert_false(equal());
    sides[0].reads = 0;
    struct differences found = find(20, 10);
    assert_false(found.all);
    assert_in_range(found.differing_rows, 1, 20);
    assert_in_range(found.count, 1, 10);
    assert_in_range(sides[0].reads, 3, 20);
    for (size_t i = 0; i < found.count; i++)
        assert_int_equal(found.items[i].in_stream + found.items[i].in_other, 1);
}

TESTS("union.difference", TEST(the_same_rows_are_equal_in_any_order), TEST(one_row_that_differs_is_found_and_named),
      TEST(what_was_never_given_but_taken_back_is_named), TEST(no_more_rows_are_shown_than_asked_for),
      TEST(memory_is_bounded_by_looking_at_fewer_parts))
