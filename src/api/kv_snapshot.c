/* What the requests about kv snapshots share. weir makes none: its log keeps every change that its state needs, so a
 * reader starts at the log's earliest offset. The requests are served all the same, because Flink sends them. */
#include "api/api_int.h"

enum err_code api_kv_table_check(struct api_call *call, int64_t table_id, struct err *err)
{
    const struct table_info *table;
    enum err_code code = OK;
    TRY(meta_table_get_by_id(call->api->config.meta, table_id, &table, err));
    if (table->descriptor->schema.primary_key_count == 0)
        code = err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "table %.*s.%.*s has no primary key",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    table_unref(table);
    return code;
}

enum err_code api_table_part_check(struct api_call *call, int64_t table_id, int64_t partition_id, struct err *err)
{
    const struct table_info *table;
    struct partition_info partition;
    TRY(meta_table_get_by_id(call->api->config.meta, table_id, &table, err));
    table_unref(table);
    if (partition_id < 0)
        return OK;
    TRY(meta_partition_get(call->api->config.meta, partition_id, &call->arena, &partition, err));
    if (partition.table_id != table_id)
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "partition %lld is not one of table %lld",
                       (long long)partition_id, (long long)table_id);
    return OK;
}
