#include "operator/manifests/rights_command.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

char *sw_rights_command(struct json_object *resource, const char *ns, const char *account)
{
    const char *resource_name = sw_obj_name(resource);
    const char *chart = sw_json_str(resource, "", "spec", "chart", "name", NULL),
               *rest = account + strlen("system:serviceaccount:"), *name = strchr(rest, ':') + 1;
    char *text = sw_printf("slipway rbac %s", *chart ? chart : "RECIPE");
    SW_AUTO_CHARS *usual = sw_printf(SW_ACCOUNT_PREFIX "%s", resource_name);
    size_t ns_len = (size_t)(name - 1 - rest);
    bool is_here = strlen(ns) == ns_len && strncmp(rest, ns, ns_len) == 0;
    if (!sw_streq(resource_name, chart))
        sw_append(&text, " --name %s", resource_name);
    if (!sw_streq(resource_name, ns))
        sw_append(&text, " --namespace %s", ns);
    if (!is_here)
        sw_append(&text, " --service-account %.*s/%s", (int)ns_len, rest, name);
    else if (!sw_streq(name, usual))
        sw_append(&text, " --service-account %s", name);
    sw_append(&text, " | kubectl apply -f -");
    return text;
}
