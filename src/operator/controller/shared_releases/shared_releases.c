/* What resources share: which releases there are, whose they are, and what follows for each
 * resource. The annotations of namespaces are watched; what is to be changed there, entry_write.c
 * changes. */
#include "operator/controller/shared_releases/shared_releases.h"

#include <stdlib.h>
#include <string.h>

/* Of the controller. */
struct shared_releases {
    struct sw_kube_watch *watch;
    struct json_object *known;    /* shared_known(); NULL before it was read */
    struct json_object *versions; /* of the namespaces that @known is of */
    struct json_object *reading;  /* the same as @known, while the watch is not synced */
    struct sw_timer *timer;
};

/* Of a resource. */
struct resource_shared {
    struct shared_release *first;
    struct json_object *others;    /* SW_RELEASES_OF_OTHERS; NULL: none */
    struct json_object *heirs;     /* of sw_spec */
    struct json_object *inherited; /* of sw_spec */
    struct json_object *former;    /* of sw_spec */
    bool is_held_back;             /* it leaves, and the engine does not know yet */
    bool may_begin, might_begin;   /* nothing else keeps it from being walked; nor did before */
};

static struct shared_releases *all_of(const struct sw_controller *c)
{
    return c->state[CAPABILITY_shared_releases];
}

static struct resource_shared *of(const struct resource *r)
{
    return r->state[CAPABILITY_shared_releases];
}

/* ---- what is known ------------------------------------------------------------------------------
 */

struct json_object *shared_known(const struct sw_controller *c)
{
    return all_of(c)->known;
}

struct json_object *shared_find(const struct sw_controller *c, const char *name)
{
    SW_AUTO_CHARS *ns = sw_shared_namespace(name);
    return sw_json_get(sw_json_get(all_of(c)->known, ns), sw_shared_name(name));
}

static int64_t version_of(struct json_object *ns)
{
    return strtoll(sw_json_str(ns, "0", "metadata", "resourceVersion", NULL), NULL, 10);
}

void shared_take(struct sw_controller *c, struct json_object *ns, const char *name, bool gone)
{
    struct shared_releases *all = all_of(c);
    struct json_object *to = all->known ? all->known : all->reading;
    if (ns && version_of(ns) && version_of(ns) < sw_json_int(all->versions, 0, name, NULL))
        return; /* older than the answer to a request */
    (void)json_object_object_del(to, name);
    (void)json_object_object_del(all->versions, name);
    SW_AUTO_JSON *releases = gone ? NULL : sw_shared_releases_of(ns);
    if (!gone)
        (void)json_object_object_add(all->versions, name, json_object_new_int64(version_of(ns)));
    if (sw_json_len(releases))
        (void)json_object_object_add(to, name, SW_TAKE(releases));
}

/* ---- the releases of a resource
 * --------------------------------------------------------------------
 */

static struct shared_release *find(const struct resource *r, const char *name)
{
    struct shared_release *p = of(r)->first;
    while (p && !sw_streq(p->name, name))
        p = p->next;
    return p;
}

static struct shared_release *need(struct resource *r, const char *name)
{
    struct shared_release *p = find(r, name), **end = &of(r)->first;
    if (p)
        return p;
    while (*end)
        end = &(*end)->next;
    p = *end = sw_zalloc(1, sizeof *p);
    *p = (struct shared_release){ .r = r, .name = sw_strdup(name) };
    return p;
}

static void forget_states(struct shared_release *p)
{
    json_object_put(SW_TAKE(p->states));
}

static bool is_state_of(const struct resource *r, const char *name, const struct shared_release *p)
{
    int i = sw_plan_view_find(r->plan, name);
    return i >= 0 && sw_streq(sw_state_shared(&r->plan->states[i]), p->name);
}

/* States that are of another release by now, or are gone, have nothing to say of @p. */
static void keep_states(struct shared_release *p)
{
    SW_AUTO_JSON *before = SW_TAKE(p->states);
    if (!before || !p->version)
        return;
    p->states = json_object_new_object();
    json_object_object_foreach(before, name, has)
    {
        if (is_state_of(p->r, name, p))
            (void)json_object_object_add(p->states, name, json_object_get(has));
    }
}

/* Those that a plan has, though it may be an old one. */
static void take_plan(struct resource *r)
{
    for (struct shared_release *p = of(r)->first; p; p = p->next)
        free(SW_TAKE(p->version));
    for (size_t i = 0; r->plan && i < r->plan->n_states; i++) {
        const struct sw_recipe_state *state = &r->plan->states[i];
        const char *shared = sw_state_shared(state);
        struct shared_release *p = shared ? need(r, shared) : NULL;
        if (p && !p->version)
            p->version = sw_strdup(sw_state_shared_version(state));
    }
    for (struct shared_release *p = of(r)->first; p; p = p->next)
        keep_states(p);
}

/* And those that others say it uses, or still hands over. */
static void take_known(struct resource *r)
{
    struct json_object *known = shared_known(r->c);
    if (!known)
        return;
    json_object_object_foreach(known, ns, releases)
    {
        json_object_object_foreach(releases, release, entry)
        {
            SW_AUTO_CHARS *name = sw_printf("%s/%s", ns, release);
            const char *from = sw_json_str(entry, NULL, "from", "uid", NULL);
            if (sw_shared_is_used_by(entry, r->uid) || sw_streq(from, r->uid) ||
                (r->started && sw_engine_has_release(r->engine, name)))
                (void)need(r, name);
        }
    }
}

static bool is_owned(const struct shared_release *p)
{
    return sw_shared_is_owned_by(shared_find(p->r->c, p->name), p->r->uid);
}

/* @return whether that is something else than before */
static bool state_has(struct shared_release *p, const char *state, bool has)
{
    struct json_object *before = sw_json_get(p->states, state);
    if (before && json_object_get_boolean(before) == has)
        return false;
    if (!p->states)
        p->states = json_object_new_object();
    (void)json_object_object_add(p->states, state, json_object_new_boolean(has));
    return true;
}

bool shared_is_claimed(const struct shared_release *p)
{
    if (!p->states)
        return false;
    json_object_object_foreach(p->states, name, has)
    {
        (void)name;
        if (json_object_get_boolean(has))
            return true;
    }
    return false;
}

bool shared_is_off(const struct shared_release *p)
{
    const struct resource *r = p->r;
    bool is_off = r->plan && is_owned(p);
    for (size_t i = 0; is_off && i < r->plan->n_states; i++)
        if (is_state_of(r, r->plan->states[i].name, p)) /* those not rendered yet may have some */
            is_off = !sw_json_bool(p->states, true, r->plan->states[i].name, NULL);
    return is_off;
}

/* ---- what follows -------------------------------------------------------------------------------
 */

static bool replace(struct json_object **at, struct json_object *fresh)
{
    bool same = sw_json_equal(*at, fresh);
    json_object_put(*at);
    *at = fresh;
    return !same;
}

/* @return whether templates see something else */
static bool find_others(struct resource *r)
{
    struct json_object *others = NULL;
    for (const struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        if (!p->version || !entry || is_owned(p))
            continue;
        if (!others)
            others = json_object_new_object();
        struct json_object *heir = sw_shared_heir(entry, r->uid),
                           *owner = heir ? heir : sw_shared_owner(entry);
        (void)json_object_object_add(others, p->name, json_object_get(sw_json_get(owner, "name")));
    }
    return replace(&of(r)->others, others);
}

static void set(struct json_object **map, const char *name, struct json_object *value)
{
    if (!*map)
        *map = json_object_new_object();
    (void)json_object_object_add(*map, name, sw_json_copy(value));
}

static bool is_used_by_others(const struct resource *r, struct json_object *entry)
{
    SW_AUTO_CHARS *others = entry ? sw_shared_others(entry, r->uid) : NULL;
    return others;
}

/* @return whether the engine has to know */
static bool find_objects(struct resource *r)
{
    struct json_object *heirs = NULL, *inherited = NULL, *former = NULL;
    for (struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        struct json_object *heir = entry ? sw_shared_heir(entry, r->uid) : NULL,
                           *mine = entry && is_owned(p) ? entry : NULL,
                           *objects = sw_json_get(mine, "objects");
        p->is_offered = sw_json_len(objects);
        p->is_inherited = p->is_inherited && p->is_offered;
        if (heir || (!p->version && is_used_by_others(r, mine)))
            set(&heirs, p->name, heir); /* NULL: the entry does not say yet who has it next */
        if (sw_json_get(mine, "former"))
            set(&former, p->name, sw_json_get(mine, "former"));
        for (size_t i = 0; i < sw_json_len(objects); i++) {
            if (!inherited)
                inherited = json_object_new_array();
            (void)json_object_array_add(inherited, sw_json_copy(sw_json_at(objects, i)));
        }
    }
    bool changes = replace(&of(r)->heirs, heirs);
    changes = replace(&of(r)->former, former) || changes;
    return replace(&of(r)->inherited, inherited) || changes;
}

/* Has it left every release that it used, so far that its objects may go? */
static bool has_left(const struct resource *r)
{
    if (!shared_known(r->c))
        return false;
    for (const struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        if (entry && sw_shared_is_used_by(entry, r->uid) && !sw_json_get(entry, "leaving"))
            return false;
    }
    return true;
}

/* Does a namespace still name it? */
static bool is_named(const struct resource *r)
{
    for (const struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        if (p->op || (entry && (sw_shared_is_used_by(entry, r->uid) ||
                                sw_streq(sw_json_str(entry, NULL, "from", "uid", NULL), r->uid))))
            return true;
    }
    return false;
}

static void check_resource(struct resource *r)
{
    take_known(r);
    for (struct shared_release *p = of(r)->first; p; p = p->next)
        shared_settle(p);
    bool others = find_others(r), objects = find_objects(r);
    if (of(r)->is_held_back && has_left(r)) {
        of(r)->is_held_back = false;
        (void)find_objects(r);
        resource_tell(r);
    } else if (objects && r->leaving && !of(r)->is_held_back) {
        resource_tell(r);
    } else if (others || objects) {
        resource_tell_if_walked(r);
        resource_replan(r); /* it may be another revision of its release, too */
    }
    if (r->leaving && !is_named(r))
        finalize_done(r, CAPABILITY_shared_releases);
    else
        render_resume(r);
}

static void on_timer(void *arg)
{
    struct sw_controller *c = arg;
    if (!shared_known(c))
        return;
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        check_resource(r);
    }
    recheck_soon(c);
}

void shared_check_soon(struct sw_controller *c)
{
    if (all_of(c)->timer)
        sw_timer_set(all_of(c)->timer, 0);
}

/* ---- the watch ----------------------------------------------------------------------------------
 */

static void read_all(struct shared_releases *all)
{
    if (!all->known)
        all->known = SW_TAKE(all->reading);
}

static void on_namespace(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    struct shared_releases *all = all_of(c);
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        shared_take(c, w->object, w->name, false);
        break;
    case SW_WATCH_DELETED: /* it may have lost its label alone */
        shared_take(c, w->object, w->name, true);
        break;
    case SW_WATCH_SYNCED:
        read_all(all);
        break;
    case SW_WATCH_ERROR:
        if (w->code != SW_FORBIDDEN)
            return;
        sw_log(SW_LOG_WARN, "shared releases of other resources are not known", "why",
               w->err ? sw_err_text(w->err) : "", NULL);
        read_all(all);
        break;
    }
    if (all->known)
        shared_check_soon(c);
}

static void open_releases(struct sw_controller *c)
{
    struct shared_releases *all = all_of(c);
    all->reading = json_object_new_object();
    all->versions = json_object_new_object();
    all->timer = sw_timer_new(c->loop, on_timer, c);
}

static void start(struct sw_controller *c)
{
    static const char *const fields[] = { "metadata.annotations.slipway\\.dev/shared-releases",
                                          "metadata.deletionTimestamp", NULL };
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, "v1", "Namespace");
    struct shared_releases *all = all_of(c);
    if (kind && !all->watch)
        all->watch = sw_kube_watch_open(
            c->kube, kind, WATCH_OWN(OBJECTS, .label_selector = SW_SHARED_LABEL, .fields = fields),
            on_namespace, c);
}

static void stop(struct sw_controller *c)
{
    struct shared_releases *all = all_of(c);
    sw_kube_watch_close(SW_TAKE(all->watch));
    json_object_put(SW_TAKE(all->known));
    json_object_put(all->reading);
    json_object_put(all->versions);
    all->reading = json_object_new_object();
    all->versions = json_object_new_object();
}

static void close_releases(struct sw_controller *c)
{
    struct shared_releases *all = all_of(c);
    json_object_put(all->reading);
    json_object_put(all->versions);
    sw_timer_free(SW_TAKE(all->timer));
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void resource_close(struct resource *r)
{
    struct resource_shared *s = of(r);
    while (s->first) {
        struct shared_release *gone = s->first;
        s->first = gone->next;
        free(gone->name);
        free(gone->version);
        forget_states(gone);
        free(gone->message);
        free(gone);
    }
    json_object_put(SW_TAKE(s->others));
    json_object_put(SW_TAKE(s->heirs));
    json_object_put(SW_TAKE(s->inherited));
    json_object_put(SW_TAKE(s->former));
    shared_check_soon(r->c);
}

static bool intent(struct resource *r, enum resource_intent intent)
{
    of(r)->is_held_back = false;
    if (intent != INTENT_REMOVE && intent != INTENT_DELETE)
        return true;
    take_known(r);
    for (struct shared_release *p = of(r)->first; p; p = p->next)
        forget_states(p);
    (void)find_objects(r);
    of(r)->is_held_back = !has_left(r);
    shared_check_soon(r->c);
    return !of(r)->is_held_back;
}

static void planned(struct resource *r, int code)
{
    if (code < 0)
        return;
    take_plan(r);
    take_known(r);
    (void)find_others(r);
    (void)find_objects(r);
    shared_check_soon(r->c);
}

static void check(struct resource *r, struct prerequisite *out SW_UNUSED)
{
    of(r)->might_begin = of(r)->may_begin;
    of(r)->may_begin = false; /* unless begin() follows */
}

bool shared_may_begin(const struct resource *r)
{
    return of(r)->may_begin;
}

static void begin(struct resource *r, struct prerequisite *out)
{
    of(r)->may_begin = true;
    if (!of(r)->might_begin)
        shared_check_soon(r->c);
    for (const struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        if (!p->version || out->blocked || out->code)
            continue;
        const struct sw_release_user user = { r->name, r->uid, p->version };
        if (p->code) {
            out->code = p->code;
            out->reason = "SharedReleaseNotWritten";
            out->message = sw_printf("shared release %s: %s", p->name, p->message);
        } else if (!shared_known(r->c)) {
            out->blocked = sw_printf("shared releases are being read");
        } else if (entry && sw_shared_is_leaving(entry, r->uid)) {
            out->blocked = sw_printf("resource %s is removing shared release %s",
                                     sw_json_str(sw_shared_owner(entry), "", "name", NULL),
                                     p->name);
        } else if (entry && (out->message = sw_shared_conflict(entry, &user, p->name))) {
            out->code = SW_INVALID;
            out->reason = "SharedReleaseVersion";
        }
    }
}

static void fill_spec(struct resource *r, struct sw_spec *spec)
{
    spec->heirs = of(r)->heirs;
    spec->inherited = of(r)->inherited;
    spec->former = of(r)->former;
    for (struct shared_release *p = of(r)->first; p; p = p->next)
        p->is_inherited = p->is_offered;
    if (of(r)->is_held_back) /* another row may tell the engine before */
        spec->hold = SW_HOLD_ALL;
}

static void add_values(struct resource *r, struct json_object *values)
{
    if (of(r)->others)
        sw_json_set(values, json_object_get(of(r)->others), SW_RELEASES_OF_OTHERS, NULL);
    if (of(r)->former)
        sw_json_set(values, json_object_get(of(r)->former), SW_FORMER_OWNERS, NULL);
}

/* A release is claimed, or joined, when the turn of its state comes, not before: a resource that
 * is stuck in another state is no user of it. */
static int claim(struct resource *r, struct render *w, struct shared_release *p, struct sw_err *err)
{
    if (shared_known(r->c) && render_is_early(w))
        return sw_err_set(err, SW_UNAVAILABLE, "shared release %s is not claimed yet", p->name);
    /* while it is being written, one check is enough: each has all waiting states rendered */
    bool is_news = !render_is_early(w) && state_has(p, render_state(w), true);
    if (is_news || !p->op)
        shared_check_soon(r->c);
    render_wait(w); /* for what is being read, too: it may be its own */
    return SW_PENDING;
}

/* A release is installed by who owns it. */
static int object_rendered(struct resource *r, struct render *w, struct render_item *item,
                           struct sw_err *err)
{
    struct shared_release *p = item->object->shared ? find(r, item->object->shared) : NULL;
    return !p || is_owned(p) ? 0 : claim(r, w, p, err);
}

/* Do the templates know of @p what is known now? */
static bool is_told(const struct shared_release *p)
{
    const struct resource_shared *told = of(p->r);
    struct json_object *entry = shared_find(p->r->c, p->name);
    return shared_known(p->r->c) && !sw_json_get(told->others, p->name) &&
           sw_json_equal(sw_json_get(told->former, p->name), sw_json_get(entry, "former"));
}

/* The state has no object of @p. Of its own, what it has installed goes: it is switched off. Others
 * get it first. Without a release nothing is claimed: what it would install is there already. */
static int take_nothing(struct render *w, struct shared_release *p)
{
    const char *variant = render_variant(w);
    struct json_object *entry = shared_find(p->r->c, p->name);
    if (variant && *variant) /* for other nodes it may have some */
        return 0;
    bool is_known = is_told(p); /* if not, it may have some when it is rendered again */
    if (is_known && state_has(p, render_state(w), false))
        shared_check_soon(p->r->c);
    if (is_known && (!shared_is_off(p) || !is_used_by_others(p->r, entry)))
        return 0;
    render_wait(w);
    return SW_PENDING;
}

/* Of another one's release the state has no object, and joins it all the same. */
static int state_rendered(struct resource *r, struct render *w, int state, struct sw_err *err)
{
    const char *shared = sw_state_shared(&r->plan->states[state]);
    struct shared_release *p = shared ? find(r, shared) : NULL;
    struct json_object *entry = p ? shared_find(r->c, p->name) : NULL;
    if (!p)
        return 0;
    if (render_has_release(w, p->name))
        (void)state_has(p, render_state(w), true);
    else if (entry && !is_owned(p))
        return sw_shared_is_used_by(entry, r->uid) ? 0 : claim(r, w, p, err);
    else
        return take_nothing(w, p);
    return 0;
}

/* What is over may be written. */
static void stepped(struct resource *r)
{
    for (const struct shared_release *p = of(r)->first; p; p = p->next) {
        struct json_object *entry = shared_find(r->c, p->name);
        if (entry && !p->op &&
            (sw_json_get(entry, "from") || sw_json_get(entry, "leaving") ||
             sw_json_get(entry, "objects") || sw_json_get(entry, "former")))
            shared_check_soon(r->c);
    }
}

static bool finalize(struct resource *r)
{
    shared_check_soon(r->c);
    return !is_named(r);
}

static int release_is_used(const struct resource *r, const char *name)
{
    if (!shared_known(r->c))
        return SW_PENDING;
    return is_used_by_others(r, shared_find(r->c, name));
}

static bool is_busy(const struct resource *r)
{
    for (const struct shared_release *p = of(r)->first; p; p = p->next)
        if (p->op)
            return true;
    return false;
}

const struct capability capability_shared_releases = {
    .name = "shared_releases",
    .summary =
        "releases that several resources use: installed by one, joined by others, handed over",
    .resource_size = sizeof(struct resource_shared),
    .controller_size = sizeof(struct shared_releases),
    .open = open_releases,
    .start = start,
    .stop = stop,
    .close = close_releases,
    .resource_close = resource_close,
    .intent = intent,
    .planned = planned,
    .check = check,
    .begin = begin,
    .fill_spec = fill_spec,
    .add_values = add_values,
    .object_rendered = object_rendered,
    .state_rendered = state_rendered,
    .stepped = stepped,
    .release_is_used = release_is_used,
    .finalize = finalize,
    .is_busy = is_busy,
};
