#include "chart/registry/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/registry/internal.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"

enum { MAX_KEPT_BYTES = 16 << 10 }; /* of a file that is worth being told again */

/* Whether one image exists. */
struct check {
    struct sw_registry_lookup *lookup;
    size_t index;
    struct sw_registry_call *call; /* NULL: answered */
};

struct sw_registry_lookup {
    struct sw_registry *reg;
    struct sw_logins *logins;
    struct check *checks;
    size_t n_checks, n_due;
    struct json_object *answers; /* of the checks; owned */
    struct sw_registry_file *file;
    struct json_object *known;    /* "layers" of the request */
    struct json_object *warnings; /* NULL: none */
    sw_registry_lookup_fn *fn;
    void *arg;
    struct sw_timer *timer;     /* to answer outside of the registry's callbacks */
    struct json_object *answer; /* with @bytes: NULL until then */
    char *bytes;
    size_t len;
};

void sw_registry_lookup_close(struct sw_registry_lookup *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_checks; i++)
        sw_registry_cancel(l->checks[i].call);
    free(l->checks);
    json_object_put(l->answers);
    sw_registry_file_close(l->file);
    sw_registry_free(l->reg);
    sw_logins_free(l->logins);
    json_object_put(l->known);
    json_object_put(l->warnings);
    json_object_put(l->answer);
    sw_timer_free(l->timer);
    free(l->bytes);
    free(l);
}

struct json_object *sw_registry_lookup_failure(int code, const char *message)
{
    struct json_object *answer = json_object_new_object();
    sw_json_set(answer, json_object_new_int(code), "code", NULL);
    sw_json_set_str(answer, message, "error", NULL);
    return answer;
}

/* ---- layers that are known ---------------------------------------------------------------------
 */

static void learn_layers(struct sw_registry *reg, struct json_object *layers)
{
    for (size_t i = 0; i < sw_json_len(layers); i++) {
        struct json_object *layer = sw_json_at(layers, i);
        const char *data = sw_json_str(layer, NULL, "data", NULL);
        size_t len = data ? strlen(data) : 0;
        SW_AUTO_CHARS *bytes = data ? sw_base64_decode(data, len, &len) : NULL;
        if (!data || bytes)
            cached_add(reg, sw_json_str(layer, "", "digest", NULL),
                       sw_json_str(layer, "", "path", NULL), bytes, len);
    }
}

static bool is_known(const struct sw_registry_lookup *l, const struct cached *c)
{
    for (size_t i = 0; i < sw_json_len(l->known); i++) {
        struct json_object *layer = sw_json_at(l->known, i);
        if (sw_streq(sw_json_str(layer, "", "digest", NULL), c->layer) &&
            sw_streq(sw_json_str(layer, "", "path", NULL), c->path))
            return true;
    }
    return false;
}

static void tell_layers(const struct sw_registry_lookup *l, struct json_object *answer)
{
    for (const struct cached *c = l->reg->cached; c; c = c->next) {
        if (c->len > MAX_KEPT_BYTES || is_known(l, c))
            continue;
        struct json_object *layer = json_object_new_object();
        size_t len;
        SW_AUTO_CHARS *data = c->bytes ? sw_base64_encode(c->bytes, c->len, &len) : NULL;
        sw_json_set_str(layer, c->layer, "digest", NULL);
        sw_json_set_str(layer, c->path, "path", NULL);
        if (data)
            sw_json_set_str(layer, data, "data", NULL);
        (void)json_object_array_add(sw_json_need_list(answer, "layers", NULL), layer);
    }
}

/* ---- what it depends on ------------------------------------------------------------------------
 */

static void warn(struct sw_registry_lookup *l, const struct sw_err *err)
{
    if (!l->warnings)
        l->warnings = json_object_new_array();
    (void)json_object_array_add(l->warnings, json_object_new_string(sw_err_text(err)));
}

static void add_logins(struct sw_registry_lookup *l, struct json_object *request)
{
    struct json_object *secrets = sw_json_get(request, "secrets");
    l->logins = sw_logins_new();
    SW_ERR(err);
    for (size_t i = 0; i < sw_json_len(secrets); i++)
        if (sw_logins_add_secret(l->logins, sw_json_at(secrets, i), &err) < 0)
            warn(l, &err);
    if (sw_json_bool(request, false, "homeLogins", NULL) && sw_logins_add_home(l->logins, &err) < 0)
        warn(l, &err);
}

int sw_registry_lookup_mirrors(struct json_object *request, struct sw_mirrors **out,
                               struct sw_err *err)
{
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    struct json_object *policies = sw_json_get(request, "policies");
    int rc = sw_mirrors_add_machine(m, sw_json_str(request, NULL, "registriesConf", NULL), err);
    for (size_t i = 0; i < sw_json_len(policies); i++)
        sw_mirrors_add_policy(m, sw_json_at(policies, i));
    if (rc == 0)
        *out = SW_TAKE(m);
    return rc;
}

static int prepare(struct sw_registry_lookup *l, struct json_object *request, struct sw_err *err)
{
    struct sw_mirrors *mirrors = NULL;
    SW_ERR(why);
    int rc = sw_registry_lookup_mirrors(request, &mirrors, err);
    if (rc < 0)
        return rc;
    sw_registry_set_mirrors(l->reg, mirrors);
    if (sw_registry_set_cas(l->reg, sw_json_str(request, NULL, "caData", NULL),
                            sw_json_get(request, "caByHost"), &why) < 0)
        warn(l, &why);
    add_logins(l, request);
    l->known = json_object_get(sw_json_get(request, "layers"));
    learn_layers(l->reg, l->known);
    return 0;
}

/* ---- the question ------------------------------------------------------------------------------
 */

static void on_timer(void *arg)
{
    struct sw_registry_lookup *l = arg;
    l->fn(l->answer, l->bytes, l->len, l->arg); /* may close l */
}

/* The answer is complete but for what all have; @bytes may be NULL. */
static void finish(struct sw_registry_lookup *l, struct json_object *answer, const char *bytes,
                   size_t len)
{
    l->answer = answer;
    if (l->warnings)
        sw_json_set(answer, json_object_get(l->warnings), "warnings", NULL);
    l->len = bytes ? len : 0;
    l->bytes = sw_strndup(bytes ? bytes : "", l->len);
    sw_timer_set(l->timer, 0);
}

static struct json_object *answer_of(const struct sw_registry_answer *a)
{
    struct json_object *answer = json_object_new_object();
    sw_json_set(answer, json_object_new_int(a->code), "code", NULL);
    if (a->code < 0)
        sw_json_set_str(answer, sw_err_text(a->err), "error", NULL);
    if (a->from)
        sw_json_set_str(answer, a->from, "from", NULL);
    if (a->digest)
        sw_json_set_str(answer, a->digest, "digest", NULL);
    return answer;
}

static void on_file(const struct sw_registry_answer *a, void *arg)
{
    struct sw_registry_lookup *l = arg;
    struct json_object *answer = answer_of(a);
    l->file = NULL;
    tell_layers(l, answer);
    finish(l, answer, a->code == 0 ? a->bytes : NULL, a->len_bytes);
}

static void on_checked(const struct sw_registry_answer *a, void *arg)
{
    struct check *c = arg;
    struct sw_registry_lookup *l = c->lookup;
    c->call = NULL;
    (void)json_object_array_put_idx(l->answers, c->index, answer_of(a));
    if (--l->n_due)
        return;
    struct json_object *answer = json_object_new_object();
    sw_json_set(answer, json_object_new_int(0), "code", NULL);
    sw_json_set(answer, SW_TAKE(l->answers), "answers", NULL);
    finish(l, answer, NULL, 0);
}

static struct sw_registry_ask ask_of(const struct sw_registry_lookup *l, struct json_object *image)
{
    return (struct sw_registry_ask){ .image = sw_json_str(image, "", "reference", NULL),
                                     .logins = l->logins,
                                     .platform = sw_json_str(image, NULL, "platform", NULL) };
}

static void ask(struct sw_registry_lookup *l, struct json_object *request)
{
    struct json_object *images = sw_json_get(request, "images"),
                       *file = sw_json_get(request, "file");
    if (file) {
        const struct sw_registry_ask image = ask_of(l, sw_json_at(images, 0));
        const struct sw_registry_file_opts opts = {
            .path = sw_json_str(file, "", "path", NULL),
            .last_layer_only = sw_json_bool(file, false, "lastLayerOnly", NULL),
            .max_bytes = (size_t)sw_json_int(file, 0, "maxBytes", NULL),
        };
        l->file = sw_registry_file_open(l->reg, &image, &opts, on_file, l);
        return;
    }
    l->n_checks = l->n_due = sw_json_len(images);
    l->checks = sw_zalloc(l->n_checks + 1, sizeof *l->checks);
    l->answers = json_object_new_array();
    for (size_t i = 0; i < l->n_checks; i++) {
        const struct sw_registry_ask image = ask_of(l, sw_json_at(images, i));
        struct check *c = &l->checks[i];
        *c = (struct check){ .lookup = l, .index = i };
        c->call = sw_registry_check(l->reg, &image, on_checked, c);
    }
}

struct sw_registry_lookup *sw_registry_lookup_open(struct sw_loop *loop,
                                                   struct json_object *request,
                                                   sw_registry_lookup_fn *fn, void *arg)
{
    struct sw_registry_lookup *l = sw_zalloc(1, sizeof *l);
    const struct sw_registry_opts opts = { .retry_ms = sw_json_int(request, 0, "retryMs", NULL) };
    *l = (struct sw_registry_lookup){ .fn = fn, .arg = arg };
    l->timer = sw_timer_new(loop, on_timer, l);
    l->reg = sw_registry_new(loop, &opts);
    SW_ERR(err);
    int rc = prepare(l, request, &err);
    if (rc == 0 && !sw_json_len(sw_json_get(request, "images")))
        rc = sw_err_set(&err, SW_INVALID, "no image is asked for");
    if (rc == 0) {
        ask(l, request);
        return l;
    }
    l->answer = sw_registry_lookup_failure(rc, sw_err_text(&err));
    sw_timer_set(l->timer, 0);
    return l;
}
