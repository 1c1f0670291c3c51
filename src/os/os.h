/* The only door to the kernel: files, sockets, clock, random, threads and waiting.
 *
 * Everything above takes a `struct os *`. os_real() is the machine; test/sim is a second implementation with virtual
 * time, torn writes, failed syncs, full disks and crashes. Both fill in the table of os_ops.h, which only they include.
 * Nothing outside src/os calls the kernel; tools/check_banned.py looks for it. Paths are UTF-8 bytes, NUL-terminated,
 * relative to the working directory or absolute.
 *
 * errors  kernel refusals as err_set_errno says; partial writes are finished inside or reported as a failure.
 * thread  every call may come from any thread unless it says otherwise; calls marked (blocks) can wait for a disk or
 *         a peer and are not made from a loop or under a bucket's mutex. */
#ifndef WEIR_OS_OS_H
#define WEIR_OS_OS_H

#include "base/err.h"

struct os;
struct os_file;   /* an open file */
struct os_socket; /* a stream socket, listening or connected */
struct os_poller; /* a set of sockets to wait for, with a wake-up */
struct os_thread;

struct os *os_real(void); /* one for the process; never closed */

/* ---- files ---- */

enum os_open_flags {
    OS_READ = 1,
    OS_WRITE = 2,  /* read and write */
    OS_CREATE = 4, /* with OS_WRITE: make it if it is not there */
    OS_EXCL = 8,   /* with OS_CREATE: it must not be there */
    OS_TRUNC = 16
};

MUST_CHECK enum err_code os_file_open(struct os *os, const char *path, unsigned flags, struct os_file **file,
                                      struct err *err);
void os_file_close(struct os_file *file); /* NULL is fine; durability was os_file_sync's job */
/* Reads up to len bytes; *got is less only at the end of the file. */
MUST_CHECK enum err_code os_file_read(struct os_file *file, uint64_t offset, void *ptr, size_t len, size_t *got,
                                      struct err *err);
/* Writes all of it or fails; after a failure any prefix may have been written. */
MUST_CHECK enum err_code os_file_write(struct os_file *file, uint64_t offset, struct slice bytes, struct err *err);
/* Several pieces back to back, in one call. */
MUST_CHECK enum err_code os_file_writev(struct os_file *file, uint64_t offset, const struct slice *pieces,
                                        size_t piece_count, struct err *err);
/* fdatasync (blocks). A failure is final: the caller must not try again and believe the second answer. */
MUST_CHECK enum err_code os_file_sync(struct os_file *file, struct err *err);
MUST_CHECK enum err_code os_file_size(struct os_file *file, uint64_t *size, struct err *err);
MUST_CHECK enum err_code os_file_truncate(struct os_file *file, uint64_t size, struct err *err);
/* Reserves disk space for [offset, offset + len) and makes the file at least that long, filled with zeros. */
MUST_CHECK enum err_code os_file_allocate(struct os_file *file, uint64_t offset, uint64_t len, struct err *err);
/* Takes an exclusive lock that ends with the process or the close; ERR_LOCKED at once if another process has it. */
MUST_CHECK enum err_code os_file_lock(struct os_file *file, struct err *err);

struct os_stat {
    bool is_dir;
    uint64_t size;
    int64_t modified_ms; /* since 1970 */
};

/* Called for each entry, in no order, "." and ".." left out; name lives for the call. A symbolic link is not a
 * directory here, whatever it leads to (os_stat follows it). An error ends the walk and comes back from os_dir_list. */
typedef enum err_code os_dir_fn(void *arg, const char *name, bool is_dir, struct err *err);

MUST_CHECK enum err_code os_stat(struct os *os, const char *path, struct os_stat *stat, struct err *err);
MUST_CHECK enum err_code os_rename(struct os *os, const char *from, const char *to, struct err *err); /* replaces */
/* The new name appears with the whole content and the old one is gone; if the new name is taken, ERR_ALREADY_EXISTS and
 * nothing has changed. What Paimon's commit needs. */
MUST_CHECK enum err_code os_rename_noreplace(struct os *os, const char *from, const char *to, struct err *err);
MUST_CHECK enum err_code os_unlink(struct os *os, const char *path, struct err *err);
MUST_CHECK enum err_code os_mkdir(struct os *os, const char *path, struct err *err); /* ERR_ALREADY_EXISTS if there */
/* With parents; fine if it is there. The new names are not durable before os_dir_sync of each parent. */
MUST_CHECK enum err_code os_mkdirs(struct os *os, const char *path, struct err *err);
MUST_CHECK enum err_code os_rmdir(struct os *os, const char *path, struct err *err);
MUST_CHECK enum err_code os_dir_list(struct os *os, const char *path, os_dir_fn *fn, void *arg, struct err *err);
/* Makes names created, renamed or removed in the directory durable (blocks). */
MUST_CHECK enum err_code os_dir_sync(struct os *os, const char *path, struct err *err);
/* Bytes that an ordinary user may still write on the file system of path, and its size. */
MUST_CHECK enum err_code os_disk_free(struct os *os, const char *path, uint64_t *free_bytes, uint64_t *total_bytes,
                                      struct err *err);
/* The absolute form without links; path must exist. out is a buffer of OS_PATH_MAX. */
#define OS_PATH_MAX 4096
MUST_CHECK enum err_code os_realpath(struct os *os, const char *path, char *out, struct err *err);

/* Whole-file helpers, built on the above. os_read_whole appends to out; a file of more than bytes_max is ERR_LIMIT. The
 * durable form writes PATH.tmp, syncs it, renames it over path and syncs the directory (blocks): after a crash path has
 * the old or the new content whole, and at most one .tmp lies about, which the next call overwrites. One writer a path.
 */
struct buf;
MUST_CHECK enum err_code os_read_whole(struct os *os, const char *path, size_t bytes_max, struct buf *out,
                                       struct err *err);
MUST_CHECK enum err_code os_write_durable(struct os *os, const char *path, struct slice bytes, struct err *err);
/* Removes a directory with all it holds; fine if it is not there. */
MUST_CHECK enum err_code os_remove_tree(struct os *os, const char *path, struct err *err);

/* ---- clock, random ---- */

int64_t os_mono_ns(struct os *os); /* never goes back; for durations and deadlines */
int64_t os_wall_ms(struct os *os); /* since 1970-01-01 UTC */

/* Whether the wall clock was set since it was last believed: it goes on as the monotonic one does, or somebody moved
 * it. For what deletes by time. The zero value believes the first look. One thread at a time. */
struct os_clock_watch {
    int64_t wall_ms, mono_ns;
};
#define OS_CLOCK_JUMP_MS_MAX 60000 /* as much as clocks are slewed */
/* How far; 0: not by more than OS_CLOCK_JUMP_MS_MAX. */
int64_t os_clock_jump_ms(struct os *os, const struct os_clock_watch *watch);
void os_clock_believe(struct os *os, struct os_clock_watch *watch);
void os_random(struct os *os, void *ptr, size_t len);
/* A random UUID, lower case with dashes: 36 letters and a NUL. */
void os_uuid(struct os *os, char out[37]);

/* ---- threads and waiting ---- */

struct os_mutex {
    struct os *os;
    void *impl[8]; /* room for the platform's own */
};

struct os_cond {
    struct os *os;
    void *impl[8];
};

void os_mutex_init(struct os_mutex *mutex, struct os *os);
void os_mutex_deinit(struct os_mutex *mutex);
void os_mutex_lock(struct os_mutex *mutex);
void os_mutex_unlock(struct os_mutex *mutex);
void os_cond_init(struct os_cond *cond, struct os *os);
void os_cond_deinit(struct os_cond *cond);
void os_cond_wait(struct os_cond *cond, struct os_mutex *mutex);
/* False when the deadline (os_mono_ns) passed first. */
bool os_cond_wait_until(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns);
void os_cond_signal(struct os_cond *cond);
void os_cond_broadcast(struct os_cond *cond);

typedef void os_thread_fn(void *arg);
MUST_CHECK enum err_code os_thread_start(struct os *os, const char *name, os_thread_fn *fn, void *arg,
                                         struct os_thread **thread, struct err *err);
void os_thread_join(struct os_thread *thread); /* (blocks); frees it */
void os_sleep_ns(struct os *os, int64_t ns);   /* (blocks) */

/* A signal asked of the process: the callback runs on a thread of its own, not in signal context, once for each SIGINT
 * and SIGTERM. To be called once a process, on the main thread; threads that libraries started earlier without
 * os_thread_start would still be ended by the signal. */
typedef void os_stop_fn(void *arg);
MUST_CHECK enum err_code os_on_stop(struct os *os, os_stop_fn *fn, void *arg, struct err *err);

/* ---- sockets ---- */

/* All sockets are non-blocking for the calls below; *got or *sent 0 with OK means "not now". A peer that is gone is
 * ERR_CLOSED. SIGPIPE is ignored in the process from the first socket on. Names are resolved by the system (blocks);
 * host "" is every address. */
MUST_CHECK enum err_code os_listen(struct os *os, const char *host, uint16_t port, struct os_socket **socket,
                                   uint16_t *port_taken, struct err *err); /* ERR_PORT_TAKEN; port 0 takes a free one */
/* NULL in *socket: nobody waits. peer is "host:port" in digits ("[::1]:9123"), 64 bytes. ERR_LIMIT: no descriptor is
 * left; the connection stays in the queue, so look again later. */
MUST_CHECK enum err_code os_accept(struct os_socket *listener, struct os_socket **socket, char peer[64],
                                   struct err *err);
/* (blocks) until connected, refused (ERR_UNREACHABLE) or the deadline passed (ERR_DEADLINE). */
MUST_CHECK enum err_code os_connect(struct os *os, const char *host, uint16_t port, int64_t deadline_mono_ns,
                                    struct os_socket **socket, struct err *err);
MUST_CHECK enum err_code os_socket_pair(struct os *os, struct os_socket *pair[2], struct err *err);
void os_socket_close(struct os_socket *socket); /* NULL is fine */
/* Frees the handle and gives the descriptor, for a library that looks after its sockets itself. */
int os_socket_detach(struct os_socket *socket);
/* Ends both directions, so that a thread that waits on it comes back; the close is still to come. */
void os_socket_shutdown(struct os_socket *socket);
/* *closed tells the end of the stream. */
MUST_CHECK enum err_code os_recv(struct os_socket *socket, void *ptr, size_t len, size_t *got, bool *closed,
                                 struct err *err);
MUST_CHECK enum err_code os_send(struct os_socket *socket, const struct slice *pieces, size_t piece_count, size_t *sent,
                                 struct err *err);
/* sendfile: a range of a file without a copy. The file must hold the range: ERR_IO where it ends first. */
MUST_CHECK enum err_code os_send_file(struct os_socket *socket, struct os_file *file, uint64_t offset, size_t len,
                                      size_t *sent, struct err *err);
/* Waits (blocks) until the socket can be read or written, or the deadline passed (ERR_DEADLINE). */
enum os_ready { OS_READABLE = 1, OS_WRITABLE = 2, OS_HANGUP = 4 };
MUST_CHECK enum err_code os_socket_wait(struct os_socket *socket, unsigned ready, int64_t deadline_mono_ns,
                                        struct err *err);

MUST_CHECK enum err_code os_poller_create(struct os *os, struct os_poller **poller, struct err *err);
void os_poller_destroy(struct os_poller *poller);
/* ready: what to wait for; tag comes back in the event. Level-triggered. */
MUST_CHECK enum err_code os_poller_add(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                                       struct err *err);
MUST_CHECK enum err_code os_poller_change(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                                          struct err *err);
void os_poller_remove(struct os_poller *poller, struct os_socket *socket);
struct os_event {
    unsigned ready; /* OS_READABLE... */
    void *tag;
};
/* (blocks) until something is ready, woken, or the deadline passed (INT64_MAX: none); gives how many, 0 on wake-up or
 * deadline. Owner thread only. */
size_t os_poller_wait(struct os_poller *poller, int64_t deadline_mono_ns, struct os_event *events, size_t event_max);
/* Makes a wait return at once, now or next time. Any thread. */
void os_poller_wake(struct os_poller *poller);

/* ---- the process ---- */

/* To 1 or 2 (blocks). errors: UNREAD: it is a pipe whose other end was closed. */
MUST_CHECK enum err_code os_write_fd(struct os *os, int fd, struct slice bytes, struct err *err);
/* Reads what standard input has, up to len; 0 at its end (blocks). */
MUST_CHECK enum err_code os_read_stdin(struct os *os, void *ptr, size_t len, size_t *got, struct err *err);
bool os_is_terminal(struct os *os, int fd);
int os_pid(struct os *os);
/* A variable of the environment the process was started in, or NULL; it stays. */
const char *os_environment(struct os *os, const char *name);
/* Bytes of memory that the process has resident (0: the system does not tell); processor nanoseconds it has used. */
uint64_t os_resident_bytes(struct os *os);
int64_t os_cpu_ns(struct os *os);
/* Descriptors that the process has open; 0: the system does not tell. */
size_t os_open_files(struct os *os);
/* Raises the limit on open descriptors as far as the system lets us, and gives it. */
uint64_t os_open_files_max(struct os *os);

/* A named place in work that a crash must not harm, "tier.prepared". The machine passes it; a second machine ends the
 * process there at the nth time, as kill -9 does, and a simulator may crash there. So tests can restart at each. */
void os_step(struct os *os, const char *name);
/* That machine. at is "NAME" or "NAME:NTH", borrowed. To be given to mem_free when nothing uses it any more.
 * errors: INVALID_ARGUMENT. */
MUST_CHECK enum err_code os_real_until_step(const char *at, struct os **os, struct err *err);

#endif
