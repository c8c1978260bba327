/* The resource and its states as the user and the recipe specify them, and their renders. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "chart/recipe/recipe.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

/* ---- variants ----------------------------------------------------------------------------------
 */

static struct variant *find_variant(const struct state *s, const char *name)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (sw_streq(s->variants[i]->name, name ? name : ""))
            return s->variants[i];
    return NULL;
}

static void need_variant(struct state *s, const char *name)
{
    struct variant *v = find_variant(s, name);
    if (!v) {
        v = sw_zalloc(1, sizeof *v);
        v->name = sw_strdup(name);
        v->stale = true;
        SW_GROW(s->variants, s->n_variants, s->cap_variants);
        s->variants[s->n_variants++] = v;
    }
    v->needed = true;
}

/* @return whether @v was one of those that rendered @o. */
static bool drop_variant(struct object *o, const struct variant *v)
{
    for (size_t i = 0; i < o->n_variants; i++)
        if (o->variants[i] == v) {
            o->variants[i] = o->variants[--o->n_variants];
            return true;
        }
    return false;
}

static int by_variant(const void *a, const void *b)
{
    return strcmp((*(struct variant *const *)a)->name, (*(struct variant *const *)b)->name);
}

static void match_variants(struct sw_engine *e, struct state *s)
{
    size_t before = s->n_variants, kept = 0;
    for (size_t i = 0; i < s->n_variants; i++)
        s->variants[i]->needed = false;
    if (!s->affine)
        need_variant(s, "");
    for (uint32_t n = 0; s->affine && n < sw_node_set_end(e->nodes); n++)
        if (*sw_node_set_group(e->nodes, n) && node_kept(e, n))
            need_variant(s, sw_node_set_group(e->nodes, n));
    bool changed = before != s->n_variants;
    for (size_t i = 0; i < s->n_variants; i++) {
        struct variant *v = s->variants[i];
        if (v->needed) {
            s->variants[kept++] = v;
            continue;
        }
        for (size_t k = 0; k < s->n_objects; k++)
            if (drop_variant(s->objects[k], v) && s->objects[k]->n_variants == 0)
                object_unrender(e, s->objects[k]); /* to be retired: see apply_retire() */
        variant_free(v);
        changed = true;
    }
    s->n_variants = kept;
    if (!changed)
        return;
    qsort(s->variants, s->n_variants, sizeof(struct variant *), by_variant);
    state_sort(s);
    state_note_change(e, s);
}

void spec_refresh(struct sw_engine *e)
{
    if (e->spec_fault.code || engine_removes_all(e))
        return;
    for (size_t i = 0; i < e->n_states; i++) {
        struct state *s = e->states[i];
        if (!s->listed || s->phase == PH_REMOVING)
            continue;
        if (e->groups_dirty || s->n_variants == 0)
            match_variants(e, s);
        for (size_t k = 0; k < s->n_variants; k++) {
            struct variant *v = s->variants[k];
            /* What failed before its needs were met is no failure yet: try again when they are. */
            if (variant_is_premature(e, s, v) && !v->serial && state_may_start(e, s))
                v->stale = true;
            if (!v->stale || v->serial)
                continue;
            struct sw_action *a = act_add(e, SW_ACT_RENDER);
            v->stale = false;
            a->early = v->early = !state_may_start(e, s);
            v->asked = v->serial = a->serial = act_serial(e);
            a->state = sw_arena_strdup(e->arena, s->name);
            a->variant = *v->name ? sw_arena_strdup(e->arena, v->name) : NULL;
        }
    }
    e->groups_dirty = false;
}

void spec_node_changed(struct sw_engine *e, uint32_t node)
{
    const char *group = sw_node_set_group(e->nodes, node);
    uint64_t now = *group && node_kept(e, node) ? sw_fnv64a(group, strlen(group)) : 0;
    bool any = false;
    for (size_t i = 0; i < e->n_states; i++)
        any = any || (e->states[i]->listed && e->states[i]->affine);
    if (!any)
        return;
    if (node >= e->n_groups) {
        e->groups = sw_realloc(e->groups, node + 1, sizeof *e->groups);
        memset(e->groups + e->n_groups, 0, (node + 1 - e->n_groups) * sizeof *e->groups);
        e->n_groups = node + 1;
    }
    if (e->groups[node] == now)
        return;
    e->groups[node] = now;
    e->groups_dirty = true;
}

void spec_facts_changed(struct sw_engine *e)
{
    e->asked_ms = e->now_ms;
    for (size_t i = 0; i < e->n_states; i++) {
        for (size_t k = 0; k < e->states[i]->n_variants; k++)
            e->states[i]->variants[k]->stale = true;
        state_note_change(e, e->states[i]);
    }
}

/* ---- the answer to a render --------------------------------------------------------------------
 */

static size_t place_of(struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < e->n_states; i++)
        if (e->states[i] == s)
            return i;
    return SIZE_MAX;
}

void state_render_anew(struct sw_engine *e, struct state *s)
{
    for (size_t i = 0; s->listed && i < s->n_variants; i++)
        s->variants[i]->stale = true;
    state_note_change(e, s);
}

/* An object that two states render belongs to the earlier one. @return whether it is @s's now */
static bool claim(struct sw_engine *e, struct object *o, struct state *s)
{
    if (o->state == s)
        return true;
    if (o->text && place_of(e, o->state) < place_of(e, s)) {
        sw_text_set(&o->wanted_by, s->name);
        return false;
    }
    struct state *from = o->state;
    if (o->text && sw_streq(o->key.kind, "Namespace"))
        state_render_anew(e, from); /* what it adds is asked for again */
    object_unlist(o);
    o->n_variants = 0;
    o->state = s;
    SW_GROW(s->objects, s->n_objects, s->cap_objects);
    s->objects[s->n_objects++] = o;
    state_sort(from);
    return true;
}

/* The inventory is in the status, which an API server takes up to 1.5 MiB: half of that for what is
 * asked for, and half for what was asked for before and has to go. */
enum { MAX_LISTED_BYTES = 640 * 1024, LISTED_BYTES = 180 /* of an object, without its names */ };

static size_t listed_bytes(const struct object *o)
{
    const struct sw_key *k = &o->key;
    return LISTED_BYTES + strlen(k->api_version) + strlen(k->kind) + (k->ns ? strlen(k->ns) : 0) +
           strlen(k->name) + strlen(o->state->name);
}

static int too_many(const char *kind, const char *name, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID,
                      "%s %s is one object too many: the status of a resource lists all of its "
                      "objects, and has room for some 2,500; divide the recipe",
                      kind, name);
}

/* What all objects take that are rendered now. */
static size_t all_listed_bytes(struct sw_engine *e)
{
    size_t n = 0;
    struct object_iter it = { 0 };
    for (const struct object *o; (o = object_next(e, &it));)
        n += o->text && o->n_variants ? listed_bytes(o) : 0;
    return n;
}

/* @bytes: of all objects that are rendered so far; this one is added. */
static int take_object(struct sw_engine *e, struct state *s, struct variant *v,
                       const struct sw_rendered_object *r, size_t *bytes, struct sw_err *err)
{
    SW_AUTO_JSON *doc = sw_rendered_object_doc(r);
    const char *ns = sw_obj_namespace(doc);
    struct sw_key key = { sw_obj_api_version(doc), sw_obj_kind(doc), *ns ? ns : NULL,
                          sw_obj_name(doc) };
    if (!*key.api_version || !*key.kind || !*key.name)
        return sw_err_set(err, SW_INVALID, "an object without apiVersion, kind or metadata.name");
    struct object *o = object_need(e, &key, s);
    if (!claim(e, o, s)) {
        namespace_add(e, o, s, v, doc);
        return 0;
    }
    namespace_put_added(o, doc);
    *bytes += o->text && o->n_variants ? 0 : listed_bytes(o);
    if (*bytes > MAX_LISTED_BYTES)
        return too_many(key.kind, key.name, err);
    /* of several variants that render it, the content of the first by name is taken */
    bool first = true;
    for (size_t i = 0; i < o->n_variants; i++)
        first = first && strcmp(o->variants[i]->name, v->name) >= 0;
    (void)drop_variant(o, v);
    SW_GROW(o->variants, o->n_variants, o->cap_variants);
    o->variants[o->n_variants++] = v;
    if (!first && o->text)
        return 0;
    free((char *)o->key.api_version); /* the same group: the registry's hash does not change */
    o->key.api_version = sw_strdup(key.api_version);
    return object_render(e, o, r, doc, err);
}

/* The state does not render @o any more: who did, too, and was refused, gets it when it is rendered
 * again. */
static void offer(struct sw_engine *e, struct object *o)
{
    struct state *heir = o->wanted_by ? state_find(e, o->wanted_by) : NULL;
    object_unrender(e, o);
    if (heir)
        state_render_anew(e, heir);
    free(SW_TAKE(o->wanted_by));
    json_object_put(SW_TAKE(o->added));
}

void spec_take_render(struct sw_engine *e, const struct sw_event *event)
{
    struct state *s = state_find(e, event->state);
    struct variant *v = s ? find_variant(s, event->variant) : NULL;
    if (!v || v->serial == 0 || v->serial != event->serial)
        return;
    uint64_t before = s->digest;
    v->serial = 0;
    if (v->stale)
        return; /* out of date: it will be asked for again */
    SW_ERR(err);
    bool rendered = event->kind == SW_EV_RENDERED;
    int rc = rendered ? 0 : event->code;
    for (size_t i = 0; rendered && i < s->n_objects; i++)
        (void)drop_variant(s->objects[i], v);
    size_t bytes = rendered ? all_listed_bytes(e) : 0;
    const size_t most = MAX_LISTED_BYTES / LISTED_BYTES; /* without a look at their names */
    if (rc == 0 && event->n_objects > most) {
        SW_AUTO_JSON *doc = sw_rendered_object_doc(&event->objects[most]);
        rc = too_many(sw_obj_kind(doc), sw_obj_name(doc), &err);
    }
    for (size_t i = 0; rc == 0 && i < event->n_objects; i++)
        rc = take_object(e, s, v, &event->objects[i], &bytes, &err);
    if (rc == 0)
        namespace_forget_absent(e, s, v, event);
    for (size_t i = 0; rendered && i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->n_variants == 0)
            offer(e, s->objects[i]);
    if (rendered)
        state_sort(s);
    if (rc < 0) {
        fault_set(&v->fault, rc, rendered ? sw_err_text(&err) : event->message);
    } else {
        fault_done(&v->fault);
        v->known = true;
        sw_text_set(&s->observes, NULL); /* its objects say it */
        sw_text_set(&v->rolled_back, event->rolled_back);
        state_forget_failure(s);
    }
    if (s->digest != before)
        nodes_mark_all(e);
    label_rendered(e);
    state_note_change(e, s);
}

void sw_engine_each_state(struct sw_engine *engine,
                          void (*each)(const struct sw_state_view *state, void *arg), void *arg)
{
    for (size_t i = 0; i < engine->n_states; i++) {
        struct state *s = engine->states[i];
        if (!s->listed || s->hidden)
            continue;
        bool own = s->begun && s->begun == s->digest && state_is_rendered(s);
        each(&(struct sw_state_view){ .name = s->name,
                                      .ready = own && s->phase == PH_READY,
                                      .failed = own && s->phase == PH_FAILED &&
                                                (s->late || !deadline_can_redo(s)),
                                      .why = s->failed_why ? s->failed_why : "" },
             arg);
    }
}

/* ---- the resource ------------------------------------------------------------------------------
 */

static void take_doc(struct json_object **to, struct json_object *from)
{
    struct json_object *copy = sw_json_copy(from);
    sw_json_pack(copy);
    (void)json_object_put(*to);
    *to = copy;
}

static void take_states(struct sw_engine *e, const struct sw_spec *spec)
{
    for (size_t i = 0; i < e->n_states; i++)
        e->states[i]->listed = false;
    for (size_t i = 0; i < spec->n_states; i++) {
        const struct sw_state_spec *from = &spec->states[i];
        struct state *s = state_need(e, from->name);
        size_t at = place_of(e, s);
        assert(at >= i); /* names are unique, and those before it are in their places */
        memmove(&e->states[i + 1], &e->states[i], (at - i) * sizeof *e->states);
        e->states[i] = s;
        s->listed = true;
        s->hidden = from->hidden;
        s->affine = from->kernel_affine;
        s->looks_up = from->looks_up;
        s->timeout_ms = from->timeout_ms;
        sw_text_set(&s->title, from->title ? from->title : from->name);
        sw_text_set(&s->shared, from->shared);
        sw_text_set(&s->shared_owner, from->shared_owner);
        free(s->label);
        s->label = from->label ? sw_recipe_label_key(e->name, from->label) : NULL;
        sw_text_set(&s->ready_label, from->ready_label);
        release_take(s, from->release);
        if (s->phase == PH_REMOVED)
            state_note_change(e, s);
    }
    /* A state that is not listed any more keeps its needs, as far as they exist: it is removed
     * before them. */
    for (size_t i = 0; i < spec->n_states; i++) {
        struct state *s = e->states[i];
        free(s->needs);
        s->n_needs = spec->states[i].n_needs;
        s->needs = sw_zalloc(s->n_needs, sizeof(struct state *));
        for (size_t k = 0; k < s->n_needs; k++)
            s->needs[k] = e->states[spec->states[i].needs[k]];
    }
}

void spec_take(struct sw_engine *e, const struct sw_spec *spec)
{
    SW_AUTO_JSON *tolerations = json_object_new_array();
    /* a taint, read as a toleration, tolerates itself */
    struct json_object *const lists[] = { spec->taints, spec->tolerations };
    for (size_t l = 0; l < SW_COUNT(lists); l++)
        for (size_t i = 0; i < sw_json_len(lists[l]); i++)
            (void)json_object_array_add(tolerations, sw_json_copy(sw_json_at(lists[l], i)));
    bool first = !e->has_spec;
    bool other_nodes = !first && !(sw_json_equal(e->node_selector, spec->node_selector) &&
                                   sw_json_equal(e->tolerations, tolerations));
    bool again = first || !sw_streq(e->revision, spec->revision);
    e->has_spec = true;
    sw_text_set(&e->name, spec->name);
    sw_text_set(&e->uid, spec->uid);
    sw_text_set(&e->predecessor, spec->predecessor);
    sw_text_set(&e->rights_of, spec->rights_of);
    sw_text_set(&e->revision, spec->revision ? spec->revision : "");
    sw_text_set(&e->blocked, spec->blocked);
    sw_text_set(&e->spec_reason, spec->reason);
    e->generation = spec->generation;
    e->management = spec->management;
    e->deleting = spec->deleting;
    e->orphan = spec->orphan;
    e->emptied = e->emptied && e->hold == spec->hold;
    e->hold = engine_removes_all(e) ? spec->hold : SW_HOLD_NONE;
    sw_text_set(&e->hold_message, e->hold == SW_HOLD_NONE ? NULL : spec->hold_message);
    e->hold_failed = spec->hold_failed;
    e->timeout_ms = spec->timeout_ms;
    take_doc(&e->node_selector, spec->node_selector);
    take_doc(&e->taints, spec->taints);
    take_doc(&e->tolerations, tolerations);
    sw_text_set(&e->overlap, spec->overlap);
    sw_text_set(&e->overlap_with, spec->overlap_with);
    e->overlap_is_bad = spec->overlap_is_bad;
    sw_text_set(&e->records, spec->records);
    sw_text_set(&e->records_reason, spec->records_reason);
    take_doc(&e->heirs, spec->heirs);
    take_doc(&e->former, spec->former);
    fault_done(&e->spec_fault);
    if (spec->code)
        fault_set(&e->spec_fault, spec->code, spec->message);
    if (first) {
        e->preparing = true;
        record_read(e, spec->status);
    }
    if (!spec->code)
        take_states(e, spec);
    namespace_forget_unlisted(e);
    record_inherit(e, spec->inherited, again);
    if (again)
        spec_facts_changed(e);
    for (size_t i = 0; i < e->n_states; i++) {
        e->states[i]->members_known = false;
        state_note_change(e, e->states[i]);
    }
    for (uint32_t n = 0; n < sw_node_set_end(e->nodes); n++)
        spec_node_changed(e, n);
    e->groups_dirty = true;
    nodes_mark_all(e);
    if (other_nodes)
        label_selector_changed(e);
    e->status_dirty = true;
}
