/* The entries of spec.dependencies: other resources, created where they do not exist, that have to
 * be Ready first, one after the other. */
#include "operator/controller/dependencies/dependency.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

/* The watch of a child, where the controller looks after one resource only. */
struct child_watch {
    struct child_watch *next;
    struct sw_controller *c;
    char *name;
    struct sw_kube_watch *watch;
    bool synced;
};
struct child_watches {
    struct child_watch *first;
};

/* ---- entries -----------------------------------------------------------------------------------
 */

static struct json_object *entries(const struct resource *r)
{
    return sw_json_find(r->doc, "spec", "dependencies", NULL);
}

bool depend_needs(const struct resource *r, const char *name)
{
    return sw_dependency_find(r->doc, name);
}

/* ---- values of children that SRO made ----------------------------------------------------------
 */

/* Whoever may write the parent would decide what is done as the child's account: they have one. */
static bool is_of_one_account(const struct resource *a, const struct resource *b)
{
    SW_AUTO_CHARS *one = resource_account(a), *other = resource_account(b);
    return sw_streq(one, other);
}

/* Those of the entry of the first parent, by name. */
static struct json_object *default_set(struct resource *child)
{
    const struct resource *first = NULL;
    for (const struct resource *r = child->c->resources; r; r = r->next)
        if (r != child && r->doc && (!first || strcmp(r->name, first->name) < 0) &&
            sw_dependency_values(r->doc, child->seen) && is_of_one_account(r, child))
            first = r;
    return first ? sw_dependency_values(first->doc, child->seen) : NULL;
}

/* Parents are to be known before their children are rendered. */
static bool plan_ready(struct resource *r)
{
    return r->c->resources_synced || r->c->only;
}

/* ---- cycles ------------------------------------------------------------------------------------
 */

struct trail {
    const char *names[MAX_DEPTH + 1];
    size_t n;
    struct json_object *tried; /* names that do not lead back: each is tried once */
};

/* Do dependencies of @name lead back to the first of @trail? Then @trail is the cycle. */
static bool leads_back(struct sw_controller *c, struct trail *trail, const char *name)
{
    bool is_back = sw_streq(name, trail->names[0]);
    if (trail->n > MAX_DEPTH || (!is_back && json_object_object_get_ex(trail->tried, name, NULL)))
        return false;
    trail->names[trail->n++] = name;
    if (is_back)
        return true;
    (void)json_object_object_add(trail->tried, name, NULL);
    struct resource *r = resource_find(c, name);
    struct json_object *list = r ? entries(r) : NULL;
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (leads_back(c, trail, sw_dependency_name(sw_json_at(list, i))))
            return true;
    trail->n--;
    return false;
}

/* The cycle that @r is in, for people: heap; NULL: none. */
static char *find_cycle(const struct resource *r)
{
    SW_AUTO_JSON *tried = json_object_new_object();
    struct trail trail = { .names = { r->name }, .n = 1, .tried = tried };
    struct json_object *list = entries(r);
    size_t i = 0;
    while (i < sw_json_len(list) &&
           !leads_back(r->c, &trail, sw_dependency_name(sw_json_at(list, i))))
        i++;
    if (i == sw_json_len(list))
        return NULL;
    char *message = sw_strdup(r->name);
    for (size_t k = 1; k < trail.n; k++)
        sw_append(&message, " -> %s", trail.names[k]);
    return message;
}

/* ---- watches of children -----------------------------------------------------------------------
 */

static void on_child_watch(const struct sw_watch_event *w, void *arg)
{
    struct child_watch *child = arg;
    struct sw_controller *c = child->c;
    if (w->type == SW_WATCH_SYNCED || w->type == SW_WATCH_ERROR)
        child->synced = child->synced || w->type == SW_WATCH_SYNCED;
    else
        resource_on_watch(w, c);
    recheck_soon(c);
}

/* @return whether it is known if the child exists */
static bool child_is_known(struct sw_controller *c, const char *name)
{
    if (!c->only)
        return c->resources_synced;
    struct child_watches *all = c->state[CAPABILITY_dependencies];
    struct child_watch *child = all->first;
    while (child && !sw_streq(child->name, name))
        child = child->next;
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, "SpecialResource");
    if (!child && kind) {
        child = sw_zalloc(1, sizeof *child);
        *child = (struct child_watch){ .next = all->first, .c = c, .name = sw_strdup(name) };
        all->first = child;
        child->watch = sw_kube_watch_open(c->kube, kind, WATCH_OWN(KINDS, .name = name),
                                          on_child_watch, child);
    }
    return child && child->synced;
}

/* ---- one entry ---------------------------------------------------------------------------------
 */

/* @message is taken. */
static void fail(struct prerequisite *o, int code, const char *reason, char *message)
{
    *o = (struct prerequisite){ .code = code, .reason = reason, .message = message };
}

/* The name of the resource whose entry decides the child's values: the one that created it, as long
 * as that has the entry. "": the child was not created for a dependency. */
static const char *decider_of(struct resource *r, const struct resource *child)
{
    const char *name = sw_obj_annotation(child->seen, SW_DEPENDENCY_OF);
    if (!name || r->c->only)
        return name ? name : "";
    struct resource *decider = resource_find(r->c, name);
    bool left = r->c->resources_synced && (!decider || !depend_needs(decider, child->name));
    return left ? r->name : name;
}

/* Report children whose values are decided by another resource with a different entry. */
static void report_others_values(struct resource *r)
{
    SW_AUTO_CHARS *list = sw_strdup("");
    struct json_object *all = entries(r);
    for (size_t i = 0; i < sw_json_len(all); i++) {
        char digest[SW_SHA256_HEX];
        struct resource *child = resource_find(r->c, sw_dependency_name(sw_json_at(all, i)));
        const char *decider = child ? decider_of(r, child) : "";
        sw_json_sha256(sw_json_at(all, i), digest);
        if (!*decider || sw_streq(decider, r->name) ||
            sw_streq(sw_obj_annotation(child->seen, ANN_DIGEST), digest))
            continue;
        sw_append(&list, "%s%s (%s)", *list ? ", " : "", child->name, decider);
    }
    if (sw_streq(list, dependencies_of(r)->reported ? dependencies_of(r)->reported : ""))
        return;
    sw_text_set(&dependencies_of(r)->reported, list);
    if (!*list)
        return;
    SW_AUTO_CHARS *message = sw_printf(
        "spec.dependencies: chart and values of these dependencies are those of the resource in "
        "brackets, which has asked for them first: %s",
        list);
    sw_log(SW_LOG_WARN, "dependency differs", "resource", r->name, "dependencies", list, NULL);
    event_record(r, &(struct sw_action){
                        .warning = true, .reason = "DependencyDiffers", .message = message });
}

/* @return whether the child of @entry is Ready; else @o is filled */
static bool check_entry(struct resource *r, struct json_object *entry, struct prerequisite *o)
{
    const char *name = sw_dependency_name(entry);
    char digest[SW_SHA256_HEX];
    sw_json_sha256(entry, digest);
    if (!*name) {
        fail(o, SW_INVALID, "DependencyChartFailure",
             sw_strdup("spec.dependencies: an entry without chart.name"));
        return false;
    }
    struct resource *child = resource_find(r->c, name);
    bool known = child_is_known(r->c, name);
    const char *decider = child ? decider_of(r, child) : "";
    SW_AUTO_CHARS *account = resource_account(r); /* the child has no more permissions than @r */
    bool outdated = child && sw_streq(decider, r->name) &&
                    (!sw_streq(sw_obj_annotation(child->seen, ANN_DIGEST), digest) ||
                     !sw_streq(sw_obj_annotation(child->seen, SW_DEPENDENCY_OF), decider) ||
                     !sw_streq(resource_acts_as(child), account));
    if (child && resource_is_deleting(child)) {
        o->blocked = sw_printf("waits for dependency %s: it is being deleted", name);
        return false;
    }
    if ((!child && known) || outdated)
        depend_create_child(r, entry, digest);
    if (dependencies_of(r)->creation_fault.code && (!child || outdated)) {
        fail(o, dependencies_of(r)->creation_fault.code, dependencies_of(r)->creation_fault.reason,
             sw_strdup(dependencies_of(r)->creation_fault.message));
        return false;
    }
    if (!child || outdated) {
        o->blocked = sw_printf("waits for dependency %s: it is being made", name);
        return false;
    }
    if (*decider)
        depend_own(r, child);
    depend_map_complete(r, name);
    if (child->started && sw_controller_phase(r->c, name) == SW_PHASE_READY)
        return true;
    SW_AUTO_JSON *status = sw_controller_status(r->c, name);
    const char *state = sw_json_str(status, "not checked yet", "state", NULL);
    if (sw_controller_phase(r->c, name) == SW_PHASE_ERRORED)
        fail(o, SW_UNAVAILABLE, "FailedToDeployDependencyChart",
             sw_printf("dependency %s: %s", name, state));
    else
        o->blocked = sw_printf("waits for dependency %s: %s", name, state);
    return false;
}

/* ---- all entries -------------------------------------------------------------------------------
 */

static void check(struct resource *r, struct prerequisite *out)
{
    const struct dependencies *d = dependencies_of(r);
    struct json_object *list = entries(r);
    SW_AUTO_CHARS *cycle = find_cycle(r);
    if (cycle)
        fail(out, SW_INVALID, "FailedToDeployDependencyChart",
             sw_printf("spec.dependencies: a cycle: %s", cycle));
    for (size_t i = 0; i < sw_json_len(list) && !cycle; i++)
        if (!check_entry(r, sw_json_at(list, i), out))
            break;
    report_others_values(r);
    depend_prune(r);
    int64_t now_ms = sw_loop_now_ms(r->c->loop);
    if (out->code && d->creation_due_ms > now_ms)
        recheck_in(r->c, d->creation_due_ms - now_ms + 1);
}

/* Resources that depend on @child check it again. */
static void stepped(struct resource *child)
{
    for (struct resource *r = child->c->resources; r; r = r->next)
        if (depend_needs(r, child->name)) {
            recheck_soon(child->c);
            return;
        }
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void changed(struct resource *r)
{
    struct json_object *list = entries(r);
    dependencies_of(r)->creation_due_ms = 0;
    for (size_t i = 0; r->c->resources_synced && i < sw_json_len(list); i++) {
        struct resource *child = resource_find(r->c, sw_dependency_name(sw_json_at(list, i)));
        if (child && sw_dependency_values(r->doc, child->seen))
            resource_replan(child); /* its values are others, perhaps */
    }
}

static void resource_close(struct resource *r)
{
    struct dependencies *d = dependencies_of(r);
    depend_stop_creating(r);
    prerequisite_done(&d->creation_fault);
    free(SW_TAKE(d->reported));
    json_object_put(SW_TAKE(d->mapped));
}

static void controller_close(struct sw_controller *c)
{
    struct child_watches *all = c->state[CAPABILITY_dependencies];
    while (all->first) {
        struct child_watch *child = all->first;
        all->first = child->next;
        sw_kube_watch_close(child->watch);
        free(child->name);
        free(child);
    }
}

const struct capability capability_dependencies = {
    .name = "dependencies",
    .summary = "spec.dependencies: other resources are made, and have to be Ready first",
    .resource_size = sizeof(struct dependencies),
    .controller_size = sizeof(struct child_watches),
    .changed = changed,
    .default_set = default_set,
    .plan_ready = plan_ready,
    .check = check,
    .stepped = stepped,
    .finalize = depend_finalize,
    .resource_close = resource_close,
    .close = controller_close,
};
