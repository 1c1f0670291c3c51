/* Two tables as a shop has them, and changes at a steady rate: orders are appended, customers come, change and go. */
#include "cmd/demo_int.h"
#include "sql/sql.h"

#include <stdio.h>

#define UPSERTS_PER_ORDER 0.2
#define DELETE_EVERY 10 /* upserts */
#define CUSTOMERS_MAX 2000
#define CUSTOMER_SHOWN 42 /* is never deleted: people are told to look it up */

static const char tables_sql[] =
    "CREATE TABLE IF NOT EXISTS orders (id BIGINT NOT NULL, customer INT, item STRING, price DECIMAL(8, 2),\n"
    "  at TIMESTAMP(3))\n"
    "  WITH ('bucket.num' = '4', 'table.datalake.enabled' = 'true', 'table.datalake.freshness' = '1s');\n"
    "CREATE TABLE IF NOT EXISTS customers (id INT NOT NULL, name STRING, city STRING, orders INT,\n"
    "  at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED)\n"
    "  WITH ('bucket.num' = '4', 'table.datalake.enabled' = 'true', 'table.datalake.freshness' = '1s');\n";

static const char *const items[] = {"tea", "coffee", "bread", "honey", "apples", "rice", "soap", "candles"};
static const char *const names[] = {"Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia"};
static const char *const cities[] = {"London", "Arlington", "Rotterdam", "Boston", "Milwaukee", "Peru", "Winterthur"};

static enum err_code make_tables(struct client *client, struct err *err)
{
    struct sql_reader reader = {.text = slice_str(tables_sql)};
    struct arena arena = {0};
    struct sql_statement statement;
    bool have = true;
    enum err_code code = OK;
    while (code == OK && have) {
        code = sql_next(&reader, &arena, &statement, &have, err);
        if (code == OK && have)
            code = client_table_create(client, client_path(SLICE("fluss"), statement.table),
                                       &statement.table_descriptor, true, err);
    }
    arena_deinit(&arena);
    return code;
}

enum err_code demo_load_open(struct demo_load *load, struct client *client, struct err *err)
{
    static const char *const tables[DEMO_TABLES] = {[DEMO_ORDERS] = "orders", [DEMO_CUSTOMERS] = "customers"};
    *load = (struct demo_load){.os = client_os(client), .seed = 1};
    TRY(make_tables(client, err));
    for (int i = 0; i < DEMO_TABLES; i++) {
        struct client_path path = client_path(SLICE("fluss"), slice_str(tables[i]));
        TRY(client_table_open(client, path, &load->tables[i], err));
        TRY(client_writer_create(load->tables[i], NULL, &load->writers[i], err));
    }
    TRY(client_row_count(load->tables[DEMO_ORDERS], &load->next_order, err));
    load->seed += (uint64_t)load->next_order;
    return OK;
}

void demo_load_close(struct demo_load *load)
{
    for (int i = 0; i < DEMO_TABLES; i++) {
        client_writer_destroy(load->writers[i]);
        client_table_unref(load->tables[i]);
    }
    *load = (struct demo_load){0};
}

static uint32_t random_below(struct demo_load *load, uint32_t n)
{
    load->seed = load->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(load->seed >> 33) % n;
}

static struct datum text_of(const char *text)
{
    return (struct datum){.bytes = slice_str(text)};
}

static struct datum now_of(const struct demo_load *load)
{
    return (struct datum){.ts = {os_wall_ms(load->os), 0}};
}

static enum err_code put_order(struct demo_load *load, struct err *err)
{
    struct datum row[5] = {{.i64 = load->next_order++},
                           {.i64 = random_below(load, CUSTOMERS_MAX)},
                           text_of(items[random_below(load, ARRAY_LEN(items))]),
                           {.decimal = 99 + random_below(load, 5000)},
                           now_of(load)};
    load->orders++;
    return client_writer_put(load->writers[DEMO_ORDERS], row, err);
}

/* New customers first, up to CUSTOMERS_MAX; then the same ones change. */
static enum err_code change_customer(struct demo_load *load, struct err *err)
{
    bool is_new = load->next_customer < CUSTOMERS_MAX && random_below(load, 2);
    int64_t id = is_new ? load->next_customer++ : random_below(load, (uint32_t)load->next_customer + 1);
    struct datum row[5] = {{.i64 = id},
                           text_of(names[random_below(load, ARRAY_LEN(names))]),
                           text_of(cities[random_below(load, ARRAY_LEN(cities))]),
                           {.i64 = random_below(load, 100)},
                           now_of(load)};
    bool is_turn = (load->upserts + load->deletes) % DELETE_EVERY == DELETE_EVERY - 1;
    if (is_turn && id != CUSTOMER_SHOWN) {
        load->deletes++;
        return client_writer_delete(load->writers[DEMO_CUSTOMERS], row, err);
    }
    load->upserts++;
    return client_writer_put(load->writers[DEMO_CUSTOMERS], row, err);
}

enum err_code demo_load_run(struct demo_load *load, double seconds, double orders_per_second, struct err *err)
{
    load->orders_due += seconds * orders_per_second;
    load->upserts_due += seconds * orders_per_second * UPSERTS_PER_ORDER;
    for (; load->orders_due >= 1; load->orders_due--)
        TRY(put_order(load, err));
    for (; load->upserts_due >= 1; load->upserts_due--)
        TRY(change_customer(load, err));
    for (int i = 0; i < DEMO_TABLES; i++)
        TRY(client_writer_flush(load->writers[i], err));
    return OK;
}
