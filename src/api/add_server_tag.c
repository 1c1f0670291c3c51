/* ADD_SERVER_TAG and ADD_SERVER_TAG_BY_RACK: a tag tells the cluster to move buckets away from a server, and there is
 * no other server to move them to. */
#include "api/api_int.h"

enum err_code api_servers_check(const struct api_call *call, const int32_t *ids, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] != call->api->config.server_id)
            return err_set(err, ERR_SERVER_NOT_EXIST_EXCEPTION, "there is no server %d: this cluster is one server, %d",
                           ids[i], call->api->config.server_id);
    return OK;
}

enum err_code api_racks_refuse(struct err *err)
{
    return err_set(err, ERR_SERVER_NOT_EXIST_EXCEPTION, "this cluster is one server, and it has no rack");
}

enum err_code add_server_tag(struct api_call *call, struct err *err)
{
    const struct wire_add_server_tag_request *req = call->request;
    TRY(api_servers_check(call, req->server_ids, req->server_ids_count, err));
    return err_set(err, ERR_NOT_SUPPORTED, "this cluster is one server: nothing can be moved away from it");
}

enum err_code add_server_tag_by_rack(struct api_call *call, struct err *err)
{
    (void)call;
    return api_racks_refuse(err);
}
