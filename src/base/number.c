#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

/* A number as 0.DIGITS * 10^exponent would be with one digit before the point: D.IGITS * 10^exponent. */
struct digits {
    bool negative;
    char text[20];
    int count;
    int exponent;
};

#define DIGITS_DOUBLE_MAX 17 /* always enough to read back the same */
#define DIGITS_FLOAT_MAX 9
#define DIGITS_DOUBLE_SAFE 15 /* decimals of so many digits survive in a number of ordinary size */
#define DIGITS_FLOAT_SAFE 6

static void digits_of(struct digits *d, double value, int count)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    const char *c = text;
    d->negative = *c == '-';
    d->count = 0;
    for (c += d->negative; *c != 'e'; c++)
        if (*c != '.')
            d->text[d->count++] = *c;
    int64_t exponent = 0;
    ASSERT(slice_to_i64(slice_str(c + 1 + (c[1] == '+')), &exponent));
    d->exponent = (int)exponent;
}

static bool reads_back(double value, int count, bool single)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* At least `least` digits unless the rest are zeros. Numbers too small for full precision are tried from there on. */
static void shortest(struct digits *d, double value, bool single, int least)
{
    double size = value < 0 ? -value : value;
    bool small = size < (single ? 1.2e-38 : 2.3e-308);
    int count = small ? least : single ? DIGITS_FLOAT_SAFE : DIGITS_DOUBLE_SAFE;
    int most = single ? DIGITS_FLOAT_MAX : DIGITS_DOUBLE_MAX;
    while (count < most && !reads_back(value, count, single))
        count++;
    digits_of(d, value, count);
    while (d->count > 1 && d->text[d->count - 1] == '0')
        d->count--;
}

static bool put_special(struct buf *out, double value)
{
    if (value != value)
        buf_put_slice(out, SLICE("NaN"));
    else if (value > 1.7976931348623157e308 || value < -1.7976931348623157e308)
        buf_put_slice(out, value > 0 ? SLICE("Infinity") : SLICE("-Infinity"));
    else
        return false;
    return true;
}

/* All digits with the point at its place, at least one digit on each side. */
static void put_plain(struct buf *out, const struct digits *d)
{
    int whole = d->exponent + 1;
    if (d->negative)
        buf_put_u8(out, '-');
    if (whole <= 0)
        buf_put_u8(out, '0');
    for (int i = 0; i < whole; i++)
        buf_put_u8(out, i < d->count ? (uint8_t)d->text[i] : '0');
    buf_put_u8(out, '.');
    for (int i = whole; i < 0; i++)
        buf_put_u8(out, '0');
    for (int i = MAX(whole, 0); i < d->count; i++)
        buf_put_u8(out, (uint8_t)d->text[i]);
    if (whole >= d->count)
        buf_put_u8(out, '0');
}

static void put_mantissa(struct buf *out, const struct digits *d, bool always_point)
{
    if (d->negative)
        buf_put_u8(out, '-');
    buf_put_u8(out, (uint8_t)d->text[0]);
    if (d->count > 1 || always_point)
        buf_put_u8(out, '.');
    buf_put(out, d->text + 1, (size_t)d->count - 1);
    if (d->count == 1 && always_point)
        buf_put_u8(out, '0');
}

static void put_shortest(struct buf *out, double value, bool single)
{
    struct digits d = {0};
    if (put_special(out, value))
        return;
    shortest(&d, value, single, 1);
    if (d.exponent >= -4 && d.exponent < 16) {
        put_plain(out, &d);
        return;
    }
    put_mantissa(out, &d, false);
    buf_printf(out, "e%c%02d", d.exponent < 0 ? '-' : '+', abs(d.exponent));
}

static void put_java(struct buf *out, double value, bool single)
{
    struct digits d = {0};
    if (put_special(out, value))
        return;
    shortest(&d, value, single, 2);
    if ((d.exponent >= -3 && d.exponent < 7) || value == 0) {
        put_plain(out, &d);
        return;
    }
    put_mantissa(out, &d, true);
    buf_printf(out, "E%d", d.exponent);
}

void number_put_double(struct buf *out, double value)
{
    put_shortest(out, value, false);
}

void number_put_float(struct buf *out, float value)
{
    put_shortest(out, (double)value, true);
}

void number_put_java_double(struct buf *out, double value)
{
    put_java(out, value, false);
}

void number_put_java_float(struct buf *out, float value)
{
    put_java(out, (double)value, true);
}

/* ---- decimals ---- */

#define DECIMAL_DIGITS_MAX 38

void number_put_decimal(struct buf *out, __int128 unscaled, int32_t scale)
{
    char text[64];
    char *end = text + sizeof text, *at = end;
    unsigned __int128 rest = unscaled < 0 ? -(unsigned __int128)unscaled : (unsigned __int128)unscaled;
    ASSERT(scale >= 0 && scale <= DECIMAL_DIGITS_MAX);
    for (int32_t written = 0; rest > 0 || written <= scale; written++) {
        if (written == scale && scale > 0)
            *--at = '.';
        *--at = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (unscaled < 0)
        *--at = '-';
    buf_put(out, at, (size_t)(end - at));
}

/* Sign, digits and point of the text; *point: digits before the point. What is behind them stays in *text. */
static bool take_decimal_digits(struct slice *text, bool *negative, struct slice *first, struct slice *second)
{
    size_t i = 0;
    *negative = text->len > 0 && text->ptr[0] == '-';
    i += *negative || (text->len > 0 && text->ptr[0] == '+');
    size_t start = i;
    while (i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9')
        i++;
    *first = slice_of(text->ptr + start, i - start);
    *second = (struct slice){0};
    if (i < text->len && text->ptr[i] == '.') {
        start = ++i;
        while (i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9')
            i++;
        *second = slice_of(text->ptr + start, i - start);
    }
    *text = slice_of(text->ptr + i, text->len - i);
    return first->len + second->len > 0;
}

static bool take_exponent(struct slice text, int64_t *exponent)
{
    *exponent = 0;
    if (text.len == 0)
        return true;
    if ((text.ptr[0] | 0x20) != 'e')
        return false;
    bool plus = text.len > 1 && text.ptr[1] == '+';
    return slice_to_i64(slice_of(text.ptr + 1 + plus, text.len - 1 - plus), exponent) && *exponent >= -10000 &&
           *exponent <= 10000;
}

/* Digit i of both parts together; 0 behind them. */
static uint8_t digit_at(struct slice first, struct slice second, size_t i)
{
    if (i < first.len)
        return (uint8_t)(first.ptr[i] - '0');
    return i - first.len < second.len ? (uint8_t)(second.ptr[i - first.len] - '0') : 0;
}

bool number_to_decimal(struct slice text, int32_t precision, int32_t scale, __int128 *unscaled)
{
    bool negative;
    struct slice first, second;
    int64_t exponent;
    ASSERT(precision <= DECIMAL_DIGITS_MAX);
    if (!take_decimal_digits(&text, &negative, &first, &second) || !take_exponent(text, &exponent))
        return false;
    unsigned __int128 value = 0, most = 1;
    for (int32_t i = 0; i < precision; i++)
        most *= 10;
    /* The digit i of both parts counts 10^(first.len - 1 - i + exponent); those below 10^-scale must be 0. */
    int64_t kept = (int64_t)first.len + exponent + scale, digits = (int64_t)(first.len + second.len);
    for (int64_t i = 0; i < MAX(kept, digits); i++) {
        uint8_t digit = digit_at(first, second, (size_t)i);
        if (i >= kept && digit)
            return false;
        if (i < kept)
            value = value * 10 + digit;
        if (value >= most)
            return false;
    }
    *unscaled = negative ? -(__int128)value : (__int128)value;
    return true;
}

/* ---- floating point ---- */

#define NUMBER_TEXT_MAX 400

/* A copy with a NUL, since the C library wants one; nothing that strtod takes beyond decimal forms. */
static bool plain_text(struct slice text, char copy[NUMBER_TEXT_MAX + 1])
{
    if (text.len == 0 || text.len > NUMBER_TEXT_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!text.ptr[i] || !strchr("0123456789+-.eE", text.ptr[i]))
            return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return true;
}

static bool special(struct slice text, double *value)
{
    if (slice_is(text, "NaN"))
        *value = (double)__builtin_nanf("");
    else if (slice_is(text, "Infinity"))
        *value = (double)__builtin_inff();
    else if (slice_is(text, "-Infinity"))
        *value = -(double)__builtin_inff();
    else
        return false;
    return true;
}

bool number_to_double(struct slice text, double *value)
{
    char copy[NUMBER_TEXT_MAX + 1], *end;
    if (special(text, value))
        return true;
    if (!plain_text(text, copy))
        return false;
    double read = strtod(copy, &end);
    if (*end || read - read != 0)
        return false;
    *value = read;
    return true;
}

bool number_to_float(struct slice text, float *value)
{
    char copy[NUMBER_TEXT_MAX + 1], *end;
    double wide;
    if (special(text, &wide)) {
        *value = (float)wide;
        return true;
    }
    if (!plain_text(text, copy))
        return false;
    float read = strtof(copy, &end);
    if (*end || read - read != 0)
        return false;
    *value = read;
    return true;
}
