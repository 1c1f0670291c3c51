/* Between the files of this folder. */
#ifndef WEIR_FORMAT_AVRO_AVRO_INT_H
#define WEIR_FORMAT_AVRO_AVRO_INT_H

#include "format/avro/avro.h"

#define AVRO_MAGIC "Obj\1"

/* "zstandard" and so on; false for what weir doesn't know. */
bool avro_codec_from_name(struct slice name, enum codec *codec);

/* Decodes one value of the type. left counts down the values that the record may still hold. */
MUST_CHECK enum err_code avro_value_decode(struct arena *arena, const struct avro_type *type, struct reader *in,
                                           unsigned depth, uint32_t *left, struct avro_value *out, struct err *err);

#endif
