/* The parts of weir demo: a load on two tables (demo_load.c), and how they are read and shown (demo_show.c). */
#ifndef WEIR_CMD_DEMO_INT_H
#define WEIR_CMD_DEMO_INT_H

#include "cmd/cmd_int.h"

enum demo_table { DEMO_ORDERS, DEMO_CUSTOMERS, DEMO_TABLES };

/* ---- the load ---- */

struct demo_load {
    struct client_table *tables[DEMO_TABLES];
    struct client_writer *writers[DEMO_TABLES];
    struct os *os;
    uint64_t seed;
    int64_t next_order;
    int64_t next_customer;
    int64_t orders; /* written by this run */
    int64_t upserts;
    int64_t deletes;
    double orders_due; /* fractions of rows that are to be written */
    double upserts_due;
};

/* Makes the tables unless they are there; goes on behind their rows. */
MUST_CHECK enum err_code demo_load_open(struct demo_load *load, struct client *client, struct err *err);
void demo_load_close(struct demo_load *load);
/* Writes what these seconds bring at this many orders a second, and waits until it is on disk. One upsert comes with
 * five orders, and every tenth upsert is a delete. */
MUST_CHECK enum err_code demo_load_run(struct demo_load *load, double seconds, double orders_per_second,
                                       struct err *err);

/* ---- showing ---- */

/* "61 003"; in a ring of buffers, for a few numbers in one printf. */
#define DEMO_NUMBERS 8
struct demo_numbers {
    char text[DEMO_NUMBERS][32];
    unsigned next;
};
const char *demo_number(struct demo_numbers *numbers, int64_t value);
/* Reads both tables hot, from the lake and from both as one, and prints how many rows that is. */
MUST_CHECK enum err_code demo_show_reads(const struct demo_load *load, struct err *err);
/* weir verify of both tables. *equal: of both. */
MUST_CHECK enum err_code demo_show_verify(const struct demo_load *load, bool *equal, struct err *err);
/* Waits until the lake holds both tables, and tells how long after the last write (os_mono_ns) that is; or until
 * stopped says so, which is asked some times a second. */
MUST_CHECK enum err_code demo_show_wait(const struct demo_load *load, int64_t written_ns, bool (*stopped)(void *arg),
                                        void *arg, struct err *err);

#endif
