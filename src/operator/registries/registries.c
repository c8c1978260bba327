/* Reading what the cluster and the machine say about registries. */
#include "operator/registries/access.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/registry/lookup.h"
#include "chart/registry/registry.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"

enum { FRESH_MS = 30000, MAX_FILE_BYTES = 4 << 20, MAX_WAITING = 16, MAX_WARNED = 64 };
enum { MAX_LAYERS = 256, MAX_LAYERS_BYTES = 1 << 20 }; /* of a namespace; of all, as text */

struct sw_registries {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_registries_opts opts; /* strings owned */
    struct sw_mirrors *mirrors;     /* for rendering; NULL: not read yet */
    struct json_object *layers;     /* by namespace, so that none tells another what an image has */
    size_t layers_bytes;
    struct group *groups; /* question.c */
    struct sw_access *open;
    int64_t login_at_ms, all_at_ms; /* when they were read; 0: never */
    struct json_object *warned;     /* what was logged already: a map */
    /* as last read */
    struct json_object *pull_secret, *ca_bundle, *ca_by_host;
    struct json_object *policies; /* a list of them */
};

/* One question on its way: which of which access. */
struct slot {
    struct sw_access *a;
    size_t i;
    struct sw_kube_request *req;
};

struct sw_access {
    struct sw_registries *r;
    struct sw_access *next, **prev;
    access_fn *fn;
    sw_registries_read_fn *read; /* instead */
    void *arg;
    char *ns;
    enum sw_access_scope scope, reads;
    bool waits; /* until another one has read the cluster's settings */
    struct slot slots[MAX_WAITING];
    int n_waiting;
    struct sw_timer *timer;
    struct json_object *secrets; /* of the namespace */
    /* of the cluster, as it is being read */
    struct json_object *pull_secret, *ca_bundle, *image, *ca_by_host, *policies;
};

/* ---- life --------------------------------------------------------------------------------------
 */

struct sw_registries *sw_registries_new(struct sw_loop *loop, struct sw_kube *kube,
                                        const struct sw_registries_opts *opts)
{
    struct sw_registries *r = sw_zalloc(1, sizeof *r);
    r->loop = loop;
    r->kube = kube;
    if (opts)
        r->opts = *opts;
    r->opts.conf = sw_strdup(r->opts.conf ? r->opts.conf : getenv("SLIPWAY_REGISTRIES_CONF"));
    r->opts.ca_file = sw_strdup(r->opts.ca_file);
    if (!r->opts.fresh_ms)
        r->opts.fresh_ms = FRESH_MS;
    r->layers = json_object_new_object();
    r->policies = json_object_new_array();
    r->warned = json_object_new_object();
    return r;
}

void sw_registries_free(struct sw_registries *r)
{
    if (!r)
        return;
    while (r->open)
        sw_access_close(r->open);
    sw_mirrors_free(r->mirrors);
    json_object_put(r->layers);
    json_object_put(r->pull_secret);
    json_object_put(r->ca_bundle);
    json_object_put(r->ca_by_host);
    json_object_put(r->policies);
    free((char *)r->opts.conf);
    free((char *)r->opts.ca_file);
    json_object_put(r->warned);
    free(r);
}

const struct sw_mirrors *sw_registries_mirrors(const struct sw_registries *r)
{
    return r->mirrors;
}

void sw_access_close(struct sw_access *a)
{
    if (!a)
        return;
    *a->prev = a->next;
    if (a->next)
        a->next->prev = a->prev;
    for (struct sw_access *other = a->r->open; other && a->reads; other = other->next)
        if (other->waits)
            sw_timer_set(other->timer, 0);
    for (size_t i = 0; i < MAX_WAITING; i++)
        sw_kube_cancel(a->slots[i].req);
    sw_timer_free(a->timer);
    json_object_put(a->secrets);
    json_object_put(a->pull_secret);
    json_object_put(a->ca_bundle);
    json_object_put(a->image);
    json_object_put(a->ca_by_host);
    json_object_put(a->policies);
    free(a->ns);
    free(a);
}

/* Log each text once: the settings are read again and again. */
static void warn(struct sw_registries *r, const char *message)
{
    if (sw_json_get(r->warned, message) || sw_json_len(r->warned) >= MAX_WARNED)
        return;
    (void)json_object_object_add(r->warned, message, json_object_new_boolean(true));
    sw_log(SW_LOG_WARN, "registry settings", "problem", message, NULL);
}

/* ---- what lookups tell -------------------------------------------------------------------------
 */

struct json_object *access_layers(const struct sw_registries *r, const char *ns)
{
    return sw_json_get(r->layers, ns ? ns : "");
}

void access_learn(struct sw_registries *r, const char *ns, struct json_object *answer)
{
    struct json_object *fresh = sw_json_get(answer, "layers"),
                       *warnings = sw_json_get(answer, "warnings");
    for (size_t i = 0; i < sw_json_len(warnings); i++)
        warn(r, sw_json_str(sw_json_at(warnings, i), "", NULL));
    if (!sw_json_len(fresh))
        return;
    SW_AUTO_CHARS *text = sw_json_text(fresh, SW_JSON_PLAIN, NULL);
    if ((r->layers_bytes += strlen(text)) > MAX_LAYERS_BYTES) {
        json_object_put(r->layers);
        r->layers = json_object_new_object();
        r->layers_bytes = strlen(text);
    }
    if (sw_json_len(access_layers(r, ns)) >= MAX_LAYERS)
        (void)sw_json_del(r->layers, ns ? ns : "", NULL);
    struct json_object *known = sw_json_need_list(r->layers, ns ? ns : "", NULL);
    for (size_t i = 0; i < sw_json_len(fresh) && sw_json_len(known) < MAX_LAYERS; i++)
        (void)json_object_array_add(known, sw_json_copy(sw_json_at(fresh, i)));
}

struct group **access_groups(struct sw_registries *r)
{
    return &r->groups;
}

struct sw_fetch_queue *access_fetches(const struct sw_registries *r)
{
    return r->opts.fetches;
}

struct sw_loop *access_loop(const struct sw_registries *r)
{
    return r->loop;
}

/* ---- putting it together -----------------------------------------------------------------------
 */

/* Pull secrets alone: others have other types. */
static void add_secrets(const struct sw_access *a, struct json_object *lookup)
{
    struct json_object *list = sw_json_need_list(lookup, "secrets", NULL);
    for (size_t i = 0; i < sw_json_len(a->secrets); i++) {
        struct json_object *secret = sw_json_at(a->secrets, i);
        if (sw_starts_with(sw_json_str(secret, "", "type", NULL), "kubernetes.io/dockerc"))
            (void)json_object_array_add(list, json_object_get(secret));
    }
    if (a->r->pull_secret)
        (void)json_object_array_add(list, json_object_get(a->r->pull_secret));
}

static void add_cas(struct sw_registries *r, struct json_object *lookup)
{
    SW_AUTO_CHARS *file = NULL;
    size_t len;
    SW_ERR(why);
    if (r->opts.ca_file && sw_file_read(r->opts.ca_file, MAX_FILE_BYTES, &file, &len, &why) < 0)
        warn(r, sw_err_text(&why));
    SW_AUTO_CHARS *cas = sw_printf(
        "%s\n%s", sw_json_str(r->ca_bundle, "", "data", "ca-bundle.crt", NULL), file ? file : "");
    struct json_object *by_host = sw_json_get(r->ca_by_host, "data");
    if (strstr(cas, "BEGIN"))
        sw_json_set_str(lookup, cas, "caData", NULL);
    if (by_host)
        sw_json_set(lookup, json_object_get(by_host), "caByHost", NULL);
}

static struct json_object *make_lookup(struct sw_access *a)
{
    struct sw_registries *r = a->r;
    struct json_object *lookup = json_object_new_object();
    if (r->opts.conf)
        sw_json_set_str(lookup, r->opts.conf, "registriesConf", NULL);
    if (r->opts.home_logins)
        sw_json_set(lookup, json_object_new_boolean(true), "homeLogins", NULL);
    sw_json_set(lookup, json_object_get(r->policies), "policies", NULL);
    sw_json_set(lookup, json_object_new_int64(r->opts.retry_ms), "retryMs", NULL);
    add_secrets(a, lookup);
    add_cas(r, lookup);
    return lookup;
}

static void replace(struct json_object **field, struct json_object **by)
{
    json_object_put(*field);
    *field = SW_TAKE(*by);
}

static void finish(struct sw_access *a)
{
    struct sw_registries *r = a->r;
    if (a->reads >= SW_ACCESS_LOGIN) {
        replace(&r->pull_secret, &a->pull_secret);
        r->login_at_ms = sw_loop_now_ms(r->loop);
    }
    if (a->reads == SW_ACCESS_ALL) {
        replace(&r->ca_bundle, &a->ca_bundle);
        replace(&r->ca_by_host, &a->ca_by_host);
        if (a->image)
            (void)json_object_array_add(a->policies, json_object_get(a->image));
        replace(&r->policies, &a->policies);
        r->all_at_ms = r->login_at_ms;
    }
    SW_AUTO_JSON *lookup = make_lookup(a);
    struct sw_mirrors *mirrors = NULL;
    SW_ERR(err);
    int rc = sw_registry_lookup_mirrors(lookup, &mirrors, &err);
    if (rc == 0 && a->scope == SW_ACCESS_ALL) { /* the policies have been read, too */
        sw_mirrors_free(r->mirrors);
        r->mirrors = SW_TAKE(mirrors);
    }
    sw_mirrors_free(mirrors);
    const char *message = rc < 0 ? sw_err_text(&err) : NULL;
    sw_registries_read_fn *read = a->read;
    access_fn *fn = a->fn;
    void *arg = a->arg;
    sw_access_close(a);
    if (read)
        read(rc, message, arg);
    else
        fn(rc, message, rc < 0 ? NULL : SW_TAKE(lookup), arg);
}

/* ---- asking the cluster ------------------------------------------------------------------------
 */

/* What is asked of a cluster, and where it goes. */
static const struct question {
    const char *api_version, *kind, *ns, *name; /* name NULL: the list */
    size_t field;
} questions[] = {
    { "v1", "Secret", "openshift-config", "pull-secret", offsetof(struct sw_access, pull_secret) },
    { "v1", "ConfigMap", "openshift-config", "user-ca-bundle",
      offsetof(struct sw_access, ca_bundle) },
    { "config.openshift.io/v1", "Image", NULL, "cluster", offsetof(struct sw_access, image) },
    { "operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", NULL, NULL,
      offsetof(struct sw_access, policies) },
    { "config.openshift.io/v1", "ImageDigestMirrorSet", NULL, NULL,
      offsetof(struct sw_access, policies) },
    { "config.openshift.io/v1", "ImageTagMirrorSet", NULL, NULL,
      offsetof(struct sw_access, policies) },
};

enum { Q_LOGIN = 0, Q_IMAGE = 2, Q_NAMESPACE = SW_COUNT(questions), Q_TRUSTED };
_Static_assert((int)Q_TRUSTED < (int)MAX_WAITING, "a slot for each question");

static void ask(struct sw_access *a, size_t i, const char *api_version, const char *kind_name,
                const char *ns, const char *name);

static void on_answer(const struct sw_kube_answer *answer, void *arg)
{
    struct slot *slot = arg;
    struct sw_access *a = slot->a;
    size_t i = slot->i;
    if (answer->code < 0 && answer->code != SW_NOTFOUND)
        warn(a->r, sw_err_text(answer->err));
    if (answer->code == 0 && answer->items) {
        struct json_object *to = i == Q_NAMESPACE ? a->secrets : a->policies;
        for (size_t k = 0; k < sw_json_len(answer->items); k++) {
            struct json_object *item = sw_json_copy(sw_json_at(answer->items, k));
            if (i < SW_COUNT(questions)) /* not every server sends the kind of a list's items */
                sw_json_set_str(item, questions[i].kind, "kind", NULL);
            (void)json_object_array_add(to, item);
        }
    } else if (answer->code == 0) {
        struct json_object **to = i == Q_TRUSTED
                                      ? &a->ca_by_host
                                      : (struct json_object **)((char *)a + questions[i].field);
        json_object_put(*to);
        *to = json_object_get(answer->object);
    }
    if (answer->more)
        return;
    slot->req = NULL;
    /* the image configuration names a ConfigMap, which is read next */
    const char *name = sw_json_str(a->image, "", "spec", "additionalTrustedCA", "name", NULL);
    if (i == Q_IMAGE && *name)
        ask(a, Q_TRUSTED, "v1", "ConfigMap", "openshift-config", name);
    if (--a->n_waiting == 0)
        finish(a);
}

enum { MAX_ANSWER = 8 << 20 }; /* in memory: of the Secrets of a namespace, too */

/* Pull secrets have two types; these are what else there is many of. */
static const char no_tokens[] = "type!=Opaque,type!=kubernetes.io/service-account-token";

static void ask(struct sw_access *a, size_t i, const char *api_version, const char *kind_name,
                const char *ns, const char *name)
{
    struct sw_kube *kube = a->r->kube;
    const struct sw_kind *kind = sw_kube_kind_find(kube, api_version, kind_name);
    if (!kind)
        return;
    struct slot *slot = &a->slots[i];
    *slot = (struct slot){ .a = a, .i = i };
    const struct sw_request_opts *opts = REQUEST_OWN(
        FACTS, .retries = 2, .field_selector = i == Q_NAMESPACE ? no_tokens : NULL,
        .max_tree_bytes = MAX_ANSWER);
    a->n_waiting++;
    slot->req = name ? sw_kube_get(kube, kind, ns, name, opts, on_answer, slot)
                     : sw_kube_list(kube, kind, ns, opts, on_answer, slot);
}

/* Is another one reading what @a would? */
static bool is_being_read(const struct sw_access *a)
{
    for (const struct sw_access *other = a->r->open; other; other = other->next)
        if (other->reads && other->reads >= a->scope)
            return true;
    return false;
}

static void on_timer(void *arg)
{
    struct sw_access *a = arg;
    struct sw_registries *r = a->r;
    int64_t at_ms = a->scope == SW_ACCESS_ALL ? r->all_at_ms : r->login_at_ms;
    bool fresh = at_ms && sw_loop_now_ms(r->loop) - at_ms < r->opts.fresh_ms;
    bool openshift = r->kube && sw_kube_serves(r->kube, "config.openshift.io");
    a->waits = openshift && !fresh && a->scope && is_being_read(a);
    if (a->waits)
        return;
    a->reads = openshift && !fresh ? a->scope : SW_ACCESS_NAMESPACE;
    size_t n = a->reads == SW_ACCESS_ALL ? SW_COUNT(questions) : a->reads == SW_ACCESS_LOGIN;
    a->n_waiting = 1; /* this function itself */
    for (size_t i = Q_LOGIN; i < n; i++)
        ask(a, i, questions[i].api_version, questions[i].kind, questions[i].ns, questions[i].name);
    if (r->kube && a->ns)
        ask(a, Q_NAMESPACE, "v1", "Secret", a->ns, NULL);
    if (--a->n_waiting == 0)
        finish(a);
}

struct sw_access *access_open(struct sw_registries *r, const char *ns, enum sw_access_scope scope,
                              access_fn *fn, void *arg)
{
    struct sw_access *a = sw_zalloc(1, sizeof *a);
    *a = (struct sw_access){ .r = r,
                             .next = r->open,
                             .prev = &r->open,
                             .fn = fn,
                             .arg = arg,
                             .ns = sw_strdup(ns),
                             .scope = scope,
                             .secrets = json_object_new_array(),
                             .policies = json_object_new_array() };
    if (a->next)
        a->next->prev = &a->next;
    r->open = a;
    a->timer = sw_timer_new(r->loop, on_timer, a);
    sw_timer_set(a->timer, 0);
    return a;
}

struct sw_access *sw_registries_read(struct sw_registries *r, sw_registries_read_fn *fn, void *arg)
{
    struct sw_access *a = access_open(r, NULL, SW_ACCESS_ALL, NULL, arg);
    a->read = fn;
    return a;
}
