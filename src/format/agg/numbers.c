/* sum and product. Integers wrap around in their width, FLOAT and DOUBLE follow IEEE 754 in theirs; a DECIMAL with more
 * digits than its type holds becomes null. (Fluss does the same but for sums of DECIMAL up to 18 digits: there it keeps
 * the number and then can't write its changelog.) */
#include "format/agg/agg_int.h"

static int64_t wrapped(enum type_kind kind, uint64_t v)
{
    switch (kind) {
    case TYPE_TINYINT:
        return (int8_t)v;
    case TYPE_SMALLINT:
        return (int16_t)v;
    case TYPE_INTEGER:
        return (int32_t)v;
    default:
        return (int64_t)v;
    }
}

static unsigned __int128 power_of_ten(int32_t digits)
{
    unsigned __int128 power = 1;
    while (digits-- > 0)
        power *= 10;
    return power;
}

static unsigned __int128 magnitude_of(__int128 v)
{
    return v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
}

static struct datum decimal_of(const struct type *type, unsigned __int128 magnitude, bool negative)
{
    if (magnitude >= power_of_ten(type->precision))
        return (struct datum){.is_null = true};
    return (struct datum){.decimal = negative ? -(__int128)magnitude : (__int128)magnitude};
}

enum err_code agg_sum(const struct agg_call *call, struct datum *out, struct err *err)
{
    const struct type *type = call->agg->type;
    const struct datum *a = call->acc, *b = call->input;
    (void)err;
    if (type->kind == TYPE_FLOAT) {
        *out = (struct datum){.f32 = a->f32 + b->f32};
    } else if (type->kind == TYPE_DOUBLE) {
        *out = (struct datum){.f64 = a->f64 + b->f64};
    } else if (type->kind == TYPE_DECIMAL) {
        __int128 sum;
        bool over = __builtin_add_overflow(a->decimal, b->decimal, &sum);
        *out = over ? (struct datum){.is_null = true} : decimal_of(type, magnitude_of(sum), sum < 0);
    } else {
        *out = (struct datum){.i64 = wrapped(type->kind, (uint64_t)a->i64 + (uint64_t)b->i64)};
    }
    return OK;
}

/* ---- products of 256 bits ---- */

#define LIMBS 4

struct wide {
    uint64_t limb[LIMBS]; /* least first */
};

static struct wide wide_product(unsigned __int128 a, unsigned __int128 b)
{
    const uint64_t x[2] = {(uint64_t)a, (uint64_t)(a >> 64)}, y[2] = {(uint64_t)b, (uint64_t)(b >> 64)};
    struct wide w = {0};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 2; k++) {
            unsigned __int128 t = (unsigned __int128)x[i] * y[k] + w.limb[i + k] + carry;
            w.limb[i + k] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        w.limb[i + 2] = carry;
    }
    return w;
}

static void wide_add(struct wide *w, unsigned __int128 v)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)w->limb[i] + (i == 0 ? (uint64_t)v : i == 1 ? (uint64_t)(v >> 64) : 0);
        w->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void wide_divide(struct wide *w, uint64_t by)
{
    unsigned __int128 rest = 0;
    for (int i = LIMBS; i-- > 0;) {
        rest = rest << 64 | w->limb[i];
        w->limb[i] = (uint64_t)(rest / by);
        rest %= by;
    }
}

/* The product has twice the scale: half a unit more, then the digits behind it go. That is half up, away from zero. */
static struct datum decimal_product(const struct type *type, __int128 a, __int128 b)
{
    struct wide w = wide_product(magnitude_of(a), magnitude_of(b));
    if (type->scale > 0)
        wide_add(&w, power_of_ten(type->scale) / 2);
    for (int32_t digits = type->scale; digits > 0; digits -= MIN(digits, 18))
        wide_divide(&w, (uint64_t)power_of_ten(MIN(digits, 18)));
    if (w.limb[2] || w.limb[3])
        return (struct datum){.is_null = true};
    return decimal_of(type, (unsigned __int128)w.limb[1] << 64 | w.limb[0], (a < 0) != (b < 0));
}

enum err_code agg_product(const struct agg_call *call, struct datum *out, struct err *err)
{
    const struct type *type = call->agg->type;
    const struct datum *a = call->acc, *b = call->input;
    (void)err;
    if (type->kind == TYPE_FLOAT)
        *out = (struct datum){.f32 = a->f32 * b->f32};
    else if (type->kind == TYPE_DOUBLE)
        *out = (struct datum){.f64 = a->f64 * b->f64};
    else if (type->kind == TYPE_DECIMAL)
        *out = decimal_product(type, a->decimal, b->decimal);
    else
        *out = (struct datum){.i64 = wrapped(type->kind, (uint64_t)a->i64 * (uint64_t)b->i64)};
    return OK;
}
