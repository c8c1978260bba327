/* Reading what the cluster and the machine say about registries. */
#include "operator/registries/registries.h"

#include <dirent.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"

enum { FRESH_MS = 30000, MAX_FILE_BYTES = 4 << 20, MAX_WAITING = 16, MAX_WARNED = 64 };

struct sw_registries {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_registries_opts opts; /* strings owned */
    struct sw_registry *registry;
    struct sw_mirrors *mirrors; /* a second copy, for rendering */
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
    sw_access_fn *fn;
    void *arg;
    char *ns;
    enum sw_access_scope wants, reads;
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
    r->registry = sw_registry_new(loop, &(struct sw_registry_opts){ .retry_ms = r->opts.retry_ms });
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
    sw_registry_free(r->registry);
    sw_mirrors_free(r->mirrors);
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

/* ---- putting it together -----------------------------------------------------------------------
 */

static int add_conf(struct sw_mirrors *m, const char *path, bool must, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    SW_ERR(why);
    int rc = sw_file_read(path, MAX_FILE_BYTES, &text, &len, &why);
    if (rc == SW_NOTFOUND && !must)
        return 0;
    return rc < 0 ? sw_err_move(err, &why) : sw_mirrors_add_conf(m, path, text, len, err);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_conf_dir(struct sw_mirrors *m, const char *dir, struct sw_err *err)
{
    struct dirent **entries = NULL;
    int rc = 0, n = scandir(dir, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, entries[i]->d_name);
        if (rc == 0 && sw_ends_with(path, ".conf"))
            rc = add_conf(m, path, false, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int read_mirrors(struct sw_registries *r, struct sw_mirrors **out, struct sw_err *err)
{
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    int rc;
    if (r->opts.conf) {
        rc = add_conf(m, r->opts.conf, true, err);
    } else {
        rc = add_conf(m, "/etc/containers/registries.conf", false, err);
        if (rc == 0)
            rc = add_conf_dir(m, "/etc/containers/registries.conf.d", err);
        if (rc == 0)
            rc = add_conf(m, "/mnt/host/registries.conf", false, err);
    }
    for (size_t i = 0; i < sw_json_len(r->policies); i++)
        sw_mirrors_add_policy(m, sw_json_at(r->policies, i));
    if (rc == 0)
        *out = SW_TAKE(m);
    return rc;
}

/* @all: the cluster's policies have been read, so that the mirrors are good for rendering, too. */
static int apply_mirrors(struct sw_registries *r, bool all, struct sw_err *err)
{
    SW_AUTO(sw_mirrors) *first = NULL, *second = NULL;
    int rc = read_mirrors(r, &first, err);
    if (rc == 0 && all)
        rc = read_mirrors(r, &second, err);
    if (rc < 0)
        return rc;
    sw_registry_set_mirrors(r->registry, SW_TAKE(first));
    if (all) {
        sw_mirrors_free(r->mirrors);
        r->mirrors = SW_TAKE(second);
    }
    return 0;
}

static struct sw_logins *make_logins(struct sw_access *a)
{
    struct sw_registries *r = a->r;
    struct sw_logins *logins = sw_logins_new();
    SW_ERR(err);
    for (size_t i = 0; i < sw_json_len(a->secrets); i++) {
        struct json_object *secret = sw_json_at(a->secrets, i);
        const char *type = sw_json_str(secret, "", "type", NULL);
        if (sw_starts_with(type, "kubernetes.io/dockerc") &&
            sw_logins_add_secret(logins, secret, &err) < 0)
            warn(r, sw_err_text(&err));
    }
    if (r->pull_secret && sw_logins_add_secret(logins, r->pull_secret, &err) < 0)
        warn(r, sw_err_text(&err));
    if (r->opts.home_logins && sw_logins_add_home(logins, &err) < 0)
        warn(r, sw_err_text(&err));
    return logins;
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
    SW_ERR(err);
    SW_ERR(why);
    int rc = apply_mirrors(r, a->wants == SW_ACCESS_ALL, &err);
    SW_AUTO_CHARS *file = NULL;
    size_t len;
    if (r->opts.ca_file && sw_file_read(r->opts.ca_file, MAX_FILE_BYTES, &file, &len, &why) < 0)
        warn(r, sw_err_text(&why));
    SW_AUTO_CHARS *cas = sw_printf(
        "%s\n%s", sw_json_str(r->ca_bundle, "", "data", "ca-bundle.crt", NULL), file ? file : "");
    if (sw_registry_set_cas(r->registry, strstr(cas, "BEGIN") ? cas : NULL,
                            sw_json_get(r->ca_by_host, "data"), &why) < 0)
        warn(r, sw_err_text(&why));
    SW_AUTO(sw_logins) *logins = make_logins(a);
    sw_access_fn *fn = a->fn;
    void *arg = a->arg;
    sw_access_close(a);
    fn(rc, rc < 0 ? sw_err_text(&err) : NULL, r->registry, logins, arg);
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

static void on_timer(void *arg)
{
    struct sw_access *a = arg;
    struct sw_registries *r = a->r;
    int64_t at_ms = a->wants == SW_ACCESS_ALL ? r->all_at_ms : r->login_at_ms;
    bool fresh = at_ms && sw_loop_now_ms(r->loop) - at_ms < r->opts.fresh_ms;
    bool openshift = r->kube && sw_kube_serves(r->kube, "config.openshift.io");
    a->reads = openshift && !fresh ? a->wants : SW_ACCESS_NAMESPACE;
    size_t n = a->reads == SW_ACCESS_ALL ? SW_COUNT(questions) : a->reads == SW_ACCESS_LOGIN;
    a->n_waiting = 1; /* this function itself */
    for (size_t i = Q_LOGIN; i < n; i++)
        ask(a, i, questions[i].api_version, questions[i].kind, questions[i].ns, questions[i].name);
    if (r->kube && a->ns)
        ask(a, Q_NAMESPACE, "v1", "Secret", a->ns, NULL);
    if (--a->n_waiting == 0)
        finish(a);
}

bool sw_access_is_internal(const char *image)
{
    static const char host[] = "image-registry.openshift-image-registry.svc";
    if (!image || !sw_starts_with(image, host))
        return false;
    const char *rest = image + strlen(host);
    return *rest == ':' || *rest == '/' || sw_starts_with(rest, ".cluster.local:") ||
           sw_starts_with(rest, ".cluster.local/");
}

struct sw_access *sw_access_open(struct sw_registries *r, const char *ns,
                                 enum sw_access_scope wants, sw_access_fn *fn, void *arg)
{
    struct sw_access *a = sw_zalloc(1, sizeof *a);
    *a = (struct sw_access){ .r = r,
                             .next = r->open,
                             .prev = &r->open,
                             .fn = fn,
                             .arg = arg,
                             .ns = sw_strdup(ns),
                             .wants = wants,
                             .secrets = json_object_new_array(),
                             .policies = json_object_new_array() };
    if (a->next)
        a->next->prev = &a->next;
    r->open = a;
    a->timer = sw_timer_new(r->loop, on_timer, a);
    sw_timer_set(a->timer, 0);
    return a;
}
