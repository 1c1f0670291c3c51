/* Keys by their first columns. Compacted keys are their columns' bytes one after the other, each with an end of its
 * own: so the keys of one bucket key are those that begin with its bytes. */
#include "bucket/bucket_int.h"

enum err_code state_prefix_init(struct bucket *bucket, struct err *err)
{
    struct state *state = bucket->state;
    const struct table_descriptor *table = bucket->table->descriptor;
    if (table->bucket_key_count == 0 || table_default_bucket_key(table))
        return OK;
    state->prefix_table = table_ref(bucket->table);
    TRY(table_keys_init(&state->prefix_keys, &state->prefix_arena, table, err));
    state->by_prefix = state->prefix_keys.prefix_lookup && state->prefix_keys.primary_encoder == KEY_COMPACTED;
    return OK;
}

size_t state_prefix_len(struct state *state, struct slice key, struct arena *arena)
{
    const struct table_keys *keys = &state->prefix_keys;
    if (!state->by_prefix)
        return 0;
    struct datum *values = ARENA_NEW_ARRAY(arena, struct datum, keys->primary_count);
    struct buf prefix = {0};
    size_t len = 0;
    if (key_decode(KEY_COMPACTED, keys->primary_type, key, arena, values, NULL) == OK &&
        key_encode(KEY_COMPACTED, keys->bucket_type, values, NULL, &prefix, NULL) == OK &&
        slice_starts_with(key, buf_view(&prefix)))
        len = prefix.len;
    buf_deinit(&prefix);
    return len;
}

bool state_prefix_is_whole(const struct state *state, struct slice prefix)
{
    const struct table_keys *keys = &state->prefix_keys;
    struct arena arena = {0};
    if (!state->by_prefix)
        return false;
    struct datum *values = ARENA_NEW_ARRAY(&arena, struct datum, keys->bucket_count);
    bool whole = key_decode(KEY_COMPACTED, keys->bucket_type, prefix, &arena, values, NULL) == OK;
    arena_deinit(&arena);
    return whole;
}
