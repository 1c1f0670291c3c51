#include "lib/captured.h"

#include "os/os_ops.h"

static struct os os;
static struct os_process_ops process;
static struct os_mutex mutex;
static struct buf written;

static enum err_code write_fd(struct os *unused, int fd, struct slice bytes, struct err *err)
{
    (void)unused, (void)fd, (void)err;
    os_mutex_lock(&mutex);
    buf_put_slice(&written, bytes);
    os_mutex_unlock(&mutex);
    return OK;
}

struct os *test_captured_os(void)
{
    if (os.process)
        return &os;
    os = *os_real();
    process = *os.process;
    process.write_fd = write_fd;
    os.process = &process;
    os_mutex_init(&mutex, os_real());
    return &os;
}

void test_captured_take(struct buf *out)
{
    os_mutex_lock(&mutex);
    buf_put_slice(out, buf_view(&written));
    buf_deinit(&written);
    os_mutex_unlock(&mutex);
}
