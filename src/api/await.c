/* Waiting until what a call wrote is durable. */
#include "api/api_int.h"

struct api_await {
    struct api_call *call;
    struct api_part *parts;
    size_t part_count;
    void (*done)(struct api_call *call, struct api_part *parts, size_t part_count);
    unsigned left; /* atomic: parts not done, and one for api_await itself */
    struct timer timer;
    struct task task;
};

/* On the loop: the last part is done. */
static void finish(struct task *task)
{
    struct api_await *await = CONTAINER_OF(task, struct api_await, task);
    timer_stop(net_conn_loop(await->call->conn), &await->timer);
    for (size_t i = 0; i < await->part_count; i++) {
        struct api_part *part = &await->parts[i];
        if (part->bucket && part->code == OK)
            part->code = bucket_wait_result(part->bucket, part->end_offset, &part->err);
        bucket_unref(part->bucket);
        part->bucket = NULL;
    }
    await->done(await->call, await->parts, await->part_count);
}

static void part_done(struct api_await *await)
{
    if (__atomic_sub_fetch(&await->left, 1, __ATOMIC_ACQ_REL) == 0)
        loop_post(net_conn_loop(await->call->conn), &await->task);
}

static void waiter_called(struct bucket_waiter *waiter)
{
    part_done(CONTAINER_OF(waiter, struct api_part, waiter)->await);
}

/* One more, so that the parts that are given up do not end the call under our feet. False: all are done, and finish is
 * on its way. */
static bool hold(struct api_await *await)
{
    unsigned left = __atomic_load_n(&await->left, __ATOMIC_RELAXED);
    while (left > 0)
        if (__atomic_compare_exchange_n(&await->left, &left, left + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

static void time_over(struct timer *timer)
{
    struct api_await *await = CONTAINER_OF(timer, struct api_await, timer);
    if (!hold(await))
        return;
    for (size_t i = 0; i < await->part_count; i++) {
        struct api_part *part = &await->parts[i];
        if (!part->bucket || !bucket_unwait(part->bucket, &part->waiter))
            continue;
        part->code = err_set(&part->err, ERR_REQUEST_TIME_OUT, "the write is not durable within the request's timeout");
        part_done(await);
    }
    part_done(await);
}

void api_await(struct api_call *call, struct api_part *parts, size_t part_count, int32_t timeout_ms,
               void (*done)(struct api_call *call, struct api_part *parts, size_t part_count))
{
    struct loop *loop = net_conn_loop(call->conn);
    struct api_await *await = ARENA_NEW(&call->arena, struct api_await);
    *await = (struct api_await){.call = call, .parts = parts, .part_count = part_count, .done = done, .left = 1};
    await->task.fn = finish;
    await->timer.fn = time_over;
    timer_start(loop, &await->timer, loop_now_ns(loop) + MAX(timeout_ms, 1) * (int64_t)1000000);
    for (size_t i = 0; i < part_count; i++) {
        struct api_part *part = &parts[i];
        if (!part->bucket)
            continue;
        part->await = await;
        part->waiter.fn = waiter_called;
        __atomic_add_fetch(&await->left, 1, __ATOMIC_RELAXED);
        if (!bucket_wait(part->bucket, &part->waiter, part->end_offset))
            __atomic_sub_fetch(&await->left, 1, __ATOMIC_RELAXED);
    }
    part_done(await);
}
