/* The machine, but for one step at which the process ends. */
#include "os/real_int.h"

#include <signal.h>
#include <unistd.h>

struct until_step {
    struct os head;
    struct os_process_ops process;
    struct slice name;
    int64_t left; /* atomic: times to pass it, less one */
};

static void step(struct os *os, const char *name)
{
    struct until_step *until = CONTAINER_OF(os, struct until_step, head);
    if (slice_equal(slice_str(name), until->name) && __atomic_sub_fetch(&until->left, 1, __ATOMIC_RELAXED) == 0)
        kill(getpid(), SIGKILL);
}

enum err_code os_real_until_step(const char *at, struct os **os, struct err *err)
{
    const char *colon = strchr(at, ':');
    int64_t nth = 1;
    if (!*at || colon == at || (colon && (!slice_to_i64(slice_str(colon + 1), &nth) || nth < 1)))
        return err_set(err, ERR_INVALID_ARGUMENT, "a step is NAME or NAME:NTH, not '%s'", at);
    struct until_step *until = mem_zalloc(sizeof *until);
    until->head = *os_real();
    until->process = *until->head.process;
    until->process.step = step;
    until->head.process = &until->process;
    until->name = colon ? slice_of(at, (size_t)(colon - at)) : slice_str(at);
    until->left = nth;
    *os = &until->head;
    return OK;
}
