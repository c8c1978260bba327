#pragma once
/* protobuf: bodies as newer clients send them for built-in kinds. What is answered is JSON. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** A body of type application/vnd.kubernetes.protobuf as the document that the same client would
 * have sent as JSON, the caller's. Fields that nobody knows are left out, as servers do.
 * @return 0 | SW_INVALID | SW_NOTFOUND: no built-in kind
 * Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf; protobuf's "Encoding". */
int sw_protobuf_read(const char *bytes, size_t len, struct json_object **out,
                     struct sw_err *err) SW_CHECKED;
