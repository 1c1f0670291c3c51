/* For the tests of src/meta: each has a bed of its own, and an error for MUST. */
#ifndef WEIR_TEST_LIB_META_FIXTURE_H
#define WEIR_TEST_LIB_META_FIXTURE_H

#include "lib/meta_bed.h"

static struct meta_bed bed;
static struct err err;

static inline int set_up(void **state)
{
    (void)state;
    meta_bed_init(&bed, 1);
    err = (struct err){0};
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    meta_bed_deinit(&bed);
    return 0;
}

#endif
