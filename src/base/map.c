#include "base/map.h"

#include "base/hash.h"

/* Open addressing with linear probing. A removed slot keeps hash TOMB, so that probes go on past it. */
struct map_slot {
    uint64_t hash; /* 0 never used */
    uint8_t *key;
    size_t key_len;
    void *value;
};

#define TOMB 1u

static uint64_t hash_of(struct slice key)
{
    return hash64(key) | 2; /* neither 0 nor TOMB */
}

static struct map_slot *find(const struct map *map, struct slice key, uint64_t hash)
{
    for (size_t i = hash; map->slot_count; i++) {
        struct map_slot *slot = &map->slots[i & (map->slot_count - 1)];
        if (slot->hash == 0)
            return NULL;
        if (slot->hash == hash && slice_equal(slice_of(slot->key, slot->key_len), key))
            return slot;
    }
    return NULL;
}

static struct map_slot *free_slot(struct map_slot *slots, size_t slot_count, uint64_t hash)
{
    size_t i = hash;
    while (slots[i & (slot_count - 1)].hash > TOMB)
        i++;
    return &slots[i & (slot_count - 1)];
}

static void rehash(struct map *map)
{
    size_t slot_count = 16;
    while (slot_count < map->count * 4)
        slot_count *= 2;
    struct map_slot *slots = mem_zalloc(slot_count * sizeof *slots);
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].hash > TOMB)
            *free_slot(slots, slot_count, map->slots[i].hash) = map->slots[i];
    mem_free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
    map->used = map->count;
}

void map_deinit(struct map *map)
{
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].hash > TOMB)
            mem_free(map->slots[i].key);
    mem_free(map->slots);
    *map = (struct map){0};
}

void *map_get(const struct map *map, struct slice key)
{
    struct map_slot *slot = find(map, key, hash_of(key));
    return slot ? slot->value : NULL;
}

void *map_put(struct map *map, struct slice key, void *value)
{
    ASSERT(value);
    uint64_t hash = hash_of(key);
    struct map_slot *slot = find(map, key, hash);
    if (slot) {
        void *old = slot->value;
        slot->value = value;
        return old;
    }
    if ((map->used + 1) * 4 > map->slot_count * 3)
        rehash(map);
    slot = free_slot(map->slots, map->slot_count, hash);
    map->used += slot->hash == 0;
    map->count++;
    uint8_t *copy = mem_alloc(key.len);
    if (key.len)
        memcpy(copy, key.ptr, key.len);
    *slot = (struct map_slot){hash, copy, key.len, value};
    return NULL;
}

void *map_remove(struct map *map, struct slice key)
{
    struct map_slot *slot = find(map, key, hash_of(key));
    if (!slot)
        return NULL;
    void *old = slot->value;
    mem_free(slot->key);
    *slot = (struct map_slot){.hash = TOMB};
    map->count--;
    return old;
}

bool map_next(const struct map *map, size_t *at, struct slice *key, void **value)
{
    while (*at < map->slot_count) {
        const struct map_slot *slot = &map->slots[(*at)++];
        if (slot->hash > TOMB) {
            *key = slice_of(slot->key, slot->key_len);
            *value = slot->value;
            return true;
        }
    }
    return false;
}
