#include "base/vec.h"

void *vec_grow(void *ptr, size_t *cap, size_t element_size)
{
    *cap = *cap ? *cap * 2 : 8;
    ASSERT(*cap <= SIZE_MAX / element_size);
    return mem_realloc(ptr, *cap * element_size);
}
