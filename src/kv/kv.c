/* What all engines share: limits, order of runs, prefixes. */
#include "kv/kv_int.h"

struct kv_options kv_options_default(void)
{
    return (struct kv_options){.cache_bytes = 256 << 20, .background_threads = 2, .open_files_max = 64};
}

void kv_env_destroy(struct kv_env *env)
{
    if (!env)
        return;
    kv_slots_deinit(&env->slots);
    env->ops->env_destroy(env);
}

enum err_code kv_open(struct kv_env *env, const char *dir, struct kv **kv, struct err *err)
{
    return env->ops->open(env, dir, kv, err);
}

void kv_close(struct kv *kv)
{
    if (!kv)
        return;
    ASSERT(!kv->run);
    kv->env->ops->close(kv);
}

void kv_pin_release(struct kv_pin *pin)
{
    if (pin->held)
        pin->kv->env->ops->unpin(pin->held);
    *pin = (struct kv_pin){0};
}

static enum err_code get(struct kv *kv, struct slice key, bool cached, bool *known, struct kv_pin *pin, struct err *err)
{
    struct kv_pin got = {.kv = kv};
    *known = true;
    TRY(kv->env->ops->get(kv, key, cached, known, &got, err));
    *pin = got;
    return OK;
}

enum err_code kv_get(struct kv *kv, struct slice key, struct kv_pin *pin, struct err *err)
{
    bool known;
    return get(kv, key, false, &known, pin, err);
}

enum err_code kv_get_cached(struct kv *kv, struct slice key, bool *known, struct kv_pin *pin, struct err *err)
{
    return get(kv, key, true, known, pin, err);
}

enum err_code kv_iter_open(struct kv *kv, struct slice from, struct slice prefix, struct kv_iter **iter,
                           struct err *err)
{
    if (slice_compare(from, prefix) < 0)
        from = prefix;
    TRY(kv->env->ops->iter_open(kv, from, iter, err));
    (*iter)->kv = kv;
    buf_put_slice(&(*iter)->prefix, prefix);
    return OK;
}

enum err_code kv_iter_next(struct kv_iter *iter, bool *more, struct slice *key, struct slice *value, struct err *err)
{
    TRY(iter->kv->env->ops->iter_next(iter, more, key, value, err));
    if (*more && !slice_starts_with(*key, buf_view(&iter->prefix)))
        *more = false;
    return OK;
}

void kv_iter_close(struct kv_iter *iter)
{
    if (!iter)
        return;
    buf_deinit(&iter->prefix);
    iter->kv->env->ops->iter_close(iter);
}

uint64_t kv_bytes(struct kv *kv)
{
    return kv->env->ops->bytes(kv);
}

uint64_t kv_entries(struct kv *kv)
{
    return kv->env->ops->entries(kv);
}

static enum err_code check_size(const struct kv_change *change, struct err *err)
{
    if (change->key.len > KV_KEY_BYTES_MAX || change->value.len > KV_VALUE_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "a key of %zu bytes with a value of %zu", change->key.len, change->value.len);
    return OK;
}

enum err_code kv_run_begin(struct kv *kv, struct kv_run **run, struct err *err)
{
    ASSERT(!kv->run);
    if (kv->read_only)
        return err_set(err, ERR_DISK_FULL, "the store was opened while the disk was full");
    TRY(kv->env->ops->run_begin(kv, run, err));
    (*run)->kv = kv;
    kv->run = *run;
    return OK;
}

static enum err_code run_add(struct kv_run *run, const struct kv_change *change, struct err *err)
{
    TRY(check_size(change, err));
    ASSERT(!run->any || slice_compare(change->key, buf_view(&run->last_key)) > 0);
    TRY(run->kv->env->ops->run_add(run, change, err));
    buf_reset(&run->last_key);
    buf_put_slice(&run->last_key, change->key);
    run->any = true;
    return OK;
}

enum err_code kv_run_put(struct kv_run *run, struct slice key, struct slice value, struct err *err)
{
    return run_add(run, &(struct kv_change){key, value, false}, err);
}

enum err_code kv_run_delete(struct kv_run *run, struct slice key, struct err *err)
{
    return run_add(run, &(struct kv_change){key, {0}, true}, err);
}

void kv_run_drop(struct kv_run *run)
{
    if (!run)
        return;
    run->kv->run = NULL;
    buf_deinit(&run->last_key);
    run->kv->env->ops->run_free(run);
}

enum err_code kv_run_finish(struct kv_run *run, struct err *err)
{
    enum err_code code = run->any ? run->kv->env->ops->run_finish(run, err) : OK;
    kv_run_drop(run);
    return code;
}
