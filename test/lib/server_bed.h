/* A whole server on free ports, with a directory of its own and what it traces captured (lib/captured.h). */
#ifndef WEIR_TEST_LIB_SERVER_BED_H
#define WEIR_TEST_LIB_SERVER_BED_H

#include "lib/captured.h"
#include "lib/test.h"
#include "server/server.h"

struct server_bed {
    struct conf *conf;
    struct trace trace;
    struct server *server;
    struct buf addresses;
};

/* With these options beside the usual ones, up to NULL, on a machine of the test's own. */
static inline enum err_code server_bed_try_on(struct os *os, struct server_bed *bed, const char *const *options,
                                              struct err *error)
{
    struct err err;
    *bed = (struct server_bed){.conf = conf_create()};
    trace_init(&bed->trace, test_captured_os(), TRACE_DEBUG);
    MUST(conf_set(bed->conf, CONF_FROM_FLAG, SLICE("data.dir"), slice_str(test_dir()), "test", &err));
    MUST(conf_set(bed->conf, CONF_FROM_FLAG, SLICE("bind.listeners"), SLICE("FLUSS://127.0.0.1:0"), "test", &err));
    MUST(conf_set(bed->conf, CONF_FROM_FLAG, SLICE("weir.http.listen"), SLICE("127.0.0.1:0"), "test", &err));
    MUST(conf_set(bed->conf, CONF_FROM_FLAG, SLICE("weir.tier.enabled"), SLICE("false"), "test", &err));
    for (; options && *options; options++)
        MUST(conf_set_assignment(bed->conf, slice_str(*options), &err));
    MUST(conf_check(bed->conf, &err));
    return server_start(os, bed->conf, &bed->trace, &bed->server, error);
}

static inline enum err_code server_bed_try(struct server_bed *bed, const char *const *options, struct err *error)
{
    return server_bed_try_on(os_real(), bed, options, error);
}

static inline void server_bed_start(struct server_bed *bed, const char *const *options)
{
    struct err err;
    MUST(server_bed_try(bed, options, &err));
    server_addresses(bed->server, &bed->addresses);
}

static inline void server_bed_stop(struct server_bed *bed)
{
    server_stop(bed->server);
    conf_destroy(bed->conf);
    buf_deinit(&bed->addresses);
}

static inline uint16_t server_bed_port(struct server_bed *bed, const char *listener)
{
    char want[64];
    snprintf(want, sizeof want, "%s=127.0.0.1:", listener);
    const char *at = strstr(buf_cstr(&bed->addresses), want);
    assert_non_null(at);
    return (uint16_t)strtoul(at + strlen(want), NULL, 10);
}

#endif
