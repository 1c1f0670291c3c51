#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>

struct arena_block {
    struct arena_block *next;
    size_t cap;
    _Alignas(16) uint8_t bytes[];
};

static void blocks_free(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        mem_free(block);
        block = next;
    }
}

void arena_deinit(struct arena *arena)
{
    blocks_free(arena->block);
    *arena = (struct arena){0};
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->block;
    if (!keep || keep->cap > 16 * ARENA_BLOCK_BYTES) {
        arena_deinit(arena);
        return;
    }
    blocks_free(keep->next);
    keep->next = NULL;
    arena->used = 0;
    arena->total_bytes = keep->cap;
}

/* Blocks double up to 64 KiB, so that a large request makes few of them and a small one stays small. */
static void block_add(struct arena *arena, size_t size)
{
    size_t cap = arena->block ? MIN(arena->block->cap * 2, (size_t)16 * ARENA_BLOCK_BYTES) : ARENA_BLOCK_BYTES;
    cap = MAX(cap, size);
    struct arena_block *block = mem_alloc(sizeof *block + cap);
    block->cap = cap;
    block->next = arena->block;
    arena->block = block;
    arena->used = 0;
    arena->total_bytes += cap;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    ASSERT(size <= SIZE_MAX / 2);
    size = (size + 15) & ~(size_t)15;
    if (!arena->block || size > arena->block->cap - arena->used)
        block_add(arena, size);
    void *ptr = arena->block->bytes + arena->used;
    arena->used += size;
    return ptr;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    ASSERT(size == 0 || count <= SIZE_MAX / 4 / size);
    return arena_zalloc(arena, count * size);
}

struct slice arena_dup(struct arena *arena, struct slice s)
{
    uint8_t *copy = arena_alloc(arena, s.len);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return slice_of(copy, s.len);
}

char *arena_cstr(struct arena *arena, struct slice s)
{
    char *copy = arena_alloc(arena, s.len + 1);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = 0;
    return copy;
}

struct slice arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    ASSERT(len >= 0);
    char *text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return slice_of(text, (size_t)len);
}
