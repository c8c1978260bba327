#include "cli/recipe/resource_chart.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "chart/fetch/fetch.h"
#include "chart/fetch/helper.h"
#include "cli/cluster/requests.h"
#include "cli/recipe/source_flags.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "operator/manifests/chart_request.h"

enum { RETRIES = 3, MAX_MAPS = 16 };

/* ---- what the cluster has for it ---------------------------------------------------------------
 */

/* The Secret that @field names; the caller's. */
static int read_secret(const struct sw_resource_chart *c, struct json_object *ref,
                       const char *field, struct json_object **out, struct sw_err *err)
{
    SW_ERR(why);
    if (!*sw_json_str(ref, "", "name", NULL))
        return sw_err_set(err, SW_INVALID, "%s.secretRef.name is missing", field);
    int rc = sw_cluster_find(
        c->conn, "v1", "Secret", sw_json_str(ref, c->operator_ns, "namespace", NULL),
        sw_json_str(ref, "", "name", NULL),
        &(struct sw_request_opts){ .retries = RETRIES, .as_user = c->account }, out, &why);
    return rc < 0 ? sw_err_set(err, rc, "%s.secretRef: %s", field, sw_err_text(&why)) : 0;
}

/* Add the ConfigMap of @url to @maps; one that is not there, too. */
static int read_map(const struct sw_resource_chart *c, const char *url, struct json_object *maps,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *ns = NULL;
    SW_AUTO_CHARS *name = NULL;
    SW_AUTO_JSON *map = NULL;
    SW_ERR(why);
    int rc = sw_chart_map_split(url, &ns, &name, err);
    if (rc < 0)
        return rc;
    rc = sw_cluster_find(
        c->conn, "v1", "ConfigMap", ns, name,
        &(struct sw_request_opts){ .retries = RETRIES,
                                   .as_user = sw_streq(ns, c->operator_ns) ? NULL : c->account },
        &map, &why);
    if (rc < 0 && rc != SW_NOTFOUND)
        return sw_err_set(err, rc, "%s: %s", url, sw_err_text(&why));
    (void)json_object_array_add(maps, map ? SW_TAKE(map) : sw_chart_map_missing(ns, name));
    return 0;
}

/* ---- fetching ----------------------------------------------------------------------------------
 */

/* Fetch what @parts say, as often as another ConfigMap is wanted for it. */
static int fetch(const struct sw_resource_chart *c, struct json_object *doc,
                 const struct sw_chart_request *parts, struct sw_recipe **out, struct sw_err *err)
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
        sw_json_set(request, json_object_new_int64(c->timeout_ms), "timeoutMs", NULL);
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
        rc = read_map(c, want, parts->maps, err);
        if (rc < 0)
            return rc;
    }
}

int sw_resource_chart_open(const struct sw_resource_chart *c, struct json_object *doc,
                           struct sw_recipe **out, struct sw_err *err)
{
    struct json_object *chart = sw_json_find(doc, "spec", "chart", NULL),
                       *login = sw_json_find(chart, "repository", "secretRef", NULL),
                       *verify = sw_json_get(chart, "verify");
    const char *url = c->url ? c->url : sw_json_str(chart, "", "repository", "url", NULL);
    SW_AUTO_CHARS *place = sw_fetch_chart_url(url, sw_json_str(chart, "", "name", NULL),
                                              sw_json_str(chart, "", "version", NULL), NULL);
    SW_AUTO_JSON *secret = NULL;
    SW_AUTO_JSON *keys = NULL;
    SW_AUTO_JSON *maps = json_object_new_array();
    if (!*place)
        return sw_err_set(err, SW_INVALID, "spec.chart.repository.url is missing");
    int rc = sw_fetch_check(place, err);
    if (rc == 0 && login)
        rc = read_secret(c, login, "spec.chart.repository", &secret, err);
    if (rc == 0 && verify)
        rc = read_secret(c, sw_json_get(verify, "secretRef"), SW_CHART_VERIFY, &keys, err);
    if (rc < 0)
        return rc;
    const struct sw_chart_request parts = { place, secret, keys, maps };
    return fetch(c, doc, &parts, out, err);
}
