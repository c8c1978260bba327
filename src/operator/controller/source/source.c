#include "operator/controller/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/folders.h"
#include "base/loop.h"
#include "chart/fetch/common/cache.h"
#include "chart/fetch/fetch.h"
#include "chart/recipe/package/config_map.h"
#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "data/text/url.h"
#include "kube/kube.h"
#include "operator/account/account.h"
#include "operator/controller/controller.h"
#include "operator/fetching/fetching.h"
#include "operator/manifests/chart_request.h"
#include "operator/manifests/hooks.h"
#include "operator/renderer/renderer.h"

enum { MAX_MAPS = 32, RETRIES = 4 }; /* MAX_MAPS: ConfigMaps of one recipe */

struct source {
    struct sources *all;
    struct json_object *doc; /* with spec.chart; owned */
    char *account;           /* NULL: the operator */
    struct sw_kube_request *req;
    struct sw_fetch *fetch;
    struct sw_timer *timer; /* calls @done, never before source_load() returned */
    source_fn *done;
    void *arg;
    int code;
    char *message;
    struct sw_renderer *recipe;
    char *content;              /* digest of all its files; NULL: not known */
    struct json_object *secret; /* of secretRef; NULL: none */
    struct json_object *keys;   /* the Secret of verify.secretRef: keyrings; NULL: not verified */
    struct json_object *maps;   /* the ConfigMaps that it is made of, as they were read; owned */
    char *map_url;              /* of the ConfigMap that is being read */
    bool is_remote;             /* the source may have another one later */
    bool is_missing;            /* a chart that it may do without could not be had */
};

void source_free(struct source *s)
{
    if (!s)
        return;
    sw_kube_cancel(s->req);
    sw_fetch_cancel(s->fetch);
    sw_timer_free(s->timer);
    sw_renderer_free(s->recipe);
    json_object_put(s->doc);
    json_object_put(s->maps);
    json_object_put(s->secret);
    json_object_put(s->keys);
    free(s->account);
    free(s->content);
    free(s->map_url);
    free(s->message);
    free(s);
}

const char *source_account(const struct source *s)
{
    return s->account;
}

const char *source_content(const struct source *s)
{
    return s->content;
}

struct json_object *source_maps(const struct source *s)
{
    return s->maps;
}

bool source_is_remote(const struct source *s)
{
    return s->is_remote;
}

bool source_is_missing(const struct source *s)
{
    return s->is_missing;
}

static const char *chart(const struct source *s, const char *key)
{
    return sw_json_str(s->doc, "", "spec", "chart", key, NULL);
}

static const char *url(const struct source *s)
{
    return sw_json_str(s->doc, "", "spec", "chart", "repository", "url", NULL);
}

/* Where the chart itself is. */
static char *url_of(const struct source *s)
{
    return sw_fetch_chart_url(url(s), chart(s, "name"), chart(s, "version"), s->all->folders);
}

char *source_key(struct json_object *doc)
{
    return sw_json_text(sw_json_find(doc, "spec", "chart", NULL), SW_JSON_SORTED, NULL);
}

static void on_settled(void *arg)
{
    struct source *s = arg;
    s->done(s->code, SW_TAKE(s->recipe), s->message, s->arg); /* may free s */
}

static void settle(struct source *s, int code, struct sw_err *err)
{
    s->code = code;
    s->message = code < 0 ? sw_strdup(sw_err_text(err)) : NULL;
    sw_timer_set(s->timer, 0);
}

/* ---- the helper --------------------------------------------------------------------------------
 */

static void load_map(struct source *s, const char *map_url);

/* The request for the helper to fetch @from; the caller's.
 * @return 0 | SW_INVALID: the Secret of spec.chart.verify holds no key */
static int request_of(const struct source *s, const char *from, struct json_object **out,
                      struct sw_err *err)
{
    const struct sw_chart_request parts = { from, s->secret, s->keys, s->maps };
    SW_AUTO_JSON *request = NULL;
    int rc = sw_chart_request_make(s->doc, &parts, &request, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *allowed = s->all->folders ? sw_folders_text(s->all->folders) : NULL;
    if (allowed)
        sw_json_set_str(request, allowed, "allowedFiles", NULL);
    if (s->all->cache_dir)
        sw_json_set_str(request, s->all->cache_dir, "cacheDir", NULL);
    if (s->all->charts_dir)
        sw_json_set_str(request, s->all->charts_dir, "chartsDir", NULL);
    if (s->all->stand_ins)
        sw_json_set(request, json_object_new_boolean(true), "standIns", NULL);
    if (s->all->mirror)
        sw_json_set_str(request, s->all->mirror, "mirror", NULL);
    *out = SW_TAKE(request);
    return 0;
}

static void on_fetched(struct json_object *answer, struct sw_kept *bundle, void *arg)
{
    struct source *s = arg;
    SW_ERR(err);
    s->fetch = NULL;
    int code = (int)sw_json_int(answer, SW_UNAVAILABLE, "code", NULL);
    const char *want = sw_json_str(answer, NULL, "want", NULL);
    if (code == SW_PENDING && want && sw_json_len(s->maps) < MAX_MAPS) {
        load_map(s, want);
        return;
    }
    if (code == 0) {
        s->content = sw_strdup(sw_json_str(answer, "", "digest", NULL));
        s->is_remote = sw_json_bool(answer, false, "remote", NULL);
        s->is_missing = sw_json_bool(answer, false, "missing", NULL);
        s->recipe = sw_renderer_new(s->all->renderers, sw_json_str(answer, "", "origin", NULL),
                                    bundle);
    } else {
        code = code == SW_PENDING ? SW_INVALID : code;
        sw_err_set(&err, code, "%s", sw_json_str(answer, "too many ConfigMaps", "error", NULL));
    }
    settle(s, code, &err);
}

static void start_fetch(struct source *s)
{
    SW_AUTO_CHARS *from = url_of(s);
    s->is_remote |= !sw_starts_with(from, "file://") && !sw_starts_with(from, "cm://");
    struct json_object *request = NULL;
    SW_ERR(err);
    SW_AUTO_CHARS *key = sw_printf("%s %s/%s", sw_json_str(s->doc, "", "kind", NULL),
                                   sw_text_or(sw_obj_namespace(s->doc), ""), sw_obj_name(s->doc));
    int rc = request_of(s, from, &request, &err);
    if (rc < 0)
        settle(s, rc, &err);
    else
        s->fetch = sw_fetch_start(s->all->fetches, key, request, on_fetched, s);
}

/* The sw_recipe_opts.get of recipes that are read in this process: a recipe with a dependency from
 * elsewhere is fetched as a whole by the helper. */
static int leave_to_helper(void *arg, const struct sw_recipe_ask *ask SW_UNUSED,
                           struct sw_recipe_got *got SW_UNUSED, struct sw_err *err)
{
    struct source *s = arg;
    s->is_remote = true;
    return sw_err_set(err, SW_PENDING, "the helper fetches it");
}

static struct sw_recipe_opts local_opts(struct source *s)
{
    struct json_object *chart = sw_json_find(s->doc, "spec", "chart", NULL);
    return (struct sw_recipe_opts){
        .get = leave_to_helper,
        .get_arg = s,
        .folders = s->all->folders,
        .no_archives = true,
        .aicr_criteria = sw_json_str(chart, NULL, "aicr", "criteria", NULL),
        .aicr_data = sw_json_str(chart, NULL, "aicr", "data", NULL),
    };
}

static void settle_or_fetch(struct source *s, int code, struct sw_err *err)
{
    if (code == SW_PENDING)
        start_fetch(s);
    else
        settle(s, code, err);
}

/* ---- ConfigMaps --------------------------------------------------------------------------------
 */

/* A ConfigMap with one file a key and nothing to unpack. */
static void load_plain_map(struct source *s, struct json_object *map)
{
    SW_ERR(err);
    SW_AUTO_CHARS *bundle = NULL;
    size_t len;
    struct sw_recipe_opts opts = local_opts(s);
    SW_AUTO(sw_recipe) *recipe = NULL;
    int rc = sw_recipe_from_config_map(map, &opts, &recipe, &err);
    if (rc == 0)
        rc = sw_recipe_to_bundle(recipe, &bundle, &len, &err);
    if (rc == 0) {
        s->content = sw_digest_of(bundle, len);
        s->recipe = sw_renderer_of(s->all->renderers, SW_TAKE(recipe));
    }
    settle_or_fetch(s, rc, &err);
}

static void on_map(const struct sw_kube_answer *a, void *arg)
{
    struct source *s = arg;
    s->req = NULL;
    SW_ERR(err);
    if (a->code < 0 && a->code != SW_NOTFOUND) {
        const char *who = s->account && a->code == SW_FORBIDDEN ? s->account : "";
        int rc = sw_err_set(&err, a->code, "%s: %s%s%s", s->map_url, sw_err_text(a->err),
                            *who ? "; as " : "", who);
        settle(s, rc, &err);
        return;
    }
    struct json_object *map = json_object_get(a->object);
    if (a->code < 0) {
        SW_AUTO_CHARS *ns = NULL;
        SW_AUTO_CHARS *name = NULL;
        if (sw_chart_map_split(s->map_url, &ns, &name, &err) == 0) /* as it was asked for */
            map = sw_chart_map_missing(ns, name);
    }
    (void)json_object_array_add(s->maps, map);
    bool is_plain = !s->all->in_children && sw_json_len(s->maps) == 1 &&
                    sw_starts_with(url(s), "cm://") && !sw_json_get(map, "binaryData") &&
                    !sw_json_get(map, "missing") && !sw_json_find(map, "data", "index.yaml", NULL);
    if (is_plain)
        load_plain_map(s, map);
    else
        start_fetch(s);
}

static void load_map(struct source *s, const char *map_url)
{
    SW_ERR(err);
    SW_AUTO_CHARS *ns = NULL;
    SW_AUTO_CHARS *name = NULL;
    const struct sw_kind *kind = sw_kube_kind_find(s->all->kube, "v1", "ConfigMap");
    int rc = sw_chart_map_split(map_url, &ns, &name, &err);
    if (rc < 0) {
        settle(s, rc, &err);
        return;
    }
    if (!kind) {
        settle(s, sw_err_set(&err, SW_UNAVAILABLE, "the server does not say what it serves"), &err);
        return;
    }
    free(s->map_url);
    s->map_url = sw_printf("cm://%s/%s", ns, name);
    bool is_ours = sw_streq(ns, s->all->ns);
    s->req = sw_kube_get(s->all->kube, kind, ns, name,
                         is_ours ? REQUEST_OWN(RECIPES, .retries = RETRIES)
                                 : REQUEST_BY(s->account, .retries = RETRIES),
                         on_map, s);
}

/* ---- the load ----------------------------------------------------------------------------------
 */

static void load(struct source *s)
{
    SW_ERR(err);
    bool is_file = sw_starts_with(url(s), "file://");
    if (is_file && s->all->folders && !sw_starts_with(url(s), "file:///")) {
        SW_AUTO_CHARS *shown = sw_url_shown(url(s));
        settle(s, sw_err_set(&err, SW_INVALID, "'%s' is not file:///<path>", shown), &err);
    } else if (is_file && s->all->in_children) {
        start_fetch(s);
    } else if (s->keys && (is_file || sw_fetch_knows(url(s)))) {
        start_fetch(s); /* the helper refuses what is not packaged, and so cannot be signed */
    } else if (is_file) {
        SW_AUTO_CHARS *path = url_of(s);
        struct sw_recipe_opts opts = local_opts(s);
        SW_AUTO(sw_recipe) *recipe = NULL;
        int rc = sw_recipe_open(path, &opts, &recipe, &err);
        if (rc == 0)
            s->recipe = sw_renderer_of(s->all->renderers, SW_TAKE(recipe));
        settle_or_fetch(s, rc, &err);
    } else if (sw_starts_with(url(s), "cm://")) {
        load_map(s, url(s));
    } else if (sw_fetch_knows(url(s))) {
        start_fetch(s);
    } else {
        int rc = sw_fetch_check(url(s), &err);
        settle(s, sw_err_wrap(&err, rc, "spec.chart.repository.url"), &err);
    }
}

static void read_secret(struct source *s, struct json_object *ref, sw_kube_answer_fn *done)
{
    const struct sw_kind *kind = sw_kube_kind_find(s->all->kube, "v1", "Secret");
    SW_ERR(err);
    if (!kind)
        settle(s, sw_err_set(&err, SW_UNAVAILABLE, "the server does not say what it serves"), &err);
    else
        s->req = sw_kube_get(s->all->kube, kind, sw_json_str(ref, s->all->ns, "namespace", NULL),
                             sw_json_str(ref, "", "name", NULL),
                             REQUEST_BY(s->account, .retries = RETRIES), done, s);
}

/* @return the Secret; NULL: it could not be read, and the load has settled */
static struct json_object *secret_of(struct source *s, const struct sw_kube_answer *a,
                                     const char *field)
{
    s->req = NULL;
    if (a->code == 0)
        return json_object_get(a->object);
    SW_ERR(err);
    s->is_remote = true; /* the Secret may be created later */
    settle(s, sw_err_set(&err, a->code, "%s.secretRef: %s", field, sw_err_text(a->err)), &err);
    return NULL;
}

static void on_keys(const struct sw_kube_answer *a, void *arg)
{
    struct source *s = arg;
    if ((s->keys = secret_of(s, a, SW_CHART_VERIFY)))
        load(s);
}

/* A recipe that is to be verified is not loaded without the keys. */
static void load_verified(struct source *s)
{
    SW_ERR(err);
    struct json_object *verify = sw_json_find(s->doc, "spec", "chart", "verify", NULL),
                       *ref = sw_json_get(verify, "secretRef");
    if (!verify)
        load(s);
    else if (*sw_json_str(ref, "", "name", NULL))
        read_secret(s, ref, on_keys);
    else
        settle(s,
               sw_err_set(&err, SW_INVALID, "%s.secretRef.name: whose signatures count?",
                          SW_CHART_VERIFY),
               &err);
}

static void on_secret(const struct sw_kube_answer *a, void *arg)
{
    struct source *s = arg;
    if ((s->secret = secret_of(s, a, "repository")))
        load_verified(s);
}

void source_load(struct sources *all, struct json_object *doc, const char *account,
                 struct source **out, source_fn *done, void *arg)
{
    struct source *s = *out = sw_zalloc(1, sizeof *s);
    *s = (struct source){ .all = all,
                          .doc = json_object_get(doc),
                          .account = sw_strdup(account),
                          .done = done,
                          .arg = arg };
    s->timer = sw_timer_new(all->loop, on_settled, s);
    s->maps = json_object_new_array();
    struct json_object *ref = sw_json_find(doc, "spec", "chart", "repository", "secretRef", NULL);
    if (ref)
        read_secret(s, ref, on_secret);
    else
        load_verified(s);
}

struct sources *sources_new(struct sw_loop *loop, struct sw_kube *kube,
                            struct sw_renderers *renderers, struct sw_fetch_queue *fetches,
                            const char *ns, const struct sw_controller_opts *opts)
{
    struct sources *all = sw_zalloc(1, sizeof *all);
    *all = (struct sources){
        .loop = loop,
        .kube = kube,
        .ns = ns,
        .cache_dir = sw_strdup(opts->cache_dir),
        .charts_dir = sw_strdup(opts->charts_dir),
        .stand_ins = opts->stand_ins != NULL,
        .mirror = opts->mirror && !sw_streq(opts->mirror, SW_MIRROR_CLUSTER)
                      ? sw_strdup(opts->mirror)
                      : NULL,
        .folders = opts->folders,
        .one_shot = opts->one_shot,
        .refresh_ms = opts->refresh_ms,
        .fetches = fetches,
        .renderers = renderers,
        .in_children = opts->renderers.program,
    };
    return all;
}

void sources_free(struct sources *all)
{
    free(all->cache_dir);
    free(all->charts_dir);
    free(all->mirror);
    free(all);
}
