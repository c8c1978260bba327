/* The warning that comes with each answer about a deprecated version of a kind. */
#include "kube/deprecated/deprecated.h"
#include "base/base.h"
#include "emulator/api/verbs.h"

void sw_rest_warn_deprecated(struct sw_req *req)
{
    SW_AUTO_CHARS *version = sw_printf("%s%s%s", req->group, *req->group ? "/" : "", req->version);
    const struct sw_deprecated *d = sw_deprecated_find(version, req->kind->kind);
    if (!d || sw_store_minor(req->store) < d->since)
        return;
    SW_AUTO_CHARS *until = d->until ? sw_printf(", unavailable in v1.%d+", d->until)
                                    : sw_strdup("");
    sw_rest_add_warnings(req, sw_printf("%s %s is deprecated in v1.%d+%s%s%s", version, d->kind,
                                        d->since, until, d->instead ? "; use " : "",
                                        d->instead ? d->instead : ""));
}
