#include "data/yajl_reason.h"

#include <string.h>

/* YAJL says "parse error: trailing garbage\n": the reason is between its class and the line's end.
 */
int sw_yajl_reason(yajl_handle yajl, struct sw_err *err)
{
    unsigned char *text = yajl_get_error(yajl, 0, NULL, 0);
    const char *reason = text ? (const char *)text : "not JSON";
    const char *colon = strstr(reason, ": ");
    if (colon)
        reason = colon + 2;
    int rc = sw_err_set(err, SW_INVALID, "%.*s", (int)strcspn(reason, "\n"), reason);
    yajl_free_error(yajl, text);
    return rc;
}
