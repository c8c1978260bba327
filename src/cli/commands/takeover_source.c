/* The recipe of a resource or module, from where the operator takes it, with the Secrets and
 * ConfigMaps that its account may read. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart/fetch/fetch.h"
#include "chart/fetch/helper.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/takeover.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "operator/manifests/chart_request.h"
#include "operator/manifests/rights_command.h"

enum { RETRIES = 3, MAX_MAPS = 16 };

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

/* ---- what the cluster has for it ---------------------------------------------------------------
 */

/* The Secret that @field names; the caller's. */
static int read_secret(struct takeover *t, struct json_object *ref, const char *account,
                       const char *field, struct json_object **out, struct sw_err *err)
{
    SW_ERR(why);
    if (!*sw_json_str(ref, "", "name", NULL))
        return sw_err_set(err, SW_INVALID, "%s.secretRef.name is missing", field);
    int rc = sw_cluster_find(
        &t->preview.conn, "v1", "Secret", sw_json_str(ref, t->operator_ns, "namespace", NULL),
        sw_json_str(ref, "", "name", NULL),
        &(struct sw_request_opts){ .retries = RETRIES, .as_user = account }, out, &why);
    return rc < 0 ? sw_err_set(err, rc, "%s.secretRef: %s", field, sw_err_text(&why)) : 0;
}

/* Add the ConfigMap of @url to @maps; one that is not there, too. */
static int read_map(struct takeover *t, const char *url, const char *account,
                    struct json_object *maps, struct sw_err *err)
{
    SW_AUTO_CHARS *ns = NULL;
    SW_AUTO_CHARS *name = NULL;
    SW_AUTO_JSON *map = NULL;
    SW_ERR(why);
    int rc = sw_chart_map_split(url, &ns, &name, err);
    if (rc < 0)
        return rc;
    rc = sw_cluster_find(
        &t->preview.conn, "v1", "ConfigMap", ns, name,
        &(struct sw_request_opts){ .retries = RETRIES,
                                   .as_user = sw_streq(ns, t->operator_ns) ? NULL : account },
        &map, &why);
    if (rc < 0 && rc != SW_NOTFOUND)
        return sw_err_set(err, rc, "%s: %s", url, sw_err_text(&why));
    (void)json_object_array_add(maps, map ? SW_TAKE(map) : sw_chart_map_missing(ns, name));
    return 0;
}

/* ---- fetching ----------------------------------------------------------------------------------
 */

/* Fetch what @parts say, as often as another ConfigMap is wanted for it. */
static int fetch(struct takeover *t, struct json_object *doc, const struct sw_chart_request *parts,
                 const char *account, struct sw_recipe **out, struct sw_err *err)
{
    for (;;) {
        SW_AUTO_JSON *request = NULL;
        SW_AUTO_JSON *answer = NULL;
        SW_AUTO_CHARS *bundle = NULL;
        size_t len = 0;
        const char *charts = sw_source_charts_dir(NULL);
        int rc = sw_chart_request_make(doc, parts, &request, err);
        if (rc < 0)
            return rc;
        if (charts)
            sw_json_set_str(request, charts, "chartsDir", NULL);
        sw_json_set(request, json_object_new_boolean(sw_source_stand_ins(false)), "standIns", NULL);
        sw_json_set(request, json_object_new_int64(t->opts.timeout_ms), "timeoutMs", NULL);
        sw_fetch_do(request, sw_stand_ins, &answer, &bundle, &len);
        rc = (int)sw_json_int(answer, SW_UNAVAILABLE, "code", NULL);
        const char *want = sw_json_str(answer, NULL, "want", NULL);
        if (rc == 0)
            return sw_recipe_from_bundle(sw_json_str(answer, "", "origin", NULL), bundle, len,
                                         &(struct sw_recipe_opts){ 0 }, out, err);
        if (rc != SW_PENDING || !want)
            return sw_err_set(err, rc, "%s", sw_json_str(answer, "", "error", NULL));
        if (sw_json_len(parts->maps) >= MAX_MAPS)
            return sw_err_set(err, SW_INVALID, "too many ConfigMaps");
        rc = read_map(t, want, account, parts->maps, err);
        if (rc < 0)
            return rc;
    }
}

int takeover_recipe(struct takeover *t, struct json_object *doc, struct sw_recipe **out,
                    struct sw_err *err)
{
    struct json_object *chart = sw_json_find(doc, "spec", "chart", NULL),
                       *login = sw_json_find(chart, "repository", "secretRef", NULL),
                       *verify = sw_json_get(chart, "verify");
    SW_AUTO_CHARS *url = url_of(t, doc);
    SW_AUTO_CHARS *place = sw_fetch_chart_url(url, sw_json_str(chart, "", "name", NULL),
                                              sw_json_str(chart, "", "version", NULL), NULL);
    SW_AUTO_CHARS *account = takeover_account(t, doc);
    SW_AUTO_JSON *secret = NULL;
    SW_AUTO_JSON *keys = NULL;
    SW_AUTO_JSON *maps = json_object_new_array();
    if (!*place)
        return sw_err_set(err, SW_INVALID, "spec.chart.repository.url is missing");
    int rc = sw_fetch_check(place, err);
    if (rc == 0 && login)
        rc = read_secret(t, login, account, "spec.chart.repository", &secret, err);
    if (rc == 0 && verify)
        rc = read_secret(t, sw_json_get(verify, "secretRef"), account, SW_CHART_VERIFY, &keys, err);
    if (rc < 0)
        return rc;
    const struct sw_chart_request parts = { place, secret, keys, maps };
    return fetch(t, doc, &parts, account, out, err);
}
