#pragma once
/* base64 for functions that take encoded arguments. */
#include "chart/template/lang/function.h"

/** Put into @out the bytes that the base64 text @s stands for, made in the render's arena.
 * @return 0 | SW_INVALID, the call's error is set */
int sw_base64_bytes(struct call *c, struct sw_value s, struct sw_value *out);
