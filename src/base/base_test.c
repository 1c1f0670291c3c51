#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/reader.h"
#include "base/vec.h"
#include "lib/test.h"

static void reader_stays_failed_after_the_end(void **state)
{
    (void)state;
    struct reader r = reader_of(SLICE("\x01\x02\x03"));
    assert_int_equal(reader_u16(&r), 0x0201);
    assert_int_equal(reader_u16(&r), 0);
    assert_false(reader_ok(&r));
    assert_int_equal(reader_u8(&r), 0);
    assert_int_equal(reader_left(&r), 0);
}

static void varints_come_back(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct buf buf = {0};
        buf_put_varint(&buf, values[i]);
        buf_put_zigzag(&buf, (int64_t)values[i]);
        struct reader r = reader_of(buf_view(&buf));
        assert_true(reader_varint(&r) == values[i]);
        assert_true(reader_zigzag(&r) == (int64_t)values[i]);
        assert_true(reader_done(&r));
        buf_deinit(&buf);
    }
}

static void varints_beyond_their_width_are_refused(void **state)
{
    (void)state;
    struct reader r = reader_of(SLICE("\xff\xff\xff\xff\x1f"));
    reader_varint32(&r);
    assert_false(reader_ok(&r));
    r = reader_of(SLICE("\xff\xff\xff\xff\x0f"));
    assert_int_equal(reader_varint32(&r), UINT32_MAX);
    r = reader_of(SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    reader_varint(&r);
    assert_false(reader_ok(&r));
}

static void checksums_are_the_known_ones(void **state)
{
    (void)state;
    assert_int_equal(crc32c(0, SLICE("123456789")), 0xe3069283u);
    assert_int_equal(crc32c(crc32c(0, SLICE("1234")), SLICE("56789")), 0xe3069283u);
    assert_int_equal(crc32_zip(0, SLICE("123456789")), 0xcbf43926u);
    assert_int_equal(crc32_zip(crc32_zip(0, SLICE("1234")), SLICE("56789")), 0xcbf43926u);
}

/* As `openssl mac -macopt size:16 -macopt hexkey:000102...0f SIPHASH` gives them. */
static void siphash_is_the_known_one(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *want;
    } cases[] = {{0, "a3817f04ba25a8e66df67214c7550293"}, {15, "5493e99933b0a8117e08ec0f97cfc3d9"}};
    static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    struct buf hex = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned __int128 hash = hash128(0x0706050403020100, 0x0f0e0d0c0b0a0908, slice_of(bytes, cases[i].len));
        buf_reset(&hex);
        buf_put_hex(&hex, slice_of(&hash, sizeof hash));
        assert_string_equal(buf_cstr(&hex), cases[i].want);
    }
    buf_deinit(&hex);
}

static void map_holds_what_was_put_and_not_removed(void **state)
{
    (void)state;
    struct map map = {0};
    static int values[1000];
    for (int64_t i = 0; i < 1000; i++)
        assert_null(map_put_i64(&map, i, &values[i]));
    for (int64_t i = 0; i < 1000; i += 2)
        assert_ptr_equal(map_remove_i64(&map, i), &values[i]);
    for (int64_t i = 0; i < 1000; i++)
        assert_ptr_equal(map_get_i64(&map, i), i % 2 ? &values[i] : NULL);
    size_t at = 0, seen = 0;
    struct slice key;
    void *value;
    while (map_next(&map, &at, &key, &value))
        seen++;
    assert_int_equal(seen, 500);
    assert_int_equal(map.count, 500);
    map_deinit(&map);
}

static void arena_gives_aligned_memory_of_any_size(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 0; size < 100000; size = size * 3 + 1) {
        uint8_t *p = arena_zalloc(&arena, size);
        assert_int_equal((uintptr_t)p & 15, 0);
        memset(p, 1, size);
    }
    assert_slice_equal(arena_printf(&arena, "%d rows", 7), SLICE("7 rows"));
    arena_reset(&arena);
    arena_deinit(&arena);
}

static void utf8_is_checked_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {{"", true},          {"h\xc3\xa9", true},     {"\xe4\xb8\x96", true},  {"\xf0\x9f\x98\x80", true},
                 {"\xc0\x80", false}, {"\xed\xa0\x80", false}, {"\xe0\x80\x80", false}, {"\xf4\x90\x80\x80", false},
                 {"\xc3", false},     {"\x80", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(slice_is_utf8(slice_str(cases[i].text)), cases[i].valid);
}

static void lists_are_read_item_by_item(void **state)
{
    (void)state;
    struct slice rest = SLICE(" a,b c ,,\td"), item;
    const char *want[] = {"a", "b c", "", "d"};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_true(slice_list_next(&rest, &item));
        assert_slice_equal(item, slice_str(want[i]));
    }
    assert_false(slice_list_next(&rest, &item));
}

static void integers_are_parsed_whole_or_not_at_all(void **state)
{
    (void)state;
    int64_t v = 5;
    assert_true(slice_to_i64(SLICE("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(slice_to_i64(SLICE("9223372036854775807"), &v) && v == INT64_MAX);
    assert_false(slice_to_i64(SLICE("9223372036854775808"), &v));
    assert_false(slice_to_i64(SLICE("12x"), &v));
    assert_false(slice_to_i64(SLICE(""), &v));
    assert_false(slice_to_i64(SLICE("-"), &v));
    assert_true(v == INT64_MAX);
}

static void errors_map_to_the_wire_and_back(void **state)
{
    (void)state;
    assert_int_equal(err_wire(ERR_TABLE_NOT_EXIST), 7);
    assert_int_equal(err_from_wire(7), ERR_TABLE_NOT_EXIST);
    assert_int_equal(err_from_wire(-1), ERR_UNKNOWN_SERVER_ERROR);
    assert_int_equal(err_from_wire(99999), ERR_UNKNOWN_SERVER_ERROR);
    assert_int_equal(err_wire(ERR_DISK_FULL), 10);
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_CORRUPT, "a\nb"), ERR_CORRUPT);
    assert_string_equal(err.text, "a b");
    assert_int_equal(err_set(&err, ERR_CORRUPT, "'%.*s' \xff is no \xc3\xa4", 2, "\xc3\xa4\xc3\xa4" + 1), ERR_CORRUPT);
    assert_string_equal(err.text, "'?"
                                  "?' ? is no \xc3\xa4");
    char letters[400];
    for (size_t i = 0; i < sizeof letters; i++)
        letters[i] = i % 2 ? '\xa4' : '\xc3';
    for (int from = 0; from < 2; from++) {
        assert_int_equal(err_set(&err, ERR_CORRUPT, "%s%.*s", from ? "a" : "", (int)sizeof letters, letters),
                         ERR_CORRUPT);
        assert_true(slice_is_utf8(slice_str(err.text)));
    }
}

static void vec_grows_and_removes_in_order(void **state)
{
    (void)state;
    VEC(int) v = {0};
    for (int i = 0; i < 100; i++)
        vec_push(&v, i);
    vec_remove(&v, 0);
    assert_int_equal(v.len, 99);
    assert_int_equal(v.ptr[98], 99);
    vec_deinit(&v);
}

TESTS("base", TEST(lists_are_read_item_by_item), TEST(reader_stays_failed_after_the_end), TEST(varints_come_back),
      TEST(varints_beyond_their_width_are_refused), TEST(checksums_are_the_known_ones), TEST(siphash_is_the_known_one),
      TEST(map_holds_what_was_put_and_not_removed), TEST(arena_gives_aligned_memory_of_any_size),
      TEST(utf8_is_checked_strictly), TEST(integers_are_parsed_whole_or_not_at_all),
      TEST(errors_map_to_the_wire_and_back), TEST(vec_grows_and_removes_in_order))
