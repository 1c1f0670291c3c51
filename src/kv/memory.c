/* The engine in memory, for the simulator and tests: a sorted table, replaced whole at each change, so that readers
 * keep what they hold. It goes to its file with each.
 *
 * File `table`, little-endian:
 *
 *   0  u32  magic "WKVM"
 *   4  u32  version 1
 *   8  u64  entries, then for each in order of keys:  u32 key bytes, u32 value bytes, key, value
 *      u32  CRC-32C of everything before */
#include "kv/kv_int.h"

#include "base/hash.h"
#include "base/reader.h"
#include "base/vec.h"

enum { MAGIC = 0x4d564b57, VERSION = 1 };
#define TABLE_BYTES_MAX (1u << 30)

struct entry {
    struct slice key;
    struct slice value;
};

/* Counted under the store's mutex; its bytes are all in one buf. */
struct table {
    unsigned refs;
    struct memory *memory;
    struct buf bytes;
    VEC(struct entry) entries;
};

struct memory {
    struct kv head;
    char *dir;
    char *path;
    struct os_mutex mutex; /* of table and all refs */
    struct table *table;
};

struct memory_run {
    struct kv_run head;
    struct buf bytes;
    VEC(struct kv_change) changes; /* keys and values are offsets into bytes until the finish */
};

struct memory_iter {
    struct kv_iter head;
    struct table *table;
    size_t at;
};

static struct memory *memory_of(struct kv *kv)
{
    return CONTAINER_OF(kv, struct memory, head);
}

static struct table *table_ref(struct memory *memory)
{
    os_mutex_lock(&memory->mutex);
    struct table *table = memory->table;
    table->refs++;
    os_mutex_unlock(&memory->mutex);
    return table;
}

static void table_free(struct table *table)
{
    buf_deinit(&table->bytes);
    vec_deinit(&table->entries);
    mem_free(table);
}

static void table_unref(struct table *table)
{
    struct memory *memory = table->memory;
    os_mutex_lock(&memory->mutex);
    bool last = --table->refs == 0;
    os_mutex_unlock(&memory->mutex);
    if (last)
        table_free(table);
}

/* ---- bytes ---- */

static size_t table_begin(struct buf *bytes)
{
    buf_put_u32(bytes, MAGIC);
    buf_put_u32(bytes, VERSION);
    buf_put_u64(bytes, 0);
    return bytes->len - 8;
}

static void table_add(struct buf *bytes, struct slice key, struct slice value)
{
    buf_put_u32(bytes, (uint32_t)key.len);
    buf_put_u32(bytes, (uint32_t)value.len);
    buf_put_slice(bytes, key);
    buf_put_slice(bytes, value);
}

static void table_end(struct buf *bytes, size_t count_at, uint64_t count)
{
    store_u64(bytes->ptr + count_at, count);
    buf_put_u32(bytes, crc32c(0, buf_view(bytes)));
}

/* Takes the bytes; the entries point into them. */
static enum err_code table_parse(struct memory *memory, struct buf *bytes, struct table **out, struct err *err)
{
    struct table *table = mem_zalloc(sizeof *table);
    table->refs = 1;
    table->memory = memory;
    table->bytes = *bytes;
    *bytes = (struct buf){0};
    struct slice all = buf_view(&table->bytes);
    struct reader r = reader_of(slice_of(all.ptr, all.len - MIN(all.len, 4)));
    uint32_t magic = reader_u32(&r), version = reader_u32(&r);
    uint64_t count = reader_u64(&r);
    for (uint64_t i = 0; reader_ok(&r) && i < count; i++) {
        uint32_t key_len = reader_u32(&r), value_len = reader_u32(&r);
        struct slice key = reader_slice(&r, key_len), value = reader_slice(&r, value_len);
        if (reader_ok(&r))
            vec_push(&table->entries, ((struct entry){key, value}));
    }
    struct reader crc = reader_of(all);
    reader_take(&crc, all.len - MIN(all.len, 4));
    if (magic != MAGIC || version != VERSION || !reader_done(&r) ||
        reader_u32(&crc) != crc32c(0, slice_of(all.ptr, all.len - 4))) {
        table_free(table);
        return err_set(err, ERR_CORRUPT, "the table in %s cannot be read", memory->dir);
    }
    *out = table;
    return OK;
}

/* Old entries and changes, both sorted; a change wins. */
static void merge(const struct table *old, const struct kv_change *changes, size_t change_count, struct buf *bytes)
{
    size_t i = 0, count_at = table_begin(bytes);
    uint64_t count = 0;
    for (size_t c = 0; i < old->entries.len || c < change_count;) {
        int order = i == old->entries.len ? 1
                    : c == change_count   ? -1
                                          : slice_compare(old->entries.ptr[i].key, changes[c].key);
        if (order < 0) {
            table_add(bytes, old->entries.ptr[i].key, old->entries.ptr[i].value);
            count++;
        } else if (!changes[c].is_delete) {
            table_add(bytes, changes[c].key, changes[c].value);
            count++;
        }
        i += order <= 0;
        c += order >= 0;
    }
    table_end(bytes, count_at, count);
}

static enum err_code change(struct memory *memory, const struct kv_change *changes, size_t change_count,
                            struct err *err)
{
    struct buf bytes = {0};
    struct table *old = table_ref(memory), *next = NULL;
    merge(old, changes, change_count, &bytes);
    enum err_code code = OK;
    if (bytes.len > TABLE_BYTES_MAX)
        code = err_set(err, ERR_LIMIT, "a table of %zu bytes", bytes.len);
    if (code == OK)
        code = os_write_durable(memory->head.env->os, memory->path, buf_view(&bytes), err);
    if (code == OK)
        code = table_parse(memory, &bytes, &next, err);
    table_unref(old);
    buf_deinit(&bytes);
    TRY(code);
    os_mutex_lock(&memory->mutex);
    struct table *before = memory->table;
    memory->table = next;
    os_mutex_unlock(&memory->mutex);
    table_unref(before);
    return OK;
}

/* ---- the operations ---- */

static void env_destroy(struct kv_env *env)
{
    mem_free(env);
}

static char *path_in(const char *dir, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s%s", dir, name);
    (void)buf_cstr(&path);
    return (char *)path.ptr;
}

static void memory_free(struct memory *memory)
{
    if (memory->table)
        table_unref(memory->table);
    os_mutex_deinit(&memory->mutex);
    mem_free(memory->dir);
    mem_free(memory->path);
    mem_free(memory);
}

static enum err_code load(struct memory *memory, struct err *err)
{
    struct os *os = memory->head.env->os;
    struct buf bytes = {0};
    TRY(os_mkdirs(os, memory->dir, err));
    enum err_code code = os_read_whole(os, memory->path, TABLE_BYTES_MAX, &bytes, err);
    if (code == ERR_NOT_FOUND) {
        table_end(&bytes, table_begin(&bytes), 0);
        code = OK;
    }
    if (code == OK)
        code = table_parse(memory, &bytes, &memory->table, err);
    buf_deinit(&bytes);
    return code;
}

static enum err_code open_store(struct kv_env *env, const char *dir, struct kv **kv, struct err *err)
{
    struct memory *memory = mem_zalloc(sizeof *memory);
    memory->head.env = env;
    memory->dir = path_in(dir, "");
    memory->path = path_in(dir, "/table");
    os_mutex_init(&memory->mutex, env->os);
    enum err_code code = load(memory, err);
    if (code != OK) {
        memory_free(memory);
        return code;
    }
    *kv = &memory->head;
    return OK;
}

static void close_store(struct kv *kv)
{
    struct memory *memory = memory_of(kv);
    ASSERT(memory->table->refs == 1);
    memory_free(memory);
}

static void unpin(void *held)
{
    table_unref(held);
}

/* The first entry at or behind key. */
static size_t lower_bound(const struct table *table, struct slice key)
{
    size_t low = 0, high = table->entries.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slice_compare(table->entries.ptr[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum err_code get(struct kv *kv, struct slice key, bool cached, bool *known, struct kv_pin *pin, struct err *err)
{
    (void)cached, (void)known, (void)err;
    struct table *table = table_ref(memory_of(kv));
    size_t at = lower_bound(table, key);
    if (at < table->entries.len && slice_equal(table->entries.ptr[at].key, key)) {
        pin->found = true;
        pin->value = table->entries.ptr[at].value;
        pin->held = table;
    } else {
        table_unref(table);
    }
    return OK;
}

static enum err_code iter_open(struct kv *kv, struct slice from, struct kv_iter **iter, struct err *err)
{
    (void)err;
    struct memory_iter *opened = mem_zalloc(sizeof *opened);
    opened->table = table_ref(memory_of(kv));
    opened->at = lower_bound(opened->table, from);
    *iter = &opened->head;
    return OK;
}

static enum err_code iter_next(struct kv_iter *head, bool *more, struct slice *key, struct slice *value,
                               struct err *err)
{
    (void)err;
    struct memory_iter *iter = CONTAINER_OF(head, struct memory_iter, head);
    *more = iter->at < iter->table->entries.len;
    if (*more) {
        *key = iter->table->entries.ptr[iter->at].key;
        *value = iter->table->entries.ptr[iter->at++].value;
    }
    return OK;
}

static void iter_close(struct kv_iter *head)
{
    struct memory_iter *iter = CONTAINER_OF(head, struct memory_iter, head);
    table_unref(iter->table);
    mem_free(iter);
}

static uint64_t bytes(struct kv *kv)
{
    struct table *table = table_ref(memory_of(kv));
    uint64_t len = table->bytes.len;
    table_unref(table);
    return len;
}

static uint64_t entries(struct kv *kv)
{
    struct table *table = table_ref(memory_of(kv));
    uint64_t count = table->entries.len;
    table_unref(table);
    return count;
}

static enum err_code run_begin(struct kv *kv, struct kv_run **run, struct err *err)
{
    (void)kv, (void)err;
    struct memory_run *begun = mem_zalloc(sizeof *begun);
    *run = &begun->head;
    return OK;
}

static enum err_code run_add(struct kv_run *head, const struct kv_change *change_made, struct err *err)
{
    (void)err;
    struct memory_run *run = CONTAINER_OF(head, struct memory_run, head);
    vec_push(&run->changes, *change_made);
    buf_put_slice(&run->bytes, change_made->key);
    buf_put_slice(&run->bytes, change_made->value);
    return OK;
}

static enum err_code run_finish(struct kv_run *head, struct err *err)
{
    struct memory_run *run = CONTAINER_OF(head, struct memory_run, head);
    const uint8_t *at = run->bytes.ptr;
    for (size_t i = 0; i < run->changes.len; i++) {
        struct kv_change *made = &run->changes.ptr[i];
        made->key.ptr = at;
        made->value.ptr = at + made->key.len;
        at += made->key.len + made->value.len;
    }
    return change(memory_of(head->kv), run->changes.ptr, run->changes.len, err);
}

static void run_free(struct kv_run *head)
{
    struct memory_run *run = CONTAINER_OF(head, struct memory_run, head);
    buf_deinit(&run->bytes);
    vec_deinit(&run->changes);
    mem_free(run);
}

static const struct kv_ops ops = {
    .env_destroy = env_destroy,
    .open = open_store,
    .close = close_store,
    .unpin = unpin,
    .get = get,
    .iter_open = iter_open,
    .iter_next = iter_next,
    .iter_close = iter_close,
    .bytes = bytes,
    .entries = entries,
    .run_begin = run_begin,
    .run_add = run_add,
    .run_finish = run_finish,
    .run_free = run_free,
};

struct kv_env *kv_env_memory(struct os *os)
{
    struct kv_env *env = mem_zalloc(sizeof *env);
    *env = (struct kv_env){.ops = &ops, .os = os};
    kv_slots_init(&env->slots, os);
    return env;
}
