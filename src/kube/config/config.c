/* config: a configuration's memory, and a kubeconfig written from it. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "kube/config/fields.h"

/** In the order in which sw_kubeconfig_text() writes them. */
const struct kubeconfig_field kubeconfig_fields[] = {
#define AT(member) offsetof(struct sw_kube_config, member)
    { NULL, IN_NEITHER, F_TEXT, AT(source) },
    { NULL, IN_NEITHER, F_TEXT, AT(ns) },
    { "server", IN_CLUSTER, F_TEXT, AT(server) },
    { "certificate-authority-data", IN_CLUSTER, F_DATA, AT(ca_data) },
    { "certificate-authority", IN_CLUSTER, F_FILE, AT(ca_file) },
    { "tls-server-name", IN_CLUSTER, F_TEXT, AT(tls_server_name) },
    { "proxy-url", IN_CLUSTER, F_TEXT, AT(proxy_url) },
    { "client-certificate-data", IN_USER, F_DATA, AT(cert_data) },
    { "client-certificate", IN_USER, F_FILE, AT(cert_file) },
    { "client-key-data", IN_USER, F_DATA, AT(key_data) },
    { "client-key", IN_USER, F_FILE, AT(key_file) },
    { "token", IN_USER, F_TEXT, AT(token) },
    { "tokenFile", IN_USER, F_FILE, AT(token_file) },
    { "username", IN_USER, F_TEXT, AT(username) },
    { "password", IN_USER, F_TEXT, AT(password) },
    { "as", IN_USER, F_TEXT, AT(as_user) },
};
const size_t kubeconfig_n_fields = SW_COUNT(kubeconfig_fields);
static const struct kubeconfig_field *const fields_end = kubeconfig_fields +
                                                         SW_COUNT(kubeconfig_fields);

struct sw_kube_config *sw_kube_config_new(const char *server)
{
    struct sw_kube_config *c = sw_zalloc(1, sizeof *c);
    c->server = sw_strdup(server);
    return c;
}

struct sw_kube_config *sw_kube_config_copy(const struct sw_kube_config *from)
{
    struct sw_kube_config *c = sw_zalloc(1, sizeof *c);
    for (const struct kubeconfig_field *f = kubeconfig_fields; f < fields_end; f++)
        if (*kubeconfig_at(from, f))
            *kubeconfig_at(c, f) = sw_strdup(*kubeconfig_at(from, f));
    size_t n = 0;
    while (from->as_groups && from->as_groups[n])
        n++;
    if (n)
        c->as_groups = sw_zalloc(n + 1, sizeof *c->as_groups);
    for (size_t i = 0; i < n; i++)
        c->as_groups[i] = sw_strdup(from->as_groups[i]);
    c->insecure = from->insecure;
    c->exec = json_object_get(from->exec);
    return c;
}

void sw_kube_config_free(struct sw_kube_config *c)
{
    if (!c)
        return;
    for (const struct kubeconfig_field *f = kubeconfig_fields; f < fields_end; f++) {
        char *text = *kubeconfig_at(c, f);
        if (text && f->section == IN_USER)
            explicit_bzero(text, strlen(text));
        free(text);
    }
    for (char **group = c->as_groups; group && *group; group++)
        free(*group);
    free(c->as_groups);
    json_object_put(c->exec);
    free(c);
}

static struct json_object *section_object(const struct sw_kube_config *c,
                                          enum kubeconfig_section section)
{
    struct json_object *map = json_object_new_object();
    for (const struct kubeconfig_field *f = kubeconfig_fields; f < fields_end; f++) {
        const char *text = *kubeconfig_at(c, f);
        if (!text || f->section != section)
            continue;
        size_t len = strlen(text);
        SW_AUTO_CHARS *base64 = f->form == F_DATA ? sw_base64_encode(text, len, &len) : NULL;
        (void)json_object_object_add(map, f->name, json_object_new_string(base64 ? base64 : text));
    }
    return map;
}

static struct json_object *named_list(const char *name, const char *key, struct json_object *body)
{
    struct json_object *list = json_object_new_array(), *entry = json_object_new_object();
    (void)json_object_object_add(entry, "name", json_object_new_string(name));
    (void)json_object_object_add(entry, key, body);
    (void)json_object_array_add(list, entry);
    return list;
}

char *sw_kubeconfig_text(const struct sw_kube_config *c, const char *name)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *cluster = section_object(c, IN_CLUSTER), *user = section_object(c, IN_USER);
    struct json_object *context = json_object_new_object();
    if (c->insecure)
        (void)json_object_object_add(cluster, "insecure-skip-tls-verify",
                                     json_object_new_boolean(true));
    struct json_object *groups = c->as_groups ? json_object_new_array() : NULL;
    for (char **group = c->as_groups; group && *group; group++)
        (void)json_object_array_add(groups, json_object_new_string(*group));
    if (groups)
        (void)json_object_object_add(user, "as-groups", groups);
    if (c->exec)
        (void)json_object_object_add(user, "exec", json_object_get(c->exec));
    sw_json_set_str(context, name, "cluster", NULL);
    sw_json_set_str(context, name, "user", NULL);
    if (c->ns)
        sw_json_set_str(context, c->ns, "namespace", NULL);
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Config", "kind", NULL);
    sw_json_set_str(doc, name, "current-context", NULL);
    (void)json_object_object_add(doc, "preferences", json_object_new_object());
    (void)json_object_object_add(doc, "clusters", named_list(name, "cluster", cluster));
    (void)json_object_object_add(doc, "users", named_list(name, "user", user));
    (void)json_object_object_add(doc, "contexts", named_list(name, "context", context));
    return sw_yaml_text(doc, NULL);
}
