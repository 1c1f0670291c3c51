/* Sets of entries, the rule, and super users. */
#include "acl/acl.h"

#include <stdlib.h>

/* One resource's entries. */
struct acl_list {
    struct arena arena; /* of all its texts; a removed entry's stay as long as the list */
    VEC(struct acl) entries;
};

/* Of a list: the type as one byte, then the resource. */
struct list_key {
    uint8_t bytes[1 + ACL_NAME_BYTES_MAX];
    size_t len;
};

/* False where no entry can have so long a name. */
static bool key_make(struct list_key *key, enum acl_type type, struct slice first, struct slice second)
{
    size_t len = 1 + first.len + (second.len ? 1 + second.len : 0);
    if (len > sizeof key->bytes)
        return false;
    key->bytes[0] = (uint8_t)type;
    key->len = len;
    if (first.len)
        memcpy(key->bytes + 1, first.ptr, first.len);
    if (second.len) {
        key->bytes[1 + first.len] = '.';
        memcpy(key->bytes + 2 + first.len, second.ptr, second.len);
    }
    return true;
}

static struct acl_list *list_find(const struct acl_set *set, enum acl_type type, struct slice first,
                                  struct slice second)
{
    struct list_key key;
    return key_make(&key, type, first, second) ? map_get(&set->lists, slice_of(key.bytes, key.len)) : NULL;
}

static size_t position(const struct acl_list *list, const struct acl *acl)
{
    size_t i = 0;
    while (i < list->entries.len && !acl_equal(&list->entries.ptr[i], acl))
        i++;
    return i;
}

static void list_destroy(struct acl_list *list)
{
    vec_deinit(&list->entries);
    arena_deinit(&list->arena);
    mem_free(list);
}

void acl_set_deinit(struct acl_set *set)
{
    size_t at = 0;
    struct slice key;
    void *list;
    while (map_next(&set->lists, &at, &key, &list))
        list_destroy(list);
    map_deinit(&set->lists);
    *set = (struct acl_set){0};
}

bool acl_set_has(const struct acl_set *set, const struct acl *acl)
{
    const struct acl_list *list = list_find(set, acl->type, acl->resource, (struct slice){0});
    return list && position(list, acl) < list->entries.len;
}

void acl_set_add(struct acl_set *set, const struct acl *acl)
{
    struct list_key key;
    struct acl_list *list = list_find(set, acl->type, acl->resource, (struct slice){0});
    bool fits = key_make(&key, acl->type, acl->resource, (struct slice){0});
    ASSERT(fits); /* acl_check */
    if (!list) {
        list = mem_zalloc(sizeof *list);
        map_put(&set->lists, slice_of(key.bytes, key.len), list);
    }
    if (position(list, acl) < list->entries.len)
        return;
    vec_push(&list->entries, acl_dup(&list->arena, acl));
    set->count++;
}

void acl_set_remove(struct acl_set *set, const struct acl *acl)
{
    struct list_key key;
    struct acl_list *list = list_find(set, acl->type, acl->resource, (struct slice){0});
    size_t at = list ? position(list, acl) : 0;
    if (!list || at == list->entries.len)
        return;
    vec_remove(&list->entries, at);
    set->count--;
    if (list->entries.len == 0 && key_make(&key, acl->type, acl->resource, (struct slice){0})) {
        map_remove(&set->lists, slice_of(key.bytes, key.len));
        list_destroy(list);
    }
}

static int in_order(const void *a, const void *b)
{
    return acl_compare(a, b);
}

void acl_set_find(const struct acl_set *set, const struct acl_filter *filter, struct arena *arena, struct acl **items,
                  size_t *count)
{
    struct acl *found = ARENA_NEW_ARRAY(arena, struct acl, set->count);
    size_t at = 0, len = 0;
    struct slice key;
    void *value;
    while (map_next(&set->lists, &at, &key, &value)) {
        const struct acl_list *list = value;
        for (size_t i = 0; i < list->entries.len; i++)
            if (acl_matches(filter, &list->entries.ptr[i]))
                found[len++] = acl_dup(arena, &list->entries.ptr[i]);
    }
    if (len)
        qsort(found, len, sizeof *found, in_order);
    *items = found;
    *count = len;
}

/* ---- the rule ---- */

static bool names_equal(struct slice a, struct slice b, bool ignore_case)
{
    return ignore_case ? slice_equal_nocase(a, b) : slice_equal(a, b);
}

static bool operation_covers(enum acl_operation allowed, enum acl_operation wanted)
{
    return allowed == ACL_ALL || allowed == wanted || wanted == ACL_DESCRIBE;
}

static bool list_allows(const struct acl_list *list, const struct acl_user *user, bool ignore_case,
                        enum acl_operation operation)
{
    for (size_t i = 0; list && i < list->entries.len; i++) {
        const struct acl *acl = &list->entries.ptr[i];
        bool all = slice_is(acl->principal_type, "*");
        if ((all || names_equal(acl->principal_name, user->name, ignore_case)) &&
            (slice_is(acl->host, "*") || slice_equal(acl->host, user->host)) &&
            operation_covers(acl->operation, operation))
            return true;
    }
    return false;
}

bool acl_set_allows(const struct acl_set *set, const struct acl_user *user, bool ignore_case,
                    enum acl_operation operation, const struct acl_resource *resource)
{
    const struct slice none = {0};
    const struct acl_list *lists[] = {
        list_find(set, ACL_CLUSTER, SLICE(ACL_CLUSTER_NAME), none),
        list_find(set, resource->type, SLICE("*"), none),
        resource->type == ACL_CLUSTER ? NULL : list_find(set, ACL_DATABASE, resource->database, none),
        resource->type == ACL_TABLE ? list_find(set, ACL_TABLE, resource->database, resource->table) : NULL,
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (list_allows(lists[i], user, ignore_case, operation))
            return true;
    return false;
}

/* ---- super users ---- */

void acl_supers_deinit(struct acl_supers *supers)
{
    vec_deinit(&supers->names);
    arena_deinit(&supers->arena);
    *supers = (struct acl_supers){0};
}

static struct slice trimmed(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static enum err_code super_add(struct acl_supers *supers, struct slice item, struct err *err)
{
    const struct slice type = SLICE("User:");
    struct slice name = slice_starts_with(item, type) ? slice_of(item.ptr + type.len, item.len - type.len) : SLICE("");
    if (name.len == 0 || memchr(name.ptr, ':', name.len) || slice_is(name, "*"))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "\"%.*s\" is not of the form User:NAME",
                       (int)MIN(item.len, 60), (const char *)item.ptr);
    if (supers->names.len == ACL_SUPER_USERS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d super users", ACL_SUPER_USERS_MAX);
    vec_push(&supers->names, arena_dup(&supers->arena, name));
    return OK;
}

enum err_code acl_supers_parse(struct acl_supers *supers, struct slice text, struct err *err)
{
    for (size_t from = 0; from < text.len;) {
        size_t to = from;
        while (to < text.len && text.ptr[to] != ';')
            to++;
        struct slice item = trimmed(slice_of(text.ptr + from, to - from));
        if (item.len)
            TRY(super_add(supers, item, err));
        from = to + 1;
    }
    return OK;
}

bool acl_supers_have(const struct acl_supers *supers, struct slice name, bool ignore_case)
{
    for (size_t i = 0; i < supers->names.len; i++)
        if (names_equal(supers->names.ptr[i], name, ignore_case))
            return true;
    return false;
}
