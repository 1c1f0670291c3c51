/* Offset vectors, and Fluss's JSON of them, the content of an offsets file (golden vectors: schemas.jsonl,
 * table_bucket_offsets):
 *
 *   {"version":1,"table_id":7,"bucket_offsets":[100,-1,300]}
 *   {"version":1,"table_id":7,"partition_offsets":[{"partition_id":11,"bucket_offsets":[100,0]}, ...]}
 *   {"version":1,"table_id":7}                                                                         none
 *
 * A bucket's place in the array is its id; -1, or the array's end, means not known. Offsets are exclusive ends. */
#include "meta/meta_int.h"

#include <jansson.h>
#include <stdlib.h>

#define OFFSETS_VERSION 1

int lake_offset_compare(const void *a, const void *b)
{
    const struct lake_offset *x = a, *y = b;
    if (x->partition_id != y->partition_id)
        return x->partition_id < y->partition_id ? -1 : 1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

struct lake_offsets lake_offsets_dup(struct arena *arena, struct lake_offsets offsets)
{
    struct lake_offset *items = ARENA_NEW_ARRAY(arena, struct lake_offset, offsets.count);
    if (offsets.count)
        memcpy(items, offsets.items, offsets.count * sizeof *items);
    return (struct lake_offsets){items, offsets.count};
}

struct lake_offsets lake_offsets_merge(struct arena *arena, struct lake_offsets base, struct lake_offsets over)
{
    struct lake_offset *items = ARENA_NEW_ARRAY(arena, struct lake_offset, base.count + over.count);
    size_t count = 0, i = 0, j = 0;
    while (i < base.count || j < over.count) {
        int order = i == base.count ? 1 : j == over.count ? -1 : lake_offset_compare(&base.items[i], &over.items[j]);
        items[count++] = order < 0 ? base.items[i] : over.items[j];
        i += order <= 0;
        j += order >= 0;
    }
    return (struct lake_offsets){items, count};
}

bool lake_offsets_equal(struct lake_offsets a, struct lake_offsets b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (lake_offset_compare(&a.items[i], &b.items[i]) || a.items[i].end_offset != b.items[i].end_offset)
            return false;
    return true;
}

bool lake_offsets_behind(struct lake_offsets a, struct lake_offsets b)
{
    size_t at = 0;
    for (size_t i = 0; i < b.count; i++) {
        while (at < a.count && lake_offset_compare(&a.items[at], &b.items[i]) < 0)
            at++;
        bool there = at < a.count && lake_offset_compare(&a.items[at], &b.items[i]) == 0;
        if (!there || a.items[at].end_offset < b.items[i].end_offset)
            return true;
    }
    return false;
}

enum err_code lake_offsets_check(struct arena *arena, const struct lake_offsets *given, struct lake_offsets *offsets,
                                 struct err *err)
{
    if (given->count > META_LAKE_BUCKETS_MAX)
        return err_set(err, ERR_INVALID_ARGUMENT, "offsets of %zu buckets; at most %d are taken", given->count,
                       META_LAKE_BUCKETS_MAX);
    struct lake_offset *items = ARENA_NEW_ARRAY(arena, struct lake_offset, given->count);
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++) {
        const struct lake_offset *offset = &given->items[i];
        if (offset->bucket < 0 || offset->bucket >= META_LAKE_BUCKETS_MAX || offset->end_offset < -1 ||
            offset->partition_id < -1)
            return err_set(err, ERR_INVALID_ARGUMENT, "offset %lld of bucket %d, partition %lld can't be",
                           (long long)offset->end_offset, offset->bucket, (long long)offset->partition_id);
        if (offset->end_offset >= 0)
            items[count++] = *offset;
    }
    if (count)
        qsort(items, count, sizeof *items, lake_offset_compare);
    for (size_t i = 1; i < count; i++)
        if (lake_offset_compare(&items[i - 1], &items[i]) == 0)
            return err_set(err, ERR_INVALID_ARGUMENT, "bucket %d is named twice", items[i].bucket);
    if (count && items[0].partition_id == -1 && items[count - 1].partition_id != -1)
        return err_set(err, ERR_INVALID_ARGUMENT, "some buckets are of partitions and some are not");
    *offsets = (struct lake_offsets){items, count};
    return OK;
}

/* The array of one partition; gives where the next one starts. */
static size_t put_array(struct lake_offsets offsets, size_t from, struct buf *out)
{
    size_t i = from;
    int32_t bucket = 0;
    buf_printf(out, "\"bucket_offsets\":[");
    for (; i < offsets.count && offsets.items[i].partition_id == offsets.items[from].partition_id; i++, bucket++) {
        for (; bucket < offsets.items[i].bucket; bucket++)
            buf_printf(out, "%s-1", bucket ? "," : "");
        buf_printf(out, "%s%lld", bucket ? "," : "", (long long)offsets.items[i].end_offset);
    }
    buf_printf(out, "]");
    return i;
}

void lake_offsets_to_json(int64_t table_id, struct lake_offsets offsets, struct buf *out)
{
    buf_printf(out, "{\"version\":%d,\"table_id\":%lld", OFFSETS_VERSION, (long long)table_id);
    if (offsets.count && offsets.items[0].partition_id == -1) {
        buf_printf(out, ",");
        put_array(offsets, 0, out);
    } else if (offsets.count) {
        buf_printf(out, ",\"partition_offsets\":[");
        for (size_t i = 0; i < offsets.count;) {
            buf_printf(out, "%s{\"partition_id\":%lld,", i ? "," : "", (long long)offsets.items[i].partition_id);
            i = put_array(offsets, i, out);
            buf_printf(out, "}");
        }
        buf_printf(out, "]");
    }
    buf_printf(out, "}");
}

/* ---- reading ---- */

struct parse {
    VEC(struct lake_offset) items;
    size_t slot_count; /* of all arrays, unknown ones too */
};

static bool read_array(struct parse *parse, const json_t *array, int64_t partition_id)
{
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count > META_LAKE_BUCKETS_MAX - parse->slot_count)
        return false;
    parse->slot_count += count;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        int64_t offset = json_integer_value(value);
        if (!json_is_integer(value) || offset < -1)
            return false;
        if (offset >= 0)
            vec_push(&parse->items, ((struct lake_offset){partition_id, (int32_t)i, offset}));
    }
    return true;
}

static bool read_partitions(struct parse *parse, const json_t *partitions)
{
    if (!json_is_array(partitions))
        return false;
    for (size_t i = 0; i < json_array_size(partitions); i++) {
        const json_t *partition = json_array_get(partitions, i);
        const json_t *id = json_object_get(partition, "partition_id");
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            !read_array(parse, json_object_get(partition, "bucket_offsets"), json_integer_value(id)))
            return false;
    }
    return true;
}

static bool read_root(struct parse *parse, const json_t *root, int64_t table_id)
{
    const json_t *version = json_object_get(root, "version"), *id = json_object_get(root, "table_id");
    const json_t *buckets = json_object_get(root, "bucket_offsets");
    const json_t *partitions = json_object_get(root, "partition_offsets");
    if (json_integer_value(version) != OFFSETS_VERSION || !json_is_integer(id) || json_integer_value(id) != table_id)
        return false;
    if (buckets && partitions)
        return false;
    if (buckets)
        return read_array(parse, buckets, -1);
    return !partitions || read_partitions(parse, partitions);
}

enum err_code lake_offsets_from_json(struct arena *arena, int64_t table_id, struct slice json,
                                     struct lake_offsets *offsets, struct err *err)
{
    if (json.len > META_LAKE_OFFSETS_BYTES_MAX)
        return err_set(err, ERR_CORRUPT, "offsets of %zu bytes", json.len);
    struct parse parse = {0};
    json_t *root = json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, NULL);
    bool ok = root && read_root(&parse, root, table_id);
    json_decref(root);
    struct lake_offsets given = {parse.items.ptr, parse.items.len};
    ok = ok && lake_offsets_check(arena, &given, offsets, NULL) == OK;
    vec_deinit(&parse.items);
    return ok ? OK
              : err_set(err, ERR_CORRUPT, "these are no offsets of table %lld: %.*s", (long long)table_id,
                        (int)MIN(json.len, 100), (const char *)json.ptr);
}
