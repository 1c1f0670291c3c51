/* Passes each call of os.h on to the table of its os. What this adds: NULL may be closed, and what works together must
 * belong to one os. */
#include "os/os_ops.h"

enum err_code os_file_open(struct os *os, const char *path, unsigned flags, struct os_file **file, struct err *err)
{
    return os->file->open(os, path, flags, file, err);
}

void os_file_close(struct os_file *file)
{
    if (file)
        file->os->file->close(file);
}

enum err_code os_file_read(struct os_file *file, uint64_t offset, void *ptr, size_t len, size_t *got, struct err *err)
{
    return file->os->file->read(file, offset, ptr, len, got, err);
}

enum err_code os_file_writev(struct os_file *file, uint64_t offset, const struct slice *pieces, size_t piece_count,
                             struct err *err)
{
    return file->os->file->writev(file, offset, pieces, piece_count, err);
}

enum err_code os_file_write(struct os_file *file, uint64_t offset, struct slice bytes, struct err *err)
{
    return file->os->file->writev(file, offset, &bytes, 1, err);
}

enum err_code os_file_sync(struct os_file *file, struct err *err)
{
    return file->os->file->sync(file, err);
}

enum err_code os_file_size(struct os_file *file, uint64_t *size, struct err *err)
{
    return file->os->file->size(file, size, err);
}

enum err_code os_file_truncate(struct os_file *file, uint64_t size, struct err *err)
{
    return file->os->file->truncate(file, size, err);
}

enum err_code os_file_allocate(struct os_file *file, uint64_t offset, uint64_t len, struct err *err)
{
    return file->os->file->allocate(file, offset, len, err);
}

enum err_code os_file_lock(struct os_file *file, struct err *err)
{
    return file->os->file->lock(file, err);
}

enum err_code os_stat(struct os *os, const char *path, struct os_stat *stat, struct err *err)
{
    return os->name->stat(os, path, stat, err);
}

enum err_code os_rename(struct os *os, const char *from, const char *to, struct err *err)
{
    return os->name->rename(os, from, to, err);
}

enum err_code os_rename_noreplace(struct os *os, const char *from, const char *to, struct err *err)
{
    return os->name->rename_noreplace(os, from, to, err);
}

enum err_code os_unlink(struct os *os, const char *path, struct err *err)
{
    return os->name->unlink(os, path, err);
}

enum err_code os_mkdir(struct os *os, const char *path, struct err *err)
{
    return os->name->mkdir(os, path, err);
}

enum err_code os_rmdir(struct os *os, const char *path, struct err *err)
{
    return os->name->rmdir(os, path, err);
}

enum err_code os_dir_list(struct os *os, const char *path, os_dir_fn *fn, void *arg, struct err *err)
{
    return os->name->dir_list(os, path, fn, arg, err);
}

enum err_code os_dir_sync(struct os *os, const char *path, struct err *err)
{
    return os->name->dir_sync(os, path, err);
}

enum err_code os_disk_free(struct os *os, const char *path, uint64_t *free_bytes, uint64_t *total_bytes,
                           struct err *err)
{
    return os->name->disk_free(os, path, free_bytes, total_bytes, err);
}

enum err_code os_realpath(struct os *os, const char *path, char *out, struct err *err)
{
    return os->name->realpath(os, path, out, err);
}

int64_t os_mono_ns(struct os *os)
{
    return os->clock->mono_ns(os);
}

int64_t os_wall_ms(struct os *os)
{
    return os->clock->wall_ms(os);
}

void os_random(struct os *os, void *ptr, size_t len)
{
    os->clock->random(os, ptr, len);
}

void os_mutex_init(struct os_mutex *mutex, struct os *os)
{
    mutex->os = os;
    os->lock->mutex_init(mutex);
}

void os_mutex_deinit(struct os_mutex *mutex)
{
    mutex->os->lock->mutex_deinit(mutex);
}

void os_mutex_lock(struct os_mutex *mutex)
{
    mutex->os->lock->mutex_lock(mutex);
}

void os_mutex_unlock(struct os_mutex *mutex)
{
    mutex->os->lock->mutex_unlock(mutex);
}

void os_cond_init(struct os_cond *cond, struct os *os)
{
    cond->os = os;
    os->lock->cond_init(cond);
}

void os_cond_deinit(struct os_cond *cond)
{
    cond->os->lock->cond_deinit(cond);
}

void os_cond_wait(struct os_cond *cond, struct os_mutex *mutex)
{
    ASSERT(cond->os == mutex->os);
    cond->os->lock->cond_wait(cond, mutex);
}

bool os_cond_wait_until(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns)
{
    ASSERT(cond->os == mutex->os);
    return cond->os->lock->cond_wait_until(cond, mutex, deadline_mono_ns);
}

void os_cond_signal(struct os_cond *cond)
{
    cond->os->lock->cond_signal(cond);
}

void os_cond_broadcast(struct os_cond *cond)
{
    cond->os->lock->cond_broadcast(cond);
}

enum err_code os_thread_start(struct os *os, const char *name, os_thread_fn *fn, void *arg, struct os_thread **thread,
                              struct err *err)
{
    return os->thread->start(os, name, fn, arg, thread, err);
}

void os_thread_join(struct os_thread *thread)
{
    thread->os->thread->join(thread);
}

void os_sleep_ns(struct os *os, int64_t ns)
{
    os->clock->sleep_ns(os, ns);
}

enum err_code os_on_stop(struct os *os, os_stop_fn *fn, void *arg, struct err *err)
{
    return os->thread->on_stop(os, fn, arg, err);
}

enum err_code os_listen(struct os *os, const char *host, uint16_t port, struct os_socket **socket, uint16_t *port_taken,
                        struct err *err)
{
    return os->socket->listen(os, host, port, socket, port_taken, err);
}

enum err_code os_accept(struct os_socket *listener, struct os_socket **socket, char peer[64], struct err *err)
{
    return listener->os->socket->accept(listener, socket, peer, err);
}

enum err_code os_connect(struct os *os, const char *host, uint16_t port, int64_t deadline_mono_ns,
                         struct os_socket **socket, struct err *err)
{
    return os->socket->connect(os, host, port, deadline_mono_ns, socket, err);
}

enum err_code os_socket_pair(struct os *os, struct os_socket *pair[2], struct err *err)
{
    return os->socket->pair(os, pair, err);
}

void os_socket_close(struct os_socket *socket)
{
    if (socket)
        socket->os->socket->close(socket);
}

int os_socket_detach(struct os_socket *socket)
{
    return socket->os->socket->detach(socket);
}

void os_socket_shutdown(struct os_socket *socket)
{
    socket->os->socket->shutdown(socket);
}

enum err_code os_recv(struct os_socket *socket, void *ptr, size_t len, size_t *got, bool *closed, struct err *err)
{
    return socket->os->socket->recv(socket, ptr, len, got, closed, err);
}

enum err_code os_send(struct os_socket *socket, const struct slice *pieces, size_t piece_count, size_t *sent,
                      struct err *err)
{
    return socket->os->socket->send(socket, pieces, piece_count, sent, err);
}

enum err_code os_send_file(struct os_socket *socket, struct os_file *file, uint64_t offset, size_t len, size_t *sent,
                           struct err *err)
{
    ASSERT(socket->os == file->os);
    return socket->os->socket->send_file(socket, file, offset, len, sent, err);
}

enum err_code os_socket_wait(struct os_socket *socket, unsigned ready, int64_t deadline_mono_ns, struct err *err)
{
    return socket->os->socket->wait(socket, ready, deadline_mono_ns, err);
}

enum err_code os_poller_create(struct os *os, struct os_poller **poller, struct err *err)
{
    return os->poller->create(os, poller, err);
}

void os_poller_destroy(struct os_poller *poller)
{
    if (poller)
        poller->os->poller->destroy(poller);
}

enum err_code os_poller_add(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                            struct err *err)
{
    ASSERT(poller->os == socket->os);
    return poller->os->poller->add(poller, socket, ready, tag, err);
}

enum err_code os_poller_change(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                               struct err *err)
{
    ASSERT(poller->os == socket->os);
    return poller->os->poller->change(poller, socket, ready, tag, err);
}

void os_poller_remove(struct os_poller *poller, struct os_socket *socket)
{
    poller->os->poller->remove(poller, socket);
}

size_t os_poller_wait(struct os_poller *poller, int64_t deadline_mono_ns, struct os_event *events, size_t event_max)
{
    return poller->os->poller->wait(poller, deadline_mono_ns, events, event_max);
}

void os_poller_wake(struct os_poller *poller)
{
    poller->os->poller->wake(poller);
}

enum err_code os_write_fd(struct os *os, int fd, struct slice bytes, struct err *err)
{
    return os->process->write_fd(os, fd, bytes, err);
}

enum err_code os_read_stdin(struct os *os, void *ptr, size_t len, size_t *got, struct err *err)
{
    return os->process->read_stdin(os, ptr, len, got, err);
}

bool os_is_terminal(struct os *os, int fd)
{
    return os->process->is_terminal(os, fd);
}

int os_pid(struct os *os)
{
    return os->process->pid(os);
}

const char *os_environment(struct os *os, const char *name)
{
    return os->process->environment(os, name);
}

uint64_t os_resident_bytes(struct os *os)
{
    return os->process->resident_bytes(os);
}

int64_t os_cpu_ns(struct os *os)
{
    return os->process->cpu_ns(os);
}

uint64_t os_open_files_max(struct os *os)
{
    return os->process->open_files_max(os);
}

void os_step(struct os *os, const char *name)
{
    if (os->process->step)
        os->process->step(os, name);
}
