/* Nodes, pods and claims, and how they hang together. */
#include "scheduler/picture.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

static const char *const states[] = { "staged", "created", "processing", "inUse", "orphaned" };
_Static_assert(SW_COUNT(states) == CLAIM_N_STATES, "a text each");

const char *claim_state_text(enum claim_state state)
{
    return states[state];
}

static void *look_up(struct lh_table *table, const char *key)
{
    void *found = NULL;
    return lh_table_lookup_ex(table, key, &found) ? found : NULL;
}

static void insert(struct lh_table *table, const char *key, void *value)
{
    if (lh_table_insert(table, key, value) != 0)
        abort(); /* no memory */
}

static void set_text(char **field, const char *text)
{
    if (sw_streq(*field, text))
        return;
    free(*field);
    *field = text ? sw_strdup(text) : NULL;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

struct node *picture_find_node(const struct picture *p, const char *name)
{
    return look_up(p->nodes, name);
}

static struct node *need_node(struct picture *p, const char *name)
{
    struct node *n = picture_find_node(p, name);
    if (n)
        return n;
    n = sw_zalloc(1, sizeof *n);
    n->name = sw_strdup(name);
    insert(p->nodes, n->name, n);
    return n;
}

static void has_grown(struct picture *p, struct node *n)
{
    n->grown = true;
    p->any_grown = true;
}

static void free_gpus(struct node *n)
{
    for (size_t i = 0; i < n->n_gpus; i++) {
        sw_mig_geometry_unref((struct sw_mig_geometry *)n->gpus[i].geometry);
        free(n->uuids[i]);
    }
    free(n->gpus);
    free(n->uuids);
    n->gpus = NULL;
    n->uuids = NULL;
    n->n_gpus = 0;
}

static void free_node(struct node *n)
{
    free_gpus(n);
    free(n->unready);
    free(n->name);
    free(n);
}

/* Nothing refers to it and nothing is said of it: forget it. */
static void maybe_forget_node(struct picture *p, struct node *n)
{
    if (n->labelled || n->is_mig || n->unready || n->claims)
        return;
    (void)lh_table_delete(p->nodes, n->name);
    free_node(n);
}

static size_t need_gpu(struct node *n, const char *uuid)
{
    for (size_t i = 0; i < n->n_gpus; i++)
        if (strcmp(n->uuids[i], uuid) == 0)
            return i;
    n->gpus = sw_realloc(n->gpus, n->n_gpus + 1, sizeof *n->gpus);
    n->uuids = sw_realloc(n->uuids, n->n_gpus + 1, sizeof *n->uuids);
    n->gpus[n->n_gpus] = (struct sw_mig_gpu){ 0 };
    n->uuids[n->n_gpus] = sw_strdup(uuid);
    return n->n_gpus++;
}

/* A slice whose profile its GPU does not know takes its place all the same. */
static const struct sw_mig_kind *kind_of(const struct claim *c)
{
    static const struct sw_mig_kind unknown;
    return c->kind ? c->kind : &unknown;
}

/* What is taken is worked out anew: claims may overlap, and then giving one back must not free what
 * the other has. */
static void count_use(struct node *n, size_t gpu)
{
    n->gpus[gpu].use = (struct sw_mig_use){ 0 };
    for (const struct claim *c = n->claims; c; c = c->next)
        if (c->gpu == gpu)
            sw_mig_take(&n->gpus[gpu].use, kind_of(c), c->place);
}

void picture_see_node(struct picture *p, const char *name, bool labelled)
{
    struct node *n = labelled ? need_node(p, name) : picture_find_node(p, name);
    if (!n)
        return;
    if (labelled && !n->labelled)
        has_grown(p, n);
    n->labelled = labelled;
    maybe_forget_node(p, n);
}

void picture_without(const struct node *node, const struct pod *const *pods, size_t n_pods,
                     struct sw_mig_gpu *gpus)
{
    bool any = false;
    if (node->n_gpus)
        memcpy(gpus, node->gpus, node->n_gpus * sizeof *gpus);
    for (size_t i = 0; i < n_pods; i++)
        any |= pods[i]->claims != NULL;
    if (!any)
        return;
    for (size_t i = 0; i < node->n_gpus; i++)
        gpus[i].use = (struct sw_mig_use){ 0 };
    for (const struct claim *c = node->claims; c; c = c->next) {
        bool out = false;
        for (size_t i = 0; i < n_pods; i++)
            out |= c->pod == pods[i];
        if (!out)
            sw_mig_take(&gpus[c->gpu].use, kind_of(c), c->place);
    }
}

/* ---- accelerators ------------------------------------------------------------------------------
 */

static struct sw_mig_geometry *share_geometry(const struct picture *p,
                                              struct sw_mig_geometry *fresh)
{
    /* most nodes have one of a few models: the first node's will do for all */
    unsigned looked = 0;
    for (struct lh_entry *e = lh_table_head(p->nodes); e && looked < 64; e = e->next) {
        const struct node *n = lh_entry_v(e);
        struct sw_mig_geometry *g = n->n_gpus ? (struct sw_mig_geometry *)n->gpus[0].geometry
                                              : NULL;
        looked += g != NULL;
        if (!g || g == fresh || !sw_mig_geometry_equal(g, fresh))
            continue;
        sw_mig_geometry_unref(fresh);
        return sw_mig_geometry_ref(g);
    }
    return fresh;
}

static int read_geometry(const struct picture *p, struct json_object *placement,
                         struct sw_mig_geometry **out, struct sw_err *err)
{
    struct sw_mig_geometry *g = NULL;
    const int rc = sw_mig_geometry_from_json(placement, &g, err);
    if (rc == 0)
        *out = share_geometry(p, g);
    return rc;
}

/* One entry of status.nodeResources.nodeGpus. A GPU of another model than the node's first may say
 * its own migPlacement. */
static int read_gpu(const struct picture *p, struct node *n, struct json_object *doc,
                    struct sw_mig_geometry *common, struct sw_err *err)
{
    const char *uuid = sw_json_str(doc, "", "gpuUuid", NULL);
    struct json_object *own = sw_json_get(doc, "migPlacement");
    struct sw_mig_geometry *g = NULL;
    if (!*uuid)
        return sw_err_set(err, SW_INVALID, "a GPU without gpuUuid");
    if (own) {
        const int rc = read_geometry(p, own, &g, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "GPU %s", uuid);
    } else if (common) {
        g = sw_mig_geometry_ref(common);
    }
    const size_t number = need_gpu(n, uuid);
    struct sw_mig_gpu *gpu = &n->gpus[number];
    sw_mig_geometry_unref((struct sw_mig_geometry *)gpu->geometry);
    gpu->geometry = g;
    gpu->barred = !sw_json_bool(doc, true, "healthy", NULL);
    return 0;
}

static int read_gpus(const struct picture *p, struct node *n, struct json_object *resources,
                     struct sw_err *err)
{
    enum { MAX_GPUS = 64 };
    struct json_object *placement = sw_json_get(resources, "migPlacement");
    struct json_object *list = sw_json_get(resources, "nodeGpus");
    SW_AUTO(sw_mig_geometry) *common = NULL;
    if (sw_json_len(list) > MAX_GPUS)
        return sw_err_set(err, SW_INVALID, "nodeGpus: more than %d", MAX_GPUS);
    int rc = sw_json_len(placement) ? read_geometry(p, placement, &common, err) : 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = read_gpu(p, n, sw_json_at(list, i), common, err);
    return rc;
}

/* Claims keep their GPU by its number: give them the new numbers. */
static void renumber(struct node *n, char *const *old_uuids)
{
    for (struct claim *c = n->claims; c; c = c->next)
        c->gpu = need_gpu(n, old_uuids[c->gpu]);
    for (struct claim *c = n->claims; c; c = c->next) {
        const struct sw_mig_geometry *g = n->gpus[c->gpu].geometry;
        c->kind = g ? sw_mig_kind_find(g, &c->profile) : NULL;
    }
    for (size_t i = 0; i < n->n_gpus; i++)
        count_use(n, i);
}

static bool is_ready(struct json_object *obj, struct sw_err *why)
{
    struct json_object *c = sw_obj_condition(obj, "Ready");
    if (!sw_streq(sw_json_str(c, "True", "status", NULL), "False"))
        return true;
    (void)sw_err_set(why, SW_PENDING, "its GPUs are not ready (%s)",
                     sw_json_str(c, "no reason given", "reason", NULL));
    return false;
}

int picture_see_accelerator(struct picture *p, const char *name, struct json_object *obj,
                            struct sw_err *err)
{
    struct node *n = obj ? need_node(p, name) : picture_find_node(p, name);
    if (!n)
        return 0;
    const struct node before = *n;
    n->gpus = NULL;
    n->uuids = NULL;
    n->n_gpus = 0;
    n->unready = NULL;
    n->is_mig = sw_streq(sw_json_str(obj, "", "spec", "acceleratorType", NULL), "nvidia-mig");
    int rc = 0;
    SW_ERR(why);
    if (n->is_mig)
        rc = read_gpus(p, n, sw_json_find(obj, "status", "nodeResources", NULL), &why);
    if (rc < 0) {
        free_gpus(n);
        n->unready = sw_strdup("its NodeAccelerator cannot be read");
        rc = sw_err_set(err, rc, "NodeAccelerator '%s': %s", name, sw_err_text(&why));
    } else if (n->is_mig && !is_ready(obj, &why)) {
        n->unready = sw_strdup(sw_err_text(&why));
    }
    renumber(n, before.uuids);
    has_grown(p, n);
    struct node old = { .gpus = before.gpus, .uuids = before.uuids, .n_gpus = before.n_gpus };
    free_gpus(&old);
    free(before.unready);
    maybe_forget_node(p, n);
    return rc;
}

/* ---- pods --------------------------------------------------------------------------------------
 */

static bool is_waiting(const struct pod *pod)
{
    return pod->known && pod->wants.n && !pod->node && !pod->ended;
}

struct pod *picture_find_pod(const struct picture *p, const char *uid)
{
    return look_up(p->pods, uid);
}

static struct pod *need_pod(struct picture *p, const char *uid, const char *ns, const char *name)
{
    struct pod *pod = picture_find_pod(p, uid);
    if (pod)
        return pod;
    pod = sw_zalloc(1, sizeof *pod);
    pod->uid = sw_strdup(uid);
    pod->ns = sw_strdup(ns);
    pod->name = sw_strdup(name);
    insert(p->pods, pod->uid, pod);
    return pod;
}

static void free_pod(struct pod *pod)
{
    wants_done(&pod->wants);
    free(pod->fault);
    free(pod->node);
    free(pod->uid);
    free(pod->ns);
    free(pod->name);
    free(pod);
}

static void maybe_forget_pod(struct picture *p, struct pod *pod)
{
    if (pod->known || pod->claims || pod->binding)
        return;
    (void)lh_table_delete(p->pods, pod->uid);
    free_pod(pod);
}

static void read_wants(struct pod *pod, struct json_object *obj)
{
    SW_ERR(err);
    wants_done(&pod->wants);
    free(pod->fault);
    pod->fault = NULL;
    if (!pod->node && wants_read(obj, &pod->wants, &err) < 0)
        pod->fault = sw_strdup(sw_err_text(&err));
}

static void see_bound(struct pod *pod, const char *node, int64_t now_ms)
{
    if (pod->node || !*node)
        return;
    pod->node = sw_strdup(node);
    for (struct claim *c = pod->claims; c; c = c->pod_next)
        c->since_ms = now_ms; /* a new reason to look at them */
}

struct pod *picture_see_pod(struct picture *p, struct json_object *obj, bool watched,
                            int64_t now_ms)
{
    struct pod *pod = need_pod(p, sw_obj_uid(obj), sw_obj_namespace(obj), sw_obj_name(obj));
    const char *phase = sw_json_str(obj, "", "status", "phase", NULL);
    const char *created = sw_json_str(obj, "", "metadata", "creationTimestamp", NULL);
    if (pod->known && !watched)
        return pod;
    p->n_waiting -= is_waiting(pod);
    pod->watched |= watched;
    pod->known = true;
    pod->gone = false;
    see_bound(pod, sw_json_str(obj, "", "spec", "nodeName", NULL), now_ms);
    pod->ended = sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
    pod->refused |= sw_streq(sw_json_str(sw_obj_condition(obj, "PodScheduled"), "", "status", NULL),
                             "False");
    pod->priority = (int32_t)sw_json_int(obj, 0, "spec", "priority", NULL);
    if (!pod->created_ms && *created && sw_time_parse(created, &pod->created_ms, NULL) < 0)
        pod->created_ms = 0;
    read_wants(pod, obj);
    p->n_waiting += is_waiting(pod);
    return pod;
}

void picture_pod_gone(struct picture *p, const char *uid)
{
    struct pod *pod = picture_find_pod(p, uid);
    if (!pod)
        return;
    p->n_waiting -= is_waiting(pod);
    pod->known = pod->watched = false;
    pod->gone = true;
    maybe_forget_pod(p, pod);
}

void picture_pod_bound(struct picture *p, struct pod *pod, const char *node)
{
    p->n_waiting -= is_waiting(pod);
    see_bound(pod, node, 0);
    wants_done(&pod->wants);
}

/* ---- claims ------------------------------------------------------------------------------------
 */

struct claim *picture_find_claim(const struct picture *p, const char *name)
{
    return look_up(p->claims, name);
}

static void link_claim(struct claim *c)
{
    c->prev = NULL;
    c->next = c->node->claims;
    if (c->next)
        c->next->prev = c;
    c->node->claims = c;
    c->pod_prev = NULL;
    c->pod_next = c->pod->claims;
    if (c->pod_next)
        c->pod_next->pod_prev = c;
    c->pod->claims = c;
}

static void unlink_claim(struct claim *c)
{
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &c->node->claims) = c->next;
    if (c->pod_next)
        c->pod_next->pod_prev = c->pod_prev;
    *(c->pod_prev ? &c->pod_prev->pod_next : &c->pod->claims) = c->pod_next;
}

static void free_claim(struct claim *c)
{
    free(c->name);
    free(c->uid);
    free(c->resource_version);
    free(c);
}

void picture_drop_claim(struct picture *p, struct claim *c)
{
    struct node *node = c->node;
    struct pod *pod = c->pod;
    const size_t gpu = c->gpu;
    p->n_reserved -= !c->seen;
    (void)lh_table_delete(p->claims, c->name);
    unlink_claim(c);
    free_claim(c);
    count_use(node, gpu);
    has_grown(p, node);
    maybe_forget_pod(p, pod);
    maybe_forget_node(p, node);
}

struct spec {
    const char *pod_uid, *pod_ns, *pod_name, *node, *gpu;
    struct sw_mig_profile profile;
    struct sw_mig_place place;
    enum claim_state state;
};

static enum claim_state read_state(struct json_object *obj)
{
    const char *text = sw_json_str(obj, "", "status", "state", NULL);
    for (size_t i = 0; i < SW_COUNT(states); i++)
        if (strcmp(text, states[i]) == 0)
            return (enum claim_state)i;
    return CLAIM_STAGED; /* nothing was said yet */
}

static int read_spec(struct json_object *obj, struct spec *s, struct sw_err *err)
{
    struct json_object *spec = sw_json_get(obj, "spec");
    const char *profile = sw_json_str(spec, "", "profile", NULL);
    const int64_t start = sw_json_int(spec, -1, "migPlacement", "start", NULL);
    const int64_t size = sw_json_int(spec, -1, "migPlacement", "size", NULL);
    *s = (struct spec){
        .pod_uid = sw_json_str(spec, "", "podRef", "uid", NULL),
        .pod_ns = sw_json_str(spec, "", "podRef", "namespace", NULL),
        .pod_name = sw_json_str(spec, "", "podRef", "name", NULL),
        .node = sw_json_str(spec, "", "nodename", NULL),
        .gpu = sw_json_str(spec, "", "gpuUUID", NULL),
        .state = read_state(obj),
    };
    if (!*s->pod_uid || !*s->node || !*s->gpu)
        return sw_err_set(err, SW_INVALID, "spec.%s is missing",
                          !*s->pod_uid ? "podRef.uid"
                          : !*s->node  ? "nodename"
                                       : "gpuUUID");
    if (start < 0 || size <= 0 || start + size > SW_MIG_MAX_SLICES)
        return sw_err_set(err, SW_INVALID,
                          "spec.migPlacement: start %lld, size %lld: expected slices 0 to %d",
                          (long long)start, (long long)size, SW_MIG_MAX_SLICES - 1);
    s->place = (struct sw_mig_place){ (uint8_t)start, (uint8_t)size };
    if (sw_mig_profile_parse(profile, strlen(profile), &s->profile, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "spec.profile");
    return 0;
}

static struct claim *new_claim(struct picture *p, const char *name, struct node *node,
                               struct pod *pod, int64_t now_ms)
{
    struct claim *c = sw_zalloc(1, sizeof *c);
    c->name = sw_strdup(name);
    c->uid = sw_strdup("");
    c->resource_version = sw_strdup("");
    c->node = node;
    c->pod = pod;
    c->since_ms = now_ms;
    insert(p->claims, c->name, c);
    link_claim(c);
    p->n_reserved++;
    return c;
}

static void set_spec(struct claim *c, const struct spec *s)
{
    const size_t before = c->gpu;
    c->gpu = need_gpu(c->node, s->gpu);
    c->profile = s->profile;
    c->place = s->place;
    const struct sw_mig_geometry *g = c->node->gpus[c->gpu].geometry;
    c->kind = g ? sw_mig_kind_find(g, &c->profile) : NULL;
    if (before < c->node->n_gpus)
        count_use(c->node, before);
    count_use(c->node, c->gpu);
}

static void claim_gone(struct picture *p, const char *name, const char *uid)
{
    struct claim *c = picture_find_claim(p, name);
    if (!c || (uid && *uid && strcmp(c->uid, uid) != 0))
        return; /* of another that had this name */
    if (c->held) {
        c->uid[0] = '\0'; /* whoever holds it will find out */
        return;
    }
    picture_drop_claim(p, c);
}

int picture_see_claim(struct picture *p, const char *name, const char *uid, struct json_object *obj,
                      int64_t now_ms, struct sw_err *err)
{
    if (!obj) {
        claim_gone(p, name, uid);
        return 0;
    }
    struct spec s;
    const int rc = read_spec(obj, &s, err);
    if (rc < 0) {
        claim_gone(p, name, NULL);
        return sw_err_wrap(err, rc, "AllocationClaim '%s'", name);
    }
    struct claim *c = picture_find_claim(p, name);
    if (c && (strcmp(c->node->name, s.node) != 0 || strcmp(c->pod->uid, s.pod_uid) != 0)) {
        if (c->held)
            return 0; /* somebody else's of that name: the write that is under way will say so */
        picture_drop_claim(p, c);
        c = NULL;
    }
    if (!c)
        c = new_claim(p, name, need_node(p, s.node), need_pod(p, s.pod_uid, s.pod_ns, s.pod_name),
                      now_ms);
    p->n_reserved -= !c->seen;
    c->seen = true;
    c->state = s.state;
    set_text(&c->uid, sw_obj_uid(obj));
    set_text(&c->resource_version, sw_json_str(obj, "", "metadata", "resourceVersion", NULL));
    set_spec(c, &s);
    return 0;
}

bool picture_overlaps(const struct claim *c)
{
    const unsigned mine = ((1u << c->place.size) - 1) << c->place.start;
    for (const struct claim *o = c->node->claims; o; o = o->next) {
        const unsigned theirs = ((1u << o->place.size) - 1) << o->place.start;
        if (o != c && o->gpu == c->gpu && (mine & theirs))
            return true;
    }
    return false;
}

/* ---- reserving ---------------------------------------------------------------------------------
 */

/* DAS's <podUID>-<node>-<container>-<n>. A node's name may be as long as any name: then a hash. */
static char *claim_name(const struct pod *pod, const char *node, const struct want *w)
{
    enum { MAX_NAME = 253 };
    const char *container = pod->wants.names[w->container];
    char *name = sw_printf("%s-%s-%s-%u", pod->uid, node, container, w->n);
    if (strlen(name) <= MAX_NAME)
        return name;
    free(name);
    return sw_printf("%s-%016llx-%s-%u", pod->uid,
                     (unsigned long long)sw_fnv64a(node, strlen(node)), container, w->n);
}

/* @return the pod's want that the claim is for, or NULL */
static const struct want *want_of(const struct claim *c, const char *node)
{
    const struct pod *pod = c->pod;
    for (size_t i = 0; i < pod->wants.n; i++) {
        SW_AUTO_CHARS *name = claim_name(pod, node, &pod->wants.list[i]);
        if (strcmp(name, c->name) == 0)
            return &pod->wants.list[i];
    }
    return NULL;
}

bool picture_serves(const struct claim *c, const char *node)
{
    const struct want *w = strcmp(c->node->name, node) == 0 ? want_of(c, node) : NULL;
    return w && c->state <= CLAIM_CREATED && c->kind && *c->uid && !c->held &&
           sw_mig_profile_equal(&c->profile, &w->profile) && !c->node->gpus[c->gpu].barred;
}

static void reserve_one(struct picture *p, struct pod *pod, struct node *node, size_t want,
                        const struct sw_mig_choice *choice, int64_t now_ms)
{
    SW_AUTO_CHARS *name = claim_name(pod, node->name, &pod->wants.list[want]);
    struct claim *c = new_claim(p, name, node, pod, now_ms);
    const struct spec s = { .gpu = node->uuids[choice->gpu],
                            .profile = pod->wants.list[want].profile,
                            .place = choice->place };
    c->held = true;
    c->want = (uint16_t)want;
    c->gpu = choice->gpu;
    set_spec(c, &s);
}

/* The wants that no claim serves yet. @return how many, or SW_CONFLICT */
static int open_wants(const struct picture *p, const struct pod *pod, const char *node,
                      uint16_t *which, struct sw_err *err)
{
    int n = 0;
    for (const struct claim *c = pod->claims; c; c = c->pod_next)
        if (!picture_serves(c, node))
            return sw_err_set(err, SW_CONFLICT, "claim '%s' is in the way", c->name);
    for (size_t i = 0; i < pod->wants.n; i++) {
        SW_AUTO_CHARS *name = claim_name(pod, node, &pod->wants.list[i]);
        if (!picture_find_claim(p, name))
            which[n++] = (uint16_t)i;
    }
    return n;
}

static void take_over(const struct pod *pod)
{
    for (struct claim *c = pod->claims; c; c = c->pod_next) {
        c->want = (uint16_t)(want_of(c, c->node->name) - pod->wants.list);
        c->held = true;
    }
}

int picture_reserve(struct picture *p, struct pod *pod, const char *name, int64_t now_ms,
                    struct sw_err *err)
{
    struct node *node = picture_find_node(p, name);
    if (!node || !node->is_mig)
        return sw_err_set(err, SW_NOTFOUND, "node '%s' has no GPUs that can be cut", name);
    uint16_t which[SW_MIG_MAX_WANTS];
    struct sw_mig_profile profiles[SW_MIG_MAX_WANTS];
    struct sw_mig_choice choices[SW_MIG_MAX_WANTS];
    const int n = open_wants(p, pod, name, which, err);
    for (int i = 0; i < n; i++)
        profiles[i] = pod->wants.list[which[i]].profile;
    int rc = n > 0 ? sw_mig_place(node->gpus, node->n_gpus, profiles, (size_t)n, p->policy, choices,
                                  err)
                   : n;
    if (rc < 0)
        return rc;
    take_over(pod);
    for (int i = 0; i < n; i++)
        reserve_one(p, pod, node, which[i], &choices[i], now_ms);
    return 0;
}

/* ---- a whole picture ---------------------------------------------------------------------------
 */

struct picture *picture_new(enum sw_mig_policy policy, bool any_node)
{
    struct picture *p = sw_zalloc(1, sizeof *p);
    p->policy = policy;
    p->any_node = any_node;
    p->nodes = lh_kchar_table_new(64, NULL);
    p->pods = lh_kchar_table_new(64, NULL);
    p->claims = lh_kchar_table_new(64, NULL);
    return p;
}

void picture_free(struct picture *p)
{
    if (!p)
        return;
    for (struct lh_entry *e = lh_table_head(p->claims); e; e = e->next)
        free_claim(lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next)
        free_pod(lh_entry_v(e));
    for (struct lh_entry *e = lh_table_head(p->nodes); e; e = e->next)
        free_node(lh_entry_v(e));
    lh_table_free(p->claims);
    lh_table_free(p->pods);
    lh_table_free(p->nodes);
    free(p);
}
