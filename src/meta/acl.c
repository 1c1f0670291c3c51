/* Access lists: in the file, and as a set in the mirror. */
#include "meta/meta_int.h"

static enum err_code load_acl(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct meta *meta = arg;
    struct acl acl = {
        .type = (enum acl_type)sqlite3_column_int(row, 0),
        .resource = db_text(row, 1),
        .principal_type = db_text(row, 2),
        .principal_name = db_text(row, 3),
        .host = db_text(row, 4),
        .operation = (enum acl_operation)sqlite3_column_int(row, 5),
    };
    struct err why;
    if (acl_check(&acl, ACL_ALLOW, &why) != OK)
        return err_set(err, ERR_CORRUPT, "%s: an access list entry can't be understood: %.120s", meta->db.path,
                       why.text);
    acl_set_add(&meta->acls, &acl);
    return OK;
}

enum err_code acl_load(struct meta *meta, struct err *err)
{
    return db_each(&meta->db, err,
                   "SELECT resource_type, resource, principal_type, principal_name, host, operation FROM acls",
                   load_acl, meta);
}

static enum err_code run_each(struct meta *meta, const struct acl *acls, size_t count, const char *sql, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(db_run(&meta->db, err, sql, "itttti", (int64_t)acls[i].type, acls[i].resource, acls[i].principal_type,
                   acls[i].principal_name, acls[i].host, (int64_t)acls[i].operation));
    return OK;
}

/* One transaction, then the mirror. */
static enum err_code change_locked(struct meta *meta, const struct acl *acls, size_t count, const char *sql,
                                   void (*change)(struct acl_set *set, const struct acl *acl), struct err *err)
{
    enum err_code code;
    if (count == 0)
        return OK;
    TRY(db_begin(&meta->db, err));
    TRY_OR_FAIL(run_each(meta, acls, count, sql, err));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    os_mutex_lock(&meta->read);
    for (size_t i = 0; i < count; i++)
        change(&meta->acls, &acls[i]);
    os_mutex_unlock(&meta->read);
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

enum err_code meta_acls_create(struct meta *meta, const struct acl *acls, size_t count, struct err *err)
{
    enum err_code code;
    os_mutex_lock(&meta->write);
    if (count > META_ACLS_MAX || meta->acls.count > META_ACLS_MAX - count)
        code = err_set(err, ERR_LIMIT, "there are %zu access list entries; with %zu more they are over %d",
                       meta->acls.count, count, META_ACLS_MAX);
    else
        code = change_locked(meta, acls, count, "INSERT OR IGNORE INTO acls VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                             acl_set_add, err);
    os_mutex_unlock(&meta->write);
    return code;
}

enum err_code meta_acls_drop(struct meta *meta, const struct acl *acls, size_t count, struct err *err)
{
    os_mutex_lock(&meta->write);
    enum err_code code = change_locked(meta, acls, count,
                                       "DELETE FROM acls WHERE resource_type = ?1 AND resource = ?2 AND principal_type"
                                       " = ?3 AND principal_name = ?4 AND host = ?5 AND operation = ?6",
                                       acl_set_remove, err);
    os_mutex_unlock(&meta->write);
    return code;
}

void meta_acl_list(struct meta *meta, const struct acl_filter *filter, struct arena *arena, struct acl **items,
                   size_t *count)
{
    os_mutex_lock(&meta->read);
    acl_set_find(&meta->acls, filter, arena, items, count);
    os_mutex_unlock(&meta->read);
}

bool meta_acl_allows(struct meta *meta, const struct acl_user *user, bool ignore_case, enum acl_operation operation,
                     const struct acl_resource *resource)
{
    os_mutex_lock(&meta->read);
    bool yes = acl_set_allows(&meta->acls, user, ignore_case, operation, resource);
    os_mutex_unlock(&meta->read);
    return yes;
}
