/* How an engine is made: it embeds the heads as the first member of its own structs and fills in ops. */
#ifndef WEIR_KV_KV_INT_H
#define WEIR_KV_KV_INT_H

#include "base/buf.h"
#include "kv/kv.h"

struct kv_ops;

/* Of the stores in slots those that are open. */
struct kv_slots {
    struct os_mutex mutex;
    struct os_cond changed; /* a slot is no longer busy */
    struct kv_slot *newest, *oldest;
    uint32_t open_count, open_max;
};

struct kv_env {
    const struct kv_ops *ops;
    struct os *os;
    struct kv_slots slots;
};

void kv_slots_init(struct kv_slots *slots, struct os *os);
void kv_slots_deinit(struct kv_slots *slots);

struct kv {
    struct kv_env *env;
    bool read_only;     /* the disk was full when it was opened */
    struct kv_run *run; /* the one that is open */
};

struct kv_run {
    struct kv *kv;
    struct buf last_key; /* to see that keys ascend */
    bool any;
};

struct kv_iter {
    struct kv *kv;
    struct buf prefix;
};

/* What a run gets. */
struct kv_change {
    struct slice key;
    struct slice value;
    bool is_delete;
};

struct kv_ops {
    void (*env_destroy)(struct kv_env *env);
    enum err_code (*open)(struct kv_env *env, const char *dir, struct kv **kv, struct err *err);
    void (*close)(struct kv *kv);
    void (*unpin)(void *held);
    enum err_code (*get)(struct kv *kv, struct slice key, bool cached, bool *known, struct kv_pin *pin,
                         struct err *err);
    enum err_code (*iter_open)(struct kv *kv, struct slice from, struct kv_iter **iter, struct err *err);
    enum err_code (*iter_next)(struct kv_iter *iter, bool *more, struct slice *key, struct slice *value,
                               struct err *err);
    void (*iter_close)(struct kv_iter *iter);
    uint64_t (*bytes)(struct kv *kv);
    uint64_t (*entries)(struct kv *kv);
    enum err_code (*run_begin)(struct kv *kv, struct kv_run **run, struct err *err);
    enum err_code (*run_add)(struct kv_run *run, const struct kv_change *change, struct err *err);
    enum err_code (*run_finish)(struct kv_run *run, struct err *err); /* does not free */
    void (*run_free)(struct kv_run *run);
};

#endif
