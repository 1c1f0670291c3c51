/* What lookup.c and lookup_insert.c share. */
#ifndef WEIR_API_LOOKUP_INT_H
#define WEIR_API_LOOKUP_INT_H

#include "api/api_int.h"

/* The values of one bucket's part. errors: as bucket_lookup, api_answer_grow and api_key_version_check. */
MUST_CHECK enum err_code lookup_bucket(struct api_call *call, struct bucket *bucket,
                                       const struct wire_pb_lookup_req_for_bucket *req,
                                       struct wire_pb_lookup_resp_for_bucket *answer, struct err *err);
/* LOOKUP with insert_if_not_exists. errors: WOULD_BLOCK on a loop; INVALID_ARGUMENT: acks or timeout are not said;
 * INVALID_REQUIRED_ACKS; AUTHORIZATION_EXCEPTION. */
MUST_CHECK enum err_code lookup_insert(struct api_call *call, struct err *err);

#endif
