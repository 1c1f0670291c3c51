/* A JSON text read piece by piece, for readers that must have numbers as they stand in the text: jansson gives a
 * DECIMAL of 38 digits as a double.
 *
 * Each call takes one piece; white space before it is passed. After a failure every call fails, and `fault` says what
 * was wrong, `at` where. */
#ifndef WEIR_BASE_JSON_SCAN_H
#define WEIR_BASE_JSON_SCAN_H

#include "base/arena.h"
#include "base/buf.h"

struct json_scan {
    struct slice text;
    size_t at;
    const char *fault;
};

enum json_piece {
    JSON_END, /* or a failure */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

static inline struct json_scan json_scan_of(struct slice text)
{
    return (struct json_scan){.text = text};
}

/* What comes next; nothing is taken. */
enum json_piece json_scan_peek(struct json_scan *scan);
/* Takes null, true or false. */
MUST_CHECK bool json_scan_word(struct json_scan *scan);
/* Takes a number, as its text. */
MUST_CHECK bool json_scan_number(struct json_scan *scan, struct slice *text);
/* Takes a string, without its quotes and escapes; in the arena, unless there are none to undo. */
MUST_CHECK bool json_scan_string(struct json_scan *scan, struct arena *arena, struct slice *text);
/* Takes this byte: one of [ ] { } : , */
MUST_CHECK bool json_scan_byte(struct json_scan *scan, char byte);
/* Inside an array or object: true if another element comes, false at its end, which is taken, or at a fault.
 * first starts as true. */
MUST_CHECK bool json_scan_more(struct json_scan *scan, char close, bool *first);
/* Nothing failed, and nothing but white space is left. */
bool json_scan_done(struct json_scan *scan);

#endif
