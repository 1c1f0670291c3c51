#include "api/api_int.h"

static size_t seen_only(struct api_call *call, struct database_info *items, size_t count)
{
    size_t seen = 0;
    for (size_t i = 0; i < count; i++)
        if (api_may_database(call, ACL_DESCRIBE, items[i].name))
            items[seen++] = items[i];
    return seen;
}

enum err_code list_databases(struct api_call *call, struct err *err)
{
    const struct wire_list_databases_request *req = call->request;
    struct wire_list_databases_response *resp = call->response;
    struct database_info *items;
    size_t count;
    (void)err;
    meta_database_list(call->api->config.meta, &call->arena, &items, &count);
    count = seen_only(call, items, count);
    /* With a summary the plain names stay away: stock clients read one or the other. */
    if (req->include_summary) {
        resp->database_summary = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_database_summary, count);
        resp->database_summary_count = count;
        for (size_t i = 0; i < count; i++)
            resp->database_summary[i] =
                (struct wire_pb_database_summary){items[i].name, items[i].created_ms, items[i].table_count};
        return OK;
    }
    resp->database_name = ARENA_NEW_ARRAY(&call->arena, struct slice, count);
    resp->database_name_count = count;
    for (size_t i = 0; i < count; i++)
        resp->database_name[i] = items[i].name;
    return OK;
}
