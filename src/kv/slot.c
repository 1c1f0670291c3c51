/* Stores that are open only while they are asked for.
 *
 * users tells all to who takes a store that is open: as long as it is not -1 one more may be added, and only who
 * changes it from 0 to -1 closes. What opens and closes does so under the environment's mutex, less the opening and
 * closing themselves, during which the slot is busy. */
#include "kv/kv_int.h"

enum { CLOSED = -1 };

void kv_slot_init(struct kv_slot *slot, struct kv_env *env, const char *dir)
{
    size_t len = strlen(dir) + 1;
    *slot = (struct kv_slot){.env = env, .users = CLOSED};
    slot->dir = memcpy(mem_alloc(len), dir, len);
}

static void list_add(struct kv_slot *slot)
{
    struct kv_slots *slots = &slot->env->slots;
    slot->next = slots->newest;
    slot->prev = NULL;
    *(slots->newest ? &slots->newest->prev : &slots->oldest) = slot;
    slots->newest = slot;
}

static void list_remove(struct kv_slot *slot)
{
    struct kv_slots *slots = &slot->env->slots;
    *(slot->prev ? &slot->prev->next : &slots->newest) = slot->next;
    *(slot->next ? &slot->next->prev : &slots->oldest) = slot->prev;
}

static bool take_open(struct kv_slot *slot)
{
    int users = __atomic_load_n(&slot->users, __ATOMIC_RELAXED);
    while (users != CLOSED)
        if (__atomic_compare_exchange_n(&slot->users, &users, users + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    return false;
}

static bool claim_unused(struct kv_slot *slot)
{
    int none = 0;
    return __atomic_compare_exchange_n(&slot->users, &none, CLOSED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* One that nobody uses, nor has used since the last look; NULL: all are in use. */
static struct kv_slot *victim(struct kv_slots *slots)
{
    for (uint32_t tries = 2 * slots->open_count; tries > 0; tries--) {
        struct kv_slot *slot = slots->oldest;
        list_remove(slot);
        bool was_used = __atomic_exchange_n(&slot->used, false, __ATOMIC_RELAXED);
        if (!was_used && claim_unused(slot))
            return slot;
        list_add(slot);
    }
    return NULL;
}

/* Closes one that was claimed. The mutex is let go meanwhile. */
static void close_locked(struct kv_slots *slots, struct kv_slot *slot)
{
    slots->open_count--;
    slot->busy = true;
    os_mutex_unlock(&slots->mutex);
    kv_close(slot->kv);
    os_mutex_lock(&slots->mutex);
    slot->kv = NULL;
    slot->busy = false;
    os_cond_broadcast(&slots->changed);
}

/* Until one more may be opened. */
static void make_room_locked(struct kv_slots *slots)
{
    while (slots->open_count >= slots->open_max) {
        struct kv_slot *slot = victim(slots);
        if (!slot)
            return; /* more than there should be, for a while */
        close_locked(slots, slot);
    }
}

static enum err_code open_locked(struct kv_slot *slot, struct err *err)
{
    struct kv_slots *slots = &slot->env->slots;
    slot->busy = true;
    make_room_locked(slots);
    os_mutex_unlock(&slots->mutex);
    enum err_code code = kv_open(slot->env, slot->dir, &slot->kv, err);
    os_mutex_lock(&slots->mutex);
    slot->busy = false;
    if (code == OK) {
        list_add(slot);
        slots->open_count++;
        __atomic_store_n(&slot->users, 0, __ATOMIC_RELEASE);
    }
    os_cond_broadcast(&slots->changed);
    return code;
}

/* Waits for the disk. */
static enum err_code take_blocking(struct kv_slot *slot, struct err *err)
{
    struct kv_slots *slots = &slot->env->slots;
    enum err_code code = OK;
    bool taken = false;
    os_mutex_lock(&slots->mutex);
    while (code == OK && !taken) {
        while (slot->busy)
            os_cond_wait(&slots->changed, &slots->mutex);
        if (slot->kv && slot->kv->read_only && claim_unused(slot)) {
            list_remove(slot);
            close_locked(slots, slot);
        }
        if (!slot->busy && !slot->kv)
            code = open_locked(slot, err);
        taken = code == OK && take_open(slot);
    }
    os_mutex_unlock(&slots->mutex);
    return code;
}

enum err_code kv_slot_take(struct kv_slot *slot, bool may_block, struct kv **kv, struct err *err)
{
    bool taken = take_open(slot);
    if (!taken && !may_block)
        return err_set(err, ERR_WOULD_BLOCK, "%s is not open", slot->dir);
    if (taken && may_block && slot->kv->read_only) {
        kv_slot_release(slot);
        taken = false;
    }
    if (!taken)
        TRY(take_blocking(slot, err));
    __atomic_store_n(&slot->used, true, __ATOMIC_RELAXED);
    *kv = slot->kv;
    return OK;
}

void kv_slot_release(struct kv_slot *slot)
{
    int users = __atomic_sub_fetch(&slot->users, 1, __ATOMIC_RELEASE);
    ASSERT(users >= 0);
}

void kv_slot_deinit(struct kv_slot *slot)
{
    if (!slot->env)
        return;
    struct kv_slots *slots = &slot->env->slots;
    os_mutex_lock(&slots->mutex);
    while (slot->busy)
        os_cond_wait(&slots->changed, &slots->mutex);
    bool open = claim_unused(slot);
    ASSERT(open || !slot->kv);
    if (open) {
        list_remove(slot);
        slots->open_count--;
    }
    os_mutex_unlock(&slots->mutex);
    kv_close(slot->kv);
    mem_free(slot->dir);
    *slot = (struct kv_slot){0};
}

uint32_t kv_env_open_count(struct kv_env *env)
{
    os_mutex_lock(&env->slots.mutex);
    uint32_t count = env->slots.open_count;
    os_mutex_unlock(&env->slots.mutex);
    return count;
}

void kv_env_limit(struct kv_env *env, uint32_t open_max)
{
    os_mutex_lock(&env->slots.mutex);
    env->slots.open_max = MAX(open_max, 1);
    os_mutex_unlock(&env->slots.mutex);
}

void kv_slots_init(struct kv_slots *slots, struct os *os)
{
    *slots = (struct kv_slots){.open_max = KV_OPEN_MAX_DEFAULT};
    os_mutex_init(&slots->mutex, os);
    os_cond_init(&slots->changed, os);
}

void kv_slots_deinit(struct kv_slots *slots)
{
    ASSERT(slots->open_count == 0);
    os_cond_deinit(&slots->changed);
    os_mutex_deinit(&slots->mutex);
}
