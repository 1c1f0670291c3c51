/* A whole weir server in the process of the test, a client on it, and a lake that the test fills by its own hand: the
 * server's tiering service is off. */
#ifndef WEIR_TEST_LIB_LAKE_BED_H
#define WEIR_TEST_LIB_LAKE_BED_H

#include "client/client.h"
#include "lib/server_bed.h"

struct lake_bed {
    struct server_bed server;
    struct client *client;
    struct arena arena;
    char warehouse[512];
};

/* In a new directory. */
void lake_bed_start(struct lake_bed *bed);
void lake_bed_stop(struct lake_bed *bed); /* all tables are closed before */

/* Makes and opens fluss.NAME from the JSON of a list of columns ("{\"name\":..},.."), tiered. primary_key and
 * bucket_key: JSON lists of names, "" for none. */
struct client_table *lake_bed_table(struct lake_bed *bed, const char *name, const char *columns,
                                    const char *primary_key, const char *bucket_key, int bucket_count);
/* One round of tiering in the plainest way: the log from the last registered snapshot to its end, held in memory. Gives
 * the id of the new snapshot. */
int64_t lake_bed_tier(struct lake_bed *bed, struct client_table *table);

#endif
