#include "format/parquet/parquet_int.h"
#include "lib/test.h"

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Runs and lone values, so that both forms come up and follow each other. */
static void fill(uint32_t *values, size_t count, unsigned width, uint64_t seed)
{
    uint32_t mask = width == 32 ? UINT32_MAX : ((uint32_t)1 << width) - 1;
    for (size_t i = 0; i < count;) {
        size_t run = next(&seed) % 3 ? 1 : next(&seed) % 40;
        uint32_t v = next(&seed) & mask;
        for (; run && i < count; run--)
            values[i++] = v;
    }
}

static void values_of_every_width_come_back(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 7, 8, 9, 63, 64, 65, 1000};
    uint32_t values[1000], back[1000];
    for (unsigned width = 0; width <= 32; width++)
        for (size_t n = 0; n < ARRAY_LEN(counts); n++) {
            struct buf out = {0};
            struct parquet_hybrid h;
            fill(values, counts[n], width, width * 100 + n);
            parquet_hybrid_put(&out, values, counts[n], width);
            parquet_hybrid_init(&h, buf_view(&out), width);
            size_t first = counts[n] / 3; /* in two pieces, to end within a run or group */
            assert_true(parquet_hybrid_get(&h, back, first));
            assert_true(parquet_hybrid_get(&h, back + first, counts[n] - first));
            assert_memory_equal(back, values, counts[n] * sizeof *back);
            buf_deinit(&out);
        }
}

static void levels_come_back(void **state)
{
    (void)state;
    uint32_t wide[1000];
    uint8_t levels[1000], back[1000];
    for (unsigned width = 1; width <= 6; width++) {
        struct buf out = {0};
        struct parquet_hybrid h;
        fill(wide, 1000, width, width);
        for (int i = 0; i < 1000; i++)
            levels[i] = (uint8_t)wide[i];
        parquet_hybrid_put_levels(&out, levels, 1000, width);
        parquet_hybrid_init(&h, buf_view(&out), width);
        assert_true(parquet_hybrid_get_levels(&h, back, 1000));
        assert_memory_equal(back, levels, 1000);
        buf_deinit(&out);
    }
}

static void bytes_are_those_of_the_specification(void **state)
{
    (void)state;
    /* Encodings.md: the numbers 0 to 7 with width 3 are packed to 88 C6 FA. */
    static const uint32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct buf out = {0};
    parquet_hybrid_put(&out, values, 8, 3);
    assert_slice_equal(buf_view(&out), SLICE("\x03\x88\xc6\xfa"));
    static const uint32_t run[] = {4, 4, 4, 4, 4, 4, 4, 4, 4};
    buf_reset(&out);
    parquet_hybrid_put(&out, run, 9, 3);
    assert_slice_equal(buf_view(&out), SLICE("\x12\x04"));
    buf_deinit(&out);
}

static void what_ends_early_or_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct slice in;
        unsigned width;
        size_t count;
    } cases[] = {
        {{(const uint8_t *)"", 0}, 3, 1},
        {{(const uint8_t *)"\x03\x88\xc6", 3}, 3, 8}, /* a group cut off */
        {{(const uint8_t *)"\x12", 1}, 3, 1},         /* a run without its value */
        {{(const uint8_t *)"\x12\x08", 2}, 3, 1},     /* a value wider than the width */
        {{(const uint8_t *)"\x00\x01", 2}, 3, 1},     /* a run of none */
        {{(const uint8_t *)"\x01", 1}, 3, 1},         /* no groups */
        {{(const uint8_t *)"\x04\x01", 2}, 1, 3},     /* fewer than asked for */
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", 11}, 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t out[8];
        uint8_t levels[8];
        struct parquet_hybrid h;
        parquet_hybrid_init(&h, cases[i].in, cases[i].width);
        assert_false(parquet_hybrid_get(&h, out, cases[i].count));
        parquet_hybrid_init(&h, cases[i].in, cases[i].width);
        assert_false(parquet_hybrid_get_levels(&h, levels, cases[i].count));
    }
}

TESTS("format.parquet.hybrid", TEST(values_of_every_width_come_back), TEST(levels_come_back),
      TEST(bytes_are_those_of_the_specification), TEST(what_ends_early_or_does_not_fit_is_refused))
