#include "bucket/delta_int.h"

#include "base/hash.h"

#include <stdlib.h>

struct delta *delta_create(void)
{
    struct delta *delta = mem_zalloc(sizeof *delta);
    delta->ref_count = 1;
    delta->first_offset = INT64_MAX;
    return delta;
}

struct delta *delta_ref(struct delta *delta)
{
    if (delta)
        __atomic_add_fetch(&delta->ref_count, 1, __ATOMIC_RELAXED);
    return delta;
}

void delta_unref(struct delta *delta)
{
    if (!delta || __atomic_sub_fetch(&delta->ref_count, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    arena_deinit(&delta->arena);
    mem_free(delta->slots);
    mem_free(delta->prefix_slots);
    mem_free(delta);
}

size_t delta_bytes(const struct delta *delta)
{
    if (!delta)
        return 0;
    return delta->arena.total_bytes + delta->slot_count * sizeof *delta->slots +
           delta->prefix_slot_count * sizeof *delta->prefix_slots;
}

static struct delta_slot *slot_of(const struct delta *delta, struct slice key, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct delta_slot *slot = &delta->slots[i & (delta->slot_count - 1)];
        if (!slot->entry || (slot->hash == hash && slice_equal(slot->entry->key, key)))
            return slot;
    }
}

static void grow(struct delta *delta)
{
    size_t old_count = delta->slot_count;
    struct delta_slot *old = delta->slots;
    delta->slot_count = old_count ? old_count * 2 : 64;
    delta->slots = mem_zalloc(delta->slot_count * sizeof *delta->slots);
    for (size_t i = 0; i < old_count; i++) {
        if (!old[i].entry)
            continue;
        size_t at = old[i].hash;
        while (delta->slots[at & (delta->slot_count - 1)].entry)
            at++;
        delta->slots[at & (delta->slot_count - 1)] = old[i];
    }
    mem_free(old);
}

uint64_t delta_hash(struct slice key)
{
    return hash64(key);
}

void delta_prefetch(const struct delta *delta, uint64_t hash, enum delta_step step)
{
    if (!delta || !delta->slot_count)
        return;
    const struct delta_slot *slot = &delta->slots[hash & (delta->slot_count - 1)];
    if (step == DELTA_SLOT)
        __builtin_prefetch(slot);
    else if (slot->hash == hash && slot->entry)
        __builtin_prefetch(step == DELTA_ENTRY ? (const void *)slot->entry : slot->entry->newest);
}

/* ---- by prefix ---- */

static struct delta_prefix **prefix_slot_of(const struct delta *delta, struct slice prefix, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct delta_prefix **slot = &delta->prefix_slots[i & (delta->prefix_slot_count - 1)];
        if (!*slot || ((*slot)->hash == hash && slice_equal((*slot)->prefix, prefix)))
            return slot;
    }
}

static void prefix_grow(struct delta *delta)
{
    size_t old_count = delta->prefix_slot_count;
    struct delta_prefix **old = delta->prefix_slots;
    delta->prefix_slot_count = old_count ? old_count * 2 : 64;
    delta->prefix_slots = mem_zalloc(delta->prefix_slot_count * sizeof *delta->prefix_slots);
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            *prefix_slot_of(delta, old[i]->prefix, old[i]->hash) = old[i];
    mem_free(old);
}

static void prefix_add(struct delta *delta, const struct delta_entry *entry, size_t prefix_len)
{
    if ((delta->prefix_count + 1) * 4 > delta->prefix_slot_count * 3)
        prefix_grow(delta);
    struct slice prefix = slice_of(entry->key.ptr, prefix_len);
    uint64_t hash = hash64(prefix);
    struct delta_prefix **slot = prefix_slot_of(delta, prefix, hash);
    if (!*slot) {
        *slot = ARENA_NEW(&delta->arena, struct delta_prefix);
        **slot = (struct delta_prefix){.hash = hash, .prefix = prefix};
        delta->prefix_count++;
    }
    struct delta_prefix_link *link = ARENA_NEW(&delta->arena, struct delta_prefix_link);
    *link = (struct delta_prefix_link){entry, (*slot)->first};
    (*slot)->first = link;
}

/* ---- by key ---- */

static struct delta_entry *entry_of(struct delta *delta, struct slice key, size_t prefix_len)
{
    if ((delta->entry_count + 1) * 4 > delta->slot_count * 3)
        grow(delta);
    uint64_t hash = hash64(key);
    struct delta_slot *slot = slot_of(delta, key, hash);
    if (!slot->entry) {
        struct delta_entry *entry = arena_alloc(&delta->arena, sizeof *entry + key.len);
        uint8_t *copy = (uint8_t *)(entry + 1);
        if (key.len)
            memcpy(copy, key.ptr, key.len);
        *entry = (struct delta_entry){slice_of(copy, key.len), NULL};
        *slot = (struct delta_slot){hash, entry};
        delta->entry_count++;
        if (prefix_len > 0)
            prefix_add(delta, entry, prefix_len);
    }
    return slot->entry;
}

void delta_put(struct delta *delta, struct slice key, size_t prefix_len, int64_t offset, struct slice value,
               struct delta_undo *undo)
{
    ASSERT(prefix_len <= key.len);
    struct delta_entry *entry = entry_of(delta, key, prefix_len);
    ASSERT(!entry->newest || entry->newest->offset <= offset);
    struct delta_version *version = arena_alloc(&delta->arena, sizeof *version + value.len);
    uint8_t *copy = (uint8_t *)(version + 1);
    if (value.len)
        memcpy(copy, value.ptr, value.len);
    *version = (struct delta_version){offset, entry->newest, !value.ptr, slice_of(copy, value.len)};
    if (undo)
        vec_push(&undo->steps, ((struct delta_undo_step){entry, entry->newest}));
    entry->newest = version;
    delta->first_offset = MIN(delta->first_offset, offset);
}

void delta_undo(struct delta_undo *undo)
{
    while (undo->steps.len) {
        struct delta_undo_step *step = &undo->steps.ptr[--undo->steps.len];
        step->entry->newest = step->before;
    }
}

static const struct delta_version *version_below(const struct delta_entry *entry, int64_t below)
{
    const struct delta_version *version = entry->newest;
    while (version && version->offset >= below)
        version = version->older;
    return version;
}

const struct delta_version *delta_get(const struct delta *delta, struct slice key, int64_t below)
{
    if (!delta || delta->slot_count == 0)
        return NULL;
    const struct delta_entry *entry = slot_of(delta, key, hash64(key))->entry;
    return entry ? version_below(entry, below) : NULL;
}

static uint64_t prefix_of(struct slice key)
{
    uint64_t prefix = 0;
    if (key.len)
        memcpy(&prefix, key.ptr, MIN(key.len, sizeof prefix));
    return __builtin_bswap64(prefix);
}

int delta_item_compare(const struct delta_item *a, const struct delta_item *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return slice_compare(a->key, b->key);
}

static int by_key(const void *a, const void *b)
{
    return delta_item_compare(a, b);
}

#define COLLECT_AHEAD 12 /* slots: entries lie anywhere in memory */

struct delta_item *delta_collect(const struct delta *delta, int64_t below, size_t *count)
{
    *count = 0;
    struct delta_item *items = mem_alloc((delta ? delta->entry_count : 0) * sizeof *items);
    for (size_t i = 0; delta && i < delta->slot_count; i++) {
        const struct delta_entry *entry = delta->slots[i].entry;
        __builtin_prefetch(delta->slots[MIN(i + COLLECT_AHEAD, delta->slot_count - 1)].entry);
        const struct delta_version *version = entry ? version_below(entry, below) : NULL;
        if (version)
            items[(*count)++] = (struct delta_item){prefix_of(entry->key), entry->key, version};
    }
    return items;
}

struct delta_item *delta_collect_prefix(const struct delta *delta, struct slice prefix, int64_t below, size_t *count)
{
    VEC(struct delta_item) items = {0};
    const struct delta_prefix *found = NULL;
    if (delta && delta->prefix_slot_count)
        found = *prefix_slot_of(delta, prefix, hash64(prefix));
    for (const struct delta_prefix_link *link = found ? found->first : NULL; link; link = link->next) {
        const struct delta_version *version = version_below(link->entry, below);
        if (version)
            vec_push(&items, ((struct delta_item){prefix_of(link->entry->key), link->entry->key, version}));
    }
    *count = items.len;
    return items.ptr;
}

void delta_sort(struct delta_item *items, size_t count)
{
    if (count)
        qsort(items, count, sizeof *items, by_key);
}
