/* A hash table from bytes to a pointer. Keys are copied in; values are the caller's.
 * The zero value is an empty map. Integer keys go in as their 8 bytes (map_get_i64 and friends).
 * thread: one at a time. */
#ifndef WEIR_BASE_MAP_H
#define WEIR_BASE_MAP_H

#include "base/slice.h"

struct map_slot;

struct map {
    struct map_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    size_t used; /* filled or once filled */
};

void map_deinit(struct map *map);
/* NULL where there is none. */
void *map_get(const struct map *map, struct slice key);
/* Sets, and gives the value that was there before, or NULL. value must not be NULL. */
void *map_put(struct map *map, struct slice key, void *value);
/* Takes it out and gives it, or NULL. */
void *map_remove(struct map *map, struct slice key);
/* Walks over all entries in no order: start with *at = 0. False at the end. No put or remove meanwhile. */
bool map_next(const struct map *map, size_t *at, struct slice *key, void **value);

static inline void *map_get_i64(const struct map *map, int64_t key)
{
    return map_get(map, slice_of(&key, sizeof key));
}

static inline void *map_put_i64(struct map *map, int64_t key, void *value)
{
    return map_put(map, slice_of(&key, sizeof key), value);
}

static inline void *map_remove_i64(struct map *map, int64_t key)
{
    return map_remove(map, slice_of(&key, sizeof key));
}

#endif
