#include "lib/meta_fixture.h"
#include "meta/meta_int.h"

#define DAY_MS 86400000

static bool keep(const char *id, const struct producer_offset *items, size_t count, int64_t ttl_ms)
{
    bool created;
    MUST(meta_producer_register(bed.meta, slice_str(id), items, count, ttl_ms, &created, &err));
    return created;
}

/* -1: none. */
static int64_t get(const char *id, struct producer_offsets *offsets)
{
    bool found;
    MUST(meta_producer_offsets(bed.meta, slice_str(id), &bed.arena, &found, offsets, &err));
    return found ? (int64_t)offsets->count : -1;
}

static const struct producer_offset some[] = {{7, -1, 1, 10}, {7, -1, 0, 20}, {3, 9, 0, 30}, {7, -1, 1, 11}};

static void what_was_registered_comes_back_in_order_also_after_a_crash(void **state)
{
    (void)state;
    struct producer_offsets offsets;
    assert_int_equal(get("job", &offsets), -1);
    assert_true(keep("job", some, ARRAY_LEN(some), DAY_MS));
    assert_true(keep("none", NULL, 0, DAY_MS));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(get("job", &offsets), 3);
        assert_int_equal(offsets.items[0].table_id, 3);
        assert_int_equal(offsets.items[0].partition_id, 9);
        assert_int_equal(offsets.items[1].bucket, 0);
        assert_int_equal(offsets.items[1].partition_id, -1);
        assert_int_equal(offsets.items[2].end_offset, 11); /* the last one counts */
        assert_int_equal(get("none", &offsets), 0);
        meta_bed_again(&bed, BED_CRASH);
    }
    MUST(meta_producer_delete(bed.meta, SLICE("job"), &err));
    MUST(meta_producer_delete(bed.meta, SLICE("job"), &err));
    assert_int_equal(get("job", &offsets), -1);
    int64_t left;
    MUST(db_number(&bed.meta->db, "SELECT count(*) FROM producer_offsets", &left, &err));
    assert_int_equal(left, 0);
}

static void the_first_ones_stay_until_they_expire(void **state)
{
    (void)state;
    struct producer_offsets offsets;
    assert_true(keep("job", some, 1, DAY_MS));
    assert_false(keep("job", some, 3, DAY_MS));
    assert_int_equal(get("job", &offsets), 1);
    assert_true(keep("short", some, 1, -1));
    assert_int_equal(get("short", &offsets), -1);
    assert_true(keep("short", some, 2, INT64_MAX)); /* takes the place of the old ones */
    assert_int_equal(get("short", &offsets), 2);
    assert_int_equal(offsets.expires_ms, INT64_MAX);
    assert_false(keep("short", some, 2, INT64_MAX));
    assert_true(keep("past", some, 2, INT64_MIN));
    assert_int_equal(get("past", &offsets), -1);
}

static void ids_are_like_names(void **state)
{
    (void)state;
    static const char *const right[] = {"a", "A-b_9", "__x", "_", "0123456789abcdef0123456789abcdef"};
    static const char *const wrong[] = {"", ".", "..", "a b", "a/b", "\xc3\xa9", "a$b"};
    bool found;
    struct producer_offsets offsets;
    char longest[NAME_BYTES_MAX + 2];
    for (size_t i = 0; i < ARRAY_LEN(right); i++)
        assert_true(keep(right[i], some, 1, DAY_MS));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        MUST_FAIL(ERR_INVALID_PRODUCER_ID_EXCEPTION,
                  meta_producer_register(bed.meta, slice_str(wrong[i]), some, 1, 1, &found, &err));
        MUST_FAIL(ERR_INVALID_PRODUCER_ID_EXCEPTION,
                  meta_producer_offsets(bed.meta, slice_str(wrong[i]), &bed.arena, &found, &offsets, &err));
        MUST_FAIL(ERR_INVALID_PRODUCER_ID_EXCEPTION, meta_producer_delete(bed.meta, slice_str(wrong[i]), &err));
    }
    memset(longest, 'a', sizeof longest);
    longest[NAME_BYTES_MAX + 1] = 0;
    MUST_FAIL(ERR_INVALID_PRODUCER_ID_EXCEPTION, meta_producer_delete(bed.meta, slice_str(longest), &err));
    longest[NAME_BYTES_MAX] = 0;
    assert_true(keep(longest, some, 1, DAY_MS));
}

static void too_many_are_refused_until_some_expire(void **state)
{
    (void)state;
    struct producer_offsets offsets;
    bool created;
    MUST_FAIL(ERR_LIMIT, meta_producer_register(bed.meta, SLICE("job"), some, META_PRODUCER_BUCKETS_MAX + 1, DAY_MS,
                                                &created, &err));
    MUST(db_run(&bed.meta->db, &err,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO producers "
                "SELECT 'p' || i, ?2 FROM n",
                "ii", (int64_t)META_PRODUCERS_MAX, INT64_MAX));
    MUST_FAIL(ERR_LIMIT, meta_producer_register(bed.meta, SLICE("job"), some, 1, DAY_MS, &created, &err));
    assert_int_equal(get("job", &offsets), -1);
    MUST(db_run(&bed.meta->db, &err, "UPDATE producers SET expires_ms = 1 WHERE producer_id = 'p1'", ""));
    assert_true(keep("job", some, 1, DAY_MS));
}

static void a_file_without_producers_is_brought_up(void **state)
{
    (void)state;
    int64_t version = 0, id = meta_bed_create(&bed, "t", 3);
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE producer_offsets", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE producers", ""));
    MUST(db_run(&bed.meta->db, &err, "PRAGMA user_version = 6", ""));
    meta_bed_again(&bed, BED_CRASH);
    MUST(db_number(&bed.meta->db, "PRAGMA user_version", &version, &err));
    assert_int_equal(version, LAYOUT_VERSION);
    const struct table_info *table;
    MUST(meta_table_get_by_id(bed.meta, id, &table, &err));
    table_unref(table);
    assert_true(keep("job", some, 1, DAY_MS));
}

TESTS("meta.producer", TEST_BED(what_was_registered_comes_back_in_order_also_after_a_crash),
      TEST_BED(the_first_ones_stay_until_they_expire), TEST_BED(ids_are_like_names),
      TEST_BED(too_many_are_refused_until_some_expire), TEST_BED(a_file_without_producers_is_brought_up))
