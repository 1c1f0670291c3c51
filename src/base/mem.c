#include "base/base.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "weir: assertion failed: %s at %s:%d\n", cond, file, line);
    abort();
}

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "weir: out of memory, asked for %zu bytes\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *ptr = malloc(size ? size : 1);
    if (!ptr)
        out_of_memory(size);
    return ptr;
}

void *mem_zalloc(size_t size)
{
    void *ptr = calloc(1, size ? size : 1);
    if (!ptr)
        out_of_memory(size);
    return ptr;
}

void *mem_realloc(void *ptr, size_t size)
{
    void *grown = realloc(ptr, size ? size : 1);
    if (!grown)
        out_of_memory(size);
    return grown;
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_trim(void)
{
    (void)malloc_trim(0);
}
