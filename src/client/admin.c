/* Databases and tables: what the coordinator changes and tablet servers tell. */
#include "client/client_int.h"

#include <stdlib.h>

static enum err_code coordinate(struct client *client, enum wire_key key, void *request, struct err *err)
{
    struct arena arena = {0};
    void *response = arena_zalloc(&arena, wire_api_find((int16_t)key)->response->size);
    enum err_code code = client_call(client, CLIENT_COORDINATOR, key, false, request, &arena, response, err);
    arena_deinit(&arena);
    return code;
}

enum err_code client_database_create(struct client *client, struct slice name,
                                     const struct database_descriptor *database, bool ignore_if_exists, struct err *err)
{
    struct buf json = {0};
    struct wire_create_database_request request = {.database_name = name, .ignore_if_exists = ignore_if_exists};
    if (database) {
        database_descriptor_to_json(database, &json);
        WIRE_SET(&request, database_json, buf_view(&json));
    }
    enum err_code code = coordinate(client, WIRE_CREATE_DATABASE, &request, err);
    buf_deinit(&json);
    return code;
}

enum err_code client_database_drop(struct client *client, struct slice name, bool ignore_if_not_exists, bool cascade,
                                   struct err *err)
{
    struct wire_drop_database_request request = {name, ignore_if_not_exists, cascade};
    return coordinate(client, WIRE_DROP_DATABASE, &request, err);
}

enum err_code client_table_create(struct client *client, struct client_path path, const struct table_descriptor *table,
                                  bool ignore_if_exists, struct err *err)
{
    struct buf json = {0};
    table_descriptor_to_json(table, &json);
    struct wire_create_table_request request = {{path.database, path.table}, buf_view(&json), ignore_if_exists};
    enum err_code code = coordinate(client, WIRE_CREATE_TABLE, &request, err);
    buf_deinit(&json);
    return code;
}

enum err_code client_table_drop(struct client *client, struct client_path path, bool ignore_if_not_exists,
                                struct err *err)
{
    struct wire_drop_table_request request = {{path.database, path.table}, ignore_if_not_exists};
    return coordinate(client, WIRE_DROP_TABLE, &request, err);
}

/* ---- ALTER ---- */

enum { OP_SET = 0, OP_DELETE = 1 };

static struct wire_pb_alter_config *changes_of(struct arena *arena, const struct client_alteration *alteration,
                                               size_t *count)
{
    *count = (size_t)alteration->set.count + alteration->reset_count;
    struct wire_pb_alter_config *changes = ARENA_NEW_ARRAY(arena, struct wire_pb_alter_config, *count);
    for (uint32_t i = 0; i < alteration->set.count; i++) {
        changes[i] = (struct wire_pb_alter_config){.config_key = alteration->set.items[i].key, .op_type = OP_SET};
        WIRE_SET(&changes[i], config_value, alteration->set.items[i].value);
    }
    for (uint32_t i = 0; i < alteration->reset_count; i++)
        changes[alteration->set.count + i] =
            (struct wire_pb_alter_config){.config_key = alteration->reset[i], .op_type = OP_DELETE};
    return changes;
}

static struct wire_pb_add_column *columns_of(struct arena *arena, const struct client_alteration *alteration)
{
    struct wire_pb_add_column *columns = ARENA_NEW_ARRAY(arena, struct wire_pb_add_column, alteration->column_count);
    for (uint32_t i = 0; i < alteration->column_count; i++) {
        const struct schema_column *column = &alteration->columns[i];
        struct buf json = {0};
        type_to_json(column->type, &json);
        columns[i] = (struct wire_pb_add_column){.column_name = column->name,
                                                 .data_type_json = arena_dup(arena, buf_view(&json))};
        if (column->comment.ptr)
            WIRE_SET(&columns[i], comment, column->comment);
        buf_deinit(&json);
    }
    return columns;
}

enum err_code client_table_alter(struct client *client, struct client_path path,
                                 const struct client_alteration *alteration, bool ignore_if_not_exists, struct err *err)
{
    struct arena arena = {0};
    struct wire_alter_table_request request = {.table_path = {path.database, path.table},
                                               .ignore_if_not_exists = ignore_if_not_exists,
                                               .add_columns_count = alteration->column_count};
    request.add_columns = columns_of(&arena, alteration);
    request.config_changes = changes_of(&arena, alteration, &request.config_changes_count);
    enum err_code code = coordinate(client, WIRE_ALTER_TABLE, &request, err);
    arena_deinit(&arena);
    return code;
}

enum err_code client_database_alter(struct client *client, struct slice name,
                                    const struct client_alteration *alteration, bool ignore_if_not_exists,
                                    struct err *err)
{
    struct arena arena = {0};
    struct wire_alter_database_request request = {.database_name = name, .ignore_if_not_exists = ignore_if_not_exists};
    request.config_changes = changes_of(&arena, alteration, &request.config_changes_count);
    enum err_code code = coordinate(client, WIRE_ALTER_DATABASE, &request, err);
    arena_deinit(&arena);
    return code;
}

static int compare_names(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void sorted(struct client_names *names, struct slice *items, size_t count)
{
    if (count)
        qsort(items, count, sizeof *items, compare_names);
    *names = (struct client_names){items, count};
}

enum err_code client_database_list(struct client *client, struct arena *arena, struct client_names *names,
                                   struct err *err)
{
    struct wire_list_databases_request request = {0};
    struct wire_list_databases_response response;
    TRY(client_call(client, CLIENT_TABLET, WIRE_LIST_DATABASES, true, &request, arena, &response, err));
    sorted(names, response.database_name, response.database_name_count);
    return OK;
}

enum err_code client_table_list(struct client *client, struct slice database, struct arena *arena,
                                struct client_names *names, struct err *err)
{
    struct wire_list_tables_request request = {database};
    struct wire_list_tables_response response;
    TRY(client_call(client, CLIENT_TABLET, WIRE_LIST_TABLES, true, &request, arena, &response, err));
    sorted(names, response.table_name, response.table_name_count);
    return OK;
}

enum err_code client_database_exists(struct client *client, struct slice name, bool *exists, struct err *err)
{
    struct arena arena = {0};
    struct wire_database_exists_request request = {name};
    struct wire_database_exists_response response;
    enum err_code code =
        client_call(client, CLIENT_TABLET, WIRE_DATABASE_EXISTS, true, &request, &arena, &response, err);
    if (code == OK)
        *exists = response.exists;
    arena_deinit(&arena);
    return code;
}

enum err_code client_table_exists(struct client *client, struct client_path path, bool *exists, struct err *err)
{
    struct arena arena = {0};
    struct wire_table_exists_request request = {{path.database, path.table}};
    struct wire_table_exists_response response;
    enum err_code code = client_call(client, CLIENT_TABLET, WIRE_TABLE_EXISTS, true, &request, &arena, &response, err);
    if (code == OK)
        *exists = response.exists;
    arena_deinit(&arena);
    return code;
}
