/* The newer part of a primary-key bucket's state: what the log holds and the engine does not yet.
 *
 * A delta is one generation. It maps a key to its versions, newest first, each with the changelog offset that made it,
 * so that writers see the newest and readers the newest that is durable (below the high watermark). Nothing in it is
 * ever overwritten or freed singly: a generation is written to the engine as a whole and dropped as a whole, so what a
 * reader holds stays valid while it holds a reference.
 *
 * thread: put, undo and collect under the bucket's mutex; get too; versions once obtained are immutable. References are
 * taken under the mutex and given up anywhere. */
#ifndef WEIR_BUCKET_DELTA_INT_H
#define WEIR_BUCKET_DELTA_INT_H

#include "base/arena.h"
#include "base/vec.h"

struct delta_version {
    int64_t offset; /* of the changelog row that made it */
    struct delta_version *older;
    bool deleted;
    struct slice value; /* schema id + row; empty when deleted */
};

struct delta_entry {
    struct slice key;
    struct delta_version *newest; /* NULL: the only put was undone */
};

/* The hash beside the pointer: most keys that are not the one asked for are told by it, without a look at them. */
struct delta_slot {
    uint64_t hash;
    struct delta_entry *entry; /* NULL: free */
};

/* The entries whose keys begin alike, newest first: what a prefix look-up asks for. */
struct delta_prefix {
    uint64_t hash;
    struct slice prefix; /* in the first entry's key */
    struct delta_prefix_link *first;
};

struct delta_prefix_link {
    const struct delta_entry *entry;
    struct delta_prefix_link *next;
};

struct delta {
    int ref_count; /* the bucket, its scans and puts; atomic */
    struct arena arena;
    struct delta_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t entry_count;
    int64_t first_offset; /* of its oldest version; INT64_MAX while empty */
    struct delta_prefix **prefix_slots;
    size_t prefix_slot_count; /* a power of two, or 0 */
    size_t prefix_count;
};

/* Puts of one batch, so that they can be taken back. */
struct delta_undo_step {
    struct delta_entry *entry;
    struct delta_version *before;
};

struct delta_undo {
    VEC(struct delta_undo_step) steps;
};

struct delta *delta_create(void);
/* NULL is fine for these. Giving up the last reference frees, which takes a while: not under a mutex. */
struct delta *delta_ref(struct delta *delta);
void delta_unref(struct delta *delta);

/* value.ptr NULL deletes. undo may be NULL. prefix_len: of the key, by which delta_collect_prefix will find it; the
 * same for each put of a key; 0: not at all. */
void delta_put(struct delta *delta, struct slice key, size_t prefix_len, int64_t offset, struct slice value,
               struct delta_undo *undo);
void delta_undo(struct delta_undo *undo);

/* Brings what a get or put of a key will touch closer to the processor: each step needs the one before it to have
 * arrived, so there should be other work between them. */
enum delta_step { DELTA_SLOT, DELTA_ENTRY, DELTA_VERSION };
uint64_t delta_hash(struct slice key);
void delta_prefetch(const struct delta *delta, uint64_t hash, enum delta_step step);

/* The newest version of an offset below `below`, or NULL: then an older generation or the engine knows. */
const struct delta_version *delta_get(const struct delta *delta, struct slice key, int64_t below);

/* Bytes that the generation costs; NULL is an empty one. */
size_t delta_bytes(const struct delta *delta);

struct delta_item {
    uint64_t prefix; /* the key's first 8 bytes as a number: what most comparisons end with */
    struct slice key;
    const struct delta_version *version;
};

int delta_item_compare(const struct delta_item *a, const struct delta_item *b);

/* All keys with a version below `below`, that version each, in no order: a new array (mem_free) of *count. NULL is an
 * empty delta. */
struct delta_item *delta_collect(const struct delta *delta, int64_t below, size_t *count);
/* The same of the keys that were put with this very prefix. */
struct delta_item *delta_collect_prefix(const struct delta *delta, struct slice prefix, int64_t below, size_t *count);
/* By key; needs no lock. */
void delta_sort(struct delta_item *items, size_t count);

#endif
