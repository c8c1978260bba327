/* What a resource depends on: other resources, made from the entries of spec.dependencies where
 * they are not there, that have to be Ready first, one after the other. Who made what is also
 * written into SRO's ConfigMap special-resource-dependencies (child: parent), for people and for
 * SRO. */
#include "controller/internal.h"

#include <stdlib.h>
#include <string.h>

#define MAP_NAME "special-resource-dependencies"
#define MANAGER "slipway-dependencies"
#define ANN_PARENT "slipway.dev/dependency-of"
#define ANN_DIGEST "slipway.dev/dependency-digest"

enum { SOON_MS = 10, RETRY_MS = 10000, MAX_DEPTH = 64 };

/* Making one child: its chart is read, the parent is written down, the child is applied. */
struct making {
    struct resource *parent;
    char *name, *digest;
    struct json_object *entry; /* of spec.dependencies */
    struct resource probe;     /* what the chart is loaded for; never in the list */
    struct source *source;
    struct json_object *child;
};

/* A child of the one resource that is looked after, where others are not. */
struct child_watch {
    struct child_watch *next;
    struct sw_controller *c;
    char *name;
    struct sw_kube_watch *watch;
    bool synced;
};

/* ---- entries -----------------------------------------------------------------------------------
 */

/* The chart of an entry: under "chart", or (older resources) the entry itself. */
static struct json_object *chart_of(struct json_object *entry)
{
    struct json_object *chart = sw_json_get(entry, "chart");
    return chart ? chart : entry;
}

static const char *name_of(struct json_object *entry)
{
    return sw_json_str(chart_of(entry), "", "name", NULL);
}

static struct json_object *entries(const struct resource *r)
{
    return sw_json_find(r->doc, "spec", "dependencies", NULL);
}

static bool depends_on(const struct resource *r, const char *name)
{
    struct json_object *list = entries(r);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(name_of(sw_json_at(list, i)), name))
            return true;
    return false;
}

/* ---- cycles ------------------------------------------------------------------------------------
 */

struct trail {
    const char *names[MAX_DEPTH + 1];
    size_t n;
};

/* Does a way lead from @name back to the trail's first? It is in the trail then. */
static bool leads_back(struct sw_controller *c, struct trail *trail, const char *name)
{
    bool is_back = sw_streq(name, trail->names[0]);
    for (size_t i = 1; i < trail->n; i++)
        if (sw_streq(name, trail->names[i]))
            return false; /* a ring of others: they say so themselves */
    if (trail->n > MAX_DEPTH)
        return false;
    trail->names[trail->n++] = name;
    if (is_back)
        return true;
    struct resource *r = resource_find(c, name);
    struct json_object *list = r ? entries(r) : NULL;
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (leads_back(c, trail, name_of(sw_json_at(list, i))))
            return true;
    trail->n--;
    return false;
}

static char *find_cycle(const struct resource *r, const char *name)
{
    struct trail trail = { .names = { r->name }, .n = 1 };
    if (!leads_back(r->c, &trail, name))
        return NULL;
    char *words = sw_strdup(r->name);
    for (size_t i = 1; i < trail.n; i++) {
        char *longer = sw_printf("%s -> %s", words, trail.names[i]);
        free(words);
        words = longer;
    }
    return words;
}

/* ---- what came of it ---------------------------------------------------------------------------
 */

static void outcome_done(struct depend_outcome *o)
{
    free(o->blocked);
    free(o->words);
    *o = (struct depend_outcome){ 0 };
}

static bool same_outcome(const struct depend_outcome *a, const struct depend_outcome *b)
{
    return a->code == b->code && sw_streq(a->blocked, b->blocked) && sw_streq(a->words, b->words);
}

static void fail(struct depend_outcome *o, int code, const char *reason, char *words)
{
    outcome_done(o);
    *o = (struct depend_outcome){ .code = code, .reason = reason, .words = words };
}

void depend_soon(struct sw_controller *c)
{
    if (!sw_timer_is_set(c->depend_timer))
        sw_timer_set(c->depend_timer, SOON_MS);
}

/* ---- making a child ----------------------------------------------------------------------------
 */

static void making_free(struct making *m)
{
    if (!m)
        return;
    source_free(m->source);
    json_object_put(m->probe.doc);
    json_object_put(m->entry);
    json_object_put(m->child);
    free(m->name);
    free(m->digest);
    free(m);
}

static void making_release(void *more)
{
    struct making *m = more;
    if (m->parent->making == m)
        m->parent->making = NULL;
    making_free(m);
}

/* It could not be made: said until the next try. */
static void making_failed(struct making *m, int code, const char *reason, const char *words)
{
    struct resource *r = m->parent;
    outcome_done(&r->making_fault);
    r->making_fault = (struct depend_outcome){
        .code = code,
        .reason = reason,
        .words = sw_printf("dependency %s: %s", m->name, words),
    };
    r->making_due_ms = sw_loop_now_ms(r->c->loop) + RETRY_MS;
    depend_soon(r->c);
}

static void on_child(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct making *m = op->more;
    struct resource *r = op->r;
    op->req = NULL;
    if (a->code < 0)
        making_failed(m, a->code, "FailedToCreateDependencySR", sw_err_text(a->err));
    else
        outcome_done(&r->making_fault);
    op_free(op); /* the child comes through its watch */
    depend_soon(r->c);
}

static void begin_child(struct op *op, const struct sw_kind *kind)
{
    struct making *m = op->more;
    op->req = sw_kube_apply(
        op->r->c->kube, kind, NULL, m->name, m->child,
        &(struct sw_request_opts){ .field_manager = MANAGER, .force = true, .retries = 4 },
        on_child, op);
}

static void child_failed(struct op *op, int code, const char *words)
{
    making_failed(op->more, code, "FailedToCreateDependencySR", words);
    op_free(op);
}

static void apply_child(struct making *m)
{
    struct op *op = op_new(
        m->parent, &(struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, m->name }, 0);
    op->more = m;
    op->release = making_release;
    op->begin = begin_child;
    op->failed = child_failed;
    op_with_kind(op);
}

/* ---- ... who its parent is ---------------------------------------------------------------------
 */

static void map_failed(struct op *op, int code, const char *words)
{
    making_failed(op->more, code, "FailedToStoreDependencyInfo", words);
    op_free(op);
}

/* Hand the work on to another request: this one is done. */
static void next_apply_child(struct op *op)
{
    struct making *m = op->more;
    op->release = NULL;
    op_free(op);
    apply_child(m);
}

static void on_map(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0)
        map_failed(op, a->code, sw_err_text(a->err));
    else
        next_apply_child(op);
}

static void create_map(struct op *op, const struct sw_kind *kind)
{
    const char *ns = op->key.ns;
    SW_AUTO_JSON *doc = json_object_new_object();
    const struct making *m = op->more;
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "ConfigMap", "kind", NULL);
    sw_json_set_str(doc, MAP_NAME, "metadata", "name", NULL);
    sw_json_set_str(doc, ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, m->parent->name, "data", m->name, NULL);
    op->req = sw_kube_create(op->r->c->kube, kind, ns, NULL, doc,
                             &(struct sw_request_opts){ .retries = 4 }, on_map, op);
}

static void on_map_patched(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, "v1", "ConfigMap");
    op->req = NULL;
    if (a->code == SW_NOTFOUND && kind)
        create_map(op, kind);
    else
        on_map(a, arg);
}

static void begin_map(struct op *op, const struct sw_kind *kind)
{
    const struct making *m = op->more;
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, m->parent->name, "data", m->name, NULL);
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, MAP_NAME, SW_PATCH_MERGE, body,
                            &(struct sw_request_opts){ .retries = 4 }, on_map_patched, op);
}

static void store_parent(struct making *m)
{
    struct sw_controller *c = m->parent->c;
    struct op *op = op_new(m->parent, &(struct sw_key){ "v1", "ConfigMap", c->ns, MAP_NAME }, 0);
    op->more = m;
    op->release = making_release;
    op->begin = begin_map;
    op->failed = map_failed;
    op_with_kind(op);
}

/* ---- ... what it is ----------------------------------------------------------------------------
 */

/* The chart's own resource, <name>.yaml, or an empty one. */
static int base_of(const struct making *m, const struct sw_recipe *recipe, struct json_object **out,
                   struct sw_err *err)
{
    SW_AUTO_CHARS *file = sw_printf("%s.yaml", m->name);
    const struct sw_recipe_file *text = sw_recipe_find_file(recipe, file);
    struct sw_yaml_docs docs = { 0 };
    int rc = text ? sw_yaml_parse_all(text->bytes, text->len,
                                      &(struct sw_yaml_opts){ .file = file }, &docs, err)
                  : 0;
    if (rc < 0)
        return rc;
    struct json_object *found = NULL;
    for (size_t i = 0; i < docs.n_docs && !found; i++)
        if (sw_streq(sw_obj_kind(docs.docs[i].object), "SpecialResource"))
            found = sw_json_copy(docs.docs[i].object);
    sw_yaml_docs_done(&docs);
    *out = found ? found : json_object_new_object();
    return 0;
}

static void compose(struct making *m)
{
    struct json_object *doc = m->child, *set = sw_json_get(m->entry, "set");
    SW_AUTO_JSON *chart = sw_json_copy(chart_of(m->entry));
    json_object_object_del(chart, "set"); /* of an entry without "chart" */
    (void)sw_json_del(doc, "status", NULL);
    sw_json_set_str(doc, SW_GROUP_VERSION, "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    sw_json_set_str(doc, m->name, "metadata", "name", NULL);
    sw_json_set_str(doc, m->parent->name, "metadata", "annotations", ANN_PARENT, NULL);
    sw_json_set_str(doc, m->digest, "metadata", "annotations", ANN_DIGEST, NULL);
    sw_json_set(doc, json_object_get(chart), "spec", "chart", NULL);
    if (!*sw_json_str(doc, "", "spec", "namespace", NULL))
        sw_json_set_str(doc, m->name, "spec", "namespace", NULL);
    if (set)
        sw_json_set(doc, sw_json_copy(set), "spec", "set", NULL);
}

static void on_chart(int code, struct sw_recipe *recipe, const char *words, void *arg)
{
    struct making *m = arg;
    struct resource *r = m->parent;
    SW_ERR(err);
    if (code == 0)
        code = base_of(m, recipe, &m->child, &err);
    else
        sw_err_set(&err, code, "%s", words ? words : sw_code_name(code));
    sw_recipe_free(recipe);
    if (code < 0) {
        making_failed(m, code, "DependencyChartFailure", sw_err_text(&err));
        r->making = NULL;
        making_free(m);
        return;
    }
    compose(m);
    source_free(SW_TAKE(m->source));
    store_parent(m);
}

static void make_child(struct resource *r, struct json_object *entry, const char *digest)
{
    if (r->making || r->making_due_ms > sw_loop_now_ms(r->c->loop))
        return;
    struct making *m = r->making = sw_zalloc(1, sizeof *m);
    *m = (struct making){
        .parent = r,
        .name = sw_strdup(name_of(entry)),
        .digest = sw_strdup(digest),
        .entry = json_object_get(entry),
        .probe = { .c = r->c, .name = r->name },
    };
    m->probe.doc = json_object_new_object();
    sw_json_set(m->probe.doc, json_object_get(chart_of(entry)), "spec", "chart", NULL);
    source_load(&m->probe, &m->source, on_chart, m);
}

/* ---- children that nobody else watches ---------------------------------------------------------
 */

static void on_child_watch(const struct sw_watch_event *w, void *arg)
{
    struct child_watch *child = arg;
    struct sw_controller *c = child->c;
    if (w->type == SW_WATCH_SYNCED || w->type == SW_WATCH_ERROR)
        child->synced = child->synced || w->type == SW_WATCH_SYNCED;
    else
        resource_on_watch(w, c);
    depend_soon(c);
}

/* @return whether it is known if the child is there. */
static bool child_is_known(struct sw_controller *c, const char *name)
{
    if (!c->only)
        return c->resources_synced;
    struct child_watch *child = c->children;
    while (child && !sw_streq(child->name, name))
        child = child->next;
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (!child && kind) {
        child = sw_zalloc(1, sizeof *child);
        *child = (struct child_watch){ .next = c->children, .c = c, .name = sw_strdup(name) };
        c->children = child;
        child->watch = sw_kube_watch_open(c->kube, kind, &(struct sw_watch_opts){ .name = name },
                                          on_child_watch, child);
    }
    return child && child->synced;
}

/* ---- one entry ---------------------------------------------------------------------------------
 */

static void block(struct depend_outcome *o, char *words)
{
    outcome_done(o);
    o->blocked = words;
}

/* A child that does not become ready is said in its own words. */
static void wait_for(struct resource *child, struct depend_outcome *o)
{
    SW_AUTO_JSON *status = sw_controller_status(child->c, child->name);
    const char *state = sw_json_str(status, "not looked at yet", "state", NULL);
    if (sw_controller_phase(child->c, child->name) == SW_PHASE_ERRORED)
        fail(o, SW_UNAVAILABLE, "FailedToDeployDependencyChart",
             sw_printf("dependency %s: %s", child->name, state));
    else
        block(o, sw_printf("waits for dependency %s: %s", child->name, state));
}

static bool is_going(const struct resource *r)
{
    return sw_json_find(r->doc, "metadata", "deletionTimestamp", NULL);
}

/* @return whether the next entry may be looked at. */
static bool settle_entry(struct resource *r, struct json_object *entry, struct depend_outcome *o)
{
    const char *name = name_of(entry);
    SW_AUTO_CHARS *cycle = find_cycle(r, name);
    char digest[SW_SHA256_HEX];
    sw_json_sha256(entry, digest);
    if (!*name) {
        fail(o, SW_INVALID, "DependencyChartFailure",
             sw_strdup("spec.dependencies: an entry without chart.name"));
        return false;
    }
    if (cycle) {
        fail(o, SW_INVALID, "FailedToDeployDependencyChart",
             sw_printf("spec.dependencies: a cycle: %s", cycle));
        return false;
    }
    struct resource *child = resource_find(r->c, name);
    bool known = child_is_known(r->c, name);
    bool ours = child && sw_streq(sw_obj_annotation(child->seen, ANN_PARENT), r->name);
    bool outdated = ours && !sw_streq(sw_obj_annotation(child->seen, ANN_DIGEST), digest);
    if (child && is_going(child)) {
        block(o, sw_printf("waits for dependency %s: it is being deleted", name));
        return false;
    }
    if ((!child && known) || outdated)
        make_child(r, entry, digest);
    if (r->making_fault.code && (!child || outdated)) {
        fail(o, r->making_fault.code, r->making_fault.reason, sw_strdup(r->making_fault.words));
        return false;
    }
    if (!child || outdated) {
        block(o, sw_printf("waits for dependency %s: it is being made", name));
        return false;
    }
    if (child->started && sw_controller_phase(r->c, name) == SW_PHASE_READY)
        return true;
    wait_for(child, o);
    return false;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static struct json_object *node_selector(const struct resource *r)
{
    return sw_json_find(r->doc, "spec", "nodeSelector", NULL);
}

/* Who chooses nodes has to have some: without, nothing would be left to wait for. */
static void find_nodes(struct resource *r, struct depend_outcome *o)
{
    const struct sw_roster *roster = r->c->roster;
    struct json_object *selector = node_selector(r);
    for (uint32_t i = 0; i < sw_roster_end(roster) && sw_json_len(selector); i++) {
        const char *name = sw_roster_name(roster, i);
        if (name && cluster_selects(r->c, r, name))
            return;
    }
    if (sw_json_len(selector))
        block(o,
              sw_printf("NoMatchingNodes: no untainted node matches spec.nodeSelector %s [Waiting:"
                        " label nodes, or change the selector]",
                        json_object_to_json_string_ext(selector, JSON_C_TO_STRING_NOSLASHESCAPE)));
}

/* ---- all of them -------------------------------------------------------------------------------
 */

bool depend_update(struct resource *r)
{
    struct depend_outcome now = { 0 };
    struct json_object *list = entries(r);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!settle_entry(r, sw_json_at(list, i), &now))
            break;
    if (!now.code && !now.blocked)
        find_nodes(r, &now);
    if (now.code && r->making_due_ms > sw_loop_now_ms(r->c->loop))
        sw_timer_set(r->c->depend_timer, r->making_due_ms - sw_loop_now_ms(r->c->loop) + 1);
    bool changed = !same_outcome(&now, &r->depends);
    outcome_done(&r->depends);
    r->depends = now;
    return changed;
}

static void on_depend_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        if (r->started && !is_going(r) &&
            (sw_json_len(entries(r)) || sw_json_len(node_selector(r))))
            resource_depends_again(r);
    }
}

void depend_changed(struct resource *child)
{
    for (struct resource *r = child->c->resources; r; r = r->next)
        if (depends_on(r, child->name)) {
            depend_soon(child->c);
            return;
        }
}

void depend_drop(struct resource *r)
{
    struct making *m = r->making;
    if (m && m->source) { /* else a request owns it */
        r->making = NULL;
        making_free(m);
    }
    outcome_done(&r->depends);
    outcome_done(&r->making_fault);
}

void depend_open(struct sw_controller *c)
{
    c->depend_timer = sw_timer_new(c->loop, on_depend_timer, c);
}

void depend_close(struct sw_controller *c)
{
    while (c->children) {
        struct child_watch *child = c->children;
        c->children = child->next;
        sw_kube_watch_close(child->watch);
        free(child->name);
        free(child);
    }
    sw_timer_free(c->depend_timer);
}
