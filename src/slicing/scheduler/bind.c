/* One pod to its node: what stands in the way is deleted, its claims are created, and it is bound.
 * By the default of their definition claims are in the state created at once; where it is an older
 * one, or DAS's, they are staged and have to be marked. Whatever fails on the way, what was written
 * is deleted again before the answer says so. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/internal.h"
#include "slicing/scheduler/placement.h"

enum {
    WRITE_MS = 4000,   /* for one write */
    FORWARD_MS = 7000, /* nothing new is begun after: the scheduler waits for 10 s */
    RETRIES = 2,
};

struct bind {
    struct sw_scheduler *s;
    struct sw_serve_reply *reply;
    struct extender_bind ask;
    struct pod *pod; /* NULL: not known yet; then kept by pod->binding */
    char *why;       /* the first thing that failed */
    bool waits;      /* for the watch to report its claims */
    size_t n_open;   /* writes without an answer */
    void (*next)(struct bind *b);
    struct write *writes;
    int64_t started_ms;
    struct sw_timer *timer; /* while it waits; NULL: it never did */
    struct bind *prev, *next_bind;
};

/* A request about one claim of a bind. */
struct write {
    struct bind *b;
    struct claim *claim;
    struct json_object *made; /* the claim as it was created */
    struct write *more;
};

static const struct sw_kind *pod_kind(const struct bind *b)
{
    return b->s->informers[INFORMER_PODS].kind;
}

/* ---- ending ------------------------------------------------------------------------------------
 */

static void free_bind(struct bind *b)
{
    while (b->writes) {
        struct write *w = b->writes;
        b->writes = w->more;
        (void)json_object_put(w->made);
        free(w);
    }
    *(b->prev ? &b->prev->next_bind : &b->s->binds) = b->next_bind;
    if (b->next_bind)
        b->next_bind->prev = b->prev;
    b->s->n_binds--;
    sw_timer_free(b->timer);
    extender_bind_done(&b->ask);
    free(b->why);
    free(b);
}

static void answer(struct bind *b)
{
    struct printbuf *out = printbuf_new();
    extender_put_error(out, b->why);
    sw_serve_json(SW_TAKE(b->reply), out->buf, (size_t)out->bpos);
    printbuf_free(out);
}

static void finish(struct bind *b)
{
    struct sw_scheduler *s = b->s;
    struct pod *pod = b->pod;
    struct metrics *m = &s->metrics;
    const int64_t now_ms = sw_loop_now_ms(s->loop);
    sched_metrics_answered(m, METRICS_BIND, (double)(now_ms - b->started_ms) / 1e3);
    m->bound += !b->why;
    m->bind_failed += b->why != NULL;
    if (!b->why && pod && pod->asked_ms)
        sched_metrics_waited(m, (double)(now_ms - pod->asked_ms) / 1e3);
    SW_AUTO_CHARS *name = sw_printf("%s/%s", b->ask.ns, b->ask.pod);
    if (b->why)
        sw_log(SW_LOG_WARN, "pod not bound", "pod", name, "node", b->ask.node, "error", b->why,
               NULL);
    else
        sw_log(SW_LOG_INFO, "pod bound", "pod", name, "node", b->ask.node, NULL);
    answer(b);
    if (pod) {
        /* The collector may check its claims again. One without a uid is dropped: should it exist
         * all the same, the watch reports it. */
        for (struct claim *c = pod->claims, *next; c; c = next) {
            next = c->pod_next;
            c->held = false;
            c->since_ms = now_ms;
            if (!*c->uid)
                cache_drop_claim(s->cache, c);
        }
        if (!b->why)
            cache_pod_bound(s->cache, pod, b->ask.node);
        cache_bind_ended(s->cache, pod);
    }
    free_bind(b);
    s->changed(s);
}

static void fail(struct bind *b, const char *what, const struct sw_err *err)
{
    if (!b->why)
        b->why = sw_printf("%s: %s", what, sw_err_text(err));
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static struct write *new_write(struct bind *b, struct claim *c)
{
    struct write *w = sw_zalloc(1, sizeof *w);
    w->b = b;
    w->claim = c;
    w->more = b->writes;
    b->writes = w;
    b->n_open++;
    return w;
}

/* Go on when the step's last answer is there. */
static void written(struct bind *b)
{
    if (--b->n_open == 0)
        b->next(b);
}

/* A step without a request goes on at once. */
static void go(struct bind *b, void (*next)(struct bind *b))
{
    b->next = next;
    if (b->n_open == 0)
        next(b);
}

static bool is_late(struct bind *b)
{
    if (sw_loop_now_ms(b->s->loop) - b->started_ms < FORWARD_MS || b->why)
        return b->why != NULL;
    b->why = sw_strdup("the API server takes too long to answer");
    return true;
}

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct write *w = arg;
    struct claim *c = w->claim;
    if (a->code == 0 || a->code == SW_NOTFOUND) {
        cache_drop_claim(w->b->s->cache, c);
    } else { /* it is collected later */
        c->held = false;
        fail(w->b, "delete the claim", a->err);
    }
    written(w->b);
}

static void delete_claim(struct bind *b, struct claim *c)
{
    const struct sw_request_opts opts = {
        .timeout_ms = WRITE_MS, .retries = RETRIES, .ahead = true, .uid = *c->uid ? c->uid : NULL
    };
    c->held = true;
    (void)sw_kube_delete(b->s->kube, &sw_kind_claim, b->s->opts.ns, c->name, &opts, on_deleted,
                         new_write(b, c));
}

/* Its own claims: where the pod is bound elsewhere, or another replica has created them, they may
 * be what it runs with. One that may have been created all the same is collected later. */
static void undo(struct bind *b)
{
    b->s->metrics.undone++;
    for (struct claim *c = b->pod->claims, *next; c; c = next) {
        next = c->pod_next;
        if (c->own && strcmp(c->node->name, b->ask.node) == 0)
            delete_claim(b, c);
    }
    go(b, finish);
}

static void on_checked(const struct sw_kube_answer *a, void *arg)
{
    struct bind *b = arg;
    const char *node = a->code == 0 ? sw_json_str(a->object, "", "spec", "nodeName", NULL) : "";
    b->n_open--;
    if (a->code == 0 && strcmp(sw_obj_uid(a->object), b->ask.uid) == 0 &&
        strcmp(node, b->ask.node) == 0) { /* it was bound after all */
        free(b->why);
        b->why = NULL;
        finish(b);
    } else if (a->code == 0 || a->code == SW_NOTFOUND) {
        undo(b);
    } else { /* not known: the claims stay for the collector to decide */
        finish(b);
    }
}

static void read_pod_node(struct bind *b, void (*cb)(const struct sw_kube_answer *a, void *arg))
{
    static const char *const fields[] = { "spec.nodeName", NULL };
    const struct sw_request_opts opts = { .timeout_ms = WRITE_MS, .retries = 1, .fields = fields };
    b->n_open++;
    (void)sw_kube_get(b->s->kube, pod_kind(b), b->ask.ns, b->ask.pod, &opts, cb, b);
}

static void on_bound(const struct sw_kube_answer *a, void *arg)
{
    struct bind *b = arg;
    b->n_open--;
    if (a->code == 0) {
        finish(b);
        return;
    }
    fail(b, "bind the pod", a->err);
    if (a->code == SW_UNAVAILABLE || a->code == SW_CONFLICT) /* it may be ours all the same */
        read_pod_node(b, on_checked);
    else
        undo(b);
}

static void send_binding(struct bind *b)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Binding", "kind", NULL);
    sw_json_set_str(doc, b->ask.pod, "metadata", "name", NULL);
    sw_json_set_str(doc, b->ask.ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, b->ask.uid, "metadata", "uid", NULL);
    sw_json_set_str(doc, "v1", "target", "apiVersion", NULL);
    sw_json_set_str(doc, "Node", "target", "kind", NULL);
    sw_json_set_str(doc, b->ask.node, "target", "name", NULL);
    const struct sw_request_opts opts = { .timeout_ms = WRITE_MS,
                                          .retries = RETRIES,
                                          .ahead = true, /* what has begun ends first */
                                          .subresource = "binding" };
    b->n_open++;
    (void)sw_kube_create(b->s->kube, pod_kind(b), b->ask.ns, b->ask.pod, doc, &opts, on_bound, b);
}

static struct json_object *find_made(const struct bind *b, const struct claim *c)
{
    for (const struct write *w = b->writes; w; w = w->more)
        if (w->claim == c && w->made)
            return w->made;
    return NULL;
}

static void bind_pod(struct bind *b);

static void on_waited(void *arg)
{
    struct bind *b = arg;
    b->waits = false;
    bind_pod(b);
}

void sched_bind_observed(struct sw_scheduler *s, const char *claim)
{
    struct claim *c = cache_find_claim(s->cache, claim);
    struct bind *b = s->binds;
    if (!c)
        return;
    c->watched = *c->uid != '\0';
    while (b && !(b->waits && b->pod == c->pod))
        b = b->next_bind;
    if (!b)
        return;
    sw_timer_stop(b->timer);
    on_waited(b);
}

/* Another replica may have created claims for the same slices meanwhile. Once the watch has
 * reported the claims made here, it has reported all older ones too; newer ones are found to
 * overlap by the other replica. So no slice is given away twice, without a further request. */
static void bind_pod(struct bind *b)
{
    bool watched = true;
    if (b->pod->gone && !b->why) /* servers of 1.20 would bind another one of its name */
        b->why = sw_strdup("the pod is gone");
    for (const struct claim *c = b->pod->claims; c && !b->why; c = c->pod_next) {
        struct json_object *made = find_made(b, c);
        watched &= c->watched && (!made || strcmp(sw_obj_uid(made), c->uid) == 0);
        if (!*c->uid)
            b->why = sw_printf("%s: it was deleted meanwhile", c->name);
        else if (cache_overlaps(c))
            b->why = sw_printf("%s: another scheduler gave the same slices away", c->name);
    }
    if (is_late(b)) {
        undo(b);
    } else if (watched) {
        send_binding(b);
    } else {
        b->waits = true;
        if (!b->timer)
            b->timer = sw_timer_new(b->s->loop, on_waited, b);
        sw_timer_set(b->timer, b->started_ms + FORWARD_MS - sw_loop_now_ms(b->s->loop));
    }
}

static void claim_written(const struct sw_kube_answer *a, struct write *w, const char *what)
{
    struct claim *c = w->claim;
    SW_ERR(err);
    if (a->code < 0)
        fail(w->b, what, a->err);
    else if (a->object && cache_observe_claim(w->b->s->cache, c->name, sw_obj_uid(a->object),
                                              a->object, c->since_ms, &err) < 0)
        fail(w->b, "the API server's answer", &err);
    else if (w->made)
        c->own = true;
    written(w->b);
}

static void on_claim_created(const struct sw_kube_answer *a, void *arg)
{
    struct write *w = arg;
    if (a->code == 0)
        w->made = json_object_get(a->object);
    claim_written(a, w, "create the claim");
}

static void on_marked(const struct sw_kube_answer *a, void *arg)
{
    claim_written(a, arg, "mark the claim created");
}

static struct json_object *created_status(const struct bind *b)
{
    return sw_claim_status(SW_CLAIM_CREATED, "the pod is placed", sw_loop_wall_ms(b->s->loop));
}

static const struct sw_request_opts mark_opts = { .timeout_ms = WRITE_MS,
                                                  .retries = RETRIES,
                                                  .ahead = true, /* what has begun ends first */
                                                  .subresource = "status" };

static void patch_status(struct write *w)
{
    const struct bind *b = w->b;
    SW_AUTO_JSON *body = created_status(b);
    (void)sw_kube_patch(b->s->kube, &sw_kind_claim, b->s->opts.ns, w->claim->name, SW_PATCH_MERGE,
                        body, &mark_opts, on_marked, w);
}

static void on_status_put(const struct sw_kube_answer *a, void *arg)
{
    /* another client wrote to it meanwhile, or this write had succeeded already */
    if (a->code == SW_CONFLICT)
        patch_status(arg);
    else
        on_marked(a, arg);
}

static void mark_created(struct bind *b)
{
    if (is_late(b)) {
        undo(b);
        return;
    }
    for (struct claim *c = b->pod->claims; c; c = c->pod_next) {
        if (c->state != SW_CLAIM_STAGED)
            continue;
        struct json_object *made = find_made(b, c);
        struct write *w = new_write(b, c);
        if (!made) {
            patch_status(w); /* taken over */
            continue;
        }
        /* A claim that was just created is sent back whole: that costs the API server three
         * quarters of a patch. It knows by itself who owns which field. */
        SW_AUTO_JSON *status = created_status(b);
        json_object_object_del(sw_json_get(made, "metadata"), "managedFields");
        json_object_object_add(made, "status", json_object_get(sw_json_get(status, "status")));
        (void)sw_kube_update(b->s->kube, &sw_kind_claim, b->s->opts.ns, c->name, made, &mark_opts,
                             on_status_put, w);
    }
    go(b, bind_pod);
}

static struct json_object *claim_body(const struct bind *b, const struct claim *c)
{
    char profile[SW_MIG_NAME_LEN], label[SW_MIG_NODE_LABEL_LEN];
    const struct pod *pod = b->pod;
    const struct slice_request *want = &pod->pod_request.list[c->want];
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, SW_CLAIM_API, "apiVersion", NULL);
    sw_json_set_str(doc, sw_kind_claim.kind, "kind", NULL);
    sw_json_set_str(doc, c->name, "metadata", "name", NULL);
    sw_json_set_str(doc, b->s->opts.ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, "slipway-scheduler", "metadata", "labels", "app.kubernetes.io/managed-by",
                    NULL);
    sw_json_set_str(doc, pod->uid, "metadata", "labels", "slipway.dev/pod-uid", NULL);
    sw_json_set_str(doc, sw_mig_node_label(c->node->name, label), "metadata", "labels",
                    SW_MIG_NODE_LABEL, NULL);
    sw_json_set_str(doc, sw_mig_profile_text(&c->profile, profile), "spec", "profile", NULL);
    sw_json_set_str(doc, "Pod", "spec", "podRef", "kind", NULL);
    sw_json_set_str(doc, b->ask.ns, "spec", "podRef", "namespace", NULL);
    sw_json_set_str(doc, b->ask.pod, "spec", "podRef", "name", NULL);
    sw_json_set_str(doc, pod->uid, "spec", "podRef", "uid", NULL);
    sw_json_set(doc, json_object_new_int(c->place.size), "spec", "migPlacement", "size", NULL);
    sw_json_set(doc, json_object_new_int(c->place.start), "spec", "migPlacement", "start", NULL);
    sw_json_set_str(doc, c->node->uuids[c->gpu], "spec", "gpuUUID", NULL);
    sw_json_set_str(doc, c->node->name, "spec", "nodename", NULL);
    sw_json_set_str(doc, pod->pod_request.names[want->container], "spec", "containerName", NULL);
    return doc;
}

/* Take the slices in the cache, and create a claim for each. */
static void create_claims(struct bind *b)
{
    SW_ERR(err);
    struct cache *p = b->s->cache;
    if (!b->why && (decide_usable(p, cache_find_node(p, b->ask.node), &err) < 0 ||
                    cache_reserve(p, b->pod, b->ask.node, sw_loop_now_ms(b->s->loop), &err) < 0))
        fail(b, b->ask.node, &err);
    if (b->why) {
        finish(b); /* nothing was written */
        return;
    }
    const struct sw_request_opts opts = { .timeout_ms = WRITE_MS, .retries = RETRIES };
    for (struct claim *c = b->pod->claims; c; c = c->pod_next) {
        if (*c->uid)
            continue; /* taken over */
        SW_AUTO_JSON *body = claim_body(b, c);
        (void)sw_kube_create(b->s->kube, &sw_kind_claim, b->s->opts.ns, NULL, body, &opts,
                             on_claim_created, new_write(b, c));
    }
    go(b, mark_created);
}

/* Delete what an earlier attempt left behind and cannot be reused. */
static void clear(struct bind *b)
{
    for (struct claim *c = b->pod->claims, *next; c; c = next) {
        next = c->pod_next;
        if (cache_serves(c, b->ask.node))
            continue;
        if (c->state > SW_CLAIM_CREATED && !b->why)
            b->why = sw_printf("claim '%s' of this pod is %s", c->name,
                               sw_claim_state_text(c->state));
        else
            delete_claim(b, c);
    }
    go(b, create_claims);
}

static bool is_elsewhere(struct bind *b, const char *node)
{
    if (*node && strcmp(node, b->ask.node) != 0)
        b->why = sw_printf("the pod is bound to node '%s' already", node);
    return b->why != NULL;
}

/* Another scheduler may have bound it a moment ago, and then the claims are not left over. */
static void on_pod_read(const struct sw_kube_answer *a, void *arg)
{
    struct bind *b = arg;
    b->n_open--;
    if (a->code < 0)
        fail(b, "read the pod", a->err);
    if (b->why || is_elsewhere(b, sw_json_str(a->object, "", "spec", "nodeName", NULL)))
        finish(b);
    else
        clear(b);
}

static void begin(struct bind *b)
{
    const bool bound = b->pod->node != NULL;
    if (b->pod->binding)
        b->why = sw_strdup("this pod is being bound already");
    else if (b->pod->fault)
        b->why = sw_strdup(b->pod->fault);
    if (b->why || bound) {
        (void)is_elsewhere(b, bound ? b->pod->node : ""); /* else there is nothing to do */
        b->pod = NULL;                                    /* its binding is not this one's to end */
        finish(b);
        return;
    }
    b->pod->binding = true;
    const struct claim *left = b->pod->claims; /* by an earlier attempt */
    while (left && cache_serves(left, b->ask.node))
        left = left->pod_next;
    if (!b->pod->pod_request.n)
        bind_pod(b); /* it requests no slices */
    else if (left)
        read_pod_node(b, on_pod_read);
    else
        clear(b);
}

static void on_pod(const struct sw_kube_answer *a, void *arg)
{
    struct bind *b = arg;
    b->n_open--;
    if (a->code < 0)
        fail(b, "read the pod", a->err);
    else if (strcmp(sw_obj_uid(a->object), b->ask.uid) != 0)
        b->why = sw_strdup("the pod is another one by now");
    if (b->why) {
        finish(b);
        return;
    }
    b->pod = cache_observe_pod(b->s->cache, a->object, false, sw_loop_now_ms(b->s->loop));
    begin(b);
}

void sched_bind_start(struct sw_scheduler *s, struct extender_bind *ask,
                      struct sw_serve_reply *reply)
{
    struct bind *b = sw_zalloc(1, sizeof *b);
    *b = (struct bind){ .s = s,
                        .reply = reply,
                        .ask = *ask,
                        .started_ms = sw_loop_now_ms(s->loop),
                        .next_bind = s->binds };
    *ask = (struct extender_bind){ 0 };
    if (s->binds)
        s->binds->prev = b;
    s->binds = b;
    s->n_binds++;
    b->pod = cache_find_pod(s->cache, b->ask.uid);
    if (b->pod && b->pod->known) {
        begin(b);
        return;
    }
    b->pod = NULL;
    b->n_open++;
    (void)sw_kube_get(s->kube, pod_kind(b), b->ask.ns, b->ask.pod,
                      &(struct sw_request_opts){ .timeout_ms = WRITE_MS, .retries = 1 }, on_pod, b);
}

void sched_bind_abandon_all(struct sw_scheduler *s)
{
    while (s->binds) {
        struct bind *b = SW_LINKED(s->binds);
        if (!b->why)
            b->why = sw_strdup("the extender is going down");
        answer(b);
        free_bind(b);
    }
}
