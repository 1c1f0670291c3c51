/* PLAIN values and dictionaries into the layout of a struct column, without places for nulls; plain_write.c has the
 * forms. */
#include "format/parquet/parquet_int.h"

void parquet_values_deinit(struct parquet_values *v)
{
    buf_deinit(&v->data);
    buf_deinit(&v->offsets);
    v->count = 0;
}

void parquet_values_reset(struct parquet_values *v)
{
    buf_reset(&v->data);
    buf_reset(&v->offsets);
    v->count = 0;
}

static enum err_code cut_off(struct err *err)
{
    return err_set(err, ERR_CORRUPT, "Parquet: a page ends before its last value");
}

static enum err_code too_large(struct err *err)
{
    return err_set(err, ERR_LIMIT, "Parquet: the values of one column in some rows take more than %u bytes",
                   PARQUET_SLICE_BYTES_MAX);
}

static enum err_code unfit(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "Parquet: %s", what);
}

/* The first offset is there before the first value. */
static void start_offsets(struct parquet_values *out)
{
    if (!out->offsets.len)
        buf_put_u32(&out->offsets, 0);
}

static enum err_code get_ints(const struct parquet_convert *c, const uint8_t *from, uint32_t count, uint8_t *to,
                              struct err *err)
{
    int32_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t v = (int32_t)load_u32(from + i * (size_t)4);
        if (c->to_width == 8)
            store_u64(to + i * (size_t)8, (uint64_t)(int64_t)v);
        else if (c->to_width == 2)
            store_u16(to + i * (size_t)2, (uint16_t)v), bad |= v != (int16_t)v;
        else
            to[i] = (uint8_t)v, bad |= v != (int8_t)v;
    }
    return bad ? unfit(err, "a number is too large for its column") : OK;
}

static void get_reals(const uint8_t *from, uint32_t count, uint8_t *to)
{
    for (uint32_t i = 0; i < count; i++) {
        float f;
        memcpy(&f, from + i * sizeof f, sizeof f);
        double d = f;
        memcpy(to + i * sizeof d, &d, sizeof d);
    }
}

static enum err_code get_times(const struct parquet_convert *c, const uint8_t *from, uint32_t count, uint8_t *to,
                               struct err *err)
{
    bool bad = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t v =
            c->from_width == 4 ? (int32_t)load_u32(from + i * (size_t)4) : (int64_t)load_u64(from + i * (size_t)8);
        bad |= __builtin_mul_overflow(v, c->times, &v);
        v = v / c->by - (v % c->by < 0);
        if (c->to_width == 4) {
            bad |= v != (int32_t)v;
            store_u32(to + i * (size_t)4, (uint32_t)v);
        } else {
            store_u64(to + i * (size_t)8, (uint64_t)v);
        }
    }
    return bad ? unfit(err, "a time is too far away for the precision of its column") : OK;
}

static enum err_code get_int96(const struct parquet_convert *c, const uint8_t *from, uint32_t count, uint8_t *to,
                               struct err *err)
{
    bool bad = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t nanos = (int64_t)load_u64(from + i * (size_t)12), a_tick = 1000000000 / c->times;
        int64_t day = (int64_t)(int32_t)load_u32(from + i * (size_t)12 + 8) - PARQUET_JULIAN_EPOCH_DAY;
        /* Wider than the result: the start of the first day may be beyond it. */
        __int128 v = (__int128)day * (86400 * c->times) + (nanos / a_tick - (nanos % a_tick < 0));
        bad |= v != (int64_t)v;
        store_u64(to + i * (size_t)8, (uint64_t)v);
    }
    return bad ? unfit(err, "a time is too far away for the precision of its column") : OK;
}

/* A decimal in as many big-endian bytes as there are; false where it needs more than 16. */
static bool load_big_endian(const uint8_t *p, size_t len, __int128 *out)
{
    unsigned __int128 v = len && p[0] & 0x80 ? ~(unsigned __int128)0 : 0;
    uint8_t sign = (uint8_t)v;
    for (; len > 16; p++, len--)
        if (*p != sign)
            return false;
    if (len == 16 && (*p & 0x80) != (sign & 0x80))
        return false;
    for (size_t i = 0; i < len; i++)
        v = v << 8 | p[i];
    *out = (__int128)v;
    return true;
}

static __int128 power_of_ten(int32_t exponent)
{
    __int128 v = 1;
    while (exponent-- > 0)
        v *= 10;
    return v;
}

static enum err_code get_decimals(const struct parquet_convert *c, struct reader *in, uint32_t count, uint8_t *to,
                                  struct err *err)
{
    __int128 limit = power_of_ten(c->precision), v = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct slice s = reader_slice(in, c->from_width ? c->from_width : reader_u32(in));
        if (!reader_ok(in))
            return cut_off(err);
        if (c->physical == PARQUET_INT32)
            v = (int32_t)load_u32(s.ptr);
        else if (c->physical == PARQUET_INT64)
            v = (int64_t)load_u64(s.ptr);
        else if (!load_big_endian(s.ptr, s.len, &v))
            return unfit(err, "a decimal has more digits than its column");
        if (v >= limit || v <= -limit)
            return unfit(err, "a decimal has more digits than its column");
        memcpy(to + i * sizeof v, &v, sizeof v);
    }
    return OK;
}

/* Bytes with a length before each, or of one length. */
static enum err_code get_bytes(const struct parquet_convert *c, struct reader *in, uint32_t count,
                               struct parquet_values *out, struct err *err)
{
    start_offsets(out);
    buf_reserve(&out->offsets, count * (size_t)4);
    /* No value is longer than what is left of the page. */
    if (out->data.len + reader_left(in) > PARQUET_SLICE_BYTES_MAX + (size_t)PARQUET_PAGE_BYTES_MAX)
        return too_large(err);
    for (uint32_t i = 0; i < count; i++) {
        struct slice s = reader_slice(in, c->from_width ? c->from_width : reader_u32(in));
        if (!reader_ok(in))
            return cut_off(err);
        if (c->to_width && s.len != c->to_width)
            return unfit(err, "a BINARY value does not have the length of its column");
        buf_put_slice(&out->data, s);
        if (out->data.len > PARQUET_SLICE_BYTES_MAX)
            return too_large(err);
        buf_put_u32(&out->offsets, (uint32_t)out->data.len);
    }
    out->count += count;
    return OK;
}

static enum err_code convert(const struct parquet_convert *c, const uint8_t *from, uint32_t count, uint8_t *to,
                             struct err *err)
{
    switch (c->kind) {
    case PARQUET_CONV_INT:
        return get_ints(c, from, count, to, err);
    case PARQUET_CONV_REAL:
        get_reals(from, count, to);
        return OK;
    case PARQUET_CONV_TIME:
        return get_times(c, from, count, to, err);
    case PARQUET_CONV_INT96:
        return get_int96(c, from, count, to, err);
    default: /* COPY */
        if (count)
            memcpy(to, from, count * (size_t)c->from_width);
        return OK;
    }
}

enum err_code parquet_plain_get(const struct parquet_convert *c, struct reader *in, uint32_t count,
                                struct parquet_values *out, struct err *err)
{
    if (c->kind == PARQUET_CONV_BYTES || (c->kind == PARQUET_CONV_BINARY && !c->from_width))
        return get_bytes(c, in, count, out, err);
    if (c->kind == PARQUET_CONV_NONE)
        return OK;
    size_t least = c->from_width ? c->from_width : 4; /* of a value's bytes */
    if (count > reader_left(in) / least)
        return cut_off(err);
    if (out->data.len + count * (uint64_t)c->to_width > PARQUET_SLICE_BYTES_MAX)
        return too_large(err);
    uint8_t *to = buf_extend(&out->data, count * (size_t)c->to_width);
    out->count += count;
    if (c->kind == PARQUET_CONV_DECIMAL)
        return get_decimals(c, in, count, to, err);
    return convert(c, reader_take(in, count * (size_t)c->from_width), count, to, err);
}

static enum err_code gather_bytes(const struct parquet_values *d, const uint32_t *indices, uint32_t count,
                                  struct parquet_values *out, struct err *err)
{
    start_offsets(out);
    buf_reserve(&out->offsets, count * (size_t)4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start = load_u32(d->offsets.ptr + indices[i] * (size_t)4);
        uint32_t end = load_u32(d->offsets.ptr + (indices[i] + (size_t)1) * 4);
        buf_put(&out->data, d->data.ptr + start, end - start);
        if (out->data.len > PARQUET_SLICE_BYTES_MAX)
            return too_large(err);
        buf_put_u32(&out->offsets, (uint32_t)out->data.len);
    }
    return OK;
}

static void gather_fixed(const struct parquet_values *d, uint32_t width, const uint32_t *indices, uint32_t count,
                         uint8_t *to)
{
    const uint8_t *from = d->data.ptr;
    for (uint32_t i = 0; i < count; i++) {
        if (width == 4)
            memcpy(to + i * (size_t)4, from + indices[i] * (size_t)4, 4);
        else if (width == 8)
            memcpy(to + i * (size_t)8, from + indices[i] * (size_t)8, 8);
        else
            memcpy(to + i * (size_t)width, from + indices[i] * (size_t)width, width);
    }
}

enum err_code parquet_dictionary_get(const struct parquet_convert *c, const struct parquet_values *dictionary,
                                     const uint32_t *indices, uint32_t count, struct parquet_values *out,
                                     struct err *err)
{
    if (c->kind == PARQUET_CONV_NONE)
        return OK;
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = MAX(most, indices[i]);
    if (count && most >= dictionary->count)
        return unfit(err, "a page names a value that the dictionary does not have");
    if (c->to_width == 0 || (c->kind == PARQUET_CONV_BINARY && !c->from_width)) {
        TRY(gather_bytes(dictionary, indices, count, out, err));
    } else {
        if (out->data.len + count * (uint64_t)c->to_width > PARQUET_SLICE_BYTES_MAX)
            return too_large(err);
        gather_fixed(dictionary, c->to_width, indices, count, buf_extend(&out->data, count * (size_t)c->to_width));
    }
    out->count += count;
    return OK;
}
