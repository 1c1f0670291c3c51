#include "meta/tiering/tiering_int.h"

#define NS_PER_MS 1000000

struct tiering *tiering_create(struct os *os, int64_t epoch_base, tiering_wake_fn *wake, void *wake_arg)
{
    struct tiering *tiering = mem_zalloc(sizeof *tiering);
    tiering->os = os;
    tiering->epoch_base = epoch_base;
    tiering->wake = wake;
    tiering->wake_arg = wake_arg;
    os_mutex_init(&tiering->mutex, os);
    return tiering;
}

static void remove_any(struct tiering *tiering)
{
    size_t at = 0;
    struct slice key;
    void *value;
    if (map_next(&tiering->tables, &at, &key, &value))
        tiering_remove(tiering, ((struct tiering_table *)value)->table_id);
}

void tiering_destroy(struct tiering *tiering)
{
    if (!tiering)
        return;
    while (tiering->tables.count)
        remove_any(tiering);
    vec_deinit(&tiering->deadlines.heap);
    map_deinit(&tiering->tables);
    os_mutex_deinit(&tiering->mutex);
    mem_free(tiering);
}

static int64_t freshness_ns(int64_t freshness_ms)
{
    ASSERT(freshness_ms >= 0);
    return MIN(freshness_ms, INT64_MAX / 4 / NS_PER_MS) * NS_PER_MS;
}

static struct tiering_part *part_create(struct tiering_table *table, int64_t partition_id)
{
    struct tiering_part *part = mem_zalloc(sizeof *part);
    part->table = table;
    atomic_init(&part->ref_count, 1); /* the map's */
    part->partition_id = partition_id;
    part->ends = mem_zalloc((size_t)table->bucket_count * sizeof *part->ends);
    part->tiered = mem_zalloc((size_t)table->bucket_count * sizeof *part->tiered);
    return part;
}

static void part_drop(struct tiering_part *part)
{
    if (atomic_fetch_sub(&part->ref_count, 1) != 1)
        return;
    mem_free(part->ends);
    mem_free(part->tiered);
    mem_free(part);
}

static struct tiering_table *table_create(struct tiering *tiering, int64_t table_id, int32_t bucket_count)
{
    struct tiering_table *table = mem_zalloc(sizeof *table);
    table->tiering = tiering;
    atomic_init(&table->ref_count, 2); /* the map's and the caller's */
    table->bucket_count = bucket_count;
    map_put_i64(&table->parts, -1, part_create(table, -1));
    table->table_id = table_id;
    table->in_schedule = true;
    table->epoch = tiering->epoch_base;
    table->deadline_ns = INT64_MAX;
    table->heap_at = HEAP_NONE;
    table->started_ns = INT64_MIN;
    table->lake_row_count = -1;
    return table;
}

struct tiering_table *tiering_add(struct tiering *tiering, int64_t table_id, struct slice database, struct slice name,
                                  int32_t bucket_count, int64_t freshness_ms)
{
    ASSERT(bucket_count > 0);
    struct tiering_table *table = table_create(tiering, table_id, bucket_count);
    table->database = arena_dup(&table->names, database);
    table->name = arena_dup(&table->names, name);
    table->freshness_ns = freshness_ns(freshness_ms);
    os_mutex_lock(&tiering->mutex);
    void *before = map_put_i64(&tiering->tables, table_id, table);
    ASSERT(!before);
    os_mutex_unlock(&tiering->mutex);
    return table;
}

void tiering_remove(struct tiering *tiering, int64_t table_id)
{
    os_mutex_lock(&tiering->mutex);
    struct tiering_table *table = map_remove_i64(&tiering->tables, table_id);
    if (table)
        state_leave(tiering, table);
    os_mutex_unlock(&tiering->mutex);
    tiering_table_unref(table);
}

struct tiering_table *tiering_table_ref(struct tiering_table *table)
{
    atomic_fetch_add(&table->ref_count, 1);
    return table;
}

void tiering_table_unref(struct tiering_table *table)
{
    if (!table || atomic_fetch_sub(&table->ref_count, 1) != 1)
        return;
    ASSERT(!table->in_schedule);
    arena_deinit(&table->names);
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&table->parts, &at, &key, &value))
        part_drop(value);
    map_deinit(&table->parts);
    mem_free(table);
}

struct tiering_table *tiering_find(struct tiering *tiering, int64_t table_id)
{
    os_mutex_lock(&tiering->mutex);
    struct tiering_table *table = map_get_i64(&tiering->tables, table_id);
    if (table)
        tiering_table_ref(table);
    os_mutex_unlock(&tiering->mutex);
    return table;
}

/* One freshness after the last hand-out; a table that has never been handed out is due at once. */
static int64_t due_ns(const struct tiering_table *table)
{
    return table->started_ns == INT64_MIN ? INT64_MIN : table->started_ns + table->freshness_ns;
}

void tiering_set_freshness(struct tiering *tiering, int64_t table_id, int64_t freshness_ms)
{
    os_mutex_lock(&tiering->mutex);
    struct tiering_table *table = map_get_i64(&tiering->tables, table_id);
    bool moved = false;
    if (table) {
        table->freshness_ns = freshness_ns(freshness_ms);
        /* A table that waits because it failed has no due time of its own to move. */
        moved = table->state == TIERING_SCHEDULED && table->failures_in_row == 0;
        if (moved)
            state_settle(tiering, table, os_mono_ns(tiering->os), due_ns(table));
    }
    os_mutex_unlock(&tiering->mutex);
    if (moved)
        tiering->wake(tiering->wake_arg);
}

static void raise(_Atomic int64_t *at, int64_t value)
{
    int64_t now = atomic_load(at);
    while (now < value && !atomic_compare_exchange_weak(at, &now, value))
        ;
}

/* Something new in a table that was idle. */
static void tell(struct tiering_table *table)
{
    struct tiering *tiering = table->tiering;
    os_mutex_lock(&tiering->mutex);
    bool moved = false;
    if (table->in_schedule && table->state == TIERING_IDLE) {
        table->behind_since_ms = os_wall_ms(tiering->os);
        state_settle(tiering, table, os_mono_ns(tiering->os), due_ns(table));
        moved = table->state != TIERING_IDLE;
    }
    os_mutex_unlock(&tiering->mutex);
    if (moved)
        tiering->wake(tiering->wake_arg);
}

void tiering_note_end(struct tiering_part *part, int32_t bucket, int64_t end_offset)
{
    if (!part)
        return;
    struct tiering_table *table = part->table;
    ASSERT(bucket >= 0 && bucket < table->bucket_count);
    raise(&part->ends[bucket], end_offset);
    if (!atomic_load(&table->known_dirty) && end_offset > atomic_load(&part->tiered[bucket]))
        tell(table);
}

void tiering_note_lake(struct tiering_table *table, int64_t partition_id, int32_t bucket, int64_t end_offset)
{
    struct tiering_part *part = table ? tiering_part_find(table, partition_id) : NULL;
    if (part && bucket >= 0 && bucket < table->bucket_count)
        raise(&part->tiered[bucket], end_offset);
    tiering_part_unref(part);
}

int64_t tiering_lake_end(const struct tiering_part *part, int32_t bucket)
{
    return part ? atomic_load(&part->tiered[bucket]) : 0;
}

/* ---- partitions ---- */

struct tiering_part *tiering_part_ref(struct tiering_part *part)
{
    atomic_fetch_add(&part->ref_count, 1);
    tiering_table_ref(part->table);
    return part;
}

void tiering_part_unref(struct tiering_part *part)
{
    if (!part)
        return;
    struct tiering_table *table = part->table;
    part_drop(part);
    tiering_table_unref(table);
}

struct tiering_part *tiering_part_add(struct tiering_table *table, int64_t partition_id)
{
    struct tiering_part *part = part_create(table, partition_id);
    os_mutex_lock(&table->tiering->mutex);
    void *before = map_put_i64(&table->parts, partition_id, part);
    ASSERT(!before);
    tiering_part_ref(part);
    os_mutex_unlock(&table->tiering->mutex);
    return part;
}

void tiering_part_remove(struct tiering_table *table, int64_t partition_id)
{
    ASSERT(partition_id >= 0);
    os_mutex_lock(&table->tiering->mutex);
    struct tiering_part *part = map_remove_i64(&table->parts, partition_id);
    os_mutex_unlock(&table->tiering->mutex);
    if (part)
        part_drop(part);
}

struct tiering_part *tiering_part_find(struct tiering_table *table, int64_t partition_id)
{
    os_mutex_lock(&table->tiering->mutex);
    struct tiering_part *part = map_get_i64(&table->parts, partition_id);
    if (part)
        tiering_part_ref(part);
    os_mutex_unlock(&table->tiering->mutex);
    return part;
}

/* ---- time ---- */

int64_t tiering_tick(struct tiering *tiering)
{
    os_mutex_lock(&tiering->mutex);
    bool due = state_expire(tiering, os_mono_ns(tiering->os));
    const struct tiering_table *first = deadlines_first(&tiering->deadlines);
    int64_t next_ns = first ? first->deadline_ns : INT64_MAX;
    os_mutex_unlock(&tiering->mutex);
    if (due)
        tiering->wake(tiering->wake_arg);
    return next_ns;
}

size_t tiering_pending_count(struct tiering *tiering)
{
    os_mutex_lock(&tiering->mutex);
    size_t count = tiering->pending_count;
    os_mutex_unlock(&tiering->mutex);
    return count;
}
