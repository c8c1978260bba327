/* The document that templates see as .Values besides a chart's own. Its names and form are SRO's.
 */
#include "operator/facts/internal.h"

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *name;
} group_names[] = {
    { "driverBuild", "driver-build" },
    { "driverContainer", "driver-container" },
    { "runtimeEnablement", "runtime-enablement" },
    { "devicePlugin", "device-plugin" },
    { "deviceMonitoring", "device-monitoring" },
    { "deviceDashboard", "device-dashboard" },
    { "deviceFeatureDiscovery", "device-feature-discovery" },
    { "csiDriver", "csi-driver" },
};

static void put(struct json_object *object, const char *key, const char *value)
{
    (void)json_object_object_add(object, key, json_object_new_string(value ? value : ""));
}

static struct json_object *upgrade_info(const struct sw_facts *facts, const struct sw_group *g)
{
    SW_AUTO_CHARS *cluster = facts_major_minor(facts->cluster.version ? facts->cluster.version
                                                                      : "");
    struct json_object *info = json_object_new_object(), *toolkit = json_object_new_object();
    put(info, "OSVersion", g->os.decimal);
    put(info, "OSMajor", g->os.major);
    put(info, "OSMajorMinor", g->os.major_minor);
    put(info, "clusterVersion", cluster);
    bool realtime = strstr(g->kernel, ".rt") || strstr(g->kernel, "+rt") ||
                    strstr(g->kernel, "-rt");
    struct json_object *known;
    put(toolkit, "imageURL", toolkit_find(facts, g, &known));
    put(toolkit, "kernelFullVersion",
        sw_json_str(known, realtime ? "" : g->kernel, "kernel", NULL));
    put(toolkit, "RTKernelFullVersion",
        sw_json_str(known, realtime ? g->kernel : "", "rtKernel", NULL));
    put(toolkit, "OSVersion", sw_json_str(known, g->os.decimal, "osVersion", NULL));
    (void)json_object_object_add(info, "driverToolkit", toolkit);
    return info;
}

static bool lists_item(const char *list, const char *item, size_t len)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == len && !memcmp(at, item, len))
            return true;
    return false;
}

/* "a,b" and "b,c" give "a,b,c". */
static void join(char **list, const char *more)
{
    for (const char *at = more; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t len = strcspn(at, ",");
        if (!len || lists_item(*list, at, len))
            continue;
        char *longer = sw_printf("%s%s%.*s", *list, **list ? "," : "", (int)len, at);
        free(*list);
        *list = longer;
    }
}

/* Both spellings: SRO's own, and the one of OpenShift's Proxy object that recipes were written
 * with. */
static struct json_object *proxy(const struct sw_facts *facts)
{
    const struct cluster_facts *c = &facts->cluster;
    bool given = (c->http_proxy && *c->http_proxy) || (c->https_proxy && *c->https_proxy);
    const char *http = given ? c->http_proxy : facts->own_proxy[0],
               *https = given ? c->https_proxy : facts->own_proxy[1],
               *no = given ? c->no_proxy : facts->own_proxy[2];
    struct json_object *object = json_object_new_object();
    put(object, "httpProxy", http);
    put(object, "httpsProxy", https);
    put(object, "noProxy", no);
    put(object, "trustedCA", c->trusted_ca);
    put(object, "HttpProxy", http);
    put(object, "HttpsProxy", https);
    put(object, "NoProxy", no);
    put(object, "TrustedCA", c->trusted_ca);
    if ((http && *http) || (https && *https)) {
        /* what pods must reach without it: what the cluster says, its services, its networks */
        SW_AUTO_CHARS *whole = sw_strdup(no ? no : "");
        join(&whole, ".svc,.cluster.local,localhost,127.0.0.1");
        join(&whole, c->networks ? c->networks : "");
        put(object, "wholeNoProxy", whole);
    }
    return object;
}

/* {state: what it observes of somebody else's}, as the status says; the caller's. */
static struct json_object *observed_states(struct json_object *status)
{
    struct json_object *states = sw_json_get(status, "states"), *map = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *observes = sw_json_str(state, "", "observes", NULL);
        if (*observes)
            put(map, sw_json_str(state, "", "name", NULL), observes);
    }
    return map;
}

struct json_object *sw_facts_values(const struct sw_facts *facts, const struct sw_facts_ask *ask)
{
    const struct sw_groups *groups = ask->groups;
    const struct sw_group *g = ask->group;
    if (!g && groups && groups->n)
        g = groups->items[0];
    struct json_object *values = json_object_new_object(), *names = json_object_new_object(),
                       *upgrades = json_object_new_object(), *known;
    SW_AUTO_CHARS *patch = sw_kernel_patch_version(g ? g->kernel : "");
    put(values, "kind", "Values");
    put(values, "operatingSystemMajor", g ? g->os.major : "");
    put(values, "operatingSystemMajorMinor", g ? g->os.major_minor : "");
    put(values, "operatingSystemDecimal", g ? g->os.decimal : "");
    put(values, "kernelFullVersion", g ? g->kernel : "");
    put(values, "kernelPatchVersion", patch);
    put(values, "driverToolkitImage", toolkit_find(facts, g, &known));
    put(values, "platform", facts->openshift ? "OCP" : "K8S");
    if (facts->feature_gates)
        (void)json_object_object_add(values, SW_FACT_FEATURE_GATES,
                                     sw_json_copy(facts->feature_gates));
    SW_AUTO_CHARS *minor = facts_major_minor(facts->cluster.version ? facts->cluster.version : "");
    put(values, "clusterVersion", facts->cluster.version);
    put(values, "clusterVersionMajorMinor", minor);
    for (size_t i = 0; groups && i < groups->n; i++)
        (void)json_object_object_add(upgrades, groups->items[i]->kernel,
                                     upgrade_info(facts, groups->items[i]));
    (void)json_object_object_add(values, "clusterUpgradeInfo", upgrades);
    put(values, "pushSecretName", ask->push_secret);
    put(values, "osImageURL", facts->cluster.os_image_url);
    (void)json_object_object_add(values, "proxy", proxy(facts));
    if (facts->cluster.tls_type && *facts->cluster.tls_type) {
        struct json_object *profile = json_object_new_object();
        put(profile, "type", facts->cluster.tls_type);
        put(profile, "minTLSVersion", facts->cluster.tls_min_version);
        put(profile, "cipherSuites", facts->cluster.tls_ciphers);
        (void)json_object_object_add(values, "tlsSecurityProfile", profile);
    }
    for (size_t i = 0; i < SW_COUNT(group_names); i++)
        put(names, group_names[i].key, group_names[i].name);
    (void)json_object_object_add(values, "groupName", names);
    SW_AUTO_JSON *observed = observed_states(ask->status);
    if (json_object_object_length(observed))
        (void)json_object_object_add(values, "observedStates", SW_TAKE(observed));
    if (ask->resource)
        (void)json_object_object_add(values, "specialresource", json_object_get(ask->resource));
    return values;
}
