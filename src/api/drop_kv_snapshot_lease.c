#include "api/api_int.h"

/* A lease that is not there is dropped without a word: Flink does so at the end of each bounded read of a table with a
 * primary key, whether it acquired one or not. */
enum err_code drop_kv_snapshot_lease(struct api_call *call, struct err *err)
{
    (void)call, (void)err;
    return OK;
}
