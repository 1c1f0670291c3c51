/* What the tests of writers, scanners and look-ups begin with: a peer with a table, a client on it, the table opened.
 */
#ifndef WEIR_TEST_LIB_CLIENT_BED_H
#define WEIR_TEST_LIB_CLIENT_BED_H

#include "client/client.h"
#include "lib/table_peer.h"
#include "lib/test.h"

#define LOG_TABLE_JSON                                                                           \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                     \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"        \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1}," \
    "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":3,\"properties\":{},\"custom_properties\":{}}"
#define PK_TABLE_JSON                                                                             \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                      \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"         \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"primary_key\":[\"id\"]," \
    "\"highest_field_id\":1},\"partition_key\":[],\"bucket_key\":[\"id\"],\"bucket_count\":3,"    \
    "\"properties\":{\"table.kv.format-version\":\"2\"},\"custom_properties\":{}}"

struct client_bed {
    struct table_peer peer;
    struct client *client;
    struct client_table *table;
};

/* bed->peer's wishes are set before. */
static inline void client_bed_open(struct client_bed *bed, const char *table_json)
{
    struct err err;
    bed->peer.table_json = slice_str(table_json);
    bed->peer.bucket_count = 3;
    struct client_options options = {.os = os_real(), .socket = table_peer_start(&bed->peer), .timeout_ms = 15000};
    MUST(client_open(&options, &bed->client, &err));
    MUST(client_table_open(bed->client, client_path(SLICE("fluss"), SLICE("t")), &bed->table, &err));
}

static inline void client_bed_close(struct client_bed *bed)
{
    client_table_unref(bed->table);
    client_close(bed->client);
    table_peer_stop(&bed->peer);
}

static inline void client_bed_row(struct datum row[2], int32_t id, const char *name)
{
    row[0] = (struct datum){.i64 = id};
    row[1] = (struct datum){.is_null = !name};
    if (name)
        row[1].bytes = slice_str(name);
}

#endif
