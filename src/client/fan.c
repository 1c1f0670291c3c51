/* One call to the leaders of many buckets, all at once. */
#include "client/client_int.h"

typedef VEC(struct table_share *) share_list;

static struct table_share *share_of(share_list *shares, struct arena *arena, struct conn *conn, int32_t bucket_count)
{
    for (size_t i = 0; i < shares->len; i++)
        if (shares->ptr[i]->conn == conn)
            return shares->ptr[i];
    struct table_share *share = ARENA_NEW(arena, struct table_share);
    share->conn = conn;
    share->buckets = ARENA_NEW_ARRAY(arena, int32_t, (size_t)bucket_count);
    vec_push(shares, share);
    return share;
}

static enum err_code make_shares(struct client_table *table, const bool *wanted, struct arena *arena,
                                 share_list *shares, struct err *err)
{
    for (int32_t bucket = 0; bucket < table->bucket_count; bucket++) {
        struct conn *conn;
        if (wanted && !wanted[bucket])
            continue;
        TRY(table_leader(table, bucket, &conn, err));
        struct table_share *share = share_of(shares, arena, conn, table->bucket_count);
        share->buckets[share->bucket_count++] = bucket;
    }
    return OK;
}

static enum err_code share_answer(struct client *client, const struct table_fan *fan, struct table_share *share,
                                  int64_t deadline_ns, struct arena *arena, struct err *err)
{
    void *response = arena_zalloc(arena, wire_api_find((int16_t)fan->key)->response->size);
    TRY(call_wait(client, &share->call, deadline_ns, err));
    share->call.body = arena_dup(arena, share->call.body);
    TRY(call_decode(&share->call, arena, response, err));
    return fan->response(fan->arg, share, response, err);
}

static enum err_code fan_once(struct client_table *table, const struct table_fan *fan, int64_t deadline_ns,
                              struct arena *arena, struct err *err)
{
    enum err_code code;
    share_list shares = {0};
    TRY_OR_FAIL(make_shares(table, fan->wanted, arena, &shares, err));
    for (size_t i = 0; i < shares.len; i++) {
        struct table_share *share = shares.ptr[i];
        share->request = arena_zalloc(arena, wire_api_find((int16_t)fan->key)->request->size);
        fan->request(fan->arg, share, arena, share->request);
        TRY_OR_FAIL(call_start(&share->call, share->conn, fan->key, share->request, err));
    }
    for (size_t i = 0; i < shares.len; i++)
        TRY_OR_FAIL(share_answer(table->client, fan, shares.ptr[i], deadline_ns, arena, err));
fail:
    for (size_t i = 0; i < shares.len; i++)
        call_deinit(&shares.ptr[i]->call);
    vec_deinit(&shares);
    return code;
}

enum err_code table_fan_out(struct client_table *table, const struct table_fan *fan, struct arena *arena,
                            struct err *err)
{
    struct client *client = table->client;
    int64_t deadline = client_limit(client);
    int64_t backoff = 0;
    for (;;) {
        client_pump(client, 0);
        enum err_code code = fan_once(table, fan, deadline, arena, err);
        if (code == OK || !table_may_retry(table, code))
            return code;
        table_forget_leaders(table);
        if (!client_backoff(client, &backoff, deadline))
            return code;
    }
}
