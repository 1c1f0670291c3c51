#include "lake/paimon/compact_int.h"
#include "lib/test.h"

static void runs_go_together_by_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct run_size runs[8];
        size_t count;
        size_t want;
    } cases[] = {
        {"few", {{0, 1}, {0, 1}, {5, 9}}, 3, 0},
        {"at the bound", {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {5, 100}}, 5, 0},
        {"outweighed", {{0, 50}, {0, 50}, {0, 50}, {0, 50}, {0, 50}, {5, 100}}, 6, 6},
        {"equal ones, not the large one", {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {5, 1000}}, 6, 5},
        {"no level 0 is left behind", {{0, 1}, {0, 3}, {0, 9}, {0, 27}, {0, 81}, {5, 10000}}, 6, 5},
        {"never into level 0", {{0, 1}, {0, 1}, {0, 100}, {3, 1000}, {4, 5000}, {5, 90000}}, 6, 3},
        {"level 1 is taken along", {{0, 1}, {0, 1}, {0, 1}, {1, 900}, {4, 5000}, {5, 90000}}, 6, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t got = paimon_universal_pick(cases[i].runs, cases[i].count, 5);
        if (got != cases[i].want)
            fail_msg("%s: %zu, not %zu", cases[i].name, got, cases[i].want);
    }
}

/* A row is rewritten about as often as the data doubles: not once a round. */
static void rounds_of_one_size_are_rewritten_a_logarithmic_number_of_times(void **state)
{
    (void)state;
    struct run_size runs[16];
    size_t count = 0;
    uint64_t rewritten = 0, rounds = 4096;
    for (uint64_t i = 0; i < rounds; i++) {
        memmove(runs + 1, runs, count * sizeof *runs);
        runs[0] = (struct run_size){0, 1};
        count++;
        size_t taken = paimon_universal_pick(runs, count, 5);
        if (!taken)
            continue;
        struct run_size merged = {taken == count ? 5 : runs[taken].level - 1, 0};
        assert_true(merged.level > 0);
        for (size_t k = 0; k < taken; k++)
            merged.bytes += runs[k].bytes;
        rewritten += merged.bytes;
        memmove(runs + 1, runs + taken, (count - taken) * sizeof *runs);
        runs[0] = merged;
        count = count - taken + 1;
        assert_true(count <= 5);
    }
    assert_true(rewritten < 30 * rounds);
}

static void small_files_are_joined_when_they_are_many(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t sizes[12]; /* oldest first */
        size_t count;
        bool full;
        size_t want;
    } cases[] = {
        {"few", {5, 5, 5}, 3, false, 0},
        {"enough", {5, 5, 5, 5}, 4, false, 4},
        {"not much larger ones too", {20, 7, 5, 9, 5}, 5, false, 5},
        {"the joined one waits", {90, 5, 5, 5, 5}, 5, false, 4},
        {"until it is outweighed", {20, 5, 5, 5, 5}, 5, false, 5},
        {"a large one ends it", {5, 600, 5, 5, 5, 5}, 6, false, 4},
        {"at rest two are enough", {300, 5}, 2, true, 2},
        {"but not one", {600, 5}, 2, true, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t got = paimon_tail_pick(cases[i].sizes, cases[i].count, 1000, 4, cases[i].full);
        if (got != cases[i].want)
            fail_msg("%s: %zu, not %zu", cases[i].name, got, cases[i].want);
    }
}

TESTS("paimon.universal", TEST(runs_go_together_by_size),
      TEST(rounds_of_one_size_are_rewritten_a_logarithmic_number_of_times),
      TEST(small_files_are_joined_when_they_are_many))
