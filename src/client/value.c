/* Stored values, written under some schema, as rows of the table's schema. */
#include "client/client_int.h"

enum err_code table_value_decode(struct client_table *table, struct slice value, struct arena *arena, struct datum *row,
                                 struct err *err)
{
    int16_t schema_id;
    struct slice bytes;
    TRY(kv_value_split(value, &schema_id, &bytes, err));
    if (schema_id == table->schema.id)
        return row_decode(table->kv_format, table->schema.row, bytes, arena, row, err);
    const struct client_schema *schema;
    struct row_mapping mapping;
    TRY(client_table_schema(table, schema_id, &schema, err));
    row_mapping_init(&mapping, arena, &schema->schema, &table->schema.schema);
    return row_decode_mapped(table->kv_format, &mapping, bytes, arena, row, err);
}
