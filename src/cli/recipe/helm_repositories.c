#include "cli/recipe/helm_repositories.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart/fetch/fetch.h"
#include "data/data.h"

enum { MAX_BYTES = 4 << 20 };

static const char *set_in(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

char *sw_helm_repositories_path(void)
{
    const char *file = set_in("HELM_REPOSITORY_CONFIG"), *config = set_in("HELM_CONFIG_HOME"),
               *xdg = set_in("XDG_CONFIG_HOME"), *home = set_in("HOME");
    if (file)
        return sw_strdup(file);
    if (config)
        return sw_printf("%s/repositories.yaml", config);
    return xdg ? sw_printf("%s/helm/repositories.yaml", xdg)
               : sw_printf("%s/.config/helm/repositories.yaml", home ? home : "");
}

int sw_helm_repositories_read(struct json_object **out, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_helm_repositories_path(), *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len;
    *out = NULL;
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    int rc = sw_file_read(path, MAX_BYTES, &text, &len, err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &doc, err);
    if (rc == 0)
        *out = json_object_get(sw_json_get(doc, "repositories"));
    return rc;
}

const char *sw_helm_repository_url(struct json_object *list, const char *name)
{
    return sw_json_str(sw_json_find_by(list, "name", name), NULL, "url", NULL);
}

/* Without slashes at the end. */
static bool is_same(const char *a, const char *b)
{
    size_t n = sw_before_slashes(a, strlen(a), 0), m = sw_before_slashes(b, strlen(b), 0);
    return n == m && memcmp(a, b, n) == 0;
}

static struct json_object *find_url(struct json_object *list, const char *url)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (is_same(sw_json_str(sw_json_at(list, i), "", "url", NULL), url))
            return sw_json_at(list, i);
    return NULL;
}

/* NULL: not there, or "". */
static const char *text_of(struct json_object *entry, const char *field)
{
    const char *text = sw_json_str(entry, "", field, NULL);
    return *text ? text : NULL;
}

bool sw_helm_repository_auth(struct json_object *list, const char *url, struct sw_fetch_auth *out)
{
    struct json_object *entry = find_url(list, url);
    const struct sw_fetch_auth auth = {
        .username = text_of(entry, "username"),
        .password = text_of(entry, "password"),
        .url = text_of(entry, "url"),
        .pass_credentials = sw_json_bool(entry, false, "pass_credentials_all", NULL),
        .plain_http = true, /* as helm repo add was told */
        .ca_file = text_of(entry, "caFile"),
        .cert_file = text_of(entry, "certFile"),
        .key_file = text_of(entry, "keyFile"),
        .insecure = sw_json_bool(entry, false, "insecure_skip_tls_verify", NULL),
    };
    if (!auth.username && !auth.ca_file && !auth.cert_file && !auth.insecure)
        return false;
    *out = auth;
    return true;
}
