/* weir-sim: runs the simulated programs. See tools/sim.sh. */
#include "sim/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int usage(void)
{
    fprintf(stderr, "usage: weir-sim [--program NAME] (--seed SEED | --seeds COUNT)\n");
    return 64;
}

static void run(const struct sim_program *program, uint64_t seed)
{
    printf("%s seed=%" PRIu64 " ", program->name, seed);
    fflush(stdout);
    printf("digest=%016" PRIx64 "\n", program->run(seed));
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    uint64_t first = 0, count = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--program"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "--seed"))
            first = strtoull(argv[i + 1], NULL, 10), count = 1;
        else if (!strcmp(argv[i], "--seeds"))
            first = 1, count = strtoull(argv[i + 1], NULL, 10);
        else
            return usage();
    }
    if (!count || argc % 2 == 0)
        return usage();
    for (uint64_t seed = first; seed < first + count; seed++) {
        for (size_t i = 0; i < sim_program_count; i++) {
            if (!only || !strcmp(only, sim_programs[i].name))
                run(&sim_programs[i], seed);
        }
    }
    return 0;
}
