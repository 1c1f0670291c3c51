/* Figures of a snapshot, bucket by bucket. */
#include "lake/paimon/live_int.h"

static bool same_bucket(const struct entry *a, const struct entry *b)
{
    return a->bucket == b->bucket && slice_equal(a->partition, b->partition);
}

static void count_file(struct paimon_bucket_stat *stat, const struct entry *e, bool new_level)
{
    stat->bucket = e->bucket;
    stat->file_count++;
    stat->run_count += e->level == 0 || new_level;
    stat->bytes += (uint64_t)e->size;
    stat->row_count += e->row_count;
    stat->delete_count += e->delete_count.there ? e->delete_count.value : 0;
    stat->sequence_max = MAX(stat->sequence_max, e->sequence_max);
}

enum err_code paimon_snapshot_stat(struct paimon_table *table, int64_t snapshot_id, struct arena *arena,
                                   struct paimon_stat *out, struct err *err)
{
    struct paimon_snapshot snapshot;
    struct live *live;
    size_t count;
    TRY(paimon_snapshot_read(table, snapshot_id, arena, &snapshot, err));
    TRY(paimon_live_load(table, &snapshot, &live, err));
    struct entry **files = paimon_live_sorted(live, &count);
    struct paimon_stat stat = {.buckets = ARENA_NEW_ARRAY(arena, struct paimon_bucket_stat, count + 1)};
    for (size_t i = 0; i < count; i++) {
        bool new_bucket = i == 0 || !same_bucket(files[i - 1], files[i]);
        if (new_bucket)
            stat.buckets[stat.bucket_count++] = (struct paimon_bucket_stat){.sequence_max = -1};
        count_file(&stat.buckets[stat.bucket_count - 1], files[i],
                   new_bucket || files[i - 1]->level != files[i]->level);
    }
    mem_free(files);
    paimon_live_destroy(live);
    *out = stat;
    return OK;
}
