#include "format/batch/header_int.h"

enum err_code batch_decode_rows(const struct log_batch *batch, enum log_format format, const struct type *type,
                                struct arena *arena, struct log_batch_rows *rows, struct err *err)
{
    (void)batch, (void)format, (void)type, (void)arena, (void)rows;
    return err_set(err, ERR_NOT_SUPPORTED, "log batches of the formats INDEXED and COMPACTED");
}

enum err_code batch_put_row(struct log_batch_builder *builder, enum change_type change, const struct datum *row,
                            struct err *err)
{
    (void)builder, (void)change, (void)row;
    return err_set(err, ERR_NOT_SUPPORTED, "log batches of the formats INDEXED and COMPACTED");
}
