/* What puts make of each other, as the changelog tells it: one line of text a case. */
#include "bucket/bucket.h"

#include "format/row/row.h"
#include "lib/meta_bed.h"

static struct meta_bed bed;
static struct bucket_env env;
static const struct table_info *table;
static struct bucket *bucket;
static struct err err;

static void note(void *arg, struct bucket *wanted)
{
    (void)arg;
    (void)wanted;
}

/* What the columns a and v say of themselves where the table aggregates. */
static const char *const functions[] = {",\"agg_function\":{\"type\":\"listagg\",\"parameters\":{\"delimiter\":\"|\"}}",
                                        ",\"agg_function\":{\"type\":\"sum\"}"};

/* k BIGINT key, a STRING, b STRING, v INT; with NOT NULL behind v's type where the test wants it. */
static void begin(const char *properties, const char *nullable)
{
    struct table_descriptor descriptor;
    struct bucket_home *home;
    struct table_cluster cluster = table_cluster_default();
    meta_bed_init(&bed, 1);
    bool aggregates = strstr(properties, "aggregation") != NULL;
    struct slice json = arena_printf(
        &bed.arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"k\",\"data_type\":{\"type\":\"BIGINT\"},"
        "\"id\":0},{\"name\":\"a\",\"data_type\":{\"type\":\"STRING\"}%s,\"id\":1},{\"name\":\"b\",\"data_type\":{"
        "\"type\":\"STRING\"},\"id\":2},{\"name\":\"v\",\"data_type\":{\"type\":\"INTEGER\"%s}%s,\"id\":3}],"
        "\"primary_key\":[\"k\"],\"highest_field_id\":3},\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,"
        "\"properties\":{%s},\"custom_properties\":{}}",
        aggregates ? functions[0] : "", nullable, aggregates ? functions[1] : "", properties);
    MUST(table_descriptor_from_json(&bed.arena, json, &descriptor, &err));
    MUST(table_descriptor_normalize(&bed.arena, &descriptor, &err));
    table_defaults_apply(&bed.arena, &cluster, &descriptor);
    MUST(table_validate(&cluster, &descriptor, &err));
    MUST(meta_table_create(bed.meta, SLICE("fluss"), SLICE("t"), &descriptor, &table, &err));
    env = (struct bucket_env){.os = bed.os,
                              .data_dir = META_BED_DATA,
                              .segment_bytes = 1 << 20,
                              .index_interval_bytes = 4096,
                              .delta_bytes_max = 1 << 20,
                              .replay_bytes_max = 1 << 20,
                              .delta_age_ms_max = 600000,
                              .writer_expiry_ms = 600000,
                              .kv = kv_env_memory(bed.os),
                              .flush_wanted = note,
                              .state_flush_wanted = note};
    MUST(bucket_home_create(&env, table, NULL, &home, &err));
    MUST(bucket_open(&env, table, home, 0, NULL, &bucket, &err));
    bucket_home_unref(home);
}

static void end(void)
{
    bucket_close(bucket, BUCKET_KEEP);
    bucket_unref(bucket);
    table_unref(table);
    kv_env_destroy(env.kv);
    meta_bed_deinit(&bed);
}

/* "1,x,-,7": a value a column, '-' is null. "1" alone deletes. */
static void row_read(const char *text, struct datum *row, bool *deletes)
{
    char copy[64];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = NULL, *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest), count++) {
        row[count] = (struct datum){.is_null = strcmp(part, "-") == 0};
        int64_t number = 0;
        if (count == 0 || count == 3)
            (void)!slice_to_i64(slice_str(part), &number);
        if (!row[count].is_null && (count == 0 || count == 3))
            row[count].i64 = number;
        else if (!row[count].is_null)
            row[count].bytes = arena_dup(&bed.arena, slice_str(part));
    }
    *deletes = count == 1;
}

static void record_add(struct kv_batch_builder *builder, const char *text)
{
    struct table_keys keys;
    struct datum row[4];
    struct buf key = {0}, bytes = {0};
    bool deletes;
    row_read(text, row, &deletes);
    MUST(table_keys_init(&keys, &bed.arena, table->descriptor, &err));
    MUST(key_encode(keys.primary_encoder, keys.primary_type, row, keys.primary, &key, &err));
    if (deletes) {
        MUST(kv_batch_builder_delete(builder, buf_view(&key), &err));
    } else {
        MUST(
            row_encode(table->settings.kv_format, row_type(&bed.arena, &table->descriptor->schema), row, &bytes, &err));
        MUST(kv_batch_builder_put(builder, buf_view(&key), buf_view(&bytes), &err));
    }
    buf_deinit(&key);
    buf_deinit(&bytes);
}

/* targets: "013" names columns by their digits; empty: all. rows with ' ' between them are one batch. */
static enum err_code put(const char *targets, const char *rows, bool overwrite)
{
    struct kv_batch_builder builder;
    struct buf out = {0};
    struct bucket_append append;
    uint32_t columns[8];
    size_t count = 0;
    char copy[128];
    for (; targets[count]; count++)
        columns[count] = (uint32_t)(targets[count] - '0');
    kv_batch_builder_init(&builder, 1);
    snprintf(copy, sizeof copy, "%s", rows);
    for (char *rest = NULL, *row = strtok_r(copy, " ", &rest); row; row = strtok_r(NULL, " ", &rest))
        record_add(&builder, row);
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct bucket_put what = {
        .records = buf_view(&out), .target_columns = columns, .target_column_count = count, .overwrite = overwrite};
    enum err_code code = bucket_put(bucket, &what, &append, &err);
    buf_deinit(&out);
    bucket_flush(bucket);
    return code;
}

static void row_print(struct buf *out, enum change_type change, const struct log_batch_rows *rows, uint32_t i)
{
    static const char *const names[] = {"+A", "+I", "-U", "+U", "-D"};
    buf_printf(out, "%s%s", out->len ? " " : "", names[change]);
    for (uint32_t c = 0; c < rows->column_count; c++) {
        struct datum value;
        column_get(&rows->columns[c], i, &bed.arena, &value);
        if (value.is_null)
            buf_printf(out, ",-");
        else if (c == 0 || c == 3)
            buf_printf(out, ",%lld", (long long)value.i64);
        else
            buf_printf(out, ",%.*s", SLICE_ARGS(value.bytes));
    }
}

static const char *changelog(void)
{
    struct buf bytes = {0}, text = {0};
    struct arrow_codec codec = {0};
    struct bucket_range range;
    for (int64_t at = 0;; at = range.next_offset) {
        MUST(bucket_fetch(bucket, at, 1 << 20, true, &range, &err));
        if (range.view.length == 0)
            break;
        buf_reset(&bytes);
        MUST(log_view_read(&range.view, &bytes, &err));
        log_view_release(&range.view);
        struct slice rest = buf_view(&bytes), one;
        for (;;) {
            struct log_batch batch;
            struct log_batch_rows rows;
            MUST(log_batch_next(&rest, &one, &err));
            if (one.len == 0)
                break;
            MUST(log_batch_read(one, &batch, &err));
            if (batch.record_count == 0)
                continue;
            MUST(log_batch_decode(&codec, &batch, table->settings.log_format,
                                  row_type(&bed.arena, &table->descriptor->schema), &bed.arena, &rows, &err));
            for (uint32_t i = 0; i < rows.count; i++)
                row_print(&text, log_batch_change(&rows, i), &rows, i);
        }
    }
    const char *out = arena_cstr(&bed.arena, buf_view(&text));
    buf_deinit(&bytes);
    buf_deinit(&text);
    arrow_codec_deinit(&codec);
    return out;
}

struct step {
    const char *targets;
    const char *rows;
    enum err_code want;
    bool overwrite;
};

struct rule {
    const char *name;
    const char *properties;
    struct step steps[5];
    const char *changelog;
};

#define FIRST "\"table.merge-engine\":\"first_row\""
#define WAL "\"table.changelog.image\":\"WAL\""
#define SUMS "\"table.merge-engine\":\"aggregation\""
#define SUMS_DELETES SUMS ",\"table.delete.behavior\":\"allow\""
#define VERSIONED "\"table.merge-engine\":\"versioned\",\"table.merge-engine.versioned.ver-column\":\"v\""

#define PUT(targets, rows)       \
    {                            \
        targets, rows, OK, false \
    }
#define FAILS(targets, rows, code) \
    {                              \
        targets, rows, code, false \
    }
#define OVER(targets, rows)     \
    {                           \
        targets, rows, OK, true \
    }

static const struct rule rules[] = {
    {"an equal row is a change", "", {PUT("", "1,x,y,1"), PUT("", "1,x,y,1")}, "+I,1,x,y,1 -U,1,x,y,1 +U,1,x,y,1"},
    {"partial: other columns of a new row are null", "", {PUT("01", "1,x,y,9")}, "+I,1,x,-,-"},
    {"partial: others are kept", "", {PUT("", "1,x,y,1"), PUT("02", "1,q,z,9")}, "+I,1,x,y,1 -U,1,x,y,1 +U,1,x,z,1"},
    {"partial: nothing new is a change",
     "",
     {PUT("01", "1,x,-,-"), PUT("01", "1,x,-,-")},
     "+I,1,x,-,- -U,1,x,-,- +U,1,x,-,-"},
    {"partial: the key alone inserts", "", {PUT("0", "1,x,y,1"), PUT("0", "1,x,y,1")}, "+I,1,-,-,-"},
    {"partial: all columns are a whole row",
     "",
     {PUT("0123", "1,x,y,1"), PUT("3210", "1,-,-,-")},
     "+I,1,x,y,1 -U,1,x,y,1 +U,1,-,-,-"},
    {"partial: within one batch",
     "",
     {PUT("01", "1,x,-,- 1,z,-,- 2,y,-,-")},
     "+I,1,x,-,- -U,1,x,-,- +U,1,z,-,- +I,2,y,-,-"},
    {"partial delete: nothing there", "", {PUT("01", "1")}, ""},
    {"partial delete: the targets become null",
     "",
     {PUT("", "1,x,y,1"), PUT("01", "1")},
     "+I,1,x,y,1 -U,1,x,y,1 +U,1,-,y,1"},
    {"partial delete: null already", "", {PUT("", "1,-,y,1"), PUT("01", "1")}, "+I,1,-,y,1 -U,1,-,y,1 +U,1,-,y,1"},
    {"partial delete: nothing left", "", {PUT("", "1,x,-,-"), PUT("01", "1")}, "+I,1,x,-,- -D,1,x,-,-"},
    {"partial: without the key", "", {FAILS("12", "1,x,y,1", ERR_INVALID_TARGET_COLUMN)}, ""},
    {"partial: no such column", "", {FAILS("04", "1,x,y,1", ERR_INVALID_TARGET_COLUMN)}, ""},
    {"deletes are ignored", "\"table.delete.behavior\":\"ignore\"", {PUT("", "1,x,y,1"), PUT("", "1")}, "+I,1,x,y,1"},
    {"deletes are refused, there or not, with their batch",
     "\"table.delete.behavior\":\"disable\"",
     {PUT("", "1,x,y,1"), FAILS("", "2,x,y,1 3", ERR_DELETION_DISABLED_EXCEPTION)},
     "+I,1,x,y,1"},
    {"overwrite deletes all the same",
     "\"table.delete.behavior\":\"disable\"",
     {PUT("", "1,x,y,1"), OVER("", "1")},
     "+I,1,x,y,1 -D,1,x,y,1"},
    {"first_row keeps the first", FIRST, {PUT("", "1,x,y,1 1,z,z,2"), PUT("", "1,q,q,3"), PUT("", "1")}, "+I,1,x,y,1"},
    {"first_row takes whole rows", FIRST, {FAILS("01", "1,x,y,1", ERR_NOT_SUPPORTED)}, ""},
    {"first_row overwritten",
     FIRST,
     {PUT("", "1,x,y,1"), OVER("", "1,z,z,2"), OVER("02", "1,-,q,-")},
     "+I,1,x,y,1 -U,1,x,y,1 +U,1,z,z,2 -U,1,z,z,2 +U,1,z,q,2"},
    {"versioned: a lower version is nothing", VERSIONED, {PUT("", "1,x,y,5"), PUT("", "1,z,z,4")}, "+I,1,x,y,5"},
    {"versioned: an equal one counts",
     VERSIONED,
     {PUT("", "1,x,y,5"), PUT("", "1,z,z,5")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,z,z,5"},
    {"versioned: null is the least",
     VERSIONED,
     {PUT("", "1,x,y,-"), PUT("", "1,z,z,-2147483648"), PUT("", "1,w,w,-"), PUT("", "1,q,q,0"), PUT("", "1,u,u,-")},
     "+I,1,x,y,- -U,1,x,y,- +U,1,z,z,-2147483648 -U,1,z,z,-2147483648 +U,1,w,w,- -U,1,w,w,- +U,1,q,q,0"},
    {"aggregation: each column by its function",
     SUMS,
     {PUT("", "1,x,y,5"), PUT("", "1,z,-,6 2,-,-,1"), PUT("", "1,-,w,-")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,x|z,y,11 +I,2,-,-,1 -U,1,x|z,y,11 +U,1,x|z,w,11"},
    {"aggregation: within one batch",
     SUMS,
     {PUT("", "1,x,y,5 1,x,y,5 1,x,y,5")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,x|x,y,10 -U,1,x|x,y,10 +U,1,x|x|x,y,15"},
    {"aggregation: an equal result is a change",
     SUMS,
     {PUT("", "1,x,y,5"), PUT("", "1,-,-,0")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,x,y,5"},
    {"aggregation: deletes are ignored",
     SUMS,
     {PUT("", "1,x,y,5"), PUT("", "1"), PUT("", "1,-,-,1")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,x,y,6"},
    {"aggregation: deletes begin anew where they are allowed",
     SUMS_DELETES,
     {PUT("", "1,x,y,5"), PUT("", "1 2"), PUT("", "1,-,-,1")},
     "+I,1,x,y,5 -D,1,x,y,5 +I,1,-,-,1"},
    {"aggregation, partial: targets are merged, others kept",
     SUMS,
     {PUT("03", "1,x,y,5"), PUT("01", "1,x,y,9"), PUT("013", "1,z,q,2"), PUT("0", "1,n,n,7")},
     "+I,1,-,-,5 -U,1,-,-,5 +U,1,x,-,5 -U,1,x,-,5 +U,1,x|z,-,7 -U,1,x|z,-,7 +U,1,x|z,-,7"},
    {"aggregation, partial delete",
     SUMS_DELETES,
     {PUT("", "1,x,-,5"), PUT("03", "1"), PUT("03", "1,-,-,2"), PUT("013", "1")},
     "+I,1,x,-,5 -U,1,x,-,5 +U,1,x,-,- -U,1,x,-,- +U,1,x,-,2 -D,1,x,-,2"},
    {"aggregation overwritten",
     SUMS,
     {PUT("", "1,x,y,5"), OVER("", "1,z,-,2"), OVER("03", "1,-,-,9"), OVER("", "1"), OVER("", "1")},
     "+I,1,x,y,5 -U,1,x,y,5 +U,1,z,-,2 -U,1,z,-,2 +U,1,z,-,9 -D,1,z,-,9"},
    {"WAL: an insert is an update",
     WAL,
     {PUT("", "1,x,y,1 2,x,y,2"), PUT("", "1,z,-,3")},
     "+U,1,x,y,1 +U,2,x,y,2 +U,1,z,-,3"},
    {"WAL: a delete has the old row, and is nothing without one",
     WAL,
     {PUT("", "1,x,y,1"), PUT("", "1 2"), PUT("", "1")},
     "+U,1,x,y,1 -D,1,x,y,1"},
    {"WAL, partial: inserts and updates are told apart",
     WAL,
     {PUT("01", "1,x,-,-"), PUT("03", "1,-,-,7"), PUT("0", "1,-,-,- 2,-,-,-"), PUT("01", "1 2")},
     "+I,1,x,-,- +U,1,x,-,7 +I,2,-,-,- +U,1,-,-,7 -D,2,-,-,-"},
    {"WAL, first_row",
     WAL "," FIRST,
     {PUT("", "1,x,y,1 1,z,z,2"), PUT("", "1"), OVER("", "1,q,q,3 2,q,q,3")},
     "+I,1,x,y,1 +U,1,q,q,3 +U,2,q,q,3"},
    {"WAL, versioned", WAL "," VERSIONED, {PUT("", "1,x,y,5"), PUT("", "1,z,z,4 1,z,z,6")}, "+I,1,x,y,5 +U,1,z,z,6"},
};

static void the_changelog_tells_what_the_rules_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const struct rule *rule = &rules[i];
        begin(rule->properties, "");
        for (size_t k = 0; k < ARRAY_LEN(rule->steps) && rule->steps[k].rows; k++) {
            const struct step *step = &rule->steps[k];
            enum err_code code = put(step->targets, step->rows, step->overwrite);
            if (code != step->want)
                fail_msg("%s: step %zu: %s: %s", rule->name, k, err_name(code), err.text);
        }
        const char *got = changelog();
        if (strcmp(got, rule->changelog) != 0)
            fail_msg("%s: %s", rule->name, got);
        end();
    }
}

static void partial_updates_need_nullable_columns(void **state)
{
    (void)state;
    begin("", ",\"nullable\":false");
    assert_int_equal(put("013", "1,x,y,1", false), ERR_INVALID_TARGET_COLUMN); /* although v is given */
    assert_int_equal(put("0123", "1,x,y,1", false), OK);
    end();
}

static void a_merged_row_is_found_by_its_key(void **state)
{
    (void)state;
    struct buf key = {0};
    struct table_keys keys;
    struct slice value, bytes;
    struct datum row[4] = {{.i64 = 1}};
    int16_t schema_id;
    begin("", "");
    assert_int_equal(put("01", "1,x,-,-", false), OK);
    assert_int_equal(put("03", "1,-,-,7", false), OK);
    MUST(table_keys_init(&keys, &bed.arena, table->descriptor, &err));
    MUST(key_encode(keys.primary_encoder, keys.primary_type, row, keys.primary, &key, &err));
    for (int round = 0; round < 2; round++) { /* from the delta, then from the engine */
        MUST(bucket_lookup(bucket, buf_view(&key), true, &bed.arena, &value, &err));
        MUST(kv_value_split(value, &schema_id, &bytes, &err));
        MUST(row_decode(table->settings.kv_format, row_type(&bed.arena, &table->descriptor->schema), bytes, &bed.arena,
                        row, &err));
        assert_slice_equal(row[1].bytes, SLICE("x"));
        assert_true(row[2].is_null);
        assert_int_equal(row[3].i64, 7);
        bucket_state_flush(bucket);
    }
    assert_int_equal(put("02", "1,-,w,-", false), OK);
    assert_non_null(strstr(changelog(), "-U,1,x,-,7 +U,1,x,w,7"));
    buf_deinit(&key);
    end();
}

/* What the changelog says comes back from it, whatever forms rows and log have. */
static void every_form_of_rows_and_log_is_replayed(void **state)
{
    (void)state;
    static const char *const forms[] = {"\"table.log.format\":\"ARROW\"", "\"table.log.format\":\"COMPACTED\"",
                                        "\"table.kv.format\":\"INDEXED\",\"table.log.format\":\"INDEXED\"",
                                        "\"table.kv.format\":\"INDEXED\",\"table.log.format\":\"COMPACTED\"",
                                        "\"table.kv.format\":\"INDEXED\",\"table.log.format\":\"ARROW\""};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct bucket_home *home;
        begin(forms[i], "");
        assert_int_equal(put("", "1,x,-,7 2,y,z,8 2", false), OK);
        assert_int_equal(put("02", "1,-,w,-", false), OK);
        bucket_close(bucket, BUCKET_KEEP);
        bucket_unref(bucket);
        MUST(bucket_home_create(&env, table, NULL, &home, &err));
        MUST(bucket_open(&env, table, home, 0, NULL, &bucket, &err));
        bucket_home_unref(home);
        assert_int_equal(put("03", "1,-,-,9 2,-,-,5", false), OK);
        const char *got = changelog();
        if (strcmp(got, "+I,1,x,-,7 +I,2,y,z,8 -D,2,y,z,8 -U,1,x,-,7 +U,1,x,w,7 -U,1,x,w,7 +U,1,x,w,9 +I,2,-,-,5") != 0)
            fail_msg("%s: %s", forms[i], got);
        end();
    }
}

TESTS("bucket.merge", TEST(every_form_of_rows_and_log_is_replayed), TEST(the_changelog_tells_what_the_rules_made),
      TEST(partial_updates_need_nullable_columns), TEST(a_merged_row_is_found_by_its_key))
