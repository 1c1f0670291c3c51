#include "format/row/row.h"
#include "lib/golden_value.h"

static struct arena arena;
static struct buf bytes;

static enum key_encoder encoder_named(const char *name)
{
    static const char *const names[] = {"compacted", "paimon", "iceberg", "hudi"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strncasecmp(name, names[i], strlen(names[i])) == 0)
            return (enum key_encoder)i;
    fail_msg("no encoder %s", name);
    return KEY_COMPACTED;
}

static void check_buckets(enum lake_format lake, struct slice key, json_t *buckets)
{
    const char *count;
    json_t *want;
    assert_int_equal(json_object_size(buckets), 4);
    json_object_foreach(buckets, count, want)
    {
        assert_int_equal(key_bucket(lake, key, (int32_t)strtol(count, NULL, 10)), json_integer_value(want));
    }
}

static void check_all_buckets(struct slice key, json_t *by_function)
{
    const char *function;
    json_t *buckets;
    json_object_foreach(by_function, function, buckets)
    {
        if (json_is_null(buckets)) { /* Java's Iceberg function throws on an empty key */
            assert_int_equal(key.len, 0);
            continue;
        }
        enum lake_format lake = LAKE_NONE;
        assert_true(lake_format_find(slice_str(function), &lake) || strcmp(function, "fluss") == 0);
        check_buckets(lake, key, buckets);
    }
}

static void check_decoding(enum key_encoder encoder, const struct schema *schema, struct slice key, json_t *values)
{
    struct err err = {0};
    const struct type *type = row_type(&arena, schema);
    struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema->column_count);
    if (encoder == KEY_HUDI) {
        MUST_FAIL(ERR_NOT_SUPPORTED, key_decode(encoder, type, key, &arena, got, &err));
        return;
    }
    MUST(key_decode(encoder, type, key, &arena, got, &err));
    /* Iceberg knows microseconds only. */
    bool loses = encoder == KEY_ICEBERG && schema->columns[0].type->kind == TYPE_TIMESTAMP &&
                 schema->columns[0].type->precision > 6;
    if (!loses)
        golden_assert_row(schema, got, values);
    bool unlimited = encoder == KEY_ICEBERG && schema->columns[0].type->kind >= TYPE_CHAR &&
                     schema->columns[0].type->kind <= TYPE_DECIMAL;
    for (size_t len = 0; len < key.len && !unlimited; len++) {
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, key.ptr, len);
        enum err_code code = key_decode(encoder, type, slice_of(copy, len), &arena, got, NULL);
        free(copy);
        assert_true(code == ERR_CORRUPT || (encoder == KEY_PAIMON && len + 16 > key.len));
    }
}

static void key_line(void *arg, struct slice line)
{
    int *seen = arg;
    struct err err = {0};
    json_t *root = golden_parse(line);
    if (strncmp(golden_text(root, "id"), "key/", 4) == 0) {
        enum key_encoder encoder = encoder_named(golden_text(root, "encoder"));
        struct schema schema;
        golden_schema(&arena, json_object_get(root, "types"), &schema);
        json_t *values = json_object_get(root, "values");
        struct datum *row = golden_row(&arena, &schema, values);
        buf_reset(&bytes);
        if (json_object_get(root, "unsupported")) {
            MUST_FAIL(ERR_INVALID_ARGUMENT, key_encode(encoder, row_type(&arena, &schema), row, NULL, &bytes, &err));
            assert_int_equal(bytes.len, 0);
        } else {
            struct slice golden = golden_hex(&arena, root, "key_hex");
            MUST(key_encode(encoder, row_type(&arena, &schema), row, NULL, &bytes, &err));
            assert_slice_equal(buf_view(&bytes), golden);
            check_all_buckets(golden, json_object_get(root, "buckets"));
            check_decoding(encoder, &schema, golden, values);
        }
        (*seen)++;
    }
    json_decref(root);
    arena_reset(&arena);
}

static void golden_keys_go_both_ways(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("keys", key_line, &seen);
    assert_int_equal(seen, 732);
    arena_deinit(&arena);
    buf_deinit(&bytes);
}

static uint32_t *positions_of(json_t *names, json_t *wanted)
{
    uint32_t *positions = ARENA_NEW_ARRAY(&arena, uint32_t, json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++)
        while (!json_equal(json_array_get(names, positions[i]), json_array_get(wanted, i)))
            positions[i]++;
    return positions;
}

static void describe(json_t *root, struct table_descriptor *table)
{
    json_t *pk = json_object_get(root, "primary_key"), *bk = json_object_get(root, "bucket_key");
    json_t *names = json_object_get(root, "names");
    json_t *version = json_object_get(root, "kv_format_version"), *lake = json_object_get(root, "datalake_format");
    *table = (struct table_descriptor){.has_distribution = true, .bucket_count = 3};
    golden_schema(&arena, json_object_get(root, "types"), &table->schema);
    table->schema.primary_key = positions_of(names, pk);
    table->schema.primary_key_count = (uint32_t)json_array_size(pk);
    table->bucket_keys = positions_of(names, bk);
    table->bucket_key_count = (uint32_t)json_array_size(bk);
    if (json_is_integer(version))
        properties_set(&arena, &table->properties, SLICE("table.kv.format-version"),
                       arena_printf(&arena, "%lld", (long long)json_integer_value(version)));
    if (json_is_string(lake))
        properties_set(&arena, &table->properties, SLICE("table.datalake.format"), slice_str(json_string_value(lake)));
}

static void check_table_keys(json_t *root, const struct table_descriptor *table, const struct table_keys *keys)
{
    struct err err = {0};
    struct datum *row = golden_row(&arena, &table->schema, json_object_get(root, "values"));
    assert_int_equal(keys->primary_encoder, encoder_named(golden_text(root, "primary_key_encoder")));
    assert_int_equal(keys->bucket_encoder, encoder_named(golden_text(root, "bucket_key_encoder")));
    assert_int_equal(table_default_bucket_key(table), json_is_true(json_object_get(root, "is_default_bucket_key")));
    buf_reset(&bytes);
    MUST(key_encode(keys->primary_encoder, keys->primary_type, row, keys->primary, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden_hex(&arena, root, "primary_key_hex"));
    struct slice primary = arena_dup(&arena, buf_view(&bytes));
    buf_reset(&bytes);
    MUST(key_encode(keys->bucket_encoder, keys->bucket_type, row, keys->bucket, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden_hex(&arena, root, "bucket_key_hex"));
    check_buckets(keys->lake, buf_view(&bytes), json_object_get(root, "buckets"));
    if (keys->bucket_is_primary)
        assert_slice_equal(primary, buf_view(&bytes));
    if (!keys->prefix_lookup || keys->primary_encoder != KEY_COMPACTED)
        return;
    buf_reset(&bytes);
    MUST(key_encode(keys->primary_encoder, keys->bucket_type, row, keys->bucket, &bytes, &err));
    assert_true(slice_starts_with(primary, buf_view(&bytes)));
}

static void table_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = golden_parse(line);
    bool old_without_hudi =
        strstr(golden_text(root, "id"), "/hudi/") && json_array_size(json_object_get(root, "versions")) == 1 &&
        strcmp(json_string_value(json_array_get(json_object_get(root, "versions"), 0)), "1.0.0") != 0;
    if (strncmp(golden_text(root, "id"), "kvformat/", 9) == 0 && !old_without_hudi) {
        struct err err = {0};
        struct table_descriptor table;
        struct table_keys keys;
        describe(root, &table);
        if (json_object_get(root, "unsupported")) {
            enum err_code code = table_keys_init(&keys, &arena, &table, &err);
            assert_true(code == ERR_INVALID_TABLE_EXCEPTION || code == ERR_INVALID_CONFIG_EXCEPTION);
        } else {
            MUST(table_keys_init(&keys, &arena, &table, &err));
            check_table_keys(root, &table, &keys);
        }
        (*seen)++;
    }
    json_decref(root);
    arena_reset(&arena);
}

static void golden_tables_choose_their_encoders(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("keys", table_line, &seen);
    assert_int_equal(seen, 100);
    arena_deinit(&arena);
    buf_deinit(&bytes);
}

static void hash_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = golden_parse(line);
    if (strncmp(golden_text(root, "id"), "hash/", 5) == 0) {
        struct slice key = golden_hex(&arena, root, "bytes");
        assert_int_equal(murmur_fluss(key), json_integer_value(json_object_get(root, "murmur_bytes")));
        check_all_buckets(key, json_object_get(root, "buckets"));
        (*seen)++;
    } else if (strncmp(golden_text(root, "id"), "murmur/", 7) == 0) {
        struct slice key = golden_hex(&arena, root, "bytes");
        assert_int_equal(murmur_fluss(key), json_integer_value(json_object_get(root, "hash_bytes")));
        (*seen)++;
    } else if (strncmp(golden_text(root, "id"), "binary_row/", 11) == 0) {
        check_buckets(LAKE_PAIMON, golden_hex(&arena, root, "hex"), json_object_get(root, "buckets"));
        (*seen)++;
    }
    json_decref(root);
    arena_reset(&arena);
}

static void golden_hashes_and_buckets_agree(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("keys", hash_line, &seen);
    assert_int_equal(seen, 19);
    test_each_line("paimon_rows", hash_line, &seen);
    assert_int_equal(seen, 19 + 7 + 147);
    arena_deinit(&arena);
}

static void unknown_lake_formats_and_versions_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct table_keys keys;
    json_t *types = json_pack("[s]", "INT");
    struct table_descriptor table = {0};
    uint32_t first = 0;
    golden_schema(&arena, types, &table.schema);
    table.schema.primary_key = table.bucket_keys = &first;
    table.schema.primary_key_count = table.bucket_key_count = 1;
    properties_set(&arena, &table.properties, SLICE("table.datalake.format"), SLICE("delta"));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, table_keys_init(&keys, &arena, &table, &err));
    properties_set(&arena, &table.properties, SLICE("table.datalake.format"), SLICE("PAIMON"));
    properties_set(&arena, &table.properties, SLICE("table.kv.format-version"), SLICE("two"));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, table_keys_init(&keys, &arena, &table, &err));
    properties_set(&arena, &table.properties, SLICE("table.kv.format-version"), SLICE("2"));
    MUST(table_keys_init(&keys, &arena, &table, &err));
    assert_int_equal(keys.primary_encoder, KEY_PAIMON);
    assert_true(keys.bucket_is_primary);
    json_decref(types);
    arena_deinit(&arena);
}

static void iceberg_keys_beyond_their_type_are_refused(void **state)
{
    (void)state;
    struct datum got;
    struct field field = {.name = SLICE("a"), .type = type_simple(TYPE_INTEGER)};
    struct type key = {.kind = TYPE_ROW, .fields = &field, .field_count = 1};
    MUST_FAIL(ERR_CORRUPT, key_decode(KEY_ICEBERG, &key, SLICE("\0\0\0\x80\0\0\0\0"), &arena, &got, NULL));
    field.type = type_simple(TYPE_BIGINT);
    assert_int_equal(key_decode(KEY_ICEBERG, &key, SLICE("\0\0\0\x80\0\0\0\0"), &arena, &got, NULL), OK);
    assert_true(got.i64 == 0x80000000);
    field.type = type_simple(TYPE_BOOLEAN);
    MUST_FAIL(ERR_CORRUPT, key_decode(KEY_ICEBERG, &key, SLICE("\1"), &arena, &got, NULL));
}

TESTS("format.row.key", TEST(iceberg_keys_beyond_their_type_are_refused), TEST(golden_keys_go_both_ways),
      TEST(golden_tables_choose_their_encoders), TEST(golden_hashes_and_buckets_agree),
      TEST(unknown_lake_formats_and_versions_are_refused))
