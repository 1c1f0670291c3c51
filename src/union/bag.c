/* Multisets of rows as sums of hashes: what is added and taken back again leaves no trace, and the order does not
 * matter. The numbers of partition and bucket are the hash's key, so a row in the wrong bucket is another row. */
#include "union/union_int.h"

#include "base/hash.h"

#define TELL_EVERY 16384

unsigned __int128 bag_hash(const struct schema *schema, const struct union_row *row, struct buf *scratch)
{
    buf_reset(scratch);
    row_canonical(schema, row->values, schema->column_count, scratch);
    return hash128((uint64_t)(int64_t)row->bucket, (uint64_t)((int64_t)row->partition + 1), buf_view(scratch));
}

size_t bag_part(unsigned __int128 hash)
{
    return (size_t)(hash >> 64) % BAG_PARTS;
}

static void side_add(struct union_side *side, unsigned __int128 hash, int32_t weight)
{
    side->row_count += weight;
    side->digest += weight < 0 ? -hash : hash;
}

void bag_add(struct bag *bag, unsigned __int128 hash, int32_t weight)
{
    ASSERT(weight == 1 || weight == -1);
    side_add(&bag->all, hash, weight);
    side_add(&bag->parts[bag_part(hash)], hash, weight);
}

bool bag_equal(const struct bag *a, const struct bag *b)
{
    return a->all.row_count == b->all.row_count && a->all.digest == b->all.digest;
}

enum err_code bag_fill_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    (void)enough;
    (void)err;
    struct bag_fill *fill = arg;
    bag_add(fill->bag, bag_hash(fill->schema, row, &fill->scratch), row->weight);
    ++*fill->rows_counted;
    if (++fill->done % TELL_EVERY == 0 && fill->watch && fill->watch->progress)
        fill->watch->progress(fill->watch->arg, fill->what, fill->done, fill->total);
    return OK;
}
