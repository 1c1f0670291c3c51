/* A slice borrows bytes: a pointer and a length that travel together, passed by value. It never owns. */
#ifndef WEIR_BASE_SLICE_H
#define WEIR_BASE_SLICE_H

#include "base/base.h"

struct slice {
    const uint8_t *ptr;
    size_t len;
};

/* A slice over a string literal, and over a NUL-terminated string. */
#define SLICE(literal) ((struct slice){(const uint8_t *)("" literal), sizeof(literal) - 1})
/* For printf("%.*s", SLICE_ARGS(s)). */
#define SLICE_ARGS(s) (int)(s).len, (const char *)(s).ptr

static inline struct slice slice_of(const void *ptr, size_t len)
{
    return (struct slice){ptr, len};
}

static inline struct slice slice_str(const char *str)
{
    return (struct slice){(const uint8_t *)str, strlen(str)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool slice_is(struct slice a, const char *str)
{
    return slice_equal(a, slice_str(str));
}

/* Unsigned byte order, the shorter first where one is a prefix of the other: <0, 0, >0. */
int slice_compare(struct slice a, struct slice b);
bool slice_starts_with(struct slice s, struct slice prefix);
bool slice_ends_with(struct slice s, struct slice suffix);
/* Letters A-Z and a-z count as equal; all other bytes must be the same. */
bool slice_equal_nocase(struct slice a, struct slice b);
/* Decimal digits with an optional '-'; the whole slice must be the number. False leaves *out as it was. */
MUST_CHECK bool slice_to_i64(struct slice s, int64_t *out);
/* How many bytes must be put in, taken out or replaced to make one of the other, for "did you mean": beyond
 * SLICE_DISTANCE_MAX bytes it is the greater length. */
#define SLICE_DISTANCE_MAX 256
size_t slice_distance(struct slice a, struct slice b);
/* Without the spaces and tabs around it. */
struct slice slice_trim(struct slice s);
/* Takes the next item off a list with commas between, without the spaces around it; false when nothing is left. */
bool slice_list_next(struct slice *rest, struct slice *item);
/* Well-formed UTF-8, by RFC 3629: no surrogates, no overlong forms. */
bool slice_is_utf8(struct slice s);
bool slice_is_ascii(struct slice s);
/* Code points of well-formed UTF-8. */
size_t slice_utf8_length(struct slice s);
/* Length of the well-formed UTF-8 sequence at the front; 0 where there is none. */
size_t slice_utf8_sequence(struct slice s);

#endif
