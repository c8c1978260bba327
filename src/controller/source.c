/* Where a resource's recipe comes from: spec.chart. Directories and archives are read at once, what
 * is in the cluster is fetched. */
#include "controller/internal.h"
#include "data/base64.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A load under way. */
struct source {
    struct resource *r;
    struct sw_kube_request *req;
    struct sw_timer *timer; /* answers are never given before source_load() returned */
    source_fn *done;
    void *arg;
    int code;
    char *words;
    struct sw_recipe *recipe;
};

void source_free(struct source *s)
{
    if (!s)
        return;
    sw_kube_cancel(s->req);
    sw_timer_free(s->timer);
    sw_recipe_free(s->recipe);
    free(s->words);
    free(s);
}

static const char *chart(const struct resource *r, const char *key)
{
    return sw_json_str(r->doc, "", "spec", "chart", key, NULL);
}

static const char *url(const struct resource *r)
{
    return sw_json_str(r->doc, "", "spec", "chart", "repository", "url", NULL);
}

char *source_key(const struct resource *r)
{
    return sw_printf("%s %s %s", url(r), chart(r, "name"), chart(r, "version"));
}

static void on_settled(void *arg)
{
    struct source *s = arg;
    s->done(s->code, SW_TAKE(s->recipe), s->words, s->arg); /* may free s */
}

static void settle(struct source *s, int code, struct sw_err *err)
{
    s->code = code;
    s->words = code < 0 ? sw_strdup(sw_err_text(err)) : NULL;
    sw_timer_set(s->timer, 0);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static bool exists(const char *dir, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    return access(path, R_OK) == 0;
}

/* The URL is the chart itself, or a folder of packaged charts, or one of unpacked charts. */
static char *path_of(const struct resource *r)
{
    const char *root = url(r) + strlen("file://"), *name = chart(r, "name");
    SW_AUTO_CHARS *packed = sw_printf("%s-%s.tgz", name, chart(r, "version"));
    SW_AUTO_CHARS *unpacked = sw_printf("%s/Chart.yaml", name);
    SW_AUTO_CHARS *versioned = sw_printf("%s-%s/Chart.yaml", name, chart(r, "version"));
    if (exists(root, "Chart.yaml") || !*name)
        return sw_strdup(root);
    if (exists(root, packed))
        return sw_printf("%s/%s", root, packed);
    if (exists(root, versioned))
        return sw_printf("%s/%s-%s", root, name, chart(r, "version"));
    if (exists(root, unpacked))
        return sw_printf("%s/%s", root, name);
    return sw_strdup(root);
}

static void load_file(struct source *s)
{
    SW_ERR(err);
    SW_AUTO_CHARS *path = path_of(s->r);
    int rc = sw_recipe_open(path, NULL, &s->recipe, &err);
    settle(s, rc, &err);
}

/* ---- ConfigMaps --------------------------------------------------------------------------------
 */

/* SRO's form is a Helm repository in a ConfigMap: index.yaml beside packaged charts. */
static int open_packed(const struct resource *r, struct json_object *map, struct sw_recipe **out,
                       struct sw_err *err)
{
    SW_AUTO_CHARS *file = sw_printf("%s-%s.tgz", chart(r, "name"), chart(r, "version"));
    const char *packed = sw_json_str(map, NULL, "binaryData", file, NULL);
    if (!packed)
        return sw_err_set(err, SW_NOTFOUND, "%s: no key '%s' in binaryData", url(r), file);
    size_t len;
    SW_AUTO_CHARS *bytes = sw_base64_decode(packed, strlen(packed), &len);
    if (!bytes)
        return sw_err_set(err, SW_INVALID, "%s: binaryData.%s is no base64", url(r), file);
    SW_AUTO_CHARS *origin = sw_printf("%s/%s", url(r), file);
    return sw_recipe_from_archive(origin, bytes, len, NULL, out, err);
}

static void on_config_map(const struct sw_kube_answer *a, void *arg)
{
    struct source *s = arg;
    s->req = NULL;
    SW_ERR(err);
    int rc = a->code;
    if (rc < 0)
        sw_err_set(&err, rc, "%s: %s", url(s->r), sw_err_text(a->err));
    else if (sw_json_find(a->object, "binaryData", NULL))
        rc = open_packed(s->r, a->object, &s->recipe, &err);
    else
        rc = sw_recipe_from_config_map(a->object, NULL, &s->recipe, &err);
    settle(s, rc, &err);
}

static void load_config_map(struct source *s)
{
    SW_ERR(err);
    const char *ns = url(s->r) + strlen("cm://"), *slash = strchr(ns, '/');
    const struct sw_kind *kind = sw_kube_kind_find(s->r->c->kube, "v1", "ConfigMap");
    if (!slash || slash == ns || !slash[1] || strchr(slash + 1, '/')) {
        settle(s, sw_err_set(&err, SW_INVALID, "'%s' is not cm://<namespace>/<name>", url(s->r)),
               &err);
        return;
    }
    if (!kind) {
        settle(s, sw_err_set(&err, SW_UNAVAILABLE, "the server does not say what it serves"), &err);
        return;
    }
    SW_AUTO_CHARS *where = sw_strndup(ns, (size_t)(slash - ns));
    s->req = sw_kube_get(s->r->c->kube, kind, where, slash + 1,
                         &(struct sw_request_opts){ .retries = 4 }, on_config_map, s);
}

/* ---- by scheme ---------------------------------------------------------------------------------
 */

static const struct {
    const char *scheme;
    void (*load)(struct source *s);
} schemes[] = { { "file://", load_file }, { "cm://", load_config_map } };

void source_load(struct resource *r, struct source **out, source_fn *done, void *arg)
{
    struct source *s = *out = sw_zalloc(1, sizeof *s);
    *s = (struct source){ .r = r, .done = done, .arg = arg };
    s->timer = sw_timer_new(r->c->loop, on_settled, s);
    for (size_t i = 0; i < SW_COUNT(schemes); i++)
        if (sw_starts_with(url(r), schemes[i].scheme)) {
            schemes[i].load(s);
            return;
        }
    SW_ERR(err);
    sw_err_set(&err, SW_INVALID,
               "spec.chart.repository.url: '%s': recipes come from file:// and cm:// URLs", url(r));
    settle(s, SW_INVALID, &err);
}
