/* Random programs against small models, on the simulated disk. Each is a function of its seed: the same seed does the
 * same, to the last fault. A difference between model and weir prints seed and step and aborts. */
#ifndef WEIR_TEST_SIM_PROGRAMS_H
#define WEIR_TEST_SIM_PROGRAMS_H

#include "base/base.h"

struct sim_program {
    const char *name;
    uint64_t (*run)(uint64_t seed); /* gives a digest of everything that happened */
};

extern const struct sim_program sim_programs[];
extern const size_t sim_program_count;

uint64_t sim_log_program(uint64_t seed);

#endif
