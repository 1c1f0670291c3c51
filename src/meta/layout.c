/* The tables of meta.db, as steps from one format version to the next: a file of an older version goes on from its own.
 * docs/formats/meta.md explains them. A step that was in a release is never changed. */
#include "meta/db_int.h"

static const char *const to_2[] = {
    /* from nothing */
    "CREATE TABLE counters (name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT",
    "INSERT INTO counters VALUES ('table_id', 0), ('partition_id', 0), ('writer_id', 0), ('run', 0)",
    "CREATE TABLE databases (name TEXT PRIMARY KEY, descriptor TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " modified_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE tables (table_id INTEGER PRIMARY KEY, database_name TEXT NOT NULL REFERENCES databases,"
    " name TEXT NOT NULL, descriptor TEXT NOT NULL, schema_id INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    " modified_ms INTEGER NOT NULL, UNIQUE (database_name, name)) STRICT",
    "CREATE TABLE schemas (table_id INTEGER NOT NULL REFERENCES tables ON DELETE CASCADE, schema_id INTEGER NOT NULL,"
    " schema TEXT NOT NULL, PRIMARY KEY (table_id, schema_id)) STRICT, WITHOUT ROWID",
    "CREATE TABLE pending_deletes (table_id INTEGER PRIMARY KEY, database_name TEXT NOT NULL, name TEXT NOT NULL,"
    " dropped_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE lake_snapshots (table_id INTEGER NOT NULL REFERENCES tables ON DELETE CASCADE,"
    " position INTEGER NOT NULL, snapshot_id INTEGER NOT NULL, tiered_file TEXT NOT NULL, tiered_offsets TEXT NOT NULL,"
    " readable_file TEXT, readable_offsets TEXT, committed_ms INTEGER NOT NULL, PRIMARY KEY (table_id, position))"
    " STRICT, WITHOUT ROWID",
    "CREATE TABLE lake_buckets (table_id INTEGER NOT NULL REFERENCES tables ON DELETE CASCADE,"
    " partition_id INTEGER NOT NULL, bucket_id INTEGER NOT NULL, end_offset INTEGER NOT NULL,"
    " max_timestamp INTEGER NOT NULL, PRIMARY KEY (table_id, partition_id, bucket_id)) STRICT, WITHOUT ROWID",
    "CREATE TABLE partitions (partition_id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL REFERENCES tables"
    " ON DELETE CASCADE, name TEXT NOT NULL, created_ms INTEGER NOT NULL, UNIQUE (table_id, name)) STRICT",
    "CREATE TABLE pending_partition_deletes (partition_id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL REFERENCES"
    " tables ON DELETE CASCADE, name TEXT NOT NULL, dropped_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX pending_partition_deletes_by_table ON pending_partition_deletes (table_id)",
    "INSERT INTO databases VALUES ('fluss', '{\"version\":1,\"custom_properties\":{}}', ?1, ?1)",
    "PRAGMA application_id = 0x77656972",
    NULL,
};

static const char *const to_3[] = {
    "CREATE TABLE acls (resource_type INTEGER NOT NULL, resource TEXT NOT NULL, principal_type TEXT NOT NULL,"
    " principal_name TEXT NOT NULL, host TEXT NOT NULL, operation INTEGER NOT NULL, PRIMARY KEY (resource_type,"
    " resource, principal_type, principal_name, host, operation)) STRICT, WITHOUT ROWID",
    NULL,
};

static const char *const to_4[] = {
    "CREATE TABLE pending_alters (table_id INTEGER PRIMARY KEY REFERENCES tables ON DELETE CASCADE,"
    " descriptor TEXT NOT NULL, begun_ms INTEGER NOT NULL) STRICT",
    NULL,
};

static const char *const to_5[] = {
    "CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    NULL,
};

static const char *const to_6[] = {
    "ALTER TABLE partitions ADD COLUMN is_remade INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE kept_partitions (table_id INTEGER NOT NULL REFERENCES tables ON DELETE CASCADE, name TEXT NOT NULL,"
    " PRIMARY KEY (table_id, name)) STRICT, WITHOUT ROWID",
    NULL,
};

static const char *const to_7[] = {
    "CREATE TABLE producers (producer_id TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE producer_offsets (producer_id TEXT NOT NULL REFERENCES producers ON DELETE CASCADE,"
    " table_id INTEGER NOT NULL, partition_id INTEGER NOT NULL, bucket_id INTEGER NOT NULL,"
    " end_offset INTEGER NOT NULL, PRIMARY KEY (producer_id, table_id, partition_id, bucket_id)) STRICT, WITHOUT ROWID",
    NULL,
};

static const struct {
    int version; /* afterwards */
    const char *const *sql;
} steps[] = {{2, to_2}, {3, to_3}, {4, to_4}, {5, to_5}, {6, to_6}, {7, to_7}};

/* A statement with ?1 gets the time. */
static enum err_code step_run(struct db *db, const char *const *sql, int64_t now_ms, struct err *err)
{
    for (; *sql; sql++)
        TRY(db_run(db, err, *sql, strstr(*sql, "?1") ? "i" : "", now_ms));
    return OK;
}

enum err_code layout_upgrade(struct db *db, int version, int64_t now_ms, struct err *err)
{
    enum err_code code;
    if (version == LAYOUT_VERSION)
        return OK;
    TRY(db_begin(db, err));
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i].version > version)
            TRY_OR_FAIL(step_run(db, steps[i].sql, now_ms, err));
    TRY_OR_FAIL(db_run(db, err, "PRAGMA user_version = " ERR_STRINGIFY(LAYOUT_VERSION), ""));
    TRY_OR_FAIL(db_commit(db, err));
    return OK;
fail:
    db_rollback(db);
    return code;
}

enum err_code layout_check(struct db *db, int *version, struct err *err)
{
    int64_t application_id = 0, number = 0, object_count = 0;
    TRY(db_number(db, "PRAGMA application_id", &application_id, err));
    TRY(db_number(db, "PRAGMA user_version", &number, err));
    TRY(db_number(db, "SELECT count(*) FROM sqlite_schema", &object_count, err));
    if (application_id == 0 && number == 0 && object_count == 0) {
        *version = 0;
        return OK;
    }
    if (application_id != LAYOUT_APPLICATION_ID)
        return err_set(err, ERR_FORMAT_VERSION, "%s is an SQLite file, but not one that weir wrote", db->path);
    if (number < LAYOUT_VERSION_OLDEST || number > LAYOUT_VERSION)
        return err_set(err, ERR_FORMAT_VERSION, "%s has format version %lld; this weir reads versions %d to %d",
                       db->path, (long long)number, LAYOUT_VERSION_OLDEST, LAYOUT_VERSION);
    *version = (int)number;
    return OK;
}
