#include "meta/db_int.h"

#include <stdarg.h>
#include <stdio.h>

static enum err_code code_of(const struct db *db, int number)
{
    switch (number & 0xff) {
    case SQLITE_FULL:
        return ERR_DISK_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ERR_LOCKED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return ERR_CORRUPT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return db->vfs.last.code != OK ? db->vfs.last.code : ERR_IO;
    default:
        return ERR_INTERNAL;
    }
}

/* SQLite's refusal as ours: the os's own words where it was the os that refused. */
static enum err_code fail(struct db *db, int number, struct err *err)
{
    enum err_code code = code_of(db, number);
    if (code == ERR_LOCKED)
        return err_set(err, code, "another process holds %s", db->path);
    if (code == ERR_CORRUPT)
        return err_set(err, code, "%s is damaged or is no metadata of weir: %s; restore it from a copy", db->path,
                       sqlite3_errstr(number));
    bool os_refused = code != ERR_INTERNAL && db->vfs.last.code == code;
    err_set(err, code, "%s: %s", db->path, os_refused ? db->vfs.last.text : sqlite3_errmsg(db->sqlite));
    if (err)
        err->os_errno = os_refused ? db->vfs.last.os_errno : 0;
    return code;
}

static void bind(sqlite3_stmt *statement, const char *binds, va_list args)
{
    for (int i = 0; binds[i]; i++) {
        int number;
        if (binds[i] == 'i') {
            number = sqlite3_bind_int64(statement, i + 1, va_arg(args, int64_t));
        } else {
            ASSERT(binds[i] == 't');
            struct slice text = va_arg(args, struct slice);
            number = text.ptr ? sqlite3_bind_text64(statement, i + 1, (const char *)text.ptr, text.len, SQLITE_STATIC,
                                                    SQLITE_UTF8)
                              : sqlite3_bind_null(statement, i + 1);
        }
        ASSERT(number == SQLITE_OK);
    }
}

enum err_code db_run(struct db *db, struct err *err, const char *sql, const char *binds, ...)
{
    sqlite3_stmt *statement;
    int number = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    if (number != SQLITE_OK)
        return fail(db, number, err);
    va_list args;
    va_start(args, binds);
    bind(statement, binds, args);
    va_end(args);
    while ((number = sqlite3_step(statement)) == SQLITE_ROW) /* a PRAGMA may answer with a row */
        ;
    sqlite3_finalize(statement);
    return number == SQLITE_DONE ? OK : fail(db, number, err);
}

enum err_code db_each_bound(struct db *db, struct err *err, const char *sql, struct slice text, db_row_fn *fn,
                            void *arg)
{
    sqlite3_stmt *statement;
    int number = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    if (number != SQLITE_OK)
        return fail(db, number, err);
    if (text.ptr)
        sqlite3_bind_text(statement, 1, (const char *)text.ptr, (int)text.len, SQLITE_STATIC);
    enum err_code code = OK;
    while (code == OK && (number = sqlite3_step(statement)) == SQLITE_ROW)
        code = fn(arg, statement, err);
    if (code == OK && number != SQLITE_DONE)
        code = fail(db, number, err);
    sqlite3_finalize(statement);
    return code;
}

enum err_code db_each(struct db *db, struct err *err, const char *sql, db_row_fn *fn, void *arg)
{
    return db_each_bound(db, err, sql, (struct slice){0}, fn, arg);
}

struct slice db_text(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text ? slice_of(text, (size_t)sqlite3_column_bytes(row, column)) : (struct slice){0};
}

static enum err_code take_number(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    *(int64_t *)arg = sqlite3_column_int64(row, 0);
    return OK;
}

enum err_code db_number(struct db *db, const char *sql, int64_t *number, struct err *err)
{
    return db_each(db, err, sql, take_number, number);
}

enum err_code db_begin(struct db *db, struct err *err)
{
    if (db->vfs.sync_failed)
        return err_set(err, ERR_FAILED_STORAGE, "an earlier sync of %s failed; restart the server", db->path);
    return db_run(db, err, "BEGIN IMMEDIATE", "");
}

enum err_code db_commit(struct db *db, struct err *err)
{
    return db_run(db, err, "COMMIT", "");
}

void db_rollback(struct db *db)
{
    if (!sqlite3_get_autocommit(db->sqlite) && db_run(db, NULL, "ROLLBACK", "") != OK)
        ASSERT(sqlite3_get_autocommit(db->sqlite)); /* a rollback that fails has ended the transaction all the same */
}

static enum err_code run_all(struct db *db, const char *const *sql, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(db_run(db, err, sql[i], ""));
    return OK;
}

static enum err_code expect_wal(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct slice mode = db_text(row, 0);
    if (slice_is(mode, "wal"))
        return OK;
    return err_set(err, ERR_INTERNAL, "%s: SQLite journals by '%.*s' instead of a write-ahead log",
                   ((struct db *)arg)->path, SLICE_ARGS(mode));
}

static enum err_code check_row(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct slice text = db_text(row, 0);
    if (slice_is(text, "ok"))
        return OK;
    return err_set(err, ERR_CORRUPT, "%s is damaged: %.*s; restore it from a copy", ((struct db *)arg)->path,
                   (int)MIN(text.len, 100), (const char *)text.ptr);
}

/* Exclusive locking first: it makes the first read take the lock for good, and lets WAL do without shared memory. A
 * file of someone else is told before anything is written to it. */
static enum err_code make_ready(struct db *db, bool must_exist, int64_t now_ms, struct err *err)
{
    static const char *const before[] = {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA temp_store=MEMORY",
                                         "PRAGMA trusted_schema=OFF"};
    static const char *const after[] = {"PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"};
    int version;
    TRY(run_all(db, before, ARRAY_LEN(before), err));
    TRY(layout_check(db, &version, err));
    if (version == 0 && must_exist)
        return err_set(err, ERR_META_MISSING, "%s is empty, and there are files of tables beside it", db->path);
    TRY(db_each(db, err, "PRAGMA journal_mode=WAL", expect_wal, db));
    TRY(run_all(db, after, ARRAY_LEN(after), err));
    if (version > 0)
        TRY(db_each(db, err, "PRAGMA quick_check(1)", check_row, db));
    return layout_upgrade(db, version, now_ms, err);
}

enum err_code db_open(struct db *db, struct os *os, const char *path, bool must_exist, int64_t now_ms, struct err *err)
{
    enum err_code code;
    *db = (struct db){0};
    snprintf(db->path, sizeof db->path, "%s", path);
    TRY(meta_vfs_init(&db->vfs, os, err));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int number = sqlite3_open_v2(path, &db->sqlite, flags, db->vfs.name);
    if (number != SQLITE_OK) {
        code = fail(db, number, err);
        goto fail;
    }
    TRY_OR_FAIL(make_ready(db, must_exist, now_ms, err));
    return OK;
fail:
    db_close(db);
    return code;
}

void db_close(struct db *db)
{
    if (!db->vfs.os)
        return;
    int number = sqlite3_close(db->sqlite);
    ASSERT(number == SQLITE_OK);
    meta_vfs_deinit(&db->vfs);
    *db = (struct db){0};
}
