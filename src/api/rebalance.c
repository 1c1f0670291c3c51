/* REBALANCE, LIST_REBALANCE_PROGRESS and CANCEL_REBALANCE: one server leads all buckets. */
#include "api/api_int.h"

enum err_code rebalance(struct api_call *call, struct err *err)
{
    (void)call;
    return err_set(err, ERR_REBALANCE_FAILURE_EXCEPTION, "this cluster is one server: there is nothing to balance");
}

static enum err_code none(struct err *err)
{
    return err_set(err, ERR_NO_REBALANCE_IN_PROGRESS_EXCEPTION,
                   "no rebalance is in progress: this cluster is one server");
}

/* Who asks for any is told that there is none by an empty answer. */
enum err_code list_rebalance_progress(struct api_call *call, struct err *err)
{
    const struct wire_list_rebalance_progress_request *req = call->request;
    return req->has_rebalance_id ? none(err) : OK;
}

enum err_code cancel_rebalance(struct api_call *call, struct err *err)
{
    (void)call;
    return none(err);
}
