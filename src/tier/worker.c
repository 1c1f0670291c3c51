/* A worker: a table, a round, a report, and again. */
#include "tier/tier_int.h"

#include <stdio.h>

/* The table is not there any more, or not ours any more: nobody needs to hear of it. */
static bool is_gone(enum err_code code)
{
    return code == ERR_TABLE_NOT_EXIST || code == ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION ||
           code == ERR_DATABASE_NOT_EXIST || code == ERR_FENCED_TIERING_EPOCH_EXCEPTION;
}

static void explain(struct report *report, const struct err *err)
{
    const char *remedy = err_remedy(err->code), *text = *err->text ? err->text : err_text(err->code);
    const char *code = err_user_code(err->code);
    size_t others = strlen(code) + strlen(": ; ") + (remedy ? strlen(remedy) : 0);
    int room = (int)(sizeof report->text - 1 - MIN(others, sizeof report->text - 1));
    report->failed = true;
    snprintf(report->text, sizeof report->text, "%s: %.*s%s%s", code, room, text, remedy ? "; " : "",
             remedy ? remedy : "");
}

static void tell(struct worker *worker, const struct job *job, const struct err *err)
{
    struct trace *trace = worker->link.tier->config.trace;
    if (is_gone(err->code) || err->code == ERR_SHUTTING_DOWN)
        trace_info(trace, "tier", "round_dropped", trace_slice("database", job->database),
                   trace_slice("table", job->table), trace_err(err));
    else
        trace_warn(trace, "tier", "round_failed", trace_slice("database", job->database),
                   trace_slice("table", job->table), trace_err(err));
}

/* Runs rounds until the connection is cut or the service stops. */
static enum err_code rounds(struct worker *worker, struct err *err)
{
    struct tier *tier = worker->link.tier;
    struct arena arenas[2] = {{0}, {0}}; /* of this job, and of the last, whose report is still to be sent */
    struct job jobs[2];
    struct report report = {0};
    enum err_code code = OK;
    for (unsigned now = 0; !tier_stopping(tier); now ^= 1) {
        int64_t asked_ns = os_mono_ns(tier->config.os);
        bool have;
        arena_reset(&arenas[now]);
        TRY_OR_FAIL(beat(worker, report.job ? &report : NULL, &arenas[now], &jobs[now], &have, err));
        report = (struct report){0};
        if (!have) {
            /* A server that does not hold heartbeats answers at once. */
            tier_pause(tier, MAX(0, asked_ns + TIER_POLL_NS - os_mono_ns(tier->config.os)));
            continue;
        }
        struct err why = {0};
        report = (struct report){.job = &jobs[now], .row_count = -1};
        if (round_run(worker, &jobs[now], &report, &why) == OK)
            continue;
        tell(worker, &jobs[now], &why);
        explain(&report, &why);
        if (!link_is_cut(why.code) || tier_stopping(tier))
            continue;
        link_close(&worker->link);
        TRY_OR_FAIL(link_open(&worker->link, err));
    }
    if (report.job)
        beat_report(worker, &report);
fail:
    for (int i = 0; i < 2; i++)
        arena_deinit(&arenas[i]);
    return code;
}

void worker_run(void *arg)
{
    struct worker *worker = arg;
    struct tier *tier = worker->link.tier;
    while (!tier_stopping(tier)) {
        struct err err = {0};
        enum err_code code = link_open(&worker->link, &err);
        if (code == OK)
            code = rounds(worker, &err);
        link_close(&worker->link);
        worker->epoch_known = false;
        if (code == OK || tier_stopping(tier))
            continue;
        trace_warn_limited(tier->config.trace, "tier", "server_lost", trace_err(&err));
        tier_pause(tier, TIER_RETRY_NS);
    }
}
