#include "format/row/row.h"
#include "lib/golden_value.h"

static struct arena arena;
static struct buf bytes;

static void clean(void)
{
    arena_deinit(&arena);
    buf_deinit(&bytes);
}

/* A copy of the exact size, so that the address sanitizer sees a read behind it. */
static enum err_code decode_copy(enum row_format format, const struct type *row, struct slice from, size_t len,
                                 struct datum *values)
{
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, from.ptr, len);
    enum err_code code = row_decode(format, row, slice_of(copy, len), &arena, values, NULL);
    free(copy);
    return code;
}

static void check_line(enum row_format format, json_t *root, const char *hex_name)
{
    struct err err = {0};
    struct schema schema;
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    const struct type *row = row_type(&arena, &schema);
    json_t *values = json_object_get(root, "values");
    struct datum *want = golden_row(&arena, &schema, values);
    struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
    buf_reset(&bytes);
    if (json_object_get(root, "unsupported")) {
        MUST_FAIL(ERR_INVALID_ARGUMENT, row_encode(format, row, want, &bytes, &err));
        assert_int_equal(bytes.len, 0);
        return;
    }
    struct slice golden = golden_hex(&arena, root, hex_name);
    MUST(row_encode(format, row, want, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden);
    MUST(row_decode(format, row, golden, &arena, got, &err));
    golden_assert_row(&schema, got, values); /* Java's reader loses zeros at the end of a BINARY; this one does not */
    /* A long row is cut near both ends only: every place in between would take minutes. */
    for (size_t len = 0; len < golden.len; len++)
        if (len < 2000 || len + 2000 > golden.len)
            MUST_FAIL(ERR_CORRUPT, decode_copy(format, row, golden, len, got));
}

static void rows_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = golden_parse(line);
    bool compacted = strcmp(golden_text(root, "format"), "COMPACTED") == 0;
    check_line(compacted ? ROW_COMPACTED : ROW_INDEXED, root, "hex");
    (*seen)++;
    json_decref(root);
    arena_reset(&arena);
}

static void golden_rows_go_both_ways(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("rows", rows_line, &seen);
    assert_int_equal(seen, 560);
    clean();
}

/* Values in the variable part of an aligned row may be cut off only where nothing points, which is nowhere but padding.
 */
static void paimon_line(void *arg, struct slice line)
{
    int *seen = arg;
    struct err err = {0};
    json_t *root = golden_parse(line);
    if (strncmp(golden_text(root, "id"), "binary_row/", 11) == 0) {
        struct schema schema;
        golden_schema(&arena, json_object_get(root, "types"), &schema);
        const struct type *row = row_type(&arena, &schema);
        struct datum *want = golden_row(&arena, &schema, json_object_get(root, "values"));
        struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
        struct slice golden = golden_hex(&arena, root, "hex");
        buf_reset(&bytes);
        MUST(row_encode(ROW_PAIMON, row, want, &bytes, &err));
        assert_slice_equal(buf_view(&bytes), golden);
        MUST(row_decode(ROW_PAIMON, row, golden, &arena, got, &err));
        golden_assert_row(&schema, got, json_object_get(root, "values"));
        for (size_t len = 0; len < golden.len; len++) {
            enum err_code code = decode_copy(ROW_PAIMON, row, golden, len, got);
            assert_true(code == ERR_CORRUPT || len + 16 >= golden.len);
        }
        assert_int_equal(murmur_fluss(golden), json_integer_value(json_object_get(root, "hash")));
        (*seen)++;
    }
    json_decref(root);
    arena_reset(&arena);
}

static void golden_binary_rows_of_paimon_go_both_ways(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("paimon_rows", paimon_line, &seen);
    assert_int_equal(seen, 147);
    clean();
}

static void fluss_aligned_rows_keep_no_place_for_nulls(void **state)
{
    (void)state;
    struct err err = {0};
    json_t *types = json_pack("[sss]", "DECIMAL(38, 10)", "TIMESTAMP(9)", "INT");
    struct schema schema;
    golden_schema(&arena, types, &schema);
    struct datum values[] = {{.is_null = true}, {.is_null = true}, {.i64 = -1}}, got[3];
    MUST(row_encode(ROW_ALIGNED, row_type(&arena, &schema), values, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden_unhex(&arena, "000300000000000000000000000000000000000000000000"
                                                              "ffffffff00000000"));
    MUST(row_decode(ROW_ALIGNED, row_type(&arena, &schema), buf_view(&bytes), &arena, got, &err));
    assert_true(got[0].is_null && got[1].is_null && got[2].i64 == -1);
    json_decref(types);
    clean();
}

static void bytes_behind_a_row_are_refused(void **state)
{
    (void)state;
    json_t *types = json_pack("[s]", "INT");
    struct schema schema;
    struct datum got;
    golden_schema(&arena, types, &schema);
    const struct type *row = row_type(&arena, &schema);
    MUST_FAIL(ERR_CORRUPT, row_decode(ROW_COMPACTED, row, SLICE("\0\1\0"), &arena, &got, NULL));
    MUST_FAIL(ERR_CORRUPT, row_decode(ROW_INDEXED, row, SLICE("\0\1\0\0\0\0"), &arena, &got, NULL));
    json_decref(types);
    clean();
}

/* ---- hostile bytes ---- */

static void refuse(const char *sql, const char *hex, enum err_code want)
{
    json_t *types = json_pack("[s]", sql);
    struct schema schema;
    struct datum got;
    golden_schema(&arena, types, &schema);
    struct slice row = golden_unhex(&arena, hex);
    MUST_FAIL(want, decode_copy(ROW_COMPACTED, row_type(&arena, &schema), row, row.len, &got));
    json_decref(types);
    arena_reset(&arena);
}

static void values_that_lead_out_or_are_impossible_are_refused(void **state)
{
    (void)state;
    refuse("STRING", "00ffffffff0f", ERR_CORRUPT);                                   /* length beyond the row */
    refuse("STRING", "00ffffffffff01", ERR_CORRUPT);                                 /* a length of more than 32 bits */
    refuse("INT", "00ffffffff1f", ERR_CORRUPT);                                      /* 33 bits */
    refuse("DECIMAL(38, 0)", "0000", ERR_CORRUPT);                                   /* no bytes */
    refuse("DECIMAL(38, 0)", "00110000000000000000000000000000000000", ERR_CORRUPT); /* 17 bytes */
    refuse("TIMESTAMP(9)", "0000c0843d", ERR_CORRUPT);                               /* 1000000 ns in a millisecond */
    refuse("ARRAY<INT>", "0008ffffffff00000000", ERR_CORRUPT);                       /* 4 G elements */
    refuse("ARRAY<STRING>", "001001000000000000000800000010000000", ERR_CORRUPT);    /* offset 16 of 16, size 8 */
    refuse("ARRAY<STRING>", "0010010000000000000000000000000000ff", ERR_CORRUPT);    /* 127 bytes within a slot */
    refuse("MAP<INT NOT NULL, INT>", "00140800000001000000000000000000000000000000", ERR_CORRUPT); /* keys cut off */
    refuse("MAP<INT NOT NULL, INT>", "001c10000000010000000000000001000000000000000000000000000000",
           ERR_CORRUPT); /* one key, no value */
}

/* An array of arrays of arrays .. whose elements all lie at the same place would unfold to 14^10 values. */
static void arrays_that_overlap_do_not_unfold_without_end(void **state)
{
    (void)state;
    struct buf sql = {0};
    for (int i = 0; i < 12; i++)
        buf_printf(&sql, "ARRAY<");
    buf_printf(&sql, "INT");
    for (int i = 0; i < 12; i++)
        buf_printf(&sql, ">");
    const struct type *type = golden_type(&arena, buf_cstr(&sql));
    struct field field = {.name = SLICE("f0"), .type = type};
    struct type row = {.kind = TYPE_ROW, .fields = &field, .field_count = 1};
    enum { ELEMENTS = 14, BYTES = 8 + 8 * ELEMENTS };
    buf_put_u8(&bytes, 0);
    buf_put_varint(&bytes, BYTES);
    buf_put_u32(&bytes, ELEMENTS);
    buf_put_u32(&bytes, 0);
    for (int i = 0; i < ELEMENTS; i++)
        buf_put_u64(&bytes, BYTES); /* offset 0, the whole array again */
    struct datum got;
    MUST_FAIL(ERR_LIMIT, row_decode(ROW_COMPACTED, &row, buf_view(&bytes), &arena, &got, NULL));
    assert_true(arena.total_bytes < 1 << 20);
    buf_deinit(&sql);
    clean();
}

/* ---- schema evolution and stored values ---- */

static void old_rows_are_read_by_column_id(void **state)
{
    (void)state;
    struct err err = {0};
    json_t *types = json_pack("[sss]", "INT", "STRING", "BIGINT");
    struct schema from, to;
    golden_schema(&arena, types, &from);
    golden_schema(&arena, types, &to);
    from.column_count = 2;
    struct datum values[] = {{.i64 = 7}, {.bytes = SLICE("x")}}, got[3];
    struct row_mapping mapping;
    row_mapping_init(&mapping, &arena, &from, &to);
    assert_null(mapping.places);
    MUST(row_encode(ROW_COMPACTED, mapping.from, values, &bytes, &err));
    MUST(row_decode_mapped(ROW_COMPACTED, &mapping, buf_view(&bytes), &arena, got, &err));
    assert_true(got[0].i64 == 7 && slice_is(got[1].bytes, "x") && got[2].is_null);

    /* The first column went, the second moved. */
    to.columns[0].id = 5;
    to.columns[1].id = 9;
    to.columns[2].id = from.columns[1].id;
    to.columns[2].type = from.columns[1].type;
    row_mapping_init(&mapping, &arena, &from, &to);
    MUST(row_decode_mapped(ROW_COMPACTED, &mapping, buf_view(&bytes), &arena, got, &err));
    assert_true(got[0].is_null && got[1].is_null && slice_is(got[2].bytes, "x"));
    json_decref(types);
    clean();
}

static void value_line(void *arg, struct slice line)
{
    int *seen = arg;
    struct err err = {0};
    json_t *root = golden_parse(line);
    if (strncmp(golden_text(root, "id"), "value/", 6) == 0) {
        struct schema schema;
        int16_t schema_id = 0;
        struct slice row;
        golden_schema(&arena, json_object_get(root, "types"), &schema);
        enum row_format format = strcmp(golden_text(root, "kv_format"), "COMPACTED") == 0 ? ROW_COMPACTED : ROW_INDEXED;
        struct slice golden = golden_hex(&arena, root, "hex");
        struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
        MUST(kv_value_split(golden, &schema_id, &row, &err));
        assert_int_equal(schema_id, json_integer_value(json_object_get(root, "schema_id")));
        MUST(row_decode(format, row_type(&arena, &schema), row, &arena, got, &err));
        golden_assert_row(&schema, got, json_object_get(root, "values"));
        buf_reset(&bytes);
        kv_value_put_header(&bytes, schema_id);
        MUST(row_encode(format, row_type(&arena, &schema), got, &bytes, &err));
        assert_slice_equal(buf_view(&bytes), golden);
        (*seen)++;
    }
    json_decref(root);
    arena_reset(&arena);
}

static void golden_stored_values_go_both_ways(void **state)
{
    (void)state;
    int seen = 0;
    int16_t schema_id;
    struct slice row;
    test_each_line("kv_batches", value_line, &seen);
    assert_int_equal(seen, 18);
    MUST_FAIL(ERR_CORRUPT, kv_value_split(SLICE("\1"), &schema_id, &row, NULL));
    clean();
}

TESTS("format.row", TEST(golden_rows_go_both_ways), TEST(golden_binary_rows_of_paimon_go_both_ways),
      TEST(fluss_aligned_rows_keep_no_place_for_nulls), TEST(bytes_behind_a_row_are_refused),
      TEST(values_that_lead_out_or_are_impossible_are_refused), TEST(arrays_that_overlap_do_not_unfold_without_end),
      TEST(old_rows_are_read_by_column_id), TEST(golden_stored_values_go_both_ways))
