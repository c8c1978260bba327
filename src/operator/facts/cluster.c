/* Facts that single objects of the cluster hold: one row an object, one function that reads it. */
#include "operator/facts/node_groups.h"

#include "base/base.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

const struct sw_facts_source sw_facts_sources[] = {
    { "config.openshift.io/v1",
      "ClusterVersion",
      NULL,
      "version",
      "clusterVersion: the last completed update",
      { "clusterVersion", "clusterUpgradeInfo" } },
    { "config.openshift.io/v1",
      "Proxy",
      NULL,
      "cluster",
      "proxy: the cluster-wide proxy",
      { "proxy" } },
    { "v1",
      "ConfigMap",
      "openshift-machine-config-operator",
      "machine-config-osimageurl",
      "osImageURL: the image of the nodes' operating system",
      { "osImageURL" } },
    { "image.openshift.io/v1",
      "ImageStream",
      "openshift",
      "driver-toolkit",
      "driverToolkitImage: the image to build kernel modules in",
      { "driverToolkitImage", "clusterUpgradeInfo" } },
    { "config.openshift.io/v1",
      "Network",
      NULL,
      "cluster",
      "proxy: the networks of pods and services, which no proxy leads to",
      { "proxy" } },
    { "config.openshift.io/v1",
      "APIServer",
      NULL,
      "cluster",
      "tlsSecurityProfile: the TLS version and cipher suites that servers are to offer",
      { "tlsSecurityProfile" } },
    { 0 },
};
enum { SOURCE_VERSION, SOURCE_PROXY, SOURCE_OS_IMAGE, SOURCE_TOOLKIT, SOURCE_NETWORK, SOURCE_TLS };

#define TLS_13 "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256"
#define TLS_12                                                                                     \
    "ECDHE-ECDSA-AES128-GCM-SHA256,ECDHE-RSA-AES128-GCM-SHA256,ECDHE-ECDSA-AES256-GCM-SHA384,"     \
    "ECDHE-RSA-AES256-GCM-SHA384,ECDHE-ECDSA-CHACHA20-POLY1305,ECDHE-RSA-CHACHA20-POLY1305"

/* OpenShift's TLS profiles (config.openshift.io/v1 TLSSecurityProfile), which are Mozilla's
 * recommendations of version 5; without Diffie-Hellman of RSA's kind, which needs parameters that a
 * server has to bring along. The second is the default. */
static const struct {
    const char *type, *min_version, *ciphers;
} tls_profiles[] = {
    { "Old", "VersionTLS10",
      TLS_13 "," TLS_12 ",ECDHE-ECDSA-AES128-SHA256,ECDHE-RSA-AES128-SHA256,ECDHE-ECDSA-AES128-SHA,"
             "ECDHE-RSA-AES128-SHA,ECDHE-ECDSA-AES256-SHA384,ECDHE-RSA-AES256-SHA384,"
             "ECDHE-ECDSA-AES256-SHA,ECDHE-RSA-AES256-SHA,AES128-GCM-SHA256,AES256-GCM-SHA384,"
             "AES128-SHA256,AES256-SHA256,AES128-SHA,AES256-SHA" },
    { "Intermediate", "VersionTLS12", TLS_13 "," TLS_12 },
    { "Modern", "VersionTLS13", TLS_13 },
};
enum { TLS_DEFAULT = 1 };

void cluster_facts_done(struct cluster_facts *c)
{
    free(c->version);
    free(c->os_image_url);
    free(c->http_proxy);
    free(c->https_proxy);
    free(c->no_proxy);
    free(c->trusted_ca);
    free(c->networks);
    free(c->tls_type);
    free(c->tls_min_version);
    free(c->tls_ciphers);
    json_object_put(c->toolkit_tags);
    json_object_put(c->toolkits);
    *c = (struct cluster_facts){ 0 };
}

/* The value at the end of a path of keys (ends with NULL), or NULL. */
static struct json_object *dig(struct json_object *at, const char *const *keys)
{
    for (; at && *keys; keys++) {
        struct json_object *next = NULL;
        if (json_object_is_type(at, json_type_object))
            (void)json_object_object_get_ex(at, *keys, &next);
        at = next;
    }
    return at;
}
#define DIG(object, ...) dig(object, (const char *const[]){ __VA_ARGS__, NULL })

static const char *string_of(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static size_t length(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* @return whether it was something else before. NULL and "" are the same. */
static bool replace(char **field, const char *value)
{
    value = value ? value : "";
    if (sw_streq(*field ? *field : "", value))
        return false;
    free(*field);
    *field = sw_strdup(value);
    return true;
}

/* History is newest first; an update that is under way is not what runs. */
static bool put_running(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *history = DIG(object, "status", "history");
    for (size_t i = 0; i < length(history); i++) {
        struct json_object *h = json_object_array_get_idx(history, i);
        if (sw_streq(string_of(DIG(h, "state")), "Completed"))
            return replace(&c->version, string_of(DIG(h, "version")));
    }
    return replace(&c->version, string_of(DIG(object, "status", "desired", "version")));
}

static bool put_version(struct cluster_facts *c, struct json_object *object)
{
    bool changed = put_running(c, object);
    const char *wanted = string_of(DIG(object, "status", "desired", "version"));
    c->updating = wanted && *wanted && !sw_streq(wanted, c->version ? c->version : "");
    return changed;
}

/* Is the network's range written in either form: "10.0.0.0/14", {"cidr": "10.0.0.0/14"}? */
static void add_networks(char **all, struct json_object *list)
{
    for (size_t i = 0; i < length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        const char *cidr = string_of(item) ? string_of(item) : string_of(DIG(item, "cidr"));
        if (!cidr)
            continue;
        char *longer = sw_printf("%s%s%s", *all, **all ? "," : "", cidr);
        free(*all);
        *all = longer;
    }
}

static bool put_network(struct cluster_facts *c, struct json_object *object)
{
    static const char *const parts[] = { "status", "spec" };
    SW_AUTO_CHARS *all = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(parts) && !*all; i++) {
        add_networks(&all, DIG(object, parts[i], "clusterNetwork"));
        add_networks(&all, DIG(object, parts[i], "serviceNetwork"));
    }
    return replace(&c->networks, all);
}

/* Status holds what is in force (NO_PROXY completed by the cluster); spec what was asked for. */
static bool put_proxy(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *spec = DIG(object, "spec"), *status = DIG(object, "status");
    const struct {
        char **field;
        const char *key;
    } rows[] = {
        { &c->http_proxy, "httpProxy" },
        { &c->https_proxy, "httpsProxy" },
        { &c->no_proxy, "noProxy" },
    };
    bool changed = replace(&c->trusted_ca, string_of(DIG(spec, "trustedCA", "name")));
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const char *in_force = string_of(DIG(status, rows[i].key));
        changed |= replace(rows[i].field, in_force ? in_force : string_of(DIG(spec, rows[i].key)));
    }
    return changed;
}

static bool put_tls_custom(struct cluster_facts *c, struct json_object *custom)
{
    struct json_object *list = DIG(custom, "ciphers");
    SW_AUTO_CHARS *all = sw_strdup("");
    for (size_t i = 0; i < length(list); i++) {
        const char *cipher = string_of(json_object_array_get_idx(list, i));
        char *longer = sw_printf("%s%s%s", all, *all ? "," : "", cipher ? cipher : "");
        free(all);
        all = longer;
    }
    const char *version = string_of(DIG(custom, "minTLSVersion"));
    const bool changed = replace(&c->tls_min_version, version);
    return replace(&c->tls_ciphers, all) || changed;
}

static bool put_tls(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *profile = DIG(object, "spec", "tlsSecurityProfile");
    const char *type = string_of(DIG(profile, "type"));
    size_t row = TLS_DEFAULT;
    if (!object) { /* there is none: nobody says anything */
        bool gone = replace(&c->tls_type, NULL);
        gone |= replace(&c->tls_min_version, NULL);
        return replace(&c->tls_ciphers, NULL) || gone;
    }
    if (sw_streq(type, "Custom")) {
        const bool changed = replace(&c->tls_type, type);
        return put_tls_custom(c, DIG(profile, "custom")) || changed;
    }
    for (size_t i = 0; i < SW_COUNT(tls_profiles); i++)
        if (sw_streq(type, tls_profiles[i].type))
            row = i;
    bool changed = replace(&c->tls_type, tls_profiles[row].type);
    changed |= replace(&c->tls_min_version, tls_profiles[row].min_version);
    return replace(&c->tls_ciphers, tls_profiles[row].ciphers) || changed;
}

static bool put_os_image(struct cluster_facts *c, struct json_object *object)
{
    return replace(&c->os_image_url, string_of(DIG(object, "data", "osImageURL")));
}

/* The newest image of each tag (see toolkit.c). */
static bool put_toolkit(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *found = json_object_new_object(), *tags = DIG(object, "status", "tags");
    for (size_t i = 0; i < length(tags); i++) {
        struct json_object *tag = json_object_array_get_idx(tags, i), *items = DIG(tag, "items");
        const char *name = string_of(DIG(tag, "tag"));
        const char *image = length(items) ? string_of(DIG(json_object_array_get_idx(items, 0),
                                                          "dockerImageReference"))
                                          : NULL;
        if (name && image)
            (void)json_object_object_add(found, name, json_object_new_string(image));
    }
    bool changed = c->toolkit_tags ? !json_object_equal(c->toolkit_tags, found)
                                   : json_object_object_length(found) > 0;
    json_object_put(c->toolkit_tags);
    c->toolkit_tags = found;
    return changed;
}

bool sw_facts_put_source(struct sw_facts *facts, size_t i, struct json_object *object)
{
    static bool (*const readers[])(struct cluster_facts *, struct json_object *) = {
        [SOURCE_VERSION] = put_version,   [SOURCE_PROXY] = put_proxy,
        [SOURCE_OS_IMAGE] = put_os_image, [SOURCE_TOOLKIT] = put_toolkit,
        [SOURCE_NETWORK] = put_network,   [SOURCE_TLS] = put_tls,
    };
    _Static_assert(SW_COUNT(readers) + 1 == SW_COUNT(sw_facts_sources), "a reader for each source");
    return readers[i](&facts->cluster, object);
}

bool sw_facts_is_updating(const struct sw_facts *facts)
{
    return facts->cluster.updating;
}

void sw_facts_set_proxy(struct sw_facts *facts, const char *http, const char *https, const char *no)
{
    const char *const given[] = { http, https, no };
    for (size_t i = 0; i < SW_COUNT(given); i++)
        (void)replace(&facts->own_proxy[i], given[i]);
}

void sw_facts_set_openshift(struct sw_facts *facts, bool openshift)
{
    facts->openshift = openshift;
}

bool sw_facts_is_push_secret(const char *name)
{
    return strstr(name, "builder-dockercfg") != NULL;
}
