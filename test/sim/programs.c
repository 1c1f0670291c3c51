#include "sim/programs.h"

const struct sim_program sim_programs[] = {
    {"log", sim_log_program},
};
const size_t sim_program_count = ARRAY_LEN(sim_programs);
