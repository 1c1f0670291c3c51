/* Functions that choose one of two values, or put them side by side. */
#include "format/agg/agg_int.h"

/* Of equal values the one that is there stays. */
enum err_code agg_greatest(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = datum_compare(call->agg->type, call->acc, call->input) < 0 ? *call->input : *call->acc;
    return OK;
}

/* Of equal values the new one comes. */
enum err_code agg_least(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = datum_compare(call->agg->type, call->acc, call->input) < 0 ? *call->acc : *call->input;
    return OK;
}

enum err_code agg_last(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = *call->input;
    return OK;
}

enum err_code agg_first(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = *call->acc;
    return OK;
}

enum err_code agg_joined(const struct agg_call *call, struct datum *out, struct err *err)
{
    struct slice parts[] = {call->acc->bytes, call->agg->delimiter, call->input->bytes};
    size_t len = parts[0].len + parts[1].len + parts[2].len, at = 0;
    if (len > AGG_TEXT_BYTES_MAX)
        return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "an aggregated text of %zu bytes: %u are possible", len,
                       AGG_TEXT_BYTES_MAX);
    uint8_t *text = arena_alloc(call->arena, len);
    for (size_t i = 0; i < ARRAY_LEN(parts); at += parts[i++].len)
        if (parts[i].len)
            memcpy(text + at, parts[i].ptr, parts[i].len);
    *out = (struct datum){.bytes = slice_of(text, len)};
    return OK;
}

enum err_code agg_both(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = (struct datum){.boolean = call->acc->boolean && call->input->boolean};
    return OK;
}

enum err_code agg_either(const struct agg_call *call, struct datum *out, struct err *err)
{
    (void)err;
    *out = (struct datum){.boolean = call->acc->boolean || call->input->boolean};
    return OK;
}
