/* Logins: docker's config.json, and Secrets of Kubernetes with it. */
#include "chart/registry/registry.h"

#include <fnmatch.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/openssl.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"

enum { MAX_CONFIG_BYTES = 4 << 20 };

struct entry {
    char *host; /* may hold wildcards */
    char *path; /* "" or "team/app" */
    char *username, *password, *identity_token, *registry_token;
    const char *source; /* one of the logins' */
};

struct sw_logins {
    int refs;
    size_t n, cap, n_sources, sources_cap;
    struct entry *entries;
    char **sources;
};

struct sw_logins *sw_logins_new(void)
{
    struct sw_logins *logins = sw_zalloc(1, sizeof *logins);
    logins->refs = 1;
    return logins;
}

struct sw_logins *sw_logins_ref(struct sw_logins *logins)
{
    if (logins)
        logins->refs++;
    return logins;
}

static void wipe(char *secret)
{
    if (secret)
        OPENSSL_cleanse(secret, strlen(secret));
    free(secret);
}

static void entry_done(struct entry *e)
{
    free(e->host);
    free(e->path);
    free(e->username);
    wipe(e->password);
    wipe(e->identity_token);
    wipe(e->registry_token);
}

void sw_logins_free(struct sw_logins *logins)
{
    if (!logins || --logins->refs)
        return;
    for (size_t i = 0; i < logins->n; i++)
        entry_done(&logins->entries[i]);
    for (size_t i = 0; i < logins->n_sources; i++)
        free(logins->sources[i]);
    free(logins->sources);
    free(logins->entries);
    free(logins);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/* "https://index.docker.io/v1/" -> "docker.io", "": old keys are addresses. */
static void read_key(const char *key, struct entry *out)
{
    const char *scheme = strstr(key, "://");
    const char *at = scheme ? scheme + 3 : key;
    size_t host_len = strcspn(at, "/");
    out->host = sw_strndup(at, host_len);
    if (sw_streq(out->host, "index.docker.io") || sw_streq(out->host, "registry-1.docker.io")) {
        sw_text_set(&out->host, "docker.io");
    }
    const char *path = at + host_len + (at[host_len] == '/');
    size_t len = sw_before_slashes(path, strlen(path), 0);
    bool version = len == 2 && path[0] == 'v' && (path[1] == '1' || path[1] == '2');
    out->path = sw_strndup(path, version ? 0 : len);
}

static char *copy_of(struct json_object *doc, const char *key)
{
    const char *text = sw_text_or(sw_json_str(doc, NULL, key, NULL), NULL);
    return sw_strdup(text);
}

static int read_entry(const char *key, struct json_object *doc, struct entry *out,
                      struct sw_err *err)
{
    const char *auth = sw_json_str(doc, "", "auth", NULL);
    size_t len;
    SW_AUTO_CHARS *pair = *auth ? sw_base64_decode(auth, strlen(auth), &len) : NULL;
    char *colon = pair ? strchr(pair, ':') : NULL;
    read_key(key, out);
    if (*auth && !colon)
        return sw_err_set(err, SW_INVALID,
                          "the entry for '%s' has an auth that is not base64 of "
                          "user:password",
                          key);
    if (colon) {
        out->username = sw_strndup(pair, (size_t)(colon - pair));
        out->password = sw_strdup(colon + 1);
        OPENSSL_cleanse(pair, len);
    }
    if (!out->username) {
        out->username = copy_of(doc, "username");
        out->password = copy_of(doc, "password");
    }
    out->identity_token = copy_of(doc, "identitytoken");
    out->registry_token = copy_of(doc, "registrytoken");
    return 0;
}

static int add_auths(struct sw_logins *logins, const char *source, struct json_object *auths,
                     struct sw_err *err)
{
    if (!json_object_is_type(auths, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: \"auths\" is not a map", source);
    char *kept = sw_strdup(source);
    SW_GROW(logins->sources, logins->n_sources, logins->sources_cap);
    logins->sources[logins->n_sources++] = kept;
    json_object_object_foreach(auths, key, doc)
    {
        SW_GROW(logins->entries, logins->n, logins->cap);
        struct entry *e = &logins->entries[logins->n++];
        *e = (struct entry){ .source = kept };
        int rc = read_entry(key, doc, e, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s", source);
        if (!e->username && !e->identity_token && !e->registry_token) { /* kept elsewhere */
            entry_done(e);
            logins->n--;
        }
    }
    return 0;
}

int sw_logins_add(struct sw_logins *logins, const char *source, const char *text, size_t len_bytes,
                  struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    struct sw_json_opts opts = { .file = source, .max_bytes = MAX_CONFIG_BYTES };
    int rc = sw_json_parse(text, len_bytes, &opts, &doc, err);
    if (rc < 0)
        return rc;
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: not a docker config.json", source);
    struct json_object *auths = NULL;
    if (json_object_object_get_ex(doc, "auths", &auths))
        return auths ? add_auths(logins, source, auths, err) : 0;
    /* the older form has none of config.json's other settings beside its registries */
    static const char *const settings[] = { "credHelpers", "credsStore", "HttpHeaders" };
    for (size_t i = 0; i < SW_COUNT(settings); i++)
        if (json_object_object_get_ex(doc, settings[i], NULL))
            return 0;
    return add_auths(logins, source, doc, err);
}

int sw_logins_add_secret(struct sw_logins *logins, struct json_object *secret, struct sw_err *err)
{
    static const char *const keys[] = { ".dockerconfigjson", ".dockercfg" };
    SW_AUTO_CHARS *source = sw_printf("Secret %s/%s", sw_obj_namespace(secret),
                                      sw_obj_name(secret));
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const char *text = sw_json_str(secret, NULL, "data", keys[i], NULL);
        size_t len;
        if (!text)
            continue;
        SW_AUTO_CHARS *config = sw_base64_decode(text, strlen(text), &len);
        if (!config)
            return sw_err_set(err, SW_INVALID, "%s: %s is not base64", source, keys[i]);
        int rc = sw_logins_add(logins, source, config, len, err);
        OPENSSL_cleanse(config, len);
        return rc;
    }
    return sw_err_set(err, SW_INVALID, "%s holds neither .dockerconfigjson nor .dockercfg", source);
}

static int add_file(struct sw_logins *logins, const char *dir, const char *name, struct sw_err *err)
{
    if (!dir || !*dir)
        return 0;
    SW_AUTO_CHARS *path = sw_printf("%s%s", dir, name);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    SW_ERR(why);
    int rc = sw_file_read(path, MAX_CONFIG_BYTES, &text, &len, &why);
    if (rc == SW_NOTFOUND)
        return 0;
    return rc < 0 ? sw_err_move(err, &why) : sw_logins_add(logins, path, text, len, err);
}

int sw_logins_add_home(struct sw_logins *logins, struct sw_err *err)
{
    const char *home = getenv("HOME"), *docker = getenv("DOCKER_CONFIG");
    int rc = add_file(logins, getenv("REGISTRY_AUTH_FILE"), "", err);
    if (rc == 0)
        rc = add_file(logins, getenv("XDG_RUNTIME_DIR"), "/containers/auth.json", err);
    if (rc == 0)
        rc = add_file(logins, home, "/.config/containers/auth.json", err);
    if (rc == 0 && docker && *docker)
        rc = add_file(logins, docker, "/config.json", err);
    else if (rc == 0)
        rc = add_file(logins, home, "/.docker/config.json", err);
    return rc;
}

/* ---- finding -----------------------------------------------------------------------------------
 */

/* How well it matches: 0 not at all, else more for a longer path, and for no wildcard. */
static size_t score(const struct entry *e, const char *host, const char *repo)
{
    size_t len = strlen(e->path);
    bool exact = sw_streq(e->host, host);
    if (!exact && (!strchr(e->host, '*') || fnmatch(e->host, host, FNM_PERIOD) != 0))
        return 0;
    if (len && (!sw_starts_with(repo, e->path) || (repo[len] && repo[len] != '/')))
        return 0;
    return 1 + len * 2 + exact;
}

bool sw_logins_find(const struct sw_logins *logins, const char *host, const char *repo,
                    struct sw_login *out)
{
    const struct entry *best = NULL;
    size_t most = 0;
    for (size_t i = 0; logins && i < logins->n; i++) {
        size_t s = score(&logins->entries[i], host, repo);
        if (s > most) {
            most = s;
            best = &logins->entries[i];
        }
    }
    if (best)
        *out = (struct sw_login){ .username = best->username,
                                  .password = best->password,
                                  .identity_token = best->identity_token,
                                  .registry_token = best->registry_token,
                                  .source = best->source };
    return best;
}

char *sw_logins_sources(const struct sw_logins *logins)
{
    char *text = NULL;
    for (size_t i = 0; logins && i < logins->n_sources; i++)
        sw_append(&text, "%s%s", i ? ", " : "", logins->sources[i]);
    return text ? text : sw_strdup("none");
}
