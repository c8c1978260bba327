/* Facts that single objects of the cluster hold: one row an object, one function that reads it. */
#include "operator/facts/internal.h"

#include "base/base.h"
#include "data/json/path.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

const struct sw_facts_source sw_facts_sources[] = {
    { "config.openshift.io/v1", "ClusterVersion", NULL, "version",
      "clusterVersion: the last completed update",
      .values = { "clusterVersion", "clusterUpgradeInfo" } },
    { "config.openshift.io/v1", "Proxy", NULL, "cluster", "proxy: the cluster-wide proxy",
      .values = { "proxy" } },
    { "v1", "ConfigMap", "openshift-machine-config-operator", "machine-config-osimageurl",
      "osImageURL: the image of the nodes' operating system", .values = { "osImageURL" } },
    { "image.openshift.io/v1", "ImageStream", "openshift", "driver-toolkit",
      "driverToolkitImage: the image to build kernel modules in",
      .values = { "driverToolkitImage", "clusterUpgradeInfo" } },
    { "config.openshift.io/v1", "Network", NULL, "cluster",
      "proxy: the networks of pods and services, which no proxy leads to", .values = { "proxy" } },
    { "config.openshift.io/v1", "APIServer", NULL, "cluster",
      "tlsSecurityProfile: the TLS version and cipher suites that servers are to offer",
      .values = { "tlsSecurityProfile" } },
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

static const char *string_of(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* @return whether it was something else before. NULL and "" are the same. */
static bool replace(char **field, const char *value)
{
    value = value ? value : "";
    if (sw_streq(*field ? *field : "", value))
        return false;
    sw_text_set(field, value);
    return true;
}

static bool put_version(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *history = sw_json_find(object, "status", "history", NULL);
    const char *desired = string_of(sw_json_find(object, "status", "desired", "version", NULL));
    const char *running = desired;
    /* newest first; an update that is not completed is not what runs */
    for (size_t i = 0; i < sw_json_len(history); i++) {
        struct json_object *h = sw_json_at(history, i);
        if (sw_streq(string_of(sw_json_get(h, "state")), "Completed")) {
            running = string_of(sw_json_get(h, "version"));
            break;
        }
    }
    bool changed = replace(&c->version, running);
    c->updating = desired && *desired && !sw_streq(desired, c->version ? c->version : "");
    return changed;
}

/* Append to a comma-separated list. */
static void append(char **all, const char *item)
{
    char *longer = sw_printf("%s%s%s", *all, **all ? "," : "", item);
    free(*all);
    *all = longer;
}

/* A range is written in either form: "10.0.0.0/14", {"cidr": "10.0.0.0/14"}. */
static void add_networks(char **all, struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        const char *cidr = string_of(item) ? string_of(item) : string_of(sw_json_get(item, "cidr"));
        if (cidr)
            append(all, cidr);
    }
}

static bool put_network(struct cluster_facts *c, struct json_object *object)
{
    static const char *const parts[] = { "status", "spec" };
    SW_AUTO_CHARS *all = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(parts) && !*all; i++) {
        add_networks(&all, sw_json_find(object, parts[i], "clusterNetwork", NULL));
        add_networks(&all, sw_json_find(object, parts[i], "serviceNetwork", NULL));
    }
    return replace(&c->networks, all);
}

/* Status has what is in force (with the NO_PROXY that the cluster completes), spec what was asked
 * for. */
static bool put_proxy(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *spec = sw_json_find(object, "spec", NULL),
                       *status = sw_json_find(object, "status", NULL);
    const struct {
        char **field;
        const char *key;
    } rows[] = {
        { &c->http_proxy, "httpProxy" },
        { &c->https_proxy, "httpsProxy" },
        { &c->no_proxy, "noProxy" },
    };
    bool changed = replace(&c->trusted_ca,
                           string_of(sw_json_find(spec, "trustedCA", "name", NULL)));
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const char *in_force = string_of(sw_json_find(status, rows[i].key, NULL));
        changed |= replace(rows[i].field,
                           in_force ? in_force : string_of(sw_json_find(spec, rows[i].key, NULL)));
    }
    return changed;
}

static bool set_tls(struct cluster_facts *c, const char *type, const char *min_version,
                    const char *ciphers)
{
    bool changed = replace(&c->tls_type, type);
    changed |= replace(&c->tls_min_version, min_version);
    return replace(&c->tls_ciphers, ciphers) || changed;
}

static bool put_tls(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *profile = sw_json_find(object, "spec", "tlsSecurityProfile", NULL);
    const char *type = string_of(sw_json_get(profile, "type"));
    if (!object)
        return set_tls(c, NULL, NULL, NULL);
    if (sw_streq(type, "Custom")) {
        struct json_object *custom = sw_json_get(profile, "custom"),
                           *list = sw_json_get(custom, "ciphers");
        SW_AUTO_CHARS *all = sw_strdup("");
        for (size_t i = 0; i < sw_json_len(list); i++) {
            const char *cipher = string_of(sw_json_at(list, i));
            append(&all, cipher ? cipher : "");
        }
        return set_tls(c, type, string_of(sw_json_get(custom, "minTLSVersion")), all);
    }
    size_t row = TLS_DEFAULT;
    for (size_t i = 0; i < SW_COUNT(tls_profiles); i++)
        if (sw_streq(type, tls_profiles[i].type))
            row = i;
    return set_tls(c, tls_profiles[row].type, tls_profiles[row].min_version,
                   tls_profiles[row].ciphers);
}

static bool put_os_image(struct cluster_facts *c, struct json_object *object)
{
    return replace(&c->os_image_url, string_of(sw_json_find(object, "data", "osImageURL", NULL)));
}

enum { MAX_TAG_IMAGES = 16 };

/* The newest image of each tag, and those that had it before: nodes that are not updated yet run
 * their kernels (see toolkit.c). */
static bool put_toolkit(struct cluster_facts *c, struct json_object *object)
{
    struct json_object *found = json_object_new_object(),
                       *tags = sw_json_find(object, "status", "tags", NULL);
    for (size_t i = 0; i < sw_json_len(tags); i++) {
        struct json_object *tag = sw_json_at(tags, i), *items = sw_json_find(tag, "items", NULL);
        const char *name = string_of(sw_json_find(tag, "tag", NULL));
        for (size_t k = 0; name && k < sw_json_len(items) && k < MAX_TAG_IMAGES; k++) {
            const char *image = string_of(
                sw_json_find(sw_json_at(items, k), "dockerImageReference", NULL));
            SW_AUTO_CHARS *older = sw_printf("%s#%zu", name, k); /* no tag can have that name */
            if (image)
                (void)json_object_object_add(found, k ? older : name,
                                             json_object_new_string(image));
        }
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

bool sw_facts_set_feature_gate(struct sw_facts *facts, const char *name, bool on)
{
    struct json_object *before = sw_json_get(facts->feature_gates, name);
    if (before && json_object_get_boolean(before) == on)
        return false;
    if (!facts->feature_gates)
        facts->feature_gates = json_object_new_object();
    (void)json_object_object_add(facts->feature_gates, name, json_object_new_boolean(on));
    return true;
}

bool sw_facts_is_push_secret(const char *name)
{
    return strstr(name, "builder-dockercfg") != NULL;
}
