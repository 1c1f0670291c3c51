/* Statements as text files: test/sql/NAME.txt holds blocks of a text, a line "----", and what it is read as. */
#include "lib/test.h"
#include "os/os.h"
#include "sql/sql.h"

static void put_name(struct buf *out, const struct sql_statement *s)
{
    if (s->database.ptr || s->table.ptr)
        buf_put_u8(out, ' ');
    if (s->database.ptr) {
        sql_put_name(out, s->database);
        if (s->table.ptr)
            buf_put_u8(out, '.');
    }
    if (s->table.ptr)
        sql_put_name(out, s->table);
}

static void put_alteration(struct buf *out, const struct sql_alteration *alter)
{
    for (uint32_t i = 0; i < alter->column_count; i++) {
        buf_printf(out, "add %.*s ", SLICE_ARGS(alter->columns[i].name));
        type_to_sql(alter->columns[i].type, out);
        if (alter->columns[i].comment.ptr)
            buf_printf(out, " '%.*s'", SLICE_ARGS(alter->columns[i].comment));
        buf_put_u8(out, '\n');
    }
    for (uint32_t i = 0; i < alter->set.count; i++)
        buf_printf(out, "set %.*s=%.*s\n", SLICE_ARGS(alter->set.items[i].key), SLICE_ARGS(alter->set.items[i].value));
    for (uint32_t i = 0; i < alter->reset_count; i++)
        buf_printf(out, "reset %.*s\n", SLICE_ARGS(alter->reset[i]));
}

static void put_statement(struct buf *out, const struct sql_statement *s)
{
    static const char *const kinds[] = {
        [SQL_CREATE_DATABASE] = "CREATE DATABASE",
        [SQL_DROP_DATABASE] = "DROP DATABASE",
        [SQL_CREATE_TABLE] = "CREATE TABLE",
        [SQL_DROP_TABLE] = "DROP TABLE",
        [SQL_ALTER_TABLE] = "ALTER TABLE",
        [SQL_ALTER_DATABASE] = "ALTER DATABASE",
        [SQL_SHOW_DATABASES] = "SHOW DATABASES",
        [SQL_SHOW_TABLES] = "SHOW TABLES",
        [SQL_SHOW_CREATE_TABLE] = "SHOW CREATE",
        [SQL_DESCRIBE] = "DESCRIBE",
        [SQL_USE] = "USE",
        [SQL_SHOW_PARTITIONS] = "SHOW PARTITIONS",
        [SQL_ADD_PARTITIONS] = "ADD PARTITIONS",
        [SQL_DROP_PARTITIONS] = "DROP PARTITIONS",
    };
    buf_printf(out, "%s", kinds[s->kind]);
    put_name(out, s);
    buf_printf(out, "%s%s\n", s->if_exists ? " if" : "", s->cascade ? " cascade" : "");
    for (uint32_t i = 0; i < s->partition_count; i++) {
        for (uint32_t k = 0; k < s->partitions[i].count; k++)
            buf_printf(out, "%s%.*s=[%.*s]", k ? ", " : "", SLICE_ARGS(s->partitions[i].items[k].key),
                       SLICE_ARGS(s->partitions[i].items[k].value));
        buf_put_u8(out, '\n');
    }
    put_alteration(out, &s->alteration);
    if (s->kind == SQL_CREATE_TABLE) {
        table_descriptor_to_json(&s->table_descriptor, out);
        buf_put_u8(out, '\n');
    }
    if (s->kind == SQL_CREATE_DATABASE) {
        database_descriptor_to_json(&s->database_descriptor, out);
        buf_put_u8(out, '\n');
    }
}

static void read_all(struct slice text, struct buf *out)
{
    struct sql_reader reader = {.text = text};
    struct arena arena = {0};
    bool have = true;
    while (have) {
        struct sql_statement s;
        struct err err = {0};
        enum err_code code = sql_next(&reader, &arena, &s, &have, &err);
        if (code != OK) {
            sql_show_place(text, reader.error_at, out);
            buf_printf(out, "%s: %s\n", err_user_code(code), err.text);
            have = true;
        } else if (have) {
            put_statement(out, &s);
        }
    }
    arena_deinit(&arena);
}

/* The next block off the front; false at the end. Blocks end with a line "====". */
static bool next_block(struct slice *rest, struct slice *text, struct slice *want)
{
    const uint8_t *bar = rest->len ? memmem(rest->ptr, rest->len, "\n----\n", 6) : NULL;
    if (!bar)
        return false;
    *text = slice_of(rest->ptr, (size_t)(bar - rest->ptr));
    struct slice behind = slice_of(bar + 6, rest->len - text->len - 6);
    const uint8_t *end = memmem(behind.ptr, behind.len, "====\n", 5);
    assert_non_null(end);
    *want = slice_of(behind.ptr, (size_t)(end - behind.ptr));
    *rest = slice_of(end + 5, behind.len - want->len - 5);
    return true;
}

static void run_file(const char *name)
{
    struct err err;
    struct buf file = {0};
    char path[300];
    snprintf(path, sizeof path, "%s/test/sql/%s.txt", WEIR_SOURCE_DIR, name);
    MUST(os_read_whole(os_real(), path, 1u << 20, &file, &err));
    struct slice rest = buf_view(&file), text, want;
    size_t count = 0;
    for (; next_block(&rest, &text, &want); count++) {
        struct buf got = {0};
        read_all(text, &got);
        if (!slice_equal(buf_view(&got), want)) {
            fprintf(stderr, "%s.txt: %.*s\n---- is read as\n%.*s====\n", name, SLICE_ARGS(text),
                    SLICE_ARGS(buf_view(&got)));
            fail();
        }
        buf_deinit(&got);
    }
    assert_true(count > 5);
    buf_deinit(&file);
}

static void statements_are_read(void **state)
{
    (void)state;
    run_file("statements");
}

static void mistakes_are_shown_with_their_place(void **state)
{
    (void)state;
    run_file("mistakes");
}

static void show_create_table_reads_as_the_same_table(void **state)
{
    (void)state;
    struct err err;
    struct arena arena = {0};
    struct buf text = {0}, json[2] = {0};
    struct sql_reader reader = {
        .text = SLICE("create table `a b` (`x``y` row<f int, g string not null> not null comment 'it''s', k bigint, "
                      "s string, n bigint, primary key (k) not enforced) comment '' with ('bucket.num' = '3', "
                      "'p' = '''q''', 'fields.s.agg' = 'listagg', 'fields.s.listagg.delimiter' = ';', "
                      "'auto-increment.fields' = 'n')")};
    for (int i = 0; i < 2; i++) {
        struct sql_statement s;
        bool have;
        MUST(sql_next(&reader, &arena, &s, &have, &err));
        assert_true(have);
        assert_slice_equal(s.table, SLICE("a b"));
        table_descriptor_to_json(&s.table_descriptor, &json[i]);
        if (i == 0)
            sql_put_create_table(&text, SLICE("d"), s.table, &s.table_descriptor);
        reader = (struct sql_reader){.text = buf_view(&text)};
    }
    assert_slice_equal(buf_view(&json[1]), buf_view(&json[0]));
    buf_deinit(&text);
    buf_deinit(&json[0]);
    buf_deinit(&json[1]);
    arena_deinit(&arena);
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sql_statement s;
    bool have;
    struct sql_reader reader = {.text = slice_of("x", SQL_BYTES_MAX + 1u)};
    MUST_FAIL(ERR_LIMIT, sql_next(&reader, &arena, &s, &have, NULL));
    arena_deinit(&arena);
}

TESTS("sql.sql", TEST(statements_are_read), TEST(mistakes_are_shown_with_their_place),
      TEST(show_create_table_reads_as_the_same_table), TEST(a_text_that_is_too_long_is_refused))
