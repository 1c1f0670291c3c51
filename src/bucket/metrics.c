/* What is counted of a bucket. */
#include "bucket/bucket_int.h"

static void each(struct bucket *bucket, void (*fn)(struct bucket *bucket, struct metric **metric, enum metric_id id))
{
    fn(bucket, &bucket->metrics.rows_in, METRIC_TABLE_MESSAGES_IN);
    fn(bucket, &bucket->metrics.bytes_in, METRIC_TABLE_BYTES_IN);
    fn(bucket, &bucket->metrics.bytes_out, METRIC_TABLE_BYTES_OUT);
    if (!bucket->state) {
        fn(bucket, &bucket->metrics.produces, METRIC_TABLE_PRODUCES);
        return;
    }
    fn(bucket, &bucket->metrics.puts, METRIC_TABLE_PUTS);
    fn(bucket, &bucket->metrics.lookups, METRIC_TABLE_LOOKUPS);
}

static void take(struct bucket *bucket, struct metric **metric, enum metric_id id)
{
    *metric = metrics_take(bucket->env->metrics, id, METRIC_LABELS(bucket->table->database, bucket->table->name));
}

static void release(struct bucket *bucket, struct metric **metric, enum metric_id id)
{
    (void)id;
    metrics_release(bucket->env->metrics, *metric);
}

void bucket_metrics_take(struct bucket *bucket)
{
    each(bucket, take);
}

void bucket_metrics_release(struct bucket *bucket)
{
    each(bucket, release);
}

const struct bucket_metrics *bucket_metrics(const struct bucket *bucket)
{
    return &bucket->metrics;
}
