/* How a struct os is made: tables of functions by group, and the heads that every handle begins with.
 *
 * Only src/os (the machine) and test/sim (the simulator) include this. An implementation embeds the head as the first
 * member of its own struct (`struct real_file { struct os_file head; int fd; }`), fills in `os`, and gets the handle
 * back as it gave it out. Each field does what the function of the same name in os.h promises; os.c only passes on. A
 * second os may take whole groups from the machine (`.process = os_real()->process`). os_mkdirs, os_read_whole,
 * os_write_durable, os_remove_tree, os_open_files and os_uuid are made of the others (helpers.c), so that a simulator
 * sees their single steps. */
#ifndef WEIR_OS_OS_OPS_H
#define WEIR_OS_OS_OPS_H

#include "os/os.h"

struct os {
    const struct os_file_ops *file;
    const struct os_name_ops *name;
    const struct os_clock_ops *clock;
    const struct os_lock_ops *lock;
    const struct os_thread_ops *thread;
    const struct os_socket_ops *socket;
    const struct os_poller_ops *poller;
    const struct os_process_ops *process;
};

struct os_file {
    struct os *os;
};

struct os_socket {
    struct os *os;
};

struct os_poller {
    struct os *os;
};

struct os_thread {
    struct os *os;
};

struct os_file_ops {
    enum err_code (*open)(struct os *os, const char *path, unsigned flags, struct os_file **file, struct err *err);
    void (*close)(struct os_file *file); /* never NULL */
    enum err_code (*read)(struct os_file *file, uint64_t offset, void *ptr, size_t len, size_t *got, struct err *err);
    enum err_code (*writev)(struct os_file *file, uint64_t offset, const struct slice *pieces, size_t piece_count,
                            struct err *err);
    enum err_code (*sync)(struct os_file *file, struct err *err);
    enum err_code (*size)(struct os_file *file, uint64_t *size, struct err *err);
    enum err_code (*truncate)(struct os_file *file, uint64_t size, struct err *err);
    enum err_code (*allocate)(struct os_file *file, uint64_t offset, uint64_t len, struct err *err);
    enum err_code (*lock)(struct os_file *file, struct err *err);
};

struct os_name_ops {
    enum err_code (*stat)(struct os *os, const char *path, struct os_stat *stat, struct err *err);
    enum err_code (*rename)(struct os *os, const char *from, const char *to, struct err *err);
    enum err_code (*rename_noreplace)(struct os *os, const char *from, const char *to, struct err *err);
    enum err_code (*unlink)(struct os *os, const char *path, struct err *err);
    enum err_code (*mkdir)(struct os *os, const char *path, struct err *err);
    enum err_code (*rmdir)(struct os *os, const char *path, struct err *err);
    enum err_code (*dir_list)(struct os *os, const char *path, os_dir_fn *fn, void *arg, struct err *err);
    enum err_code (*dir_sync)(struct os *os, const char *path, struct err *err);
    enum err_code (*disk_free)(struct os *os, const char *path, uint64_t *free_bytes, uint64_t *total_bytes,
                               struct err *err);
    enum err_code (*realpath)(struct os *os, const char *path, char *out, struct err *err);
};

struct os_clock_ops {
    int64_t (*mono_ns)(struct os *os);
    int64_t (*wall_ms)(struct os *os);
    void (*sleep_ns)(struct os *os, int64_t ns);
    void (*random)(struct os *os, void *ptr, size_t len);
};

/* The os of the head is filled in before init is called. */
struct os_lock_ops {
    void (*mutex_init)(struct os_mutex *mutex);
    void (*mutex_deinit)(struct os_mutex *mutex);
    void (*mutex_lock)(struct os_mutex *mutex);
    void (*mutex_unlock)(struct os_mutex *mutex);
    void (*cond_init)(struct os_cond *cond);
    void (*cond_deinit)(struct os_cond *cond);
    void (*cond_wait)(struct os_cond *cond, struct os_mutex *mutex);
    bool (*cond_wait_until)(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns);
    void (*cond_signal)(struct os_cond *cond);
    void (*cond_broadcast)(struct os_cond *cond);
};

struct os_thread_ops {
    enum err_code (*start)(struct os *os, const char *name, os_thread_fn *fn, void *arg, struct os_thread **thread,
                           struct err *err);
    void (*join)(struct os_thread *thread);
    enum err_code (*on_stop)(struct os *os, os_stop_fn *fn, void *arg, struct err *err);
};

struct os_socket_ops {
    enum err_code (*listen)(struct os *os, const char *host, uint16_t port, struct os_socket **socket,
                            uint16_t *port_taken, struct err *err);
    enum err_code (*accept)(struct os_socket *listener, struct os_socket **socket, char peer[64], struct err *err);
    enum err_code (*connect)(struct os *os, const char *host, uint16_t port, int64_t deadline_mono_ns,
                             struct os_socket **socket, struct err *err);
    enum err_code (*pair)(struct os *os, struct os_socket *pair[2], struct err *err);
    void (*close)(struct os_socket *socket); /* never NULL */
    int (*detach)(struct os_socket *socket);
    void (*shutdown)(struct os_socket *socket);
    enum err_code (*recv)(struct os_socket *socket, void *ptr, size_t len, size_t *got, bool *closed, struct err *err);
    enum err_code (*send)(struct os_socket *socket, const struct slice *pieces, size_t piece_count, size_t *sent,
                          struct err *err);
    enum err_code (*send_file)(struct os_socket *socket, struct os_file *file, uint64_t offset, size_t len,
                               size_t *sent, struct err *err);
    enum err_code (*wait)(struct os_socket *socket, unsigned ready, int64_t deadline_mono_ns, struct err *err);
};

struct os_poller_ops {
    enum err_code (*create)(struct os *os, struct os_poller **poller, struct err *err);
    void (*destroy)(struct os_poller *poller); /* never NULL */
    enum err_code (*add)(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                         struct err *err);
    enum err_code (*change)(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                            struct err *err);
    void (*remove)(struct os_poller *poller, struct os_socket *socket);
    size_t (*wait)(struct os_poller *poller, int64_t deadline_mono_ns, struct os_event *events, size_t event_max);
    void (*wake)(struct os_poller *poller);
};

struct os_process_ops {
    enum err_code (*write_fd)(struct os *os, int fd, struct slice bytes, struct err *err);
    enum err_code (*read_stdin)(struct os *os, void *ptr, size_t len, size_t *got, struct err *err);
    bool (*is_terminal)(struct os *os, int fd);
    int (*pid)(struct os *os);
    const char *(*environment)(struct os *os, const char *name);
    uint64_t (*resident_bytes)(struct os *os);
    int64_t (*cpu_ns)(struct os *os);
    uint64_t (*open_files_max)(struct os *os);
    void (*step)(struct os *os, const char *name); /* NULL: steps are passed */
};

#endif
