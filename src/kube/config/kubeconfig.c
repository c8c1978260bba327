/* kubeconfig: reads files as kubectl does. */
#include "kube/config/kubeconfig.h"

#include <assert.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "kube/config/exec.h"
#include "kube/config/fields.h"

enum { MAX_CONFIG_BYTES = 4 << 20 };

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

SW_DEFINE_AUTO(sw_kube_config, sw_kube_config_free)

/* ---- one file -----------------------------------------------------------------------------------
 */

/** One kubeconfig. File names in it are relative to the folder of @path. */
struct source {
    char *path;
    struct json_object *doc;
};

/** Several of them, in the order of $KUBECONFIG: the first that sets a field wins. */
struct sources {
    struct source *list;
    size_t n, cap;
};

static void sources_done(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->list[i].path);
        (void)json_object_put(s->list[i].doc);
    }
    free(s->list);
}

static int add_text(struct sources *s, const char *path, const char *text, size_t len,
                    struct sw_err *err)
{
    static const char *const lists[] = { "clusters", "users", "contexts" };
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &doc, err);
    if (rc < 0)
        return rc;
    if (doc && !json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: a kubeconfig is a map", path);
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        struct json_object *list = sw_json_get(doc, lists[i]);
        if (list && !json_object_is_type(list, json_type_array))
            return sw_err_set(err, SW_INVALID, "%s: %s is not a list", path, lists[i]);
    }
    SW_GROW(s->list, s->n, s->cap);
    s->list[s->n++] = (struct source){ .path = sw_strdup(path), .doc = SW_TAKE(doc) };
    return 0;
}

static int add_file(struct sources *s, const char *path, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, MAX_CONFIG_BYTES, &text, &len, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "kubeconfig");
    rc = add_text(s, path, text, len, err);
    explicit_bzero(text, len);
    return rc;
}

/* ---- fields -------------------------------------------------------------------------------------
 */

/** The body of a named entry ("cluster" of clusters' 'a'), and its name for messages. */
struct entry {
    const struct source *from;
    struct json_object *body;
    const char *list;
    const char *name;
    struct sw_err *err;
};

static int bad_field(const struct entry *e, const char *field, const char *fault)
{
    return sw_err_set(e->err, SW_INVALID, "%s: %s '%s': %s: %s", e->from->path, e->list, e->name,
                      field, fault);
}

/** The first entry of that name in any file. @return 0, or SW_INVALID: there is none */
static int find_entry(const struct sources *s, const char *list, const char *body_key,
                      const char *name, struct entry *out)
{
    for (size_t i = 0; i < s->n; i++) {
        struct json_object *found = sw_json_find_by(sw_json_get(s->list[i].doc, list), "name",
                                                    name);
        if (!found)
            continue;
        out->from = &s->list[i];
        out->body = sw_json_get(found, body_key);
        out->list = list;
        out->name = name;
        return 0;
    }
    return SW_NOTFOUND;
}

static int text_field(const struct entry *e, const char *field, char **out)
{
    struct json_object *value = sw_json_get(e->body, field);
    if (!value)
        return 0;
    if (!json_object_is_type(value, json_type_string))
        return bad_field(e, field, "not text (quote it)");
    if (json_object_get_string_len(value) == 0)
        return 0;
    sw_text_set(out, json_object_get_string(value));
    return 0;
}

/** A file's name: relative to the kubeconfig's folder. */
static int file_field(const struct entry *e, const char *field, char **out)
{
    SW_AUTO_CHARS *name = NULL;
    int rc = text_field(e, field, &name);
    if (rc < 0 || !name)
        return rc;
    const char *slash = strrchr(e->from->path, '/');
    if (name[0] == '/' || !slash)
        *out = SW_TAKE(name);
    else
        *out = sw_printf("%.*s/%s", (int)(slash - e->from->path), e->from->path, name);
    return 0;
}

/** A certificate or key in base64, as Go's encoding/base64 reads it: line ends are skipped. */
static int data_field(const struct entry *e, const char *field, char **out)
{
    SW_AUTO_CHARS *text = NULL;
    int rc = text_field(e, field, &text);
    if (rc < 0 || !text)
        return rc;
    size_t len;
    char *data = sw_base64_decode(text, strlen(text), &len);
    explicit_bzero(text, strlen(text));
    if (!data || memchr(data, '\0', len)) {
        free(data);
        return bad_field(e, field, "not base64 of a text");
    }
    *out = data;
    return 0;
}

static int read_fields(const struct entry *e, enum kubeconfig_section section,
                       struct sw_kube_config *c)
{
    static int (*const readers[])(const struct entry *, const char *, char **) = {
        [F_TEXT] = text_field,
        [F_FILE] = file_field,
        [F_DATA] = data_field,
    };
    for (size_t i = 0; i < kubeconfig_n_fields; i++) {
        const struct kubeconfig_field *f = &kubeconfig_fields[i];
        int rc = f->section == section ? readers[f->form](e, f->name, kubeconfig_at(c, f)) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_cluster(const struct sources *s, const char *name, struct sw_kube_config *c,
                        struct sw_err *err)
{
    struct entry e = { .err = err };
    if (find_entry(s, "clusters", "cluster", name, &e) < 0)
        return sw_err_set(err, SW_INVALID, "%s: cluster: no cluster is called '%s'", c->source,
                          name);
    int rc = read_fields(&e, IN_CLUSTER, c);
    if (rc < 0)
        return rc;
    struct json_object *insecure = sw_json_get(e.body, "insecure-skip-tls-verify");
    if (insecure && !json_object_is_type(insecure, json_type_boolean))
        return bad_field(&e, "insecure-skip-tls-verify", "neither true nor false");
    c->insecure = json_object_get_boolean(insecure);
    return c->server ? 0 : bad_field(&e, "server", "missing");
}

/* What the cluster has for the program, or NULL. */
static struct json_object *exec_extension(const struct sources *s, const char *cluster)
{
    struct entry e = { 0 };
    if (find_entry(s, "clusters", "cluster", cluster, &e) < 0)
        return NULL;
    return sw_json_get(sw_json_find_by(sw_json_get(e.body, "extensions"), "name",
                                       "client.authentication.k8s.io/exec"),
                       "extension");
}

static int read_exec(const struct entry *e, const struct sources *s, const char *cluster,
                     struct sw_kube_config *c)
{
    struct json_object *exec = sw_json_get(e->body, "exec");
    const char *slash = strrchr(e->from->path, '/');
    SW_AUTO_CHARS *dir = slash ? sw_strndup(e->from->path, (size_t)(slash - e->from->path)) : NULL;
    SW_AUTO_CHARS *fault = exec ? sw_exec_check(exec, dir, exec_extension(s, cluster), c) : NULL;
    return fault ? bad_field(e, "exec", fault) : 0;
}

static int read_user(const struct sources *s, const char *name, const char *cluster,
                     struct sw_kube_config *c, struct sw_err *err)
{
    struct entry e = { .err = err };
    if (!name[0])
        return 0; /* anonymous */
    if (find_entry(s, "users", "user", name, &e) < 0)
        return sw_err_set(err, SW_INVALID, "%s: user: no user is called '%s'", c->source, name);
    if (sw_json_get(e.body, "auth-provider"))
        return bad_field(
            &e, "auth-provider",
            "Kubernetes has dropped it with 1.26; the provider has a program for exec");
    int rc = read_fields(&e, IN_USER, c);
    if (rc == 0)
        rc = read_exec(&e, s, cluster, c);
    struct json_object *groups = sw_json_get(e.body, "as-groups");
    if (rc < 0 || !groups)
        return rc;
    if (!json_object_is_type(groups, json_type_array))
        return bad_field(&e, "as-groups", "not a list");
    size_t n = sw_json_len(groups);
    c->as_groups = sw_zalloc(n + 1, sizeof *c->as_groups);
    for (size_t i = 0; i < n; i++) {
        const char *group = json_object_get_string(sw_json_at(groups, i));
        c->as_groups[i] = sw_strdup(group ? group : "");
    }
    return 0;
}

/* ---- the context --------------------------------------------------------------------------------
 */

static int no_context(const struct sources *s, const char *asked, struct sw_err *err)
{
    SW_AUTO_CHARS *known = sw_strdup("");
    for (size_t i = 0; i < s->n; i++) {
        struct json_object *list = sw_json_get(s->list[i].doc, "contexts");
        for (size_t c = 0; c < sw_json_len(list); c++) {
            const char *name = sw_json_str(sw_json_at(list, c), "", "name", NULL);
            sw_append(&known, "%s'%s'", known[0] ? ", " : "", name);
        }
    }
    SW_AUTO_CHARS *fault = asked ? sw_printf("no context is called '%s'", asked)
                                 : sw_strdup("current-context is not set");
    return sw_err_set(err, SW_INVALID, "%s: %s (contexts: %s)", s->list[0].path, fault,
                      sw_text_or(known, "none"));
}

static int choose(const struct sources *s, const struct sw_kubeconfig_opts *o,
                  struct sw_kube_config **out, struct sw_err *err)
{
    const char *context = o->context;
    for (size_t i = 0; i < s->n && !context; i++)
        context = sw_text_or(sw_json_str(s->list[i].doc, "", "current-context", NULL), NULL);
    struct entry e = { .err = err };
    if (!context || find_entry(s, "contexts", "context", context, &e) < 0)
        return no_context(s, context, err);
    SW_AUTO(sw_kube_config) *c = sw_kube_config_new(NULL);
    SW_AUTO_CHARS *cluster = NULL;
    SW_AUTO_CHARS *user = NULL;
    c->source = sw_printf("%s, context '%s'", e.from->path, context);
    int rc = text_field(&e, "cluster", &cluster);
    if (rc == 0)
        rc = text_field(&e, "user", &user);
    if (rc == 0)
        rc = text_field(&e, "namespace", &c->ns);
    const char *of = o->cluster ? o->cluster : cluster ? cluster : "";
    if (rc == 0)
        rc = read_cluster(s, of, c, err);
    if (rc == 0)
        rc = read_user(s, o->user ? o->user : user ? user : "", of, c, err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(c);
    return 0;
}

int sw_kubeconfig_parse(const char *path, const char *text, size_t len_bytes, const char *context,
                        struct sw_kube_config **out, struct sw_err *err)
{
    struct sources s = { 0 };
    int rc = add_text(&s, path, text, len_bytes, err);
    if (rc == 0)
        rc = choose(&s, &(struct sw_kubeconfig_opts){ .context = context }, out, err);
    sources_done(&s);
    return rc;
}

/* ---- where from ---------------------------------------------------------------------------------
 */

/** The pod's service account. @return 0 | SW_NOTFOUND: not a pod | SW_FORBIDDEN */
static int load_in_cluster(const char *dir, struct sw_kube_config **out, struct sw_err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    SW_AUTO_CHARS *token_file = sw_printf("%s/token", dir);
    if (!host || !host[0] || !port || !port[0] || access(token_file, F_OK) != 0)
        return SW_NOTFOUND;
    SW_AUTO_CHARS *ca_file = sw_printf("%s/ca.crt", dir);
    SW_AUTO_CHARS *ns_file = sw_printf("%s/namespace", dir);
    SW_AUTO_CHARS *token = NULL;
    size_t len;
    int rc = sw_file_read(token_file, MAX_CONFIG_BYTES, &token, &len, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_FORBIDDEN, "service account");
    struct sw_kube_config *c = sw_kube_config_new(NULL);
    const char *brackets = strchr(host, ':') ? "[]" : "";
    c->server = sw_printf("https://%.1s%s%s:%s", brackets, host, brackets[0] ? "]" : "", port);
    c->source = sw_strdup("the pod's service account");
    c->token_file = SW_TAKE(token_file);
    if (access(ca_file, F_OK) == 0)
        c->ca_file = SW_TAKE(ca_file);
    if (sw_file_read(ns_file, MAX_CONFIG_BYTES, &c->ns, &len, NULL) == 0)
        c->ns[strcspn(c->ns, "\r\n \t")] = '\0';
    explicit_bzero(token, strlen(token));
    *out = c;
    return 0;
}

static int find_sources(const struct sw_kubeconfig_opts *o, struct sources *s,
                        struct sw_kube_config **in_cluster, struct sw_err *err)
{
    const char *listed = sw_text_or(getenv("KUBECONFIG"), NULL);
    const char *home = getenv("HOME");
    if (o->path)
        return add_file(s, o->path, err);
    int rc = 0;
    for (const char *at = listed ? listed : ""; *at && rc == 0;) {
        size_t len = strcspn(at, ":");
        SW_AUTO_CHARS *path = sw_strndup(at, len);
        at += len + (at[len] == ':');
        if (path[0] && access(path, F_OK) == 0)
            rc = add_file(s, path, err);
    }
    if (rc < 0 || s->n)
        return rc;
    rc = load_in_cluster(o->service_account_dir ? o->service_account_dir : SERVICE_ACCOUNT_DIR,
                         in_cluster, err);
    if (rc != SW_NOTFOUND)
        return rc;
    SW_AUTO_CHARS *standard = sw_printf("%s/.kube/config", home ? home : "");
    if (!listed && access(standard, F_OK) == 0)
        return add_file(s, standard, err);
    return sw_err_set(err, SW_NOTFOUND,
                      "no cluster to talk to: no --kubeconfig is given, %s%s%s, and this is not a "
                      "pod with a service account",
                      listed ? "there is no file of KUBECONFIG=" : "there is no ",
                      listed ? listed : standard, listed ? "" : " and KUBECONFIG is not set");
}

static void replace(char **at, const char *with)
{
    if (!with)
        return;
    sw_text_set(at, with);
}

static void replace_groups(struct sw_kube_config *c, const struct sw_kubeconfig_opts *o)
{
    const char *at = o->as_groups ? o->as_groups : "";
    size_t n = *at != '\0';
    if (!n && !o->as_user)
        return;
    for (const char *p = at; *p; p++)
        n += *p == ',';
    for (char **group = c->as_groups; group && *group; group++)
        free(*group);
    free(c->as_groups);
    c->as_groups = n ? sw_zalloc(n + 1, sizeof *c->as_groups) : NULL;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strcspn(at, ",");
        c->as_groups[i] = sw_strndup(at, len);
        at += len + (at[len] == ',');
    }
}

int sw_kubeconfig_load(const struct sw_kubeconfig_opts *opts, struct sw_kube_config **out,
                       struct sw_err *err)
{
    static const struct sw_kubeconfig_opts none;
    const struct sw_kubeconfig_opts *o = opts ? opts : &none;
    struct sources s = { 0 };
    struct sw_kube_config *c = NULL;
    int rc = find_sources(o, &s, &c, err);
    if (rc == SW_NOTFOUND && o->server && !o->path && !o->context && !o->cluster && !o->user) {
        sw_err_done(err); /* the address alone will do */
        c = sw_kube_config_new(o->server);
        c->source = sw_strdup("--server");
        rc = 0;
    }
    if (rc == 0 && !c)
        rc = choose(&s, o, &c, err);
    sources_done(&s);
    if (rc < 0)
        return rc;
    assert(c);
    replace(&c->server, o->server);
    replace(&c->ns, o->ns);
    replace(&c->token, o->token);
    if (o->token) {
        json_object_put(SW_TAKE(c->exec));
        free(SW_TAKE(c->token_file));
    }
    replace_groups(c, o);
    replace(&c->as_user, o->as_user);
    *out = c;
    return 0;
}

struct json_object *sw_kubeconfig_names(const struct sw_kubeconfig_opts *opts, const char *list)
{
    static const struct sw_kubeconfig_opts none;
    struct sources s = { 0 };
    struct sw_kube_config *pod = NULL;
    struct json_object *names = json_object_new_array();
    SW_ERR(ignored);
    if (find_sources(opts ? opts : &none, &s, &pod, &ignored) < 0)
        sw_err_done(&ignored);
    sw_kube_config_free(pod);
    for (size_t i = 0; i < s.n; i++) {
        struct json_object *entries = sw_json_get(s.list[i].doc, list);
        for (size_t k = 0; k < sw_json_len(entries); k++) {
            const char *name = sw_json_str(sw_json_at(entries, k), "", "name", NULL);
            bool is_there = false;
            for (size_t n = 0; n < sw_json_len(names); n++)
                is_there = is_there || sw_streq(json_object_get_string(sw_json_at(names, n)), name);
            if (*name && !is_there)
                (void)json_object_array_add(names, json_object_new_string(name));
        }
    }
    sources_done(&s);
    return names;
}
