#include "api/fetch_log_int.h"

#define BUCKETS_MAX 64           /* remembered of one connection; the oldest goes first */
#define BEHIND_NS_MAX 5000000000 /* a bucket not asked for so long is not being read any more */

struct seen {
    int64_t table_id;
    int64_t partition_id;
    int32_t bucket;
    bool behind;
    int64_t at_ns;
};

struct fetch_state {
    struct seen seen[BUCKETS_MAX];
    unsigned count;
};

static struct seen *place_of(struct fetch_state *state, int64_t table_id, int64_t partition_id, int32_t bucket)
{
    struct seen *oldest = &state->seen[0];
    for (unsigned i = 0; i < state->count; i++) {
        struct seen *seen = &state->seen[i];
        if (seen->table_id == table_id && seen->partition_id == partition_id && seen->bucket == bucket)
            return seen;
        if (seen->at_ns < oldest->at_ns)
            oldest = seen;
    }
    return state->count < BUCKETS_MAX ? &state->seen[state->count++] : oldest;
}

void fetch_state_note(struct net_conn *conn, int64_t table_id, int64_t partition_id, int32_t bucket, bool behind,
                      int64_t now_ns)
{
    struct fetch_state **state = &api_conn_of(conn)->fetch;
    if (!*state) {
        if (!behind)
            return;
        *state = mem_zalloc(sizeof **state);
    }
    *place_of(*state, table_id, partition_id, bucket) = (struct seen){table_id, partition_id, bucket, behind, now_ns};
}

bool fetch_state_behind(struct net_conn *conn, int64_t now_ns)
{
    const struct fetch_state *state = api_conn_of(conn)->fetch;
    for (unsigned i = 0; state && i < state->count; i++)
        if (state->seen[i].behind && now_ns - state->seen[i].at_ns < BEHIND_NS_MAX)
            return true;
    return false;
}
