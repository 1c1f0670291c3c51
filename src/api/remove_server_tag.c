/* REMOVE_SERVER_TAG and REMOVE_SERVER_TAG_BY_RACK: none was ever added. */
#include "api/api_int.h"

enum err_code remove_server_tag(struct api_call *call, struct err *err)
{
    const struct wire_remove_server_tag_request *req = call->request;
    TRY(api_servers_check(call, req->server_ids, req->server_ids_count, err));
    return err_set(err, ERR_SEVER_TAG_NOT_EXIST_EXCEPTION, "server %d has no tag: this cluster is one server",
                   call->api->config.server_id);
}

enum err_code remove_server_tag_by_rack(struct api_call *call, struct err *err)
{
    (void)call;
    return api_racks_refuse(err);
}
