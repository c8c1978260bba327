#pragma once
/* rest_request: from an HTTP request to struct sw_req and back to nothing. */
#include "emulator/api/rest.h"

/** Split the exchange's request; never fails: what is no resource has no `resource`. */
struct sw_req *sw_req_new(const struct sw_serve_request *request, struct sw_serve_reply *reply);
void sw_req_free(struct sw_req *req);
/** Choose the representation. @return false: nothing that is accepted can be given (406) */
bool sw_req_negotiate(struct sw_req *req);
