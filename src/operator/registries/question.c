/* Questions to registries: the cluster's settings first, then the lookup, by a helper or here.
 * Images of one namespace that are asked for at about the same time, whether they exist, go to one
 * helper: helpers work one after another, and a registry that does not answer takes its time. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "base/loop.h"
#include "chart/registry/lookup.h"
#include "data/data.h"
#include "operator/fetching/fetching.h"
#include "operator/registries/access.h"

enum { MAX_TOGETHER = 16, TOGETHER_MS = 100 };

struct group {
    struct sw_registries *r;
    struct group *next, **prev; /* of those that may be joined */
    char *ns;
    enum sw_access_scope scope;
    struct json_object *asked;         /* "images" and "file" of the lookup */
    struct sw_access *access;          /* the first step; NULL: done */
    struct json_object *lookup_doc;    /* what it gave; owned */
    struct sw_timer *timer;            /* until others have joined */
    struct sw_fetch *fetch;            /* the second one */
    struct sw_registry_lookup *lookup; /* or this */
    struct sw_image_question *members;
    bool answers; /* its members are being answered */
};

struct sw_image_question {
    struct group *group;
    struct sw_image_question *next;
    size_t index; /* in "images" */
    sw_image_fn *fn;
    void *arg;
};

/* ---- life --------------------------------------------------------------------------------------
 */

static void close_to_others(struct group *g)
{
    if (!g->prev)
        return;
    *g->prev = g->next;
    if (g->next)
        g->next->prev = g->prev;
    g->prev = NULL;
}

static void group_free(struct group *g)
{
    close_to_others(g);
    sw_access_close(g->access);
    sw_fetch_cancel(g->fetch);
    sw_registry_lookup_close(g->lookup);
    sw_timer_free(g->timer);
    json_object_put(g->lookup_doc);
    json_object_put(g->asked);
    free(g->ns);
    free(g);
}

/* @q is none of its group's any more. */
static void leave(struct sw_image_question *q)
{
    struct sw_image_question **at = &q->group->members;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
}

void sw_image_question_close(struct sw_image_question *q)
{
    if (!q)
        return;
    struct group *g = q->group;
    leave(q);
    free(q);
    if (!g->members && !g->answers)
        group_free(g);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

/* @told: the answer to the one question, or with "answers" to each; borrowed. */
static void settle(struct group *g, struct json_object *told, const char *bytes, size_t len)
{
    struct json_object *each = sw_json_get(told, "answers");
    g->answers = true;
    close_to_others(g);
    for (struct sw_image_question *q; (q = SW_LINKED(g->members));) {
        struct json_object *own = each ? sw_json_at(each, q->index) : told;
        const struct sw_image_answer a = {
            .code = (int)sw_json_int(own, SW_UNAVAILABLE, "code", NULL),
            .message = sw_json_str(own, "", "error", NULL),
            .bytes = bytes,
            .len = len,
        };
        leave(q);
        q->fn(&a, q->arg);
        free(q);
    }
    group_free(g);
}

static void on_fetched(struct json_object *told, struct sw_kept *bytes, void *arg)
{
    struct group *g = arg;
    SW_AUTO(sw_kept) *kept = bytes;
    g->fetch = NULL;
    access_learn(g->r, g->ns, told);
    settle(g, told, kept ? sw_kept_bytes(kept) : NULL, kept ? sw_kept_len(kept) : 0);
}

static void on_answered(struct json_object *told, const char *bytes, size_t len, void *arg)
{
    struct group *g = arg;
    access_learn(g->r, g->ns, told);
    settle(g, told, bytes, len);
}

/* All that a namespace asks has one turn, beside those of its recipes. */
static void start(void *arg)
{
    struct group *g = arg;
    struct sw_fetch_queue *fetches = access_fetches(g->r);
    SW_AUTO_JSON *lookup = SW_TAKE(g->lookup_doc);
    struct json_object *layers = access_layers(g->r, g->ns);
    close_to_others(g);
    json_object_object_foreach(g->asked, key, value)
        sw_json_set(lookup, json_object_get(value), key, NULL);
    if (layers && sw_json_get(lookup, "file"))
        sw_json_set(lookup, json_object_get(layers), "layers", NULL);
    if (!fetches) {
        g->lookup = sw_registry_lookup_open(access_loop(g->r), lookup, on_answered, g);
        return;
    }
    SW_AUTO_CHARS *turn = sw_printf("images/%s", g->ns ? g->ns : "");
    struct json_object *request = json_object_new_object();
    sw_json_set(request, json_object_get(lookup), "lookup", NULL);
    g->fetch = sw_fetch_start(fetches, turn, request, on_fetched, g);
}

static void on_access(int code, const char *message, struct json_object *settings, void *arg)
{
    struct group *g = arg;
    g->access = NULL;
    g->lookup_doc = settings;
    if (code < 0) {
        SW_AUTO_JSON *failure = sw_registry_lookup_failure(code, message);
        settle(g, failure, NULL, 0);
    } else if (access_fetches(g->r) && !sw_json_get(g->asked, "file")) {
        g->timer = sw_timer_new(access_loop(g->r), start, g);
        sw_timer_set(g->timer, TOGETHER_MS);
    } else {
        start(g);
    }
}

/* ---- questions ---------------------------------------------------------------------------------
 */

static struct group *group_for(struct sw_registries *r, const struct sw_image_ask *ask)
{
    struct group **first = access_groups(r);
    for (struct group *g = *first; g && !ask->path; g = g->next)
        if (g->scope == ask->scope && sw_streq(g->ns, ask->ns) &&
            sw_json_len(sw_json_get(g->asked, "images")) < MAX_TOGETHER)
            return g;
    struct group *g = sw_zalloc(1, sizeof *g);
    *g = (struct group){
        .r = r, .ns = sw_strdup(ask->ns), .scope = ask->scope, .asked = json_object_new_object()
    };
    if (ask->path) {
        sw_json_set_str(g->asked, ask->path, "file", "path", NULL);
        sw_json_set(g->asked, json_object_new_boolean(ask->last_layer_only), "file",
                    "lastLayerOnly", NULL);
        sw_json_set(g->asked, json_object_new_int64((int64_t)ask->max_bytes), "file", "maxBytes",
                    NULL);
    } else {
        g->next = *first;
        g->prev = first;
        if (g->next)
            g->next->prev = &g->next;
        *first = g;
    }
    g->access = access_open(r, ask->ns, ask->scope, on_access, g);
    return g;
}

struct sw_image_question *sw_registries_ask(struct sw_registries *r, const struct sw_image_ask *ask,
                                            sw_image_fn *fn, void *arg)
{
    struct group *g = group_for(r, ask);
    struct json_object *images = sw_json_need_list(g->asked, "images", NULL),
                       *image = json_object_new_object();
    struct sw_image_question *q = sw_zalloc(1, sizeof *q);
    *q = (struct sw_image_question){
        .group = g, .next = g->members, .index = sw_json_len(images), .fn = fn, .arg = arg
    };
    g->members = q;
    sw_json_set_str(image, ask->image, "reference", NULL);
    sw_json_set_str(image, ask->platform, "platform", NULL);
    (void)json_object_array_add(images, image);
    return q;
}

bool sw_image_is_internal(const char *image)
{
    static const char host[] = "image-registry.openshift-image-registry.svc";
    if (!image || !sw_starts_with(image, host))
        return false;
    const char *rest = image + strlen(host);
    return *rest == ':' || *rest == '/' || sw_starts_with(rest, ".cluster.local:") ||
           sw_starts_with(rest, ".cluster.local/");
}
