#include "acl/acl.h"

#include "lib/test.h"

static struct err err;

static struct acl entry(enum acl_type type, const char *resource, const char *who, enum acl_operation operation)
{
    bool all = strcmp(who, "*") == 0;
    return (struct acl){.type = type,
                        .resource = slice_str(resource),
                        .principal_type = slice_str(all ? "*" : "User"),
                        .principal_name = slice_str(who),
                        .host = SLICE("*"),
                        .operation = operation};
}

static bool allows(const struct acl *acl, const char *who, enum acl_operation operation, struct acl_resource resource)
{
    struct acl_set set = {0};
    acl_set_add(&set, acl);
    struct acl_user user = {slice_str(who), SLICE("127.0.0.1")};
    bool yes = acl_set_allows(&set, &user, false, operation, &resource);
    acl_set_deinit(&set);
    return yes;
}

#define DB acl_database(SLICE("db"))
#define T acl_table(SLICE("db"), SLICE("t"))

static void the_rule(void **state)
{
    (void)state;
    static const struct {
        enum acl_type type;
        const char *resource, *who;
        enum acl_operation operation;
        const char *user;
        enum acl_operation wanted;
        int on; /* 0 cluster, 1 db, 2 db.t */
        bool want;
    } rows[] = {
        {ACL_TABLE, "db.t", "a", ACL_READ, "a", ACL_READ, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_READ, "b", ACL_READ, 2, false},
        {ACL_TABLE, "db.t", "a", ACL_READ, "A", ACL_READ, 2, false},
        {ACL_TABLE, "db.t", "a", ACL_READ, "a", ACL_WRITE, 2, false},
        {ACL_TABLE, "db.t", "a", ACL_READ, "a", ACL_DESCRIBE, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_WRITE, "a", ACL_DESCRIBE, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_CREATE, "a", ACL_DESCRIBE, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_DROP, "a", ACL_DESCRIBE, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_ALTER, "a", ACL_DESCRIBE, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_DESCRIBE, "a", ACL_READ, 2, false},
        {ACL_TABLE, "db.t", "a", ACL_ALL, "a", ACL_DROP, 2, true},
        {ACL_TABLE, "db.t", "a", ACL_ALL, "a", ACL_DESCRIBE, 1, false}, /* a table's right is none to the database */
        {ACL_TABLE, "db.u", "a", ACL_ALL, "a", ACL_READ, 2, false},
        {ACL_TABLE, "*", "a", ACL_READ, "a", ACL_READ, 2, true},
        {ACL_TABLE, "*", "a", ACL_READ, "a", ACL_DESCRIBE, 1, false},
        {ACL_DATABASE, "db", "a", ACL_READ, "a", ACL_READ, 2, true},
        {ACL_DATABASE, "d", "a", ACL_READ, "a", ACL_READ, 2, false},
        {ACL_DATABASE, "*", "a", ACL_CREATE, "a", ACL_CREATE, 1, true},
        {ACL_DATABASE, "*", "a", ACL_READ, "a", ACL_READ, 2, false}, /* "*" is looked up for the resource's own type */
        {ACL_CLUSTER, "fluss-cluster", "a", ACL_ALL, "a", ACL_WRITE, 2, true},
        {ACL_CLUSTER, "fluss-cluster", "a", ACL_CREATE, "a", ACL_CREATE, 0, true},
        {ACL_CLUSTER, "*", "a", ACL_CREATE, "a", ACL_CREATE, 0, true},
        {ACL_DATABASE, "db", "a", ACL_ALL, "a", ACL_CREATE, 0, false},
        {ACL_TABLE, "db.t", "*", ACL_READ, "anybody", ACL_READ, 2, true},
    };
    const struct acl_resource on[] = {acl_cluster(), DB, T};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct acl acl = entry(rows[i].type, rows[i].resource, rows[i].who, rows[i].operation);
        MUST(acl_check(&acl, ACL_ALLOW, &err));
        if (allows(&acl, rows[i].user, rows[i].wanted, on[rows[i].on]) != rows[i].want)
            fail_msg("row %zu", i);
    }
}

static void nothing_is_allowed_by_an_empty_set(void **state)
{
    (void)state;
    struct acl_set set = {0};
    struct acl_user user = {SLICE("a"), SLICE("127.0.0.1")};
    struct acl_resource table = T;
    for (int operation = ACL_ALL; operation <= ACL_DESCRIBE; operation++)
        assert_false(acl_set_allows(&set, &user, false, (enum acl_operation)operation, &table));
    acl_set_deinit(&set);
}

static void host_and_case_count_where_they_are_said(void **state)
{
    (void)state;
    struct acl_set set = {0};
    struct acl acl = entry(ACL_TABLE, "db.t", "Ann", ACL_READ);
    acl.host = SLICE("10.0.0.7");
    acl_set_add(&set, &acl);
    struct acl_resource table = T;
    struct acl_user there = {SLICE("ann"), SLICE("10.0.0.7")}, elsewhere = {SLICE("Ann"), SLICE("10.0.0.70")};
    assert_false(acl_set_allows(&set, &there, false, ACL_READ, &table));
    assert_true(acl_set_allows(&set, &there, true, ACL_READ, &table));
    assert_false(acl_set_allows(&set, &elsewhere, true, ACL_READ, &table));
    acl_set_deinit(&set);
}

static void an_entry_is_there_once_and_goes(void **state)
{
    (void)state;
    struct acl_set set = {0};
    struct arena arena = {0};
    struct acl *items;
    size_t count;
    struct acl a = entry(ACL_TABLE, "db.t", "a", ACL_READ), b = entry(ACL_TABLE, "db.t", "b", ACL_READ);
    acl_set_add(&set, &b);
    acl_set_add(&set, &a);
    acl_set_add(&set, &a);
    assert_int_equal(set.count, 2);
    struct acl_filter filter = {.type = ACL_TYPE_ANY, .operation = ACL_OPERATION_ANY, .permission = ACL_PERMISSION_ANY};
    acl_set_find(&set, &filter, &arena, &items, &count);
    assert_int_equal(count, 2);
    assert_true(acl_equal(&items[0], &a) && acl_equal(&items[1], &b));
    acl_set_remove(&set, &a);
    acl_set_remove(&set, &a);
    assert_false(acl_set_has(&set, &a));
    assert_true(acl_set_has(&set, &b));
    acl_set_remove(&set, &b);
    assert_int_equal(set.count, 0);
    assert_int_equal(set.lists.count, 0);
    arena_deinit(&arena);
    acl_set_deinit(&set);
}

static void filters_choose(void **state)
{
    (void)state;
    struct acl acl = entry(ACL_DATABASE, "db", "a", ACL_READ);
    const struct acl_filter any = {
        .type = ACL_TYPE_ANY, .operation = ACL_OPERATION_ANY, .permission = ACL_PERMISSION_ANY};
    struct acl_filter filter = any;
    assert_true(acl_matches(&filter, &acl));
    filter.type = ACL_DATABASE, filter.resource = SLICE("db");
    assert_true(acl_matches(&filter, &acl));
    filter.resource = SLICE("other");
    assert_false(acl_matches(&filter, &acl));
    filter = any, filter.principal_type = SLICE("User"), filter.principal_name = SLICE("b");
    assert_false(acl_matches(&filter, &acl));
    filter = any, filter.host = SLICE("127.0.0.1");
    assert_false(acl_matches(&filter, &acl));
    filter = any, filter.operation = ACL_ALL;
    assert_false(acl_matches(&filter, &acl));
    filter = any, filter.type = ACL_TABLE;
    assert_false(acl_matches(&filter, &acl));
}

static void entries_without_effect_are_refused(void **state)
{
    (void)state;
    static const struct {
        int type;
        const char *resource, *principal_type, *principal_name, *host;
        int operation, permission;
    } rows[] = {
        {ACL_TYPE_ANY, "db", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {5, "db", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {-1, "db", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_CLUSTER, "cluster", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_DATABASE, "db.t", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "t", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, ".t", "User", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.t", "Role", "a", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.t", "User", "*", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.t", "User", "", "*", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.t", "User", "a", "", ACL_READ, ACL_ALLOW},
        {ACL_TABLE, "db.t", "a", "User", "*", ACL_READ, ACL_ALLOW}, /* swapped */
        {ACL_TABLE, "db.t", "User", "a", "*", ACL_OPERATION_ANY, ACL_ALLOW},
        {ACL_TABLE, "db.t", "User", "a", "*", 9, ACL_ALLOW},
        {ACL_TABLE, "db.t", "User", "a", "*", ACL_READ, ACL_PERMISSION_ANY},
        {ACL_TABLE, "db.t", "User", "a", "*", ACL_READ, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct acl acl = {(enum acl_type)rows[i].type,       slice_str(rows[i].resource),
                          slice_str(rows[i].principal_type), slice_str(rows[i].principal_name),
                          slice_str(rows[i].host),           (enum acl_operation)rows[i].operation};
        if (acl_check(&acl, rows[i].permission, &err) != ERR_INVALID_ARGUMENT)
            fail_msg("row %zu", i);
    }
}

static void an_entry_with_a_long_text_is_refused(void **state)
{
    (void)state;
    char name[ACL_NAME_BYTES_MAX + 2];
    memset(name, 'x', sizeof name);
    name[ACL_NAME_BYTES_MAX] = 0;
    struct acl acl = entry(ACL_DATABASE, name, "a", ACL_READ);
    MUST(acl_check(&acl, ACL_ALLOW, &err));
    assert_true(allows(&acl, "a", ACL_READ, acl_database(slice_str(name))));
    acl.resource = slice_of(name, ACL_NAME_BYTES_MAX + 1);
    name[ACL_NAME_BYTES_MAX] = 'x';
    MUST_FAIL(ERR_LIMIT, acl_check(&acl, ACL_ALLOW, &err));
    struct acl other = entry(ACL_DATABASE, "db", "a", ACL_READ);
    assert_false(allows(&other, "a", ACL_READ, acl_database(acl.resource)));
}

static void the_database_owns_the_lists_of_its_tables(void **state)
{
    (void)state;
    struct acl table = entry(ACL_TABLE, "db.a.b", "a", ACL_READ), all = entry(ACL_TABLE, "*", "a", ACL_READ);
    struct acl cluster = entry(ACL_CLUSTER, "*", "a", ACL_READ);
    struct acl_resource owner = acl_owner(&table), itself = acl_resource_of(&table);
    assert_int_equal(owner.type, ACL_DATABASE);
    assert_slice_equal(owner.database, SLICE("db"));
    assert_slice_equal(itself.table, SLICE("a.b"));
    assert_slice_equal(acl_owner(&all).database, SLICE("*"));
    assert_int_equal(acl_owner(&cluster).type, ACL_CLUSTER);
}

static void super_users_are_read(void **state)
{
    (void)state;
    struct acl_supers supers = {0};
    MUST(acl_supers_parse(&supers, SLICE(" User:alice; User:bob ;;"), &err));
    assert_true(acl_supers_have(&supers, SLICE("alice"), false));
    assert_true(acl_supers_have(&supers, SLICE("bob"), false));
    assert_false(acl_supers_have(&supers, SLICE("Alice"), false));
    assert_true(acl_supers_have(&supers, SLICE("Alice"), true));
    assert_false(acl_supers_have(&supers, SLICE("User"), false));
    acl_supers_deinit(&supers);
    static const char *const wrong[] = {"alice", "User:", "User:a:b", "Role:a", "alice:User", "User:*", "*:*"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, acl_supers_parse(&supers, slice_str(wrong[i]), &err));
        acl_supers_deinit(&supers);
    }
}

TESTS("acl", TEST(the_rule), TEST(nothing_is_allowed_by_an_empty_set), TEST(host_and_case_count_where_they_are_said),
      TEST(an_entry_is_there_once_and_goes), TEST(filters_choose), TEST(entries_without_effect_are_refused),
      TEST(an_entry_with_a_long_text_is_refused), TEST(the_database_owns_the_lists_of_its_tables),
      TEST(super_users_are_read))
