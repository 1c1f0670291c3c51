/* An ordered key-value store on disk: what a primary-key bucket has of rows that left its memory.
 *
 * Keys and values are bytes, keys in unsigned byte order. A store takes sorted runs, one file each, ingested whole and
 * durable when the call returns. How far it is the caller keeps itself, and replays its log from there.
 *
 * Two engines: RocksDB, and one in memory that keeps a copy in a file, for the simulator. RocksDB goes to the disk by
 * itself, not through struct os, and its files can be opened by RocksDB 6.20 (the one in Fluss's connectors).
 *
 * thread  reads (get, iterators) from any thread, beside one run at a time. Calls marked (blocks) wait for the disk;
 *         kv_get_cached never does. Pins and iterators must be gone before the close. */
#ifndef WEIR_KV_KV_H
#define WEIR_KV_KV_H

#include "os/os.h"

struct kv;
struct kv_env; /* what all stores of a process share: block cache, background threads */
struct kv_run;
struct kv_iter;

#define KV_KEY_BYTES_MAX (8u << 20) /* RocksDB's own limit; a longer key is ERR_LIMIT */
#define KV_VALUE_BYTES_MAX (1u << 30)

struct kv_options {
    uint64_t cache_bytes;        /* blocks, indexes and filters of all stores */
    uint32_t background_threads; /* for compaction, of all stores */
    uint32_t open_files_max;     /* of one store */
};

struct kv_options kv_options_default(void); /* 256 MiB, 2, 64 */

struct kv_env *kv_env_rocksdb(struct os *os, const struct kv_options *options);
struct kv_env *kv_env_memory(struct os *os);
void kv_env_destroy(struct kv_env *env); /* all its stores are closed; NULL is fine */

/* Opens the store in dir, made if it is not there; its parent must be (blocks: 6 to 9 ms, 6 descriptors, 160 KB). On a
 * full disk a store that is there can be read all the same, and a run says DISK_FULL.
 *
 * errors  CORRUPT, IO, DISK_FULL, LOCKED (another process has it). */
MUST_CHECK enum err_code kv_open(struct kv_env *env, const char *dir, struct kv **kv, struct err *err);
/* (blocks) NULL is fine. */
void kv_close(struct kv *kv);

/* ---- stores that are open only while they are asked for ---- */

#define KV_OPEN_MAX_DEFAULT 256

/* A store that is opened when it is taken and not open, and closed, those first that were not taken for long, when too
 * many of the environment's are. The caller's storage, the members are kv's; the zero value is no store. */
struct kv_slot {
    struct kv_env *env;
    char *dir;
    struct kv *kv;
    int users;
    bool used, busy;
    struct kv_slot *next, *prev;
};

/* At most so many are open at a time, but for those that are in use; from the next opening on. */
void kv_env_limit(struct kv_env *env, uint32_t open_max);
uint32_t kv_env_open_count(struct kv_env *env);

/* Touches no file. */
void kv_slot_init(struct kv_slot *slot, struct kv_env *env, const char *dir);
/* Closes (blocks). Nobody may have it. Fine for the zero value. */
void kv_slot_deinit(struct kv_slot *slot);
/* The store, open until the release; any number may have it (blocks if it may). Where it is open neither disk nor lock
 * is needed. One that was opened on a full disk is opened anew as soon as nobody has it.
 *
 * errors  WOULD_BLOCK: it is not open, and may_block is not set; as kv_open. */
MUST_CHECK enum err_code kv_slot_take(struct kv_slot *slot, bool may_block, struct kv **kv, struct err *err);
void kv_slot_release(struct kv_slot *slot);

/* ---- reads ---- */

/* A value held in place; the zero value is empty. */
struct kv_pin {
    bool found;
    struct slice value; /* until the release */
    struct kv *kv;
    void *held;
};

void kv_pin_release(struct kv_pin *pin); /* the zero pin is fine */
/* (blocks) */
MUST_CHECK enum err_code kv_get(struct kv *kv, struct slice key, struct kv_pin *pin, struct err *err);
/* From memory alone: *known is false where the answer lies on the disk, then pin is empty and kv_get must be asked. */
MUST_CHECK enum err_code kv_get_cached(struct kv *kv, struct slice key, bool *known, struct kv_pin *pin,
                                       struct err *err);

/* All keys from `from` on that begin with prefix (both may be empty), as they are now: what is written later is not
 * seen. (blocks) */
MUST_CHECK enum err_code kv_iter_open(struct kv *kv, struct slice from, struct slice prefix, struct kv_iter **iter,
                                      struct err *err);
/* The next entry; *more is false at the end. key and value live until the next call. (blocks) */
MUST_CHECK enum err_code kv_iter_next(struct kv_iter *iter, bool *more, struct slice *key, struct slice *value,
                                      struct err *err);
void kv_iter_close(struct kv_iter *iter); /* NULL is fine */

/* About how many bytes the files have. */
uint64_t kv_bytes(struct kv *kv);
/* About how many entries; overwritten ones may count. */
uint64_t kv_entries(struct kv *kv);

/* ---- writes ---- */

/* A sorted run: begin, put and delete in strictly ascending order of keys, then finish, which makes it visible and
 * durable as a whole, or drop. Finish and drop free the run, whatever they say. One run a store at a time. (all block)
 */
MUST_CHECK enum err_code kv_run_begin(struct kv *kv, struct kv_run **run, struct err *err);
MUST_CHECK enum err_code kv_run_put(struct kv_run *run, struct slice key, struct slice value, struct err *err);
MUST_CHECK enum err_code kv_run_delete(struct kv_run *run, struct slice key, struct err *err);
MUST_CHECK enum err_code kv_run_finish(struct kv_run *run, struct err *err);
void kv_run_drop(struct kv_run *run); /* NULL is fine */

#endif
