/* An arena gives memory that is dropped in one call. The zero value is an empty arena with the default block size.
 * Lifetimes in weir are few: process, bucket, connection, request; the last two are arenas.
 * thread: one at a time. */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include "base/slice.h"

#define ARENA_BLOCK_BYTES 4096

struct arena_block;

struct arena {
    struct arena_block *block; /* newest first */
    size_t used;               /* in the newest block */
    size_t total_bytes;        /* of all blocks: what the arena costs */
};

void arena_deinit(struct arena *arena);
/* Empty again; keeps the newest block if it is an ordinary one. */
void arena_reset(struct arena *arena);
/* Aligned to 16 bytes, not cleared; never NULL. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
/* count * size with the product checked. */
void *arena_array(struct arena *arena, size_t count, size_t size);
struct slice arena_dup(struct arena *arena, struct slice s);
/* A copy with a NUL behind it. */
char *arena_cstr(struct arena *arena, struct slice s);
struct slice arena_printf(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define ARENA_NEW(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_NEW_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
