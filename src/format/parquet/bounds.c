/* Least and greatest values, exact or not there: pruning by a wrong one loses rows. */
#include "format/parquet/parquet_int.h"

void parquet_bounds_deinit(struct parquet_bounds *b)
{
    buf_deinit(&b->min_bytes);
    buf_deinit(&b->max_bytes);
}

void parquet_bounds_reset(struct parquet_bounds *b)
{
    b->state = PARQUET_BOUNDS_EMPTY;
}

static void take_int(struct parquet_bounds *b, __int128 min, __int128 max)
{
    bool first = b->state == PARQUET_BOUNDS_EMPTY;
    b->min_int = first ? min : MIN(b->min_int, min);
    b->max_int = first ? max : MAX(b->max_int, max);
    b->state = PARQUET_BOUNDS_THERE;
}

static void take_real(struct parquet_bounds *b, double min, double max)
{
    bool first = b->state == PARQUET_BOUNDS_EMPTY;
    b->min_real = first ? min : MIN(b->min_real, min);
    b->max_real = first ? max : MAX(b->max_real, max);
    b->state = PARQUET_BOUNDS_THERE;
}

static void set_bytes(struct buf *to, struct slice s)
{
    buf_reset(to);
    buf_put_slice(to, s);
}

static void take_bytes(struct parquet_bounds *b, struct slice min, struct slice max)
{
    bool first = b->state == PARQUET_BOUNDS_EMPTY;
    if (first || slice_compare(min, buf_view(&b->min_bytes)) < 0)
        set_bytes(&b->min_bytes, min);
    if (first || slice_compare(max, buf_view(&b->max_bytes)) > 0)
        set_bytes(&b->max_bytes, max);
    bool too_long = b->min_bytes.len > PARQUET_STAT_BYTES_MAX || b->max_bytes.len > PARQUET_STAT_BYTES_MAX;
    b->state = too_long ? PARQUET_BOUNDS_UNKNOWN : PARQUET_BOUNDS_THERE;
}

static void add_bool(struct parquet_bounds *b, const uint8_t *p, uint32_t count)
{
    bool has_true = memchr(p, 1, count), has_false = memchr(p, 0, count);
    take_int(b, !has_false, has_true);
}

static void add_i32(struct parquet_bounds *b, const uint8_t *p, uint32_t count)
{
    int32_t min = INT32_MAX, max = INT32_MIN;
    for (uint32_t i = 0; i < count; i++) {
        int32_t v = (int32_t)load_u32(p + i * (size_t)4);
        min = MIN(min, v);
        max = MAX(max, v);
    }
    take_int(b, min, max);
}

static void add_i64(struct parquet_bounds *b, const uint8_t *p, uint32_t count)
{
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        int64_t v = (int64_t)load_u64(p + i * (size_t)8);
        min = MIN(min, v);
        max = MAX(max, v);
    }
    take_int(b, min, max);
}

static __int128 load_big_endian(const uint8_t *p, uint32_t width)
{
    __int128 v = (int8_t)p[0];
    for (uint32_t i = 1; i < width; i++)
        v = (__int128)((unsigned __int128)v << 8) | p[i];
    return v;
}

static void add_fixed(struct parquet_bounds *b, const uint8_t *p, uint32_t count, uint32_t width)
{
    __int128 min = load_big_endian(p, width), max = min;
    for (uint32_t i = 1; i < count; i++) {
        __int128 v = load_big_endian(p + i * (size_t)width, width);
        min = MIN(min, v);
        max = MAX(max, v);
    }
    take_int(b, min, max);
}

static double load_real(const uint8_t *p, bool is_float)
{
    float f;
    double d;
    if (is_float) {
        memcpy(&f, p, sizeof f);
        return f;
    }
    memcpy(&d, p, sizeof d);
    return d;
}

static void add_real(struct parquet_bounds *b, const uint8_t *p, uint32_t count, bool is_float)
{
    size_t width = is_float ? 4 : 8;
    double min = load_real(p, is_float), max = min;
    for (uint32_t i = 0; i < count; i++) {
        double v = load_real(p + i * width, is_float);
        if (v != v) { /* readers do not agree where a NaN stands */
            b->state = PARQUET_BOUNDS_UNKNOWN;
            return;
        }
        min = MIN(min, v);
        max = MAX(max, v);
    }
    take_real(b, min, max);
}

static void add_bytes(struct parquet_bounds *b, struct slice plain, uint32_t count)
{
    struct reader r = reader_of(plain);
    struct slice min = reader_slice(&r, reader_u32(&r)), max = min;
    for (uint32_t i = 1; i < count; i++) {
        struct slice v = reader_slice(&r, reader_u32(&r));
        if (slice_compare(v, min) < 0)
            min = v;
        else if (slice_compare(v, max) > 0)
            max = v;
    }
    take_bytes(b, min, max);
}

void parquet_bounds_add(struct parquet_bounds *b, const struct parquet_node *leaf, struct slice plain, uint32_t count)
{
    if (!count || b->state == PARQUET_BOUNDS_UNKNOWN)
        return;
    switch (leaf->physical) {
    case PARQUET_BOOLEAN:
        add_bool(b, plain.ptr, count);
        break;
    case PARQUET_INT32:
        add_i32(b, plain.ptr, count);
        break;
    case PARQUET_INT64:
        add_i64(b, plain.ptr, count);
        break;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        add_real(b, plain.ptr, count, leaf->physical == PARQUET_FLOAT);
        break;
    case PARQUET_BYTE_ARRAY:
        add_bytes(b, plain, count);
        break;
    case PARQUET_FIXED:
        add_fixed(b, plain.ptr, count, leaf->type_length);
        break;
    default: /* INT96 has no order */
        b->state = PARQUET_BOUNDS_UNKNOWN;
    }
}

void parquet_bounds_merge(struct parquet_bounds *b, const struct parquet_node *leaf, const struct parquet_bounds *from)
{
    if (from->state == PARQUET_BOUNDS_EMPTY || b->state == PARQUET_BOUNDS_UNKNOWN)
        return;
    if (from->state == PARQUET_BOUNDS_UNKNOWN)
        b->state = PARQUET_BOUNDS_UNKNOWN;
    else if (leaf->physical == PARQUET_BYTE_ARRAY)
        take_bytes(b, buf_view(&from->min_bytes), buf_view(&from->max_bytes));
    else if (leaf->physical == PARQUET_FLOAT || leaf->physical == PARQUET_DOUBLE)
        take_real(b, from->min_real, from->max_real);
    else
        take_int(b, from->min_int, from->max_int);
}

/* Zero has two forms, and readers may compare bits: the least is -0.0, the greatest +0.0 (parquet.thrift). */
static void put_real(struct buf *out, double v, bool is_float, bool max)
{
    v = v == 0 ? (max ? 0.0 : -0.0) : v;
    float f = (float)v;
    if (is_float)
        buf_put(out, &f, sizeof f);
    else
        buf_put(out, &v, sizeof v);
}

void parquet_bounds_put(const struct parquet_bounds *b, const struct parquet_node *leaf, bool max, struct buf *out)
{
    __int128 v = max ? b->max_int : b->min_int;
    switch (leaf->physical) {
    case PARQUET_BOOLEAN:
        buf_put_u8(out, (uint8_t)v);
        break;
    case PARQUET_INT32:
        buf_put_u32(out, (uint32_t)v);
        break;
    case PARQUET_INT64:
        buf_put_u64(out, (uint64_t)v);
        break;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        put_real(out, max ? b->max_real : b->min_real, leaf->physical == PARQUET_FLOAT, max);
        break;
    case PARQUET_BYTE_ARRAY:
        buf_put_slice(out, buf_view(max ? &b->max_bytes : &b->min_bytes));
        break;
    default:
        for (uint32_t i = leaf->type_length; i-- > 0;)
            buf_put_u8(out, (uint8_t)(v >> (8 * i)));
    }
}
