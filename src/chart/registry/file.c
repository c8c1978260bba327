/* One file of an image: its manifest, then its layers from the last one down. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/registry/internal.h"
#include "data/json/path.h"

enum { MAX_FILE = 1 << 20, MAX_CACHED = 256 };

static const uint64_t max_layer_bytes = 4ULL << 30;

struct sw_registry_file {
    struct sw_registry *reg;
    struct sw_registry_file *next, **prev;
    sw_registry_fn *fn;
    void *arg;
    char *image, *platform, *path;
    struct sw_logins *logins;
    bool last_only;
    size_t max_bytes;
    uint64_t max_layer;

    struct sw_registry_call *call;
    struct layer *layer;
    char *digest; /* the manifest's */
    char *from;
    struct json_object *manifest;
    size_t at; /* index of the layer that is read; those before it are still to be read */
    struct sw_timer *timer; /* closes a layer outside of its callbacks */
};

/* ---- the cache ----------------------------------------------------------------------------------
 */

static void drop_last(struct sw_registry *reg)
{
    struct cached **at = &reg->cached;
    while ((*at)->next)
        at = &(*at)->next;
    struct cached *c = *at;
    *at = NULL;
    reg->n_cached--;
    free(c->layer);
    free(c->path);
    free(c->bytes);
    free(c);
}

void cached_add(struct sw_registry *reg, const char *layer, const char *path, const char *bytes,
                size_t len)
{
    struct cached *c = sw_zalloc(1, sizeof *c);
    *c = (struct cached){ .next = reg->cached,
                          .layer = sw_strdup(layer),
                          .path = sw_strdup(path),
                          .bytes = bytes ? sw_strndup(bytes, len) : NULL,
                          .len = len };
    reg->cached = c;
    if (++reg->n_cached > MAX_CACHED)
        drop_last(reg);
}

void cached_free(struct sw_registry *reg)
{
    while (reg->cached)
        drop_last(reg);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

void sw_registry_file_close(struct sw_registry_file *f)
{
    if (!f)
        return;
    *f->prev = f->next;
    if (f->next)
        f->next->prev = f->prev;
    sw_registry_cancel(f->call);
    layer_close(f->layer);
    sw_timer_free(f->timer);
    sw_logins_free(f->logins);
    json_object_put(f->manifest);
    free(f->image);
    free(f->platform);
    free(f->path);
    free(f->digest);
    free(f->from);
    free(f);
}

void files_free(struct sw_registry *reg)
{
    while (reg->files)
        sw_registry_file_close(SW_LINKED(reg->files));
}

static void answer(struct sw_registry_file *f, int code, const char *message, const char *bytes,
                   size_t len)
{
    SW_ERR(err);
    SW_AUTO_CHARS *digest = SW_TAKE(f->digest);
    SW_AUTO_CHARS *from = SW_TAKE(f->from);
    SW_AUTO_CHARS *copy = bytes ? sw_strndup(bytes, len) : NULL;
    if (code < 0)
        (void)sw_err_set(&err, code, "%s", message);
    sw_registry_fn *fn = f->fn;
    void *arg = f->arg;
    sw_registry_file_close(f);
    fn(&(struct sw_registry_answer){ .code = code,
                                     .err = &err,
                                     .from = from,
                                     .digest = digest,
                                     .bytes = copy,
                                     .len_bytes = copy ? len : 0 },
       arg);
}

/* ---- a layer -----------------------------------------------------------------------------------
 */

static const char *layer_digest(const struct sw_registry_file *f)
{
    struct json_object *layers = sw_json_get(f->manifest, "layers");
    return sw_json_str(sw_json_at(layers, f->at), "", "digest", NULL);
}

static void on_room(void *arg)
{
    struct sw_registry_file *f = arg;
    if (f->call)
        sw_registry_resume(f->call);
}

static void on_layer_result(const struct layer_result *r, void *arg)
{
    struct sw_registry_file *f = arg;
    if (r->code == SW_INVALID) {
        SW_AUTO_CHARS *why = sw_printf("%s: layer %s: %s", f->image, layer_digest(f), r->message);
        answer(f, SW_INVALID, why, NULL, 0);
        return;
    }
    if (r->code != SW_GONE)
        cached_add(f->reg, layer_digest(f), f->path, r->code == 0 ? r->bytes : NULL, r->len);
    if (r->code == 0)
        answer(f, 0, NULL, r->bytes, r->len);
    else if (r->code == SW_GONE)
        answer(f, SW_NOTFOUND, "a layer of the image deletes the file", NULL, 0);
    else
        sw_timer_set(f->timer, 0); /* the layer is closed outside of its callback */
}

static int on_layer_data(const char *bytes, size_t len, struct sw_err *err SW_UNUSED, void *arg)
{
    struct sw_registry_file *f = arg;
    return layer_feed(f->layer, bytes, len);
}

static void on_layer_end(const struct sw_registry_answer *a, void *arg)
{
    struct sw_registry_file *f = arg;
    f->call = NULL;
    if (a->code < 0)
        answer(f, a->code, sw_err_text(a->err), NULL, 0);
    else
        layer_end(f->layer); /* its result may come from here on */
}

/* Search the next layer downwards. Runs outside of the callbacks of the one before. */
static void next_layer(struct sw_registry_file *f)
{
    struct json_object *layers = sw_json_get(f->manifest, "layers");
    layer_close(SW_TAKE(f->layer));
    bool first = f->at == sw_json_len(layers);
    while (f->at > 0 && (first || !f->last_only)) {
        f->at--;
        struct cached *c = f->reg->cached;
        while (c && !(sw_streq(c->layer, layer_digest(f)) && sw_streq(c->path, f->path)))
            c = c->next;
        if (c && c->bytes) {
            answer(f, 0, NULL, c->bytes, c->len);
            return;
        }
        struct json_object *layer = sw_json_at(layers, f->at);
        if (!c && strstr(sw_json_str(layer, "tar", "mediaType", NULL), "tar")) {
            f->layer = layer_open(f->reg->loop, f->path, f->max_bytes, on_room, on_layer_result, f);
            f->call = sw_registry_blob(
                f->reg, &(struct sw_registry_ask){ .image = f->image, .logins = f->logins },
                layer_digest(f), f->max_layer, on_layer_data, on_layer_end, f);
            return;
        }
        first = false;
    }
    SW_AUTO_CHARS *why = sw_printf("%s: %s has no %s", f->image,
                                   f->last_only ? "the last layer" : "the image", f->path);
    answer(f, SW_NOTFOUND, why, NULL, 0);
}

static void on_timer(void *arg)
{
    next_layer(arg);
}

static void on_manifest(const struct sw_registry_answer *a, void *arg)
{
    struct sw_registry_file *f = arg;
    f->call = NULL;
    if (a->code < 0) {
        answer(f, a->code, sw_err_text(a->err), NULL, 0);
        return;
    }
    f->manifest = json_object_get(a->doc);
    f->digest = sw_strdup(a->digest);
    f->from = sw_strdup(a->from);
    f->at = sw_json_len(sw_json_get(f->manifest, "layers"));
    next_layer(f);
}

struct sw_registry_file *sw_registry_file_open(struct sw_registry *reg,
                                               const struct sw_registry_ask *ask,
                                               const struct sw_registry_file_opts *opts,
                                               sw_registry_fn *fn, void *arg)
{
    struct sw_registry_file *f = sw_zalloc(1, sizeof *f);
    const char *platform = ask->platform ? ask->platform : "linux/amd64";
    *f = (struct sw_registry_file){ .reg = reg,
                                    .next = reg->files,
                                    .prev = &reg->files,
                                    .fn = fn,
                                    .arg = arg,
                                    .image = sw_strdup(ask->image),
                                    .platform = sw_strdup(platform),
                                    .path = sw_strdup(opts->path),
                                    .logins = sw_logins_ref(ask->logins),
                                    .last_only = opts->last_layer_only,
                                    .max_bytes = opts->max_bytes ? opts->max_bytes : MAX_FILE,
                                    .max_layer = opts->max_layer ? opts->max_layer
                                                                 : max_layer_bytes };
    if (f->next)
        f->next->prev = &f->next;
    reg->files = f;
    f->timer = sw_timer_new(reg->loop, on_timer, f);
    f->call = sw_registry_manifest(reg,
                                   &(struct sw_registry_ask){ .image = f->image,
                                                              .logins = f->logins,
                                                              .platform = f->platform },
                                   on_manifest, f);
    return f;
}
