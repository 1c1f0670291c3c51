/* For src/format/schema alone: walking a parsed JSON text, and the parts of the decoders that files share. */
#ifndef WEIR_FORMAT_SCHEMA_SCHEMA_INT_H
#define WEIR_FORMAT_SCHEMA_SCHEMA_INT_H

#include "base/json.h"
#include "format/schema/schema.h"

#include <jansson.h>

/* One text being read: where results live, which code a refusal has, whom to tell. */
struct doc {
    struct arena *arena;
    enum err_code code; /* of everything that is wrong with the text */
    struct err *err;
    json_t *root; /* owned; doc_close */
};

/* The text must be one object of at most SCHEMA_JSON_BYTES_MAX bytes. */
MUST_CHECK enum err_code doc_open(struct doc *doc, struct slice json);
void doc_close(struct doc *doc);
#define doc_refuse(doc, ...) err_set((doc)->err, (doc)->code, __VA_ARGS__)

/* A member of an object; JSON's null counts as absent and gives NULL. */
json_t *doc_member(json_t *object, const char *name);
/* These refuse an absent member and one of another kind. Texts are copied into the arena. */
MUST_CHECK enum err_code doc_array(struct doc *doc, json_t *object, const char *name, json_t **array);
MUST_CHECK enum err_code doc_text(struct doc *doc, json_t *object, const char *name, struct slice *text);
MUST_CHECK enum err_code doc_i32(struct doc *doc, json_t *object, const char *name, int32_t *value);
/* Absent: ptr NULL; the given value. */
MUST_CHECK enum err_code doc_optional_text(struct doc *doc, json_t *object, const char *name, struct slice *text);
MUST_CHECK enum err_code doc_optional_i32(struct doc *doc, json_t *object, const char *name, int32_t absent,
                                          int32_t *value);
/* "version": 1, the only one there is. */
MUST_CHECK enum err_code doc_version(struct doc *doc, json_t *object);
/* An object of strings. */
MUST_CHECK enum err_code doc_properties(struct doc *doc, json_t *object, const char *name, struct properties *props);
/* An array of names of columns of the schema, each at most once, as positions. */
MUST_CHECK enum err_code doc_columns(struct doc *doc, json_t *object, const char *name, const struct schema *schema,
                                     uint32_t **positions, uint32_t *count);

MUST_CHECK enum err_code type_decode(struct doc *doc, json_t *node, const struct type **type);
MUST_CHECK enum err_code schema_decode(struct doc *doc, json_t *node, struct schema *schema);

/* {"name":value as texts */
void put_key(struct buf *out, bool first, const char *name);
void put_column_names(struct buf *out, const struct schema *schema, const uint32_t *positions, uint32_t count);
void put_properties(struct buf *out, const struct properties *props);

/* A nullable type of this kind with the parameters of its constructor, no fields yet. */
struct type *type_new(struct arena *arena, enum type_kind kind);
/* What SQL and JSON both demand of length, precision and scale. NULL, or what is wrong. */
const char *type_fault(const struct type *type);
/* The kinds that carry length or precision. */
bool type_has_length(enum type_kind kind);
bool type_has_precision(enum type_kind kind);

#endif
