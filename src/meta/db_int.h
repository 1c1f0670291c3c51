/* Private to meta: the one SQLite connection, with weir's errors. Used under the write lock only. */
#ifndef WEIR_META_DB_INT_H
#define WEIR_META_DB_INT_H

#include "meta/vfs_int.h"

struct db {
    struct meta_vfs vfs;
    sqlite3 *sqlite;
    char path[OS_PATH_MAX];
};

/* Opens or makes the file, takes it for this process, checks that it is weir's and whole.
 * must_exist  none is made.
 * errors      LOCKED, FORMAT_VERSION, CORRUPT, IO, META_MISSING. */
MUST_CHECK enum err_code db_open(struct db *db, struct os *os, const char *path, bool must_exist, int64_t now_ms,
                                 struct err *err);
void db_close(struct db *db); /* folds the write-ahead log into the file */

/* Runs one statement without rows. binds: one letter an argument: 'i' an int64_t, 't' a struct slice as text (ptr NULL:
 * NULL). */
MUST_CHECK enum err_code db_run(struct db *db, struct err *err, const char *sql, const char *binds, ...);

/* One row of a query; columns by number. Texts live for the call. */
typedef enum err_code db_row_fn(void *arg, sqlite3_stmt *row, struct err *err);
MUST_CHECK enum err_code db_each(struct db *db, struct err *err, const char *sql, db_row_fn *fn, void *arg);
/* The same with a text for ?1. */
MUST_CHECK enum err_code db_each_bound(struct db *db, struct err *err, const char *sql, struct slice text,
                                       db_row_fn *fn, void *arg);
struct slice db_text(sqlite3_stmt *row, int column); /* ptr NULL: NULL */
/* A query with one number. */
MUST_CHECK enum err_code db_number(struct db *db, const char *sql, int64_t *number, struct err *err);

MUST_CHECK enum err_code db_begin(struct db *db, struct err *err);
/* Durable when it returns OK. */
MUST_CHECK enum err_code db_commit(struct db *db, struct err *err);
/* Fine if the transaction is over already. */
void db_rollback(struct db *db);

/* layout.c: the tables of format version LAYOUT_VERSION. */
#define LAYOUT_VERSION 7
#define LAYOUT_VERSION_OLDEST 2          /* that layout_upgrade can start from */
#define LAYOUT_APPLICATION_ID 0x77656972 /* "weir" */
/* Is it weir's, and of which version? 0: it is new. errors: FORMAT_VERSION. */
MUST_CHECK enum err_code layout_check(struct db *db, int *version, struct err *err);
/* Brings the file from its version to LAYOUT_VERSION, from 0 all of it: one transaction, so that a crash leaves the
 * file as it was or ready. */
MUST_CHECK enum err_code layout_upgrade(struct db *db, int version, int64_t now_ms, struct err *err);

#endif
