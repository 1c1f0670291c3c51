/* Diagnostics: lines for the one on call. (The data log is src/log; this is never called a log.)
 *
 * A line goes to standard error in one write:
 *
 *   warn tier commit_failed at=2026-11-29T19:11:47.123Z table=fluss.orders code=E-LAKE what="..." do="..."
 *
 * level, module and event are single words that can be grepped; then the time in UTC, then key=value. A value with
 * other characters than letters, digits and ._:/+,@%~- stands in double quotes with \" \\ \n \r \t \xNN; it is cut with
 * ... at TRACE_VALUE_MAX bytes, and a line takes no more fields at TRACE_LINE_MAX. Nothing is written per record or per
 * request.
 *
 *   trace_warn(trace, "tier", "commit_failed", trace_str("table", name), trace_err(&err));
 *   trace_warn_limited(trace, "net", "accept_failed", trace_err(&err));
 *
 * The limited forms write at most one line a second for an event; the next one says how many were left_out.
 * A trace is made by main and handed down; where it is NULL nothing is written, so that a part can be tested without.
 * thread: any. */
#ifndef WEIR_TRACE_TRACE_H
#define WEIR_TRACE_TRACE_H

#include "os/os.h"

#define TRACE_VALUE_MAX 512
#define TRACE_LINE_MAX 4096 /* a write of so much to a pipe is never mixed with another */
#define TRACE_SITES_MAX 128 /* limited events told apart; the others share one limit */

enum trace_level { TRACE_ERROR, TRACE_WARN, TRACE_INFO, TRACE_DEBUG };

/* A line of bytes with its newline; lives for the call. */
typedef void trace_sink(void *arg, struct slice line);

struct trace_site {
    _Atomic(const char *) event;
    _Atomic int64_t next_mono_ns;
    _Atomic uint32_t left_out;
};

struct trace {
    struct os *os;
    enum trace_level level; /* atomic: lines above it are not made */
    trace_sink *sink;
    void *sink_arg;
    struct trace_site sites[TRACE_SITES_MAX];
};

/* The caller owns the storage; there is nothing to deinit. */
void trace_init(struct trace *trace, struct os *os, enum trace_level level);
/* Sends lines somewhere else than to standard error, for tests. Before other threads know the trace. */
void trace_to(struct trace *trace, trace_sink *sink, void *arg);
/* From now on; thread: any. NULL is fine. */
void trace_set_level(struct trace *trace, enum trace_level level);
/* "error", "warn", "info", "debug". */
const char *trace_level_name(enum trace_level level);
MUST_CHECK bool trace_level_parse(struct slice name, enum trace_level *level);

enum trace_kind { TRACE_END, TRACE_TEXT, TRACE_I64, TRACE_U64, TRACE_ERR };

struct trace_field {
    enum trace_kind kind;
    const char *key;
    union {
        struct slice text;
        int64_t i64;
        uint64_t u64;
        const struct err *err;
    } as;
};

static inline struct trace_field trace_slice(const char *key, struct slice value)
{
    return (struct trace_field){TRACE_TEXT, key, {.text = value}};
}

static inline struct trace_field trace_str(const char *key, const char *value)
{
    return trace_slice(key, slice_str(value));
}

static inline struct trace_field trace_i64(const char *key, int64_t value)
{
    return (struct trace_field){TRACE_I64, key, {.i64 = value}};
}

static inline struct trace_field trace_u64(const char *key, uint64_t value)
{
    return (struct trace_field){TRACE_U64, key, {.u64 = value}};
}

/* Becomes code=E-... what="its text", and at warn and error do="the remedy of its code", at debug where=file:line. */
static inline struct trace_field trace_err(const struct err *err)
{
    return (struct trace_field){TRACE_ERR, "what", {.err = err}};
}

static inline bool trace_wants(const struct trace *trace, enum trace_level level)
{
    return trace && level <= __atomic_load_n(&trace->level, __ATOMIC_RELAXED);
}

/* What the macros call. event is a literal: its address tells the site of a limited event. fields end with TRACE_END.
 */
void trace_emit(struct trace *trace, enum trace_level level, bool limited, const char *module, const char *event,
                const struct trace_field *fields);

#define TRACE_LINE(trace, level, limited, module, event, ...)                                                \
    (trace_wants((trace), (level))                                                                           \
         ? trace_emit((trace), (level), (limited), (module), (event),                                        \
                      (const struct trace_field[]){__VA_ARGS__ __VA_OPT__(, ){TRACE_END, NULL, {.u64 = 0}}}) \
         : (void)0)
#define trace_error(trace, module, ...) TRACE_LINE(trace, TRACE_ERROR, false, module, __VA_ARGS__)
#define trace_warn(trace, module, ...) TRACE_LINE(trace, TRACE_WARN, false, module, __VA_ARGS__)
#define trace_info(trace, module, ...) TRACE_LINE(trace, TRACE_INFO, false, module, __VA_ARGS__)
#define trace_debug(trace, module, ...) TRACE_LINE(trace, TRACE_DEBUG, false, module, __VA_ARGS__)
#define trace_error_limited(trace, module, ...) TRACE_LINE(trace, TRACE_ERROR, true, module, __VA_ARGS__)
#define trace_warn_limited(trace, module, ...) TRACE_LINE(trace, TRACE_WARN, true, module, __VA_ARGS__)
#define trace_info_limited(trace, module, ...) TRACE_LINE(trace, TRACE_INFO, true, module, __VA_ARGS__)

#endif
