#include "cli/recipe/preview.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/install.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/cluster/shared_releases.h"
#include "cli/recipe/preview_fields.h"
#include "cli/recipe/resource.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/owner.h"
#include "operator/engine/readiness/gate.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/das_resource.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/scopes.h"
#include "operator/release/hooks.h"
#include "operator/renderer/renderer.h"

enum { RETRIES = 3 };

/* ---- the cluster --------------------------------------------------------------------------------
 */

static void on_api(const char *api, void *arg)
{
    struct sw_preview *d = arg;
    SW_GROW(d->apis, d->n_apis, d->cap_apis);
    d->apis[d->n_apis++] = sw_strdup(api);
}

/* ---- the resource -------------------------------------------------------------------------------
 */

/* @made over @live, as `slipway run` applies it: what an earlier one has set and this one does not
 * goes. Where that may not be tried nothing goes. */
static struct json_object *as_applied(struct sw_preview *d, const struct sw_kind *kind,
                                      struct json_object *live, struct json_object *made)
{
    const struct sw_request_opts as_run = {
        .field_manager = SW_RUN_MANAGER, .force = true, .retries = RETRIES, .dry_run = true
    };
    struct json_object *applied = NULL;
    SW_ERR(ignored);
    if (sw_cluster_apply(&d->conn, kind, NULL, sw_obj_name(made), made, &as_run, &applied,
                         &ignored) < 0)
        return sw_merge_apply(live, made);
    (void)sw_inventory_of(sw_json_get(applied, "status"));
    return applied;
}

/* The resource as `slipway run` would make it, over the one of that name on the cluster. */
static int make_resource(struct sw_preview *d, struct sw_recipe_flags *flags,
                         const struct sw_connect_opts *connect, const char *source,
                         struct sw_err *err)
{
    if (d->resource) {
        d->exists = *sw_obj_uid(d->resource);
        d->ns = sw_releases_namespace(d->resource);
        return 0;
    }
    const struct sw_resource_opts opts = {
        .recipe = source,
        .source = &flags->source,
        .connect = connect,
        .name = flags->name,
        .ns = flags->namespace,
        .values = sw_values_args_read(&flags->values, d->opened.arena),
        .command = d->conn.command,
    };
    SW_AUTO_JSON *made = NULL;
    SW_AUTO_JSON *live = NULL;
    int rc = sw_resource_make(&opts, &made, err);
    if (rc < 0)
        return rc;
    const struct sw_kind *kind = sw_kube_kind_find(d->conn.kube, "sro.openshift.io/v1beta1",
                                                   "SpecialResource");
    if (kind)
        rc = sw_cluster_get(&d->conn, kind, NULL, sw_obj_name(made),
                            &(struct sw_request_opts){ .retries = RETRIES }, &live, err);
    if (rc < 0 && rc != SW_NOTFOUND)
        return rc;
    (void)sw_inventory_of(sw_json_get(live, "status")); /* and with it all of its states */
    d->exists = live;
    d->resource = live ? as_applied(d, kind, live, made) : json_object_get(made);
    d->ns = sw_releases_namespace(d->resource);
    return 0;
}

/* The facts that templates see: those of --facts, else of the cluster and @group (NULL: its first
 * group). */
static struct json_object *values_for(struct sw_preview *d, const struct sw_group *group)
{
    if (d->opened.facts)
        return json_object_get(d->opened.facts);
    struct json_object *values = sw_facts_values(
        d->facts.facts, &(struct sw_facts_ask){ .groups = &d->facts.groups,
                                                .group = group,
                                                .resource = d->resource,
                                                .status = sw_json_get(d->resource, "status") });
    struct json_object *others =
        d->shared ? sw_shared_releases_of_others(d->shared, sw_obj_uid(d->resource)) : NULL;
    if (others)
        sw_json_set(values, others, SW_RELEASES_OF_OTHERS, NULL);
    return values;
}

void sw_preview_read_shared(struct sw_preview *d)
{
    SW_ERR(ignored); /* who may not list namespaces goes without */
    json_object_put(SW_TAKE(d->shared));
    if (sw_shared_releases_read(&d->conn, &d->shared, &ignored) < 0)
        d->shared = NULL;
}

struct json_object *sw_preview_shared(const struct sw_preview *d)
{
    SW_AUTO_JSON *names = json_object_new_array();
    for (size_t i = 0; d->opened.plan && i < sw_plan_n_states(d->opened.plan); i++) {
        const char *shared = sw_state_shared(sw_plan_state(d->opened.plan, i));
        if (shared)
            (void)json_object_array_add(names, json_object_new_string(shared));
    }
    return d->shared ? sw_shared_releases_report(d->shared, names, sw_obj_uid(d->resource))
                     : json_object_new_array();
}

/* ---- the recipe ---------------------------------------------------------------------------------
 */

/* A sw_recipe_lookup_fn. Who may not read it sees what is done where it is not there. */
static int lookup(void *arg, const char *api_version, const char *kind, const char *ns,
                  const char *name, struct json_object **out, struct sw_err *err)
{
    struct sw_preview *d = arg;
    int rc = sw_cluster_lookup(&d->conn, api_version, kind, ns, name, out, err);
    if (rc != SW_FORBIDDEN)
        return rc;
    if (!d->is_told)
        (void)fprintf(stderr, "slipway: warning: %s; templates find nothing there\n",
                      sw_err_text(err));
    d->is_told = true;
    return 0;
}

static int plan(struct sw_preview *d, const struct sw_recipe_flags *flags, struct sw_err *err)
{
    struct sw_opened_recipe *o = &d->opened;
    struct json_object *set = sw_json_find(d->resource, "spec", "set", NULL);
    SW_AUTO(sw_values) *values = sw_values_new();
    int rc = set ? sw_values_add_json(values, set, err) : 0;
    if (rc < 0)
        return rc;
    o->env.release = sw_obj_name(d->resource);
    o->env.namespace = d->ns;
    if (!flags->kube_version)
        o->env.kube_version = d->version;
    if (!flags->api_versions.n) {
        o->env.api_versions = d->apis;
        o->env.n_api_versions = d->n_apis;
        o->env.add_api_versions = false;
    }
    o->env.lookup = lookup;
    o->env.lookup_arg = d;
    if (!o->facts)
        sw_cluster_facts_read_gates(&d->conn, o->recipe, &d->facts);
    SW_AUTO_JSON *facts = values_for(d, NULL);
    o->env.facts = facts;
    rc = sw_recipe_plan(o->recipe, values, &o->env, &o->plan, err);
    o->env.facts = NULL;
    return rc;
}

int sw_preview_resolve(struct sw_preview *d, struct sw_err *err)
{
    struct json_object *spec = NULL;
    if (!d->facts.facts) {
        int read = sw_cluster_facts_read(&d->conn, d->resource, d->opened.recipe, &d->facts, err);
        if (read < 0)
            return read;
        sw_preview_read_shared(d);
    }
    if (d->is_resolved || !sw_json_get(d->resource, "spec"))
        return 0;
    SW_AUTO_JSON *request = json_object_new_object();
    sw_json_set(request, json_object_get(sw_json_get(d->resource, "spec")), "spec", NULL);
    sw_json_set(request, values_for(d, NULL), "values", NULL);
    struct sw_renderers *all = sw_renderers_new(d->conn.loop, &(struct sw_renderers_opts){ 0 });
    struct sw_renderer *renderer = sw_renderer_new(all, sw_obj_name(d->resource), NULL);
    int rc = sw_renderer_resolve(renderer, NULL, request, &spec, err);
    sw_renderer_free(renderer);
    sw_renderers_free(all);
    if (rc < 0)
        return rc;
    struct json_object *resolved = sw_json_copy(d->resource);
    sw_json_set(resolved, spec, "spec", NULL);
    json_object_put(d->given); /* options may point into it */
    d->given = d->resource;
    d->resource = resolved;
    d->is_resolved = true;
    return 0;
}

/* Which hooks of an install SRO has run. */
static int read_markers(struct sw_preview *d, struct sw_err *err)
{
    int rc = 0;
    d->sro_ran = 0;
    for (const struct sw_hook_marker *m = sw_hook_markers; d->exists && rc == 0 && m->name; m++) {
        SW_AUTO_JSON *map = NULL;
        SW_ERR(why);
        rc = sw_cluster_find(&d->conn, "v1", "ConfigMap", d->ns, m->name,
                             &(struct sw_request_opts){ .retries = RETRIES }, &map, &why);
        if (rc == 0 && sw_hook_marker_is_of(map, sw_obj_uid(d->resource)))
            d->sro_ran |= m->event;
        rc = rc == SW_UNAVAILABLE || rc == SW_CANCELED
                 ? sw_err_set(err, rc, "%s", sw_err_text(&why))
                 : 0; /* not there, or not to be read */
    }
    return rc;
}

int sw_preview_connect(struct sw_preview *preview, const char *command,
                       const struct sw_connect_opts *connect, int64_t timeout_ms,
                       struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *version = NULL;
    size_t len;
    int rc = sw_connection_init(&preview->conn, command, connect, err);
    if (rc == 0 && timeout_ms)
        preview->conn.until_ms = sw_loop_now_ms(preview->conn.loop) + timeout_ms;
    if (rc == 0)
        rc = sw_cluster_kinds(&preview->conn, err);
    if (rc == 0)
        rc = sw_cluster_path(&preview->conn, "/version", NULL, &text, &len, err);
    if (rc == 0)
        rc = sw_json_parse(text, len, NULL, &version, err);
    if (rc < 0)
        return rc;
    sw_kube_each_api(preview->conn.kube, on_api, preview);
    preview->version = sw_strdup(sw_json_str(version, "", "gitVersion", NULL));
    return 0;
}

int sw_preview_open(struct sw_preview *preview, struct sw_recipe_flags *flags,
                    const struct sw_connect_opts *connect, const char *source, struct sw_err *err)
{
    preview->mirror = flags->source.mirror;
    int rc = sw_recipe_flags_open(flags, source, true, &preview->opened, err);
    if (rc == 0)
        rc = make_resource(preview, flags, connect, source, err);
    if (rc == 0)
        rc = sw_preview_resolve(preview, err);
    if (rc == 0)
        preview->ns = sw_releases_namespace(preview->resource);
    if (rc == 0)
        rc = read_markers(preview, err);
    return rc == 0 ? plan(preview, flags, err) : rc;
}

int sw_preview_init(struct sw_preview *preview, const char *command, struct sw_recipe_flags *flags,
                    const struct sw_connect_opts *connect, const char *source, int64_t timeout_ms,
                    struct sw_err *err)
{
    int rc = sw_preview_connect(preview, command, connect, timeout_ms, err);
    return rc == 0 ? sw_preview_open(preview, flags, connect, source, err) : rc;
}

void sw_preview_close(struct sw_preview *preview)
{
    sw_opened_recipe_done(&preview->opened);
    sw_cluster_facts_done(&preview->facts);
    json_object_put(SW_TAKE(preview->resource));
    json_object_put(SW_TAKE(preview->given));
    json_object_put(SW_TAKE(preview->shared));
    json_object_put(SW_TAKE(preview->scopes));
    preview->exists = preview->is_resolved = false;
    preview->ns = NULL;
}

void sw_preview_done(struct sw_preview *preview)
{
    sw_connection_done(&preview->conn);
    sw_preview_close(preview);
    for (size_t i = 0; i < preview->n_apis; i++)
        free((char *)preview->apis[i]);
    free(preview->apis);
    free(preview->version);
    *preview = (struct sw_preview){ 0 };
}

/* ---- its manifests ------------------------------------------------------------------------------
 */

/* Whether an install applies the manifest of @pass: no hook of another event, none that SRO has
 * run, nothing that is only observed or tried, and what is the same for all kernels only once. */
static bool is_applied(const struct sw_preview *preview, const struct sw_manifest *m,
                       const struct sw_preview_pass *pass)
{
    const unsigned install = SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL;
    const unsigned events = (install & ~preview->sro_ran) | SW_HOOK_PRE_UPGRADE |
                            SW_HOOK_POST_UPGRADE;
    if (sw_is_observed(m->doc) || sw_hook_asked(m->doc, SW_DRY_RUN) ||
        (m->hook_events && !(m->hook_events & events)))
        return false;
    bool affine = !m->from_crds && sw_hook_asked(m->doc, SW_KERNEL_AFFINE);
    return affine ? pass->group != NULL : pass->first;
}

/* Show the objects of one state, as @pass has them. */
static int show_state(struct sw_preview *preview, struct sw_preview_pass *pass, size_t state,
                      sw_preview_fn *each, void *arg, struct sw_err *err)
{
    const struct sw_recipe_state *row = sw_plan_state(preview->opened.plan, state);
    if (row->kernel_affine && !pass->group) { /* as the operator, which waits for a node */
        sw_log(SW_LOG_WARN, "left out: no node has a kernel for it", "state", row->name, NULL);
        return 0;
    }
    int rc = sw_recipe_render(preview->opened.plan, &preview->opened.env, state, &pass->rendered,
                              err);
    for (size_t k = 0; rc == 0 && k < sw_rendered_n_manifests(pass->rendered); k++) {
        const struct sw_manifest *m = sw_rendered_manifest(pass->rendered, k);
        sw_scopes_note(&preview->scopes, m->doc);
        if (is_applied(preview, m, pass))
            rc = each(preview, pass, m, arg, err);
    }
    sw_rendered_free(pass->rendered);
    pass->rendered = NULL;
    return rc;
}

int sw_preview_each(struct sw_preview *preview, sw_preview_fn *each, void *arg, struct sw_err *err)
{
    const struct sw_groups *groups = &preview->facts.groups;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (i == 0 || i < groups->n); i++) {
        const struct sw_group *group = groups->n ? groups->items[i] : NULL;
        struct sw_preview_pass pass = { group, values_for(preview, group), NULL, i == 0 };
        preview->opened.env.facts = pass.values;
        for (size_t s = 0; rc == 0 && s < sw_plan_n_states(preview->opened.plan); s++)
            rc = show_state(preview, &pass, s, each, arg, err);
        preview->opened.env.facts = NULL;
        json_object_put(pass.values);
    }
    return rc;
}

/* The recipe's Namespace @doc is the one that slipway makes for the resource. */
static void add_own_annotations(struct json_object *doc)
{
    SW_AUTO_JSON *own = sw_namespace_new(sw_obj_name(doc));
    json_object_object_foreach(sw_json_find(own, "metadata", "annotations", NULL), key, value)
    {
        if (!sw_obj_annotation(doc, key))
            sw_json_set_str(doc, json_object_get_string(value), "metadata", "annotations", key,
                            NULL);
    }
}

int sw_preview_object(struct sw_preview *preview, const struct sw_preview_pass *pass,
                      const struct sw_manifest *manifest, struct json_object **doc,
                      const struct sw_kind **kind, struct sw_err *err)
{
    SW_AUTO_JSON *made = sw_json_copy(manifest->doc);
    const struct sw_kind *served = sw_kube_kind_find(preview->conn.kube, sw_obj_api_version(made),
                                                     sw_obj_kind(made));
    SW_AUTO_JSON *selector = pass->group ? sw_facts_selector(preview->facts.facts, pass->group)
                                         : NULL;
    struct sw_hook_env env = {
        .resource = preview->resource,
        .ns = manifest->namespace ? manifest->namespace : preview->ns,
        .namespaced = served ? served->namespaced : sw_scopes_namespaced(preview->scopes, made),
        .keep_selectors = preview->keep_selectors,
        .from_crds = manifest->from_crds,
        .group = pass->group,
        .selector = selector,
        .mirror = preview->mirror,
        .values = pass->values,
    };
    if (sw_streq(sw_obj_kind(made), "Namespace") && sw_streq(sw_obj_name(made), preview->ns))
        add_own_annotations(made);
    int rc = sw_hooks_apply(made, &env, err);
    if (rc < 0)
        return rc;
    *kind = served;
    *doc = SW_TAKE(made);
    return 0;
}

/* ---- what applying them would do ---------------------------------------------------------------
 */

void sw_preview_change_done(struct sw_preview_change *change)
{
    json_object_put(change->live);
    json_object_put(change->wanted);
    free(change->foreign);
    free(change->taken);
    *change = (struct sw_preview_change){ 0 };
}

/* SRO or DAS made it, slipway has not written it yet, and takes its fields over when it does. */
static bool is_inherited(const struct sw_preview *preview, struct json_object *live,
                         const struct sw_gate *gate)
{
    return (sw_obj_annotation(live, SW_SRO_PREFIX "hash") ||
            sw_owner_is_predecessor(live,
                                    sw_obj_annotation(preview->resource, DAS_OWNER_ANNOTATION))) &&
           !sw_obj_annotation(live, "slipway.dev/resource") && gate && !gate->replace;
}

/* Whose @live is, which is not slipway's; heap. NULL: it is slipway's. */
static char *other_owner(const struct sw_preview *preview, struct json_object *live)
{
    const bool is_resource = sw_streq(sw_obj_kind(preview->resource), "SpecialResource");
    const struct sw_owner owner = {
        .name = is_resource ? sw_obj_name(preview->resource) : NULL,
        .uid = sw_obj_uid(preview->resource),
        .predecessor = sw_obj_annotation(preview->resource, DAS_OWNER_ANNOTATION),
    };
    return sw_owner_foreign(&owner, live);
}

/* @applied, an answer to a dry run over @live, without the fields of SRO's that go with the
 * takeover, the caller's; with the server's defaults for them, where it may be asked. */
static struct json_object *without_dropped(struct sw_preview *preview, const struct sw_kind *kind,
                                           struct json_object *live, struct json_object *applied)
{
    const struct sw_request_opts dry_run = { .retries = RETRIES, .dry_run = true };
    SW_AUTO_JSON *less = sw_json_copy(applied);
    struct json_object *out = NULL;
    SW_ERR(ignored);
    if (!preview_fields_drop(less))
        return json_object_get(applied);
    (void)sw_json_del(less, "metadata", "managedFields", NULL);
    sw_json_set_str(less, sw_json_str(live, "", "metadata", "resourceVersion", NULL), "metadata",
                    "resourceVersion", NULL);
    if (sw_cluster_update(&preview->conn, kind, kind->namespaced ? sw_obj_namespace(less) : NULL,
                          sw_obj_name(less), less, &dry_run, &out, &ignored) < 0)
        out = SW_TAKE(less);
    return out;
}

int sw_preview_apply(struct sw_preview *preview, const struct sw_preview_pass *pass,
                     const struct sw_manifest *manifest, struct sw_preview_change *change,
                     struct sw_err *err)
{
    const struct sw_request_opts get = { .retries = RETRIES };
    const struct sw_request_opts dry_run = {
        .retries = RETRIES, .dry_run = true, .force = true, .as_user = preview->account
    };
    const unsigned deleting = SW_HOOK_DELETE_SUCCEEDED | SW_HOOK_DELETE_FAILED;
    struct sw_preview_change c = { 0 };
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_JSON *applied = NULL;
    const struct sw_kind *kind;
    int rc = sw_preview_object(preview, pass, manifest, &doc, &kind, err);
    if (rc < 0)
        return rc;
    c.is_served = kind;
    c.wanted = json_object_get(doc);
    if (!kind) {
        *change = c;
        return 0;
    }
    const char *ns = kind->namespaced ? sw_obj_namespace(doc) : NULL, *name = sw_obj_name(doc);
    SW_ERR(why);
    rc = sw_cluster_get(&preview->conn, kind, ns, name, &get, &c.live, &why);
    bool is_new = rc == SW_NOTFOUND;
    c.has_run = is_new && preview->exists && manifest->hook_events &&
                manifest->hook_policies & deleting;
    SW_AUTO_JSON *kept = sw_template_keep(doc, c.live,
                                          preview->facts.node_set); /* as the controller keeps it */
    SW_AUTO(sw_gate) *gate = NULL;
    SW_ERR(ignored); /* lint tells of it, and the walk */
    if (sw_gate_new(doc, false, &gate, &ignored) < 0)
        gate = NULL;
    bool inherited = rc == 0 && is_inherited(preview, c.live, gate);
    SW_AUTO_CHARS *others = rc == 0 ? other_owner(preview, c.live) : NULL;
    const bool adopts = gate && gate->adopt;
    sw_owner_spare(kept ? kept : doc,
                   (rc == 0 && sw_obj_annotation(c.live, SW_ANN_ADOPTED)) || (adopts && others));
    c.foreign = adopts ? NULL : SW_TAKE(others); /* the controller leaves it to them */
    c.is_left = inherited && sw_streq(sw_obj_kind(doc), "Deployment") && sw_live_says(doc, c.live);
    if (c.is_left)
        applied = sw_json_copy(c.live);
    else if ((rc == 0 || is_new) && !c.has_run) {
        sw_err_done(&why);
        rc = sw_cluster_apply(&preview->conn, kind, ns, name, kept ? kept : doc, &dry_run, &applied,
                              &why);
    }
    if (is_new && rc == SW_NOTFOUND)
        rc = 0; /* it has run, or its namespace does not exist either */
    if (rc == SW_INVALID && c.live && gate && gate->replace && !c.foreign) {
        c.is_remade = true;
        applied = sw_merge_apply(c.live, doc);
        rc = 0;
    }
    if (applied) {
        c.taken = inherited || c.is_remade ? NULL : preview_fields_taken(c.live, applied);
        json_object_put(c.wanted);
        c.wanted = inherited && !c.is_left ? without_dropped(preview, kind, c.live, applied)
                                           : SW_TAKE(applied);
    }
    if (rc == 0) {
        *change = c;
        return 0;
    }
    change->live = SW_TAKE(c.live);
    sw_preview_change_done(&c);
    return sw_err_set(err, rc, "%s", sw_err_text(&why));
}

void sw_preview_strip(struct json_object *doc)
{
    static const char *const metadata[] = { "managedFields",     "resourceVersion", "uid",
                                            "creationTimestamp", "generation",      "selfLink" };
    static const char *const annotations[] = { SW_SRO_PREFIX "hash", "slipway.dev/resource",
                                               "slipway.dev/adopted",
                                               "deprecated.daemonset.template.generation" };
    for (size_t i = 0; i < SW_COUNT(metadata); i++)
        (void)sw_json_del(doc, "metadata", metadata[i], NULL);
    for (size_t i = 0; i < SW_COUNT(annotations); i++)
        (void)sw_json_del(doc, "metadata", "annotations", annotations[i], NULL);
    if (sw_json_len(sw_json_find(doc, "metadata", "annotations", NULL)) == 0)
        (void)sw_json_del(doc, "metadata", "annotations", NULL);
    (void)sw_json_del(doc, "status", NULL);
}
