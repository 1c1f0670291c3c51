#include "api/api_int.h"

enum err_code get_kv_snapshot_metadata(struct api_call *call, struct err *err)
{
    const struct wire_get_kv_snapshot_metadata_request *req = call->request;
    struct bucket *bucket;
    TRY(api_bucket_of(call, req->table_id, API_PARTITION(req), req->bucket_id, &bucket, err));
    bucket_unref(bucket);
    return err_set(err, ERR_KV_SNAPSHOT_NOT_EXIST,
                   "bucket %d of table %lld has no kv snapshot %lld: weir makes none, its readers start at the log's "
                   "earliest offset",
                   req->bucket_id, (long long)req->table_id, (long long)req->snapshot_id);
}
