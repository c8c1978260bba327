#pragma once
/* protobuf: reads the request bodies that newer clients send for built-in kinds. Answers are JSON.
 */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** Read a body of type application/vnd.kubernetes.protobuf. @out: the document that the client
 * would have sent as JSON, the caller's; unknown fields are dropped, as servers do.
 * @return 0 | SW_INVALID | SW_NOTFOUND: no built-in kind
 * Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf; protobuf's "Encoding". */
int sw_protobuf_read(const char *bytes, size_t len, struct json_object **out,
                     struct sw_err *err) SW_CHECKED;
