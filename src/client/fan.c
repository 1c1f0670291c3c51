/* One call to the leaders of many buckets, all at once. */
#include "client/client_int.h"

typedef VEC(struct table_share *) share_list;

static bool belongs(const struct client_table *table, const struct table_fan *fan, const struct table_share *share,
                    const struct conn *conn, int32_t place)
{
    return share->conn == conn && (!fan->by_partition || client_place_partition(table, share->places[0]) ==
                                                             client_place_partition(table, place));
}

/* Places come partition by partition, so the share is most often the last one. */
static struct table_share *share_of(const struct client_table *table, const struct table_fan *fan, share_list *shares,
                                    struct arena *arena, struct conn *conn, int32_t place)
{
    for (size_t i = shares->len; i-- > 0;)
        if (belongs(table, fan, shares->ptr[i], conn, place))
            return shares->ptr[i];
        else if (fan->by_partition && shares->ptr[i]->conn == conn)
            break;
    struct table_share *share = ARENA_NEW(arena, struct table_share);
    size_t room = fan->by_partition ? (size_t)table->bucket_count : client_place_count(table);
    share->conn = conn;
    share->places = ARENA_NEW_ARRAY(arena, int32_t, room);
    vec_push(shares, share);
    return share;
}

static enum err_code make_shares(struct client_table *table, const struct table_fan *fan, struct arena *arena,
                                 share_list *shares, struct err *err)
{
    size_t count = client_place_count(table);
    for (size_t i = 0; i < count; i++) {
        struct conn *conn;
        int32_t place = (int32_t)i;
        if ((fan->wanted && !fan->wanted[i]) || client_place_is_gone(table, place))
            continue;
        enum err_code code = table_leader(table, place, &conn, err);
        if (code != OK && client_place_is_gone(table, place))
            continue; /* as it has just turned out */
        TRY(code);
        struct table_share *share = share_of(table, fan, shares, arena, conn, place);
        share->places[share->place_count++] = place;
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
    TRY_OR_FAIL(make_shares(table, fan, arena, &shares, err));
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
        bool lost = false;
        if (code == OK)
            return OK;
        if (table_lost_partitions(table, code, &lost, NULL) == OK && lost)
            continue;
        if (!table_may_retry(table, code))
            return code;
        table_forget_leaders(table);
        if (!client_backoff(client, &backoff, deadline))
            return code;
    }
}
