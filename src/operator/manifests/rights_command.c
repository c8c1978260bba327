#include "operator/manifests/rights_command.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* What is said where the resource is not named after its chart, or not as its namespace. */
static void add_names(char **text, struct json_object *resource, const char *ns)
{
    const char *name = sw_obj_name(resource);
    if (!sw_streq(name, sw_json_str(resource, "", "spec", "chart", "name", NULL)))
        sw_append(text, " --name %s", name);
    if (!sw_streq(name, ns))
        sw_append(text, " --namespace %s", ns);
}

char *sw_rights_recipe(struct json_object *resource, const char *ns)
{
    static const char scheme[] = "file://";
    const char *url = sw_json_str(resource, "", "spec", "chart", "repository", "url", NULL),
               *path = url + sizeof scheme - 1;
    if (!sw_starts_with(url, scheme) || strchr(path, '\'') || strchr(path, '%'))
        return NULL;
    const bool is_plain = !strpbrk(path, " \t\"\\$`*?[](){}<>|&;!#~");
    char *text = sw_printf("%s%s%s", is_plain ? "" : "'", path, is_plain ? "" : "'");
    add_names(&text, resource, ns);
    return text;
}

char *sw_rights_command(struct json_object *resource, const char *ns, const char *account)
{
    const char *resource_name = sw_obj_name(resource);
    const char *chart = sw_json_str(resource, "", "spec", "chart", "name", NULL),
               *rest = account + strlen("system:serviceaccount:"), *name = strchr(rest, ':') + 1;
    char *text = sw_printf("slipway rbac %s", *chart ? chart : "RECIPE");
    SW_AUTO_CHARS *usual = sw_printf(SW_ACCOUNT_PREFIX "%s", resource_name);
    size_t ns_len = (size_t)(name - 1 - rest);
    bool is_here = strlen(ns) == ns_len && strncmp(rest, ns, ns_len) == 0;
    add_names(&text, resource, ns);
    if (!is_here)
        sw_append(&text, " --service-account %.*s/%s", (int)ns_len, rest, name);
    else if (!sw_streq(name, usual))
        sw_append(&text, " --service-account %s", name);
    sw_append(&text, " | kubectl apply -f -");
    return text;
}
