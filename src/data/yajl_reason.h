#pragma once
/* yajl_reason: why YAJL stopped, in its words. Internal to data. */
#include <yajl/yajl_parse.h>

#include "base/base.h"

/** @return SW_INVALID */
int sw_yajl_reason(yajl_handle yajl, struct sw_err *err);
