/*   manifest row       i32 BE number of fields; BinaryRow (format/row/aligned.c, ROW_PAIMON)
 *
 * Golden: paimon_rows.jsonl serialized_hex, min_values_hex, max_values_hex. */
#include "lake/paimon/row_int.h"

#include "base/reader.h"

enum err_code paimon_row_encode(const struct type *row, const struct datum *values, struct buf *out, struct err *err)
{
    size_t start = out->len;
    buf_put_u32_be(out, row->field_count);
    enum err_code code = row_encode(ROW_PAIMON, row, values, out, err);
    if (code != OK)
        out->len = start;
    return code;
}

enum err_code paimon_row_decode(const struct type *row, struct slice bytes, struct arena *arena, struct datum *values,
                                struct err *err)
{
    struct reader r = reader_of(bytes);
    uint32_t field_count = reader_u32_be(&r);
    if (!reader_ok(&r) || field_count != row->field_count)
        return err_set(err, ERR_CORRUPT, "a Paimon row of %u fields, not %u", field_count, row->field_count);
    return row_decode(ROW_PAIMON, row, reader_rest(&r), arena, values, err);
}
