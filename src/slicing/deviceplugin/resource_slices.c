/* They are written one after another, when all of them are known from a watch. Where one of them
 * alone differs it is replaced, and the pool is never incomplete; else all get the next generation.
 * What came from elsewhere (kubelet deletes those of a driver that is gone) is put right. */
#include "slicing/deviceplugin/resource_slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/device_classes.h"
#include "slicing/deviceplugin/dra_node.h"
#include "slicing/deviceplugin/nvidia_slices.h"
#include "slicing/deviceplugin/other_instances.h"

/* Of what a slice was made: the server writes quantities in its own way. */
#define CONTENT "slipway.dev/content"

enum {
    AGAIN_MS = 5000,
    SOON_MS = 50,
    ORDER_MS = 500 /* the order of devices alone: it is no fault, and pods come in numbers */
};

struct dp_slices {
    struct sw_device_plugin *p;
    struct sw_kube_watch *watch;
    struct sw_kube_request *request;
    struct sw_timer *soon;
    bool synced;
    struct json_object *found; /* {name: {content, generation, count, version}} */
    char *node_uid;            /* NULL: not known yet */
    struct dp_classes *classes;
    struct json_object *todo; /* slices to be written, then names to be deleted */
    size_t at;
    uint64_t made_of; /* the state that the last comparison was about */
    uint64_t ordered_by;
    bool published;
    bool keeps; /* the server keeps counters: it was asked by a dry run */
    bool asking;
    bool withdraws; /* it does not: all that is there goes */
    bool cleared;   /* of an earlier process nothing is left, where the face is another one */
    char *trouble;
};

static void go_on(struct dp_slices *s);

/* ---- what is there -----------------------------------------------------------------------------
 */

static void note(struct dp_slices *s, struct json_object *doc)
{
    struct json_object *old = sw_json_get(s->found, sw_obj_name(doc));
    const int64_t version = strtoll(sw_json_str(doc, "0", "metadata", "resourceVersion", NULL),
                                    NULL, 10);
    if (old && version < sw_json_int(old, 0, "version", NULL))
        return; /* it was written since */
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, sw_json_str(doc, "", "metadata", "annotations", CONTENT, NULL),
                    "content", NULL);
    sw_json_set(entry,
                json_object_new_int64(sw_json_int(doc, 0, "spec", "pool", "generation", NULL)),
                "generation", NULL);
    sw_json_set(entry, json_object_new_int64(version), "version", NULL);
    json_object_object_add(s->found, sw_obj_name(doc), entry);
}

static void on_slice(const struct sw_watch_event *e, void *arg)
{
    struct dp_slices *s = arg;
    if (e->type == SW_WATCH_ADDED || e->type == SW_WATCH_MODIFIED)
        note(s, e->object);
    else if (e->type == SW_WATCH_DELETED)
        json_object_object_del(s->found, e->name);
    else if (e->type == SW_WATCH_SYNCED)
        s->synced = true;
    else
        sw_log(SW_LOG_WARN, "cannot watch", "kind", e->kind->kind, "error", sw_err_text(e->err),
               NULL);
    s->made_of = 0;
    if (s->synced && !s->request)
        sw_timer_set(s->soon, SOON_MS);
}

/* ---- what is to be there -----------------------------------------------------------------------
 */

static bool serves(const struct sw_device_plugin *p)
{
    return p->face == DP_FACE_DRA && p->driver && p->open && !p->shut_again;
}

/* Of everything that the slices are made of; never 0. */
static uint64_t state_of(const struct dp_slices *s)
{
    const struct sw_device_plugin *p = s->p;
    SW_AUTO_CHARS *text = sw_strdup(serves(p) ? "serves" : "");
    const struct sw_dra_node node = dp_dra_node(p, NULL);
    for (size_t i = 0; serves(p) && i < node.n_gpus; i++) {
        const struct sw_dra_gpu *g = &node.gpus[i];
        sw_append(&text, "/%s %d %x %u %u", g->uuid, g->barred, g->held.slices, g->held.media,
                  g->held.ofa);
    }
    free((void *)(uintptr_t)node.gpus);
    return sw_fnv64a(text, strlen(text)) | 1;
}

/* Of what the order of the devices goes by, beside that, where it changes. */
static uint64_t order_of(const struct dp_slices *s)
{
    if (!s->p->opts.reorders)
        return 0;
    const struct sw_dra_node node = dp_dra_node(s->p, NULL);
    uint64_t hash = 0;
    for (size_t i = 0; i < node.n_gpus; i++)
        hash = hash * 31 +
               sw_fnv64a((const char *)&node.gpus[i].use.slices, sizeof node.gpus[i].use.slices);
    free((void *)(uintptr_t)node.gpus);
    return hash;
}

static struct json_object *make_slices(const struct dp_slices *s)
{
    if (!serves(s->p))
        return json_object_new_array();
    const struct sw_dra_node node = dp_dra_node(s->p, s->node_uid);
    struct json_object *slices = sw_dra_slices(&node, 0);
    free((void *)(uintptr_t)node.gpus);
    for (size_t i = 0; i < sw_json_len(slices); i++) {
        struct json_object *doc = sw_json_at(slices, i);
        size_t len;
        SW_AUTO_CHARS *text = sw_json_text(sw_json_get(doc, "spec"), SW_JSON_SORTED, &len);
        SW_AUTO_CHARS *hash = sw_printf("%016llx", (unsigned long long)sw_fnv64a(text, len));
        sw_json_set_str(doc, hash, "metadata", "annotations", CONTENT, NULL);
    }
    return slices;
}

static bool is_there(const struct dp_slices *s, struct json_object *doc, bool same_content)
{
    struct json_object *entry = sw_json_get(s->found, sw_obj_name(doc));
    return entry && (!same_content ||
                     sw_streq(sw_json_str(entry, "", "content", NULL),
                              sw_json_str(doc, "?", "metadata", "annotations", CONTENT, NULL)));
}

/* Of the slices that are there: the highest generation, and whether all have it. */
static int64_t generation(const struct dp_slices *s, bool *same)
{
    int64_t most = -1;
    *same = true;
    json_object_object_foreach(s->found, name, entry)
    {
        (void)name;
        const int64_t its = sw_json_int(entry, 0, "generation", NULL);
        *same &= most < 0 || its == most;
        most = its > most ? its : most;
    }
    return most < 0 ? 0 : most;
}

static void add_superfluous(const struct dp_slices *s, struct json_object *slices,
                            struct json_object *todo)
{
    json_object_object_foreach(s->found, name, entry)
    {
        bool needed = false;
        (void)entry;
        for (size_t i = 0; i < sw_json_len(slices) && !needed; i++)
            needed = sw_streq(sw_obj_name(sw_json_at(slices, i)), name);
        if (!needed)
            json_object_array_add(todo, json_object_new_string(name));
    }
}

/* What has to be written and deleted so that the cluster has @slices. */
static struct json_object *compare(const struct dp_slices *s, struct json_object *slices)
{
    const size_t n = sw_json_len(slices);
    struct json_object *todo = json_object_new_array();
    size_t n_other = 0, n_missing = 0;
    bool same_generation;
    int64_t now = generation(s, &same_generation);
    for (size_t i = 0; i < n; i++) {
        n_missing += !is_there(s, sw_json_at(slices, i), false);
        n_other += !is_there(s, sw_json_at(slices, i), true);
    }
    const bool in_place = same_generation && !n_missing && n_other <= 1 &&
                          n == (size_t)json_object_object_length(s->found);
    if (!in_place)
        now++;
    for (size_t i = 0; i < n; i++) {
        struct json_object *doc = sw_json_at(slices, i);
        if (in_place && is_there(s, doc, true))
            continue;
        sw_json_set(doc, json_object_new_int64(now), "spec", "pool", "generation", NULL);
        json_object_array_add(todo, json_object_get(doc));
    }
    add_superfluous(s, slices, todo);
    return todo;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void fail(struct dp_slices *s, const struct sw_err *err)
{
    s->withdraws = false;
    if (!sw_streq(s->trouble, sw_err_text(err)))
        sw_log(SW_LOG_WARN, "not published; trying again", "error", sw_err_text(err), NULL);
    sw_text_set(&s->trouble, sw_err_text(err));
    (void)json_object_put(SW_TAKE(s->todo));
    s->made_of = 0;
    sw_timer_set(s->soon, AGAIN_MS);
}

static bool has_counters(struct json_object *slice)
{
    struct json_object *spec = sw_json_get(slice, "spec");
    return sw_json_get(spec, "sharedCounters") ||
           sw_json_get(sw_json_at(sw_json_get(spec, "devices"), 0), "consumesCounters");
}

/* Devices without the counters that they take would be given out one over the other. */
static void withdraw(struct dp_slices *s)
{
    (void)json_object_put(s->todo);
    s->todo = json_object_new_array();
    s->at = 0;
    s->keeps = false;
    s->withdraws = true;
    add_superfluous(s, NULL, s->todo);
    go_on(s);
}

static void tell_dropped(struct dp_slices *s)
{
    SW_ERR(err);
    (void)sw_err_set(
        &err, SW_INVALID,
        "the API server drops sharedCounters of ResourceSlices (Kubernetes before 1.36, "
        "or without its feature gate DRAPartitionableDevices)");
    fail(s, &err);
}

static void on_asked(struct dp_slices *s, struct json_object *answer)
{
    s->keeps = has_counters(answer);
    if (s->keeps)
        go_on(s);
    else
        withdraw(s);
}

static void on_written(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_slices *s = arg;
    s->request = NULL;
    struct json_object *item = sw_json_at(s->todo, s->at);
    const bool deletes = json_object_is_type(item, json_type_string);
    s->asking &= answer->code == 0;
    if (answer->code < 0 && !(deletes && answer->code == SW_NOTFOUND)) {
        fail(s, answer->err);
        return;
    }
    if (s->asking) {
        s->asking = false;
        on_asked(s, answer->object);
        return;
    }
    if (deletes)
        json_object_object_del(s->found, json_object_get_string(item));
    else
        note(s, answer->object);
    if (!deletes && has_counters(item) && !has_counters(answer->object)) {
        withdraw(s); /* another server has answered the dry run, or its gate is off since */
        return;
    }
    s->at++;
    go_on(s);
}

static void write_next(struct dp_slices *s)
{
    struct sw_kube *k = s->p->kube;
    struct json_object *item = sw_json_at(s->todo, s->at);
    if (json_object_is_type(item, json_type_string))
        s->request = sw_kube_delete(k, &dp_kind_resource_slice, NULL, json_object_get_string(item),
                                    NULL, on_written, s);
    else {
        s->asking = !s->keeps && has_counters(item);
        s->request = sw_kube_apply(k, &dp_kind_resource_slice, NULL, sw_obj_name(item), item,
                                   &(struct sw_request_opts){ .force = true, .dry_run = s->asking },
                                   on_written, s);
    }
}

/* ---- the order of it ---------------------------------------------------------------------------
 */

static void on_classes(const struct sw_err *trouble, void *arg)
{
    if (trouble)
        fail(arg, trouble);
    else
        go_on(arg);
}

static void on_node(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_slices *s = arg;
    s->request = NULL;
    if (answer->code < 0) {
        fail(s, answer->err);
        return;
    }
    s->node_uid = sw_strdup(sw_obj_uid(answer->object));
    go_on(s);
}

/* @return whether a request is under way */
static bool need_node(struct dp_slices *s)
{
    static const char *const fields[] = { "metadata.uid", NULL };
    if (s->node_uid)
        return false;
    s->request = sw_kube_get(s->p->kube, &sw_kind_node, NULL, s->p->opts.node,
                             &(struct sw_request_opts){ .fields = fields }, on_node, s);
    return true;
}

static void need_watch(struct dp_slices *s)
{
    static const char *const fields[] = { "metadata.annotations", "spec.pool", NULL };
    SW_AUTO_CHARS *ours = sw_printf("spec.nodeName=%s,spec.driver=" SW_DRA_DRIVER, s->p->opts.node);
    if (!s->watch)
        s->watch = sw_kube_watch_open(
            s->p->kube, &dp_kind_resource_slice,
            &(struct sw_watch_opts){ .field_selector = ours, .fields = fields }, on_slice, s);
}

static void go_on(struct dp_slices *s)
{
    if (s->request)
        return;
    if (s->todo && s->at < sw_json_len(s->todo)) {
        write_next(s);
        return;
    }
    if (s->withdraws) {
        tell_dropped(s);
        return;
    }
    if (s->todo) {
        char count[24];
        (void)snprintf(count, sizeof count, "%zu", sw_json_len(s->todo));
        sw_log(SW_LOG_INFO, "ResourceSlices written", "writes", count, NULL);
        free(SW_TAKE(s->trouble));
        (void)json_object_put(SW_TAKE(s->todo));
    }
    need_watch(s);
    if (!s->synced || !dp_nvidia_slices_are_known(s->p->nvidia_slices) || need_node(s) ||
        (serves(s->p) && !dp_other_instances_are_known(s->p->other_instances)) ||
        (serves(s->p) && !dp_classes_make(s->classes)))
        return;
    s->made_of = state_of(s);
    s->ordered_by = order_of(s);
    SW_AUTO_JSON *slices = make_slices(s);
    struct json_object *todo = compare(s, slices);
    s->published = sw_json_len(todo) == 0;
    if (s->published) {
        (void)json_object_put(todo);
        return;
    }
    s->todo = todo;
    s->at = 0;
    write_next(s);
}

static void on_soon(void *arg)
{
    struct dp_slices *s = arg;
    if (s->watch || s->p->face == DP_FACE_DRA)
        go_on(s);
    else
        dp_slices_refresh(s);
}

/* Of an earlier process, whose face was another one. */
static void on_left(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_slices *s = arg;
    if (answer->code == 0 && sw_json_len(answer->items))
        need_watch(s); /* which deletes them */
    s->request = NULL;
    if (answer->code != SW_UNAVAILABLE)
        return; /* nothing is there, or nothing may be done */
    s->cleared = false;
    fail(s, answer->err);
}

static void list_left(struct dp_slices *s)
{
    static const char *const fields[] = { "metadata.name", NULL };
    SW_AUTO_CHARS *ours = sw_printf("spec.nodeName=%s,spec.driver=" SW_DRA_DRIVER, s->p->opts.node);
    s->cleared = true;
    s->request = sw_kube_list(s->p->kube, &dp_kind_resource_slice, NULL,
                              &(struct sw_request_opts){ .fields = fields, .field_selector = ours },
                              on_left, s);
}

void dp_slices_refresh(struct dp_slices *s)
{
    if (!s || s->p->face == DP_FACE_UNKNOWN)
        return;
    if (s->p->face != DP_FACE_DRA && !s->watch) {
        if (!s->cleared && !s->request)
            list_left(s);
        return;
    }
    if (s->made_of == state_of(s)) {
        if (s->ordered_by != order_of(s) && !s->request && !sw_timer_is_set(s->soon))
            sw_timer_set(s->soon, ORDER_MS);
        return;
    }
    s->made_of = 0;
    s->published = false;
    if (!s->request)
        sw_timer_set(s->soon, SOON_MS);
}

const char *dp_slices_trouble(const struct dp_slices *s)
{
    return s->trouble;
}

bool dp_slices_are_published(const struct dp_slices *s)
{
    return s->published;
}

struct dp_slices *dp_slices_new(struct sw_device_plugin *p)
{
    struct dp_slices *s = sw_zalloc(1, sizeof *s);
    s->p = p;
    s->soon = sw_timer_new(p->loop, on_soon, s);
    s->found = json_object_new_object();
    s->classes = dp_classes_new(p, on_classes, s);
    return s;
}

void dp_slices_free(struct dp_slices *s)
{
    if (!s)
        return;
    sw_kube_watch_close(s->watch);
    sw_kube_cancel(s->request);
    sw_timer_free(s->soon);
    (void)json_object_put(s->found);
    dp_classes_free(s->classes);
    (void)json_object_put(s->todo);
    free(s->node_uid);
    free(s->trouble);
    free(s);
}
