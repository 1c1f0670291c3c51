/* A binary heap whose elements know their place, so that a deadline can be moved. */
#include "meta/tiering/tiering_int.h"

static void place(struct deadlines *deadlines, size_t at, struct tiering_table *table)
{
    deadlines->heap.ptr[at] = table;
    table->heap_at = at;
}

static void sift_up(struct deadlines *deadlines, size_t at)
{
    struct tiering_table *table = deadlines->heap.ptr[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (deadlines->heap.ptr[parent]->deadline_ns <= table->deadline_ns)
            break;
        place(deadlines, at, deadlines->heap.ptr[parent]);
        at = parent;
    }
    place(deadlines, at, table);
}

static void sift_down(struct deadlines *deadlines, size_t at)
{
    struct tiering_table *table = deadlines->heap.ptr[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= deadlines->heap.len)
            break;
        struct tiering_table **heap = deadlines->heap.ptr;
        if (child + 1 < deadlines->heap.len && heap[child + 1]->deadline_ns < heap[child]->deadline_ns)
            child++;
        if (heap[child]->deadline_ns >= table->deadline_ns)
            break;
        place(deadlines, at, heap[child]);
        at = child;
    }
    place(deadlines, at, table);
}

static void take_out(struct deadlines *deadlines, struct tiering_table *table)
{
    size_t at = table->heap_at;
    struct tiering_table *last = deadlines->heap.ptr[--deadlines->heap.len];
    table->heap_at = HEAP_NONE;
    if (last == table)
        return;
    place(deadlines, at, last);
    sift_up(deadlines, at);
    sift_down(deadlines, last->heap_at);
}

void deadlines_set(struct deadlines *deadlines, struct tiering_table *table, int64_t deadline_ns)
{
    if (table->heap_at != HEAP_NONE)
        take_out(deadlines, table);
    table->deadline_ns = deadline_ns;
    if (deadline_ns == INT64_MAX)
        return;
    vec_push(&deadlines->heap, table);
    table->heap_at = deadlines->heap.len - 1;
    sift_up(deadlines, table->heap_at);
}

struct tiering_table *deadlines_first(const struct deadlines *deadlines)
{
    return deadlines->heap.len ? deadlines->heap.ptr[0] : NULL;
}
