/* The recipe of a resource or module, from where the operator takes it, with the Secrets and
 * ConfigMaps that its account may read. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/releases.h"
#include "cli/commands/takeover.h"
#include "cli/recipe/resource_chart.h"
#include "data/data.h"
#include "operator/manifests/rights_command.h"

/* Folders of the operators' images, and those of this machine that are read instead. */
static char *url_of(const struct takeover *t, struct json_object *doc)
{
    const struct {
        const char *url, *folder;
    } rows[] = { { "file:///charts", t->opts.charts }, { "file:///recipes", t->opts.recipes } };
    const char *url = sw_json_str(doc, "", "spec", "chart", "repository", "url", NULL);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const char *rest = url + strlen(rows[i].url);
        if (sw_starts_with(url, rows[i].url) && (!*rest || *rest == '/') &&
            access(url + strlen("file://"), R_OK) != 0)
            return sw_printf("file://%s%s", rows[i].folder, rest);
    }
    return sw_strdup(url);
}

char *takeover_account(const struct takeover *t, struct json_object *doc)
{
    const char *named = sw_json_str(doc, "", "spec", "serviceAccountName", NULL);
    if (!*named && (t->opts.legacy_rights || !*sw_obj_uid(doc)))
        return NULL;
    return sw_printf("system:serviceaccount:%s:%s%s", sw_releases_namespace(doc),
                     *named ? "" : SW_ACCOUNT_PREFIX, *named ? named : sw_obj_name(doc));
}

int takeover_recipe(struct takeover *t, struct json_object *doc, struct sw_recipe **out,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *url = url_of(t, doc);
    SW_AUTO_CHARS *account = takeover_account(t, doc);
    const struct sw_resource_chart chart = { .conn = &t->preview.conn,
                                             .operator_ns = t->operator_ns,
                                             .account = account,
                                             .url = url,
                                             .timeout_ms = t->opts.timeout_ms };
    return sw_resource_chart_open(&chart, doc, out, err);
}
