/* The state machine of one table in the schedule; its picture is in tiering.h. */
#include "meta/tiering/tiering_int.h"

#define NS_PER_MS 1000000

static const bool allowed[TIERING_STATE_COUNT][TIERING_STATE_COUNT] = {
    /*                     IDLE   SCHEDULED PENDING RUNNING */
    [TIERING_IDLE] = {false, true, true, false},
    [TIERING_SCHEDULED] = {true, true, true, false}, /* to itself: another due time */
    [TIERING_PENDING] = {true, false, true, true},   /* to itself: news while it waits, a new epoch */
    [TIERING_RUNNING] = {true, true, true, true},    /* to itself: heard of */
};

/* Holds whenever the lock is not held. */
static void check(const struct tiering *tiering, const struct tiering_table *table)
{
    bool timed = table->state == TIERING_SCHEDULED || table->state == TIERING_RUNNING;
    ASSERT(table->in_schedule);
    ASSERT((table->heap_at != HEAP_NONE) == timed);
    ASSERT((table->deadline_ns != INT64_MAX) == timed);
    ASSERT(table->state == TIERING_PENDING || table->next == NULL);
    ASSERT((tiering->queue_first == NULL) == (tiering->pending_count == 0));
    ASSERT(table->epoch >= tiering->epoch_base);
    ASSERT(table->state != TIERING_RUNNING || table->epoch > tiering->epoch_base);
}

static void queue_push(struct tiering *tiering, struct tiering_table *table)
{
    if (tiering->queue_last)
        tiering->queue_last->next = table;
    else
        tiering->queue_first = table;
    tiering->queue_last = table;
    tiering->pending_count++;
}

static void queue_remove(struct tiering *tiering, struct tiering_table *table)
{
    struct tiering_table *before = NULL, *at = tiering->queue_first;
    while (at != table) {
        ASSERT(at);
        before = at;
        at = at->next;
    }
    if (before)
        before->next = table->next;
    else
        tiering->queue_first = table->next;
    if (tiering->queue_last == table)
        tiering->queue_last = before;
    table->next = NULL;
    tiering->pending_count--;
}

void state_enter(struct tiering *tiering, struct tiering_table *table, enum tiering_state to, int64_t deadline_ns)
{
    ASSERT(allowed[table->state][to]);
    if (table->state == TIERING_PENDING)
        queue_remove(tiering, table);
    table->state = to;
    if (to == TIERING_PENDING) {
        table->epoch++;
        queue_push(tiering, table);
    }
    deadlines_set(&tiering->deadlines, table, deadline_ns);
    check(tiering, table);
}

void state_leave(struct tiering *tiering, struct tiering_table *table)
{
    if (table->state == TIERING_PENDING)
        queue_remove(tiering, table);
    deadlines_set(&tiering->deadlines, table, INT64_MAX);
    table->state = TIERING_IDLE;
    table->in_schedule = false;
    atomic_store(&table->known_dirty, true);
}

bool state_has_news(const struct tiering_table *table)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&table->parts, &at, &key, &value)) {
        const struct tiering_part *part = value;
        for (int32_t i = 0; i < table->bucket_count; i++)
            if (atomic_load(&part->ends[i]) > atomic_load(&part->tiered[i]))
                return true;
    }
    return false;
}

/* Forgets the flag before it looks, so that an append after the look finds it down and tells. */
static bool look(struct tiering_table *table)
{
    atomic_store(&table->known_dirty, false);
    bool news = state_has_news(table);
    if (news)
        atomic_store(&table->known_dirty, true);
    return news;
}

void state_settle(struct tiering *tiering, struct tiering_table *table, int64_t now_ns, int64_t not_before_ns)
{
    if (!look(table)) {
        table->behind_since_ms = 0;
        if (table->state != TIERING_IDLE)
            state_enter(tiering, table, TIERING_IDLE, INT64_MAX);
        return;
    }
    if (not_before_ns <= now_ns)
        state_enter(tiering, table, TIERING_PENDING, INT64_MAX);
    else
        state_enter(tiering, table, TIERING_SCHEDULED, not_before_ns);
}

/* The first failure is tried again at once, as Fluss does; what fails again waits longer each time. */
static int64_t retry_wait_ns(uint32_t failures_in_row)
{
    int64_t wait_ms = 0;
    for (uint32_t i = 1; i < failures_in_row && wait_ms < TIERING_RETRY_MS_MAX; i++)
        wait_ms = wait_ms ? wait_ms * 2 : TIERING_RETRY_MS_MIN;
    return MIN(wait_ms, TIERING_RETRY_MS_MAX) * NS_PER_MS;
}

void state_fail(struct tiering *tiering, struct tiering_table *table, struct slice text, int64_t now_ns,
                bool wait_when_repeated)
{
    size_t len = MIN(text.len, sizeof table->failed_text - 1);
    if (len)
        memcpy(table->failed_text, text.ptr, len);
    table->failed_text[len] = 0;
    table->failed_ms = os_wall_ms(tiering->os);
    table->failures_in_row += table->failures_in_row < UINT32_MAX;
    int64_t wait_ns = wait_when_repeated ? retry_wait_ns(table->failures_in_row) : 0;
    state_settle(tiering, table, now_ns, now_ns + wait_ns);
}

bool state_expire(struct tiering *tiering, int64_t now_ns)
{
    bool due = false;
    struct tiering_table *table;
    while ((table = deadlines_first(&tiering->deadlines)) && table->deadline_ns <= now_ns) {
        if (table->state == TIERING_RUNNING)
            state_fail(tiering, table, SLICE("its worker was silent for 2 minutes; the table is given to another"),
                       now_ns, false);
        else
            state_settle(tiering, table, now_ns, now_ns);
        due |= table->state == TIERING_PENDING;
    }
    return due;
}
