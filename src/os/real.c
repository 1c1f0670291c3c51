#include "os/real_int.h"

struct os *os_real(void)
{
    /* Not const only because every handle holds a plain struct os *; nothing writes to it. */
    static struct os real = {&real_file_ops,   &real_name_ops,   &real_clock_ops,  &real_lock_ops,
                             &real_thread_ops, &real_socket_ops, &real_poller_ops, &real_process_ops};
    return &real;
}
