#include "sim/programs.h"

#include "lib/test.h"

enum { SEEDS = 60 };

static void models_and_weir_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_program_count; i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            sim_programs[i].run(seed);
    }
}

static void a_seed_repeats_its_program(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_program_count; i++) {
        uint64_t digest = sim_programs[i].run(7);
        assert_true(sim_programs[i].run(7) == digest);
        assert_true(sim_programs[i].run(8) != digest);
    }
}

TESTS("sim.programs", TEST(models_and_weir_agree), TEST(a_seed_repeats_its_program))
