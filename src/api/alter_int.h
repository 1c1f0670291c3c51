/* Shared by the files of ALTER TABLE. */
#ifndef WEIR_API_ALTER_INT_H
#define WEIR_API_ALTER_INT_H

#include "api/api_int.h"

/* ---- alter_columns.c ---- */

/* The request's new columns, behind those of the schema. errors: as schema_add_column; NOT_SUPPORTED: another position
 * than the last; INVALID_TABLE_EXCEPTION: no type, or a name that is reserved. */
MUST_CHECK enum err_code alter_add_columns(struct api_call *call, struct schema *schema, struct err *err);

/* ---- alter_run.c: under api->ddl ---- */

/* Makes the table what the descriptor says: checked, then in lake, metadata, schedule and buckets (blocks). */
MUST_CHECK enum err_code alter_run(struct api *api, const struct table_info *table,
                                   const struct table_descriptor *descriptor, struct err *err);
/* Finishes what was begun with a table and not ended, if there is such a thing (blocks). Where the lake refuses it, it
 * is dropped. errors: LAKE_DIR and others that say that the lake could not be reached. */
MUST_CHECK enum err_code alter_finish(struct api *api, int64_t table_id, struct err *err);

#endif
