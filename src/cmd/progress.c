/* A line on standard error that changes in place, for work of more than two seconds on a terminal. */
#include "cmd/cmd_int.h"

#include <stdio.h>

#define FIRST_NS 2000000000
#define EVERY_NS 200000000

void cmd_progress_start(struct cmd_progress *progress, const struct cmd *cmd, const char *what)
{
    int64_t now = os_mono_ns(cmd->os);
    *progress = (struct cmd_progress){cmd->os, os_is_terminal(cmd->os, 2), false, what, now, now + FIRST_NS};
}

void cmd_progress_tell(struct cmd_progress *progress, int64_t done, int64_t total)
{
    if (!progress->on)
        return;
    int64_t now = os_mono_ns(progress->os);
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + EVERY_NS;
    progress->shown = true;
    double seconds = (double)(now - progress->started_ns) / 1e9;
    if (total > 0 && done > 0)
        fprintf(stderr, "\r%s: %lld of %lld, %d %%, about %.0f s left \033[K", progress->what, (long long)done,
                (long long)total, (int)(100 * done / total), seconds * (double)(total - done) / (double)done);
    else
        fprintf(stderr, "\r%s: %lld, %.0f s \033[K", progress->what, (long long)done, seconds);
    fflush(stderr);
}

void cmd_progress_end(struct cmd_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void cmd_progress_union(void *arg, const char *what, int64_t done, int64_t total)
{
    struct cmd_progress *progress = arg;
    if (progress->what != what) {
        progress->what = what;
        progress->started_ns = os_mono_ns(progress->os);
    }
    cmd_progress_tell(progress, done, total);
}
