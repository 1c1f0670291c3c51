/* Any text as SQL: every statement is read or refused with a place inside the text; a table that was read is printed
 * and reads as the same again. */
#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_again(const struct sql_statement *s)
{
    struct arena arena = {0};
    struct buf first = {0}, second = {0};
    struct sql_statement again;
    bool have;
    sql_put_create_table(&first, SLICE("d"), s->table, &s->table_descriptor);
    struct sql_reader reader = {.text = buf_view(&first)};
    enum err_code code = sql_next(&reader, &arena, &again, &have, NULL);
    ASSERT(code == OK && have && again.kind == SQL_CREATE_TABLE);
    sql_put_create_table(&second, SLICE("d"), again.table, &again.table_descriptor);
    ASSERT(slice_equal(buf_view(&first), buf_view(&second)));
    buf_deinit(&first);
    buf_deinit(&second);
    arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sql_reader reader = {.text = slice_of(data, size)};
    struct arena arena = {0};
    bool have = true;
    while (have) {
        struct sql_statement s;
        struct err err;
        size_t before = reader.at;
        enum err_code code = sql_next(&reader, &arena, &s, &have, &err);
        if (code == OK && have && s.kind == SQL_CREATE_TABLE)
            print_again(&s);
        if (code != OK) {
            struct buf place = {0};
            ASSERT(reader.error_at <= size);
            sql_show_place(reader.text, reader.error_at, &place);
            buf_deinit(&place);
        }
        ASSERT(reader.at > before || reader.at == size);
    }
    arena_deinit(&arena);
    return 0;
}
