/* A growable array of one type: `VEC(int) v = {0}; vec_push(&v, 3); v.ptr[0]; vec_deinit(&v);`
 * The zero value is empty. Elements move when it grows: no pointer into it outlives a push. */
#ifndef WEIR_BASE_VEC_H
#define WEIR_BASE_VEC_H

#include "base/base.h"

#define VEC(type)   \
    struct {        \
        type *ptr;  \
        size_t len; \
        size_t cap; \
    }

#define vec_push(v, value) (*vec_add(v) = (value))
/* Room for one more, not cleared; gives its address. */
#define vec_add(v)                                                                                        \
    ((v)->len == (v)->cap ? (void)((v)->ptr = vec_grow((v)->ptr, &(v)->cap, sizeof *(v)->ptr)) : (void)0, \
     &(v)->ptr[(v)->len++])
#define vec_reset(v) ((void)((v)->len = 0))
#define vec_deinit(v) (mem_free((v)->ptr), (v)->ptr = NULL, (v)->len = (v)->cap = 0, (void)0)
/* Takes element i out, keeping the order. */
#define vec_remove(v, i) \
    (memmove((v)->ptr + (i), (v)->ptr + (i) + 1, ((v)->len - (i)-1) * sizeof *(v)->ptr), (void)(v)->len--)

void *vec_grow(void *ptr, size_t *cap, size_t element_size);

#endif
