#include "emulator/admission/defaults.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* Whether @map can get the field: a client may have sent something else in its place. */
static bool is_open(json_object *map, const char *key)
{
    return json_object_is_type(map, json_type_object) && !sw_json_get(map, key);
}

void sw_default(json_object *map, const char *key, json_object *value)
{
    if (is_open(map, key))
        json_object_object_add(map, key, value);
    else
        json_object_put(value);
}

void sw_default_str(json_object *map, const char *key, const char *value)
{
    if (is_open(map, key))
        json_object_object_add(map, key, json_object_new_string(value));
}

void sw_default_int(json_object *map, const char *key, int value)
{
    if (is_open(map, key))
        json_object_object_add(map, key, json_object_new_int(value));
}

void sw_default_bool(json_object *map, const char *key, bool value)
{
    if (is_open(map, key))
        json_object_object_add(map, key, json_object_new_boolean(value));
}

void sw_default_list(json_object *map, const char *key, const char *value)
{
    json_object *list = json_object_is_type(map, json_type_object)
                            ? sw_json_need_list(map, key, NULL)
                            : NULL;
    if (list && sw_json_len(list) == 0)
        json_object_array_add(list, json_object_new_string(value));
}

static void default_http_get(json_object *get)
{
    if (!get)
        return;
    sw_default_str(get, "path", "/");
    sw_default_str(get, "scheme", "HTTP");
}

static void default_probe(json_object *probe)
{
    if (!probe)
        return;
    default_http_get(sw_json_get(probe, "httpGet"));
    if (sw_json_get(probe, "grpc"))
        sw_default_str(sw_json_get(probe, "grpc"), "service", "");
    sw_default_int(probe, "timeoutSeconds", 1);
    sw_default_int(probe, "periodSeconds", 10);
    sw_default_int(probe, "successThreshold", 1);
    sw_default_int(probe, "failureThreshold", 3);
}

/* Set the version of the fieldRef of each element of @list, or of its member @outer. */
static void default_field_refs(json_object *list, const char *outer)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *item = sw_json_at(list, i);
        json_object *ref = outer ? sw_json_find(item, outer, "fieldRef", NULL)
                                 : sw_json_get(item, "fieldRef");
        if (ref)
            sw_default_str(ref, "apiVersion", "v1");
    }
}

/* Lists and maps that are empty are not stored. */
static void drop_empty(json_object *map)
{
    static const char *const keys[] = {
        "nodeSelector",
        "tolerations",
        "volumes",
        "initContainers",
        "ephemeralContainers",
        "imagePullSecrets",
        "hostAliases",
        "readinessGates",
        "topologySpreadConstraints",
        "args",
        "command",
        "env",
        "envFrom",
        "ports",
        "volumeMounts",
        "volumeDevices",
    };
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        json_object *value = sw_json_get(map, keys[i]);
        if (value && sw_json_len(value) == 0 && !json_object_is_type(value, json_type_string))
            json_object_object_del(map, keys[i]);
    }
}

static void default_container(json_object *c, bool is_pod, bool host_network)
{
    if (!json_object_is_type(c, json_type_object))
        return;
    drop_empty(c);
    sw_default(c, "resources", json_object_new_object());
    json_object *limits = sw_json_find(c, "resources", "limits", NULL);
    if (is_pod && limits) {
        json_object *requests = sw_json_need_map(c, "resources", "requests", NULL);
        json_object_object_foreach(limits, name, amount)
        {
            sw_default(requests, name, json_object_get(amount));
        }
    }
    json_object *ports = sw_json_get(c, "ports");
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        json_object *port = sw_json_at(ports, i), *number = sw_json_get(port, "containerPort");
        sw_default_str(port, "protocol", "TCP");
        if (host_network && number)
            sw_default(port, "hostPort", json_object_get(number));
    }
    default_field_refs(sw_json_get(c, "env"), "valueFrom");
    default_probe(sw_json_get(c, "livenessProbe"));
    default_probe(sw_json_get(c, "readinessProbe"));
    default_probe(sw_json_get(c, "startupProbe"));
    default_http_get(sw_json_find(c, "lifecycle", "postStart", "httpGet", NULL));
    default_http_get(sw_json_find(c, "lifecycle", "preStop", "httpGet", NULL));
    sw_default_str(c, "terminationMessagePath", "/dev/termination-log");
    sw_default_str(c, "terminationMessagePolicy", "File");
    const char *image = sw_json_str(c, "", "image", NULL), *slash = strrchr(image, '/');
    const char *tag = strchr(slash ? slash : image, ':');
    bool latest = !strchr(image, '@') && (!tag || strcmp(tag, ":latest") == 0);
    sw_default_str(c, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
}

static void default_volume(json_object *volume)
{
    static const char *const with_mode[] = { "secret", "configMap", "downwardAPI", "projected" };
    if (!json_object_is_type(volume, json_type_object))
        return;
    for (size_t i = 0; i < SW_COUNT(with_mode); i++)
        if (sw_json_get(volume, with_mode[i]))
            sw_default_int(sw_json_get(volume, with_mode[i]), "defaultMode", 420);
    default_field_refs(sw_json_find(volume, "downwardAPI", "items", NULL), NULL);
    json_object *sources = sw_json_find(volume, "projected", "sources", NULL);
    for (size_t i = 0; i < sw_json_len(sources); i++) {
        json_object *source = sw_json_at(sources, i);
        json_object *token = sw_json_get(source, "serviceAccountToken");
        if (token)
            sw_default_int(token, "expirationSeconds", 3600);
        default_field_refs(sw_json_find(source, "downwardAPI", "items", NULL), NULL);
    }
    if (sw_json_get(volume, "hostPath"))
        sw_default_str(sw_json_get(volume, "hostPath"), "type", "");
    if (json_object_object_length(volume) <= 1) /* a name and no source */
        sw_default(volume, "emptyDir", json_object_new_object());
}

void sw_default_pod_spec(json_object *spec, bool is_pod)
{
    static const char *const lists[] = { "containers", "initContainers", "ephemeralContainers" };
    if (!json_object_is_type(spec, json_type_object))
        return;
    drop_empty(spec);
    bool host_network = sw_json_bool(spec, false, "hostNetwork", NULL);
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *list = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(list); i++)
            default_container(sw_json_at(list, i), is_pod, host_network);
    }
    json_object *volumes = sw_json_get(spec, "volumes");
    for (size_t i = 0; i < sw_json_len(volumes); i++)
        default_volume(sw_json_at(volumes, i));
    json_object *account = sw_json_get(spec, "serviceAccountName");
    if (account)
        sw_default(spec, "serviceAccount", json_object_get(account));
    else if (sw_json_get(spec, "serviceAccount"))
        sw_default(spec, "serviceAccountName",
                   json_object_get(sw_json_get(spec, "serviceAccount")));
    sw_default_str(spec, "restartPolicy", "Always");
    sw_default_int(spec, "terminationGracePeriodSeconds", 30);
    sw_default_str(spec, "dnsPolicy", "ClusterFirst");
    sw_default(spec, "securityContext", json_object_new_object());
    sw_default_str(spec, "schedulerName", "default-scheduler");
    if (is_pod)
        sw_default_bool(spec, "enableServiceLinks", true);
}
