/* Numbers as text and back, where the C library's forms are not the ones that formats want. */
#ifndef WEIR_BASE_NUMBER_H
#define WEIR_BASE_NUMBER_H

#include "base/buf.h"

/* The shortest decimal form that reads back to the same number, with a point or an exponent so that it stays a floating
 * one: 1.0, 0.1, 1e+16, 1e-05; as Python prints a float. "NaN", "Infinity", "-Infinity". */
void number_put_double(struct buf *out, double value);
void number_put_float(struct buf *out, float value);
/* As Java's Double.toString and Float.toString: 1.0, 1.0E7, 4.9E-324, NaN, -Infinity. (Java before 19 prints a few
 * numbers with one digit more than this; both read back the same.) */
void number_put_java_double(struct buf *out, double value);
void number_put_java_float(struct buf *out, float value);

/* unscaled * 10^-scale with exactly scale digits behind the point: -0.05, 12.00, 7. */
void number_put_decimal(struct buf *out, __int128 unscaled, int32_t scale);
/* Sign, digits with a point, exponent. False where it is none, where digits other than 0 lie behind the scale, and
 * where it has more than precision digits (at most 38). */
MUST_CHECK bool number_to_decimal(struct slice text, int32_t precision, int32_t scale, __int128 *unscaled);
/* The forms above, and what strtod takes but for hexadecimal. The whole slice must be the number. */
MUST_CHECK bool number_to_double(struct slice text, double *value);
MUST_CHECK bool number_to_float(struct slice text, float *value);

#endif
