/* config: a configuration's memory, and a kubeconfig written from it. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/openssl.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"

/* every text of a configuration; in kubeconfig_text's order of writing */
enum section { IN_NEITHER, IN_CLUSTER, IN_USER };
static const struct {
    size_t offset;
    enum section section;
    const char *field;
    bool base64;
} texts[] = {
#define AT(member) offsetof(struct sw_kube_config, member)
    { AT(source), IN_NEITHER, NULL, false },
    { AT(ns), IN_NEITHER, NULL, false },
    { AT(server), IN_CLUSTER, "server", false },
    { AT(ca_data), IN_CLUSTER, "certificate-authority-data", true },
    { AT(ca_file), IN_CLUSTER, "certificate-authority", false },
    { AT(tls_server_name), IN_CLUSTER, "tls-server-name", false },
    { AT(proxy_url), IN_CLUSTER, "proxy-url", false },
    { AT(cert_data), IN_USER, "client-certificate-data", true },
    { AT(cert_file), IN_USER, "client-certificate", false },
    { AT(key_data), IN_USER, "client-key-data", true },
    { AT(key_file), IN_USER, "client-key", false },
    { AT(token), IN_USER, "token", false },
    { AT(token_file), IN_USER, "tokenFile", false },
    { AT(username), IN_USER, "username", false },
    { AT(password), IN_USER, "password", false },
    { AT(as_user), IN_USER, "as", false },
};

static char **text_at(const struct sw_kube_config *c, size_t i)
{
    return (char **)((char *)c + texts[i].offset);
}

struct sw_kube_config *sw_kube_config_new(const char *server)
{
    struct sw_kube_config *c = sw_zalloc(1, sizeof *c);
    c->server = server ? sw_strdup(server) : NULL;
    return c;
}

struct sw_kube_config *sw_kube_config_copy(const struct sw_kube_config *from)
{
    struct sw_kube_config *c = sw_zalloc(1, sizeof *c);
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        if (*text_at(from, i))
            *text_at(c, i) = sw_strdup(*text_at(from, i));
    size_t n = 0;
    while (from->as_groups && from->as_groups[n])
        n++;
    if (n)
        c->as_groups = sw_zalloc(n + 1, sizeof *c->as_groups);
    for (size_t i = 0; i < n; i++)
        c->as_groups[i] = sw_strdup(from->as_groups[i]);
    c->insecure = from->insecure;
    return c;
}

void sw_kube_config_free(struct sw_kube_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        char *text = *text_at(c, i);
        if (text && texts[i].section == IN_USER)
            explicit_bzero(text, strlen(text));
        free(text);
    }
    for (char **group = c->as_groups; group && *group; group++)
        free(*group);
    free(c->as_groups);
    free(c);
}

static struct json_object *base64_string(const char *text)
{
    size_t len = strlen(text);
    unsigned char *out = sw_alloc(len / 3 * 4 + 5);
    int n = EVP_EncodeBlock(out, (const unsigned char *)text, (int)len);
    struct json_object *value = json_object_new_string_len((char *)out, n);
    free(out);
    return value;
}

static struct json_object *section_object(const struct sw_kube_config *c, enum section section)
{
    struct json_object *map = json_object_new_object();
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        const char *text = *text_at(c, i);
        if (!text || texts[i].section != section)
            continue;
        (void)json_object_object_add(map, texts[i].field,
                                     texts[i].base64 ? base64_string(text)
                                                     : json_object_new_string(text));
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

int sw_kubeconfig_write(const struct sw_kube_config *c, const char *name, const char *path,
                        struct sw_err *err)
{
    SW_AUTO_CHARS *text = sw_kubeconfig_text(c, name);
    int rc = sw_file_write(path, text, strlen(text), 0600, err);
    explicit_bzero(text, strlen(text));
    return rc;
}
