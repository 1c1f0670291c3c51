/* The pieces of JSON text that writers need; whole texts are read with jansson. */
#ifndef WEIR_BASE_JSON_H
#define WEIR_BASE_JSON_H

#include "base/buf.h"

/* s with its quotes, escaped as Jackson does it: \" \\ \b \f \n \r \t, other control characters as \u001F, everything
 * else as it is. Bytes that are not UTF-8 become U+FFFD, one each, so that the text is JSON whatever s holds. */
void json_put_string(struct buf *out, struct slice s);

#endif
