/* slipway plan: what will be done to nodes (taints, labels, drivers that are replaced) for a
 * resource on the cluster, or for the one that a recipe would make, and in which steps a recipe's
 * releases go to another version. Nothing is written. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "chart/aicr/upgrades.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/node_plan.h"
#include "cli/cluster/requests.h"
#include "cli/cluster/shared_releases.h"
#include "cli/commands/commands.h"
#include "cli/commands/recommend.h"
#include "cli/recipe/absent_charts.h"
#include "cli/recipe/awaited_labels.h"
#include "cli/recipe/preview.h"
#include "cli/recipe/recipe_flags.h"
#include "cli/recipe/release_steps.h"
#include "cli/recipe/vanished_values.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "operator/engine/readiness/gate.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/node_choice.h"
#include "operator/manifests/ready_label.h"
#include "operator/manifests/sharing.h"

/* As `slipway diff`. */
enum { NO_ACTION = 0, SOME_ACTION = 1, TROUBLE = 2 };

enum { RETRIES = 5 };

struct plan_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
    const char *output, *snapshot;
    bool all;
    int64_t timeout_ms;
};

static const struct sw_flag flags[] = {
    { "all", 0, SW_FLAG_BOOL, offsetof(struct plan_opts, all), NULL, NULL,
      "as if every driver were out of date" },
    { "output", 'o', SW_FLAG_STRING, offsetof(struct plan_opts, output), "FORMAT", "text|json",
      "json: one document (default text)" },
    { "snapshot", 0, SW_FLAG_STRING, offsetof(struct plan_opts, snapshot), "FILE", NULL,
      "without a cluster: whether a recipe of AICR fits that of which aicr has taken this "
      "snapshot, "
      "and over what it would be installed" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct plan_opts, timeout_ms), "TIME", NULL,
      "time limit, such as 90s or 5m (default 30s)" },
    SW_RECIPE_FLAGS_IN(offsetof(struct plan_opts, recipe),
                       "the SpecialResource's on the cluster, else the recipe's name"),
    SW_MIRROR_FLAG(offsetof(struct plan_opts, recipe.source)),
    SW_CONNECT_FLAGS(struct plan_opts, connect),
    { 0 },
};

struct plan {
    struct plan_opts opts;
    struct sw_preview preview; /* of a resource only the connection, facts and document */
    struct sw_node_plan nodes;
    struct json_object *notes;    /* what states have chosen: {state, note}; owned */
    struct json_object *releases; /* of a recipe: sw_release_steps_add(); owned */
    struct json_object *absent;   /* sw_absent_charts_new(), or _of(); owned */
    struct sw_awaited_labels awaited;
    char *name;
};

/* ---- a resource on the cluster ------------------------------------------------------------------
 */

static void add_note(struct plan *p, const char *state, const char *note)
{
    struct json_object *row = json_object_new_object();
    if (!p->notes)
        p->notes = json_object_new_array();
    sw_json_set_str(row, state, "state", NULL);
    sw_json_set_str(row, note, "note", NULL);
    (void)json_object_array_add(p->notes, row);
}

static struct sw_node_plan_state *add_state(struct plan *p, char *label, bool by_node)
{
    struct sw_node_plan *n = &p->nodes;
    SW_GROW(n->states, n->n_states, n->cap_states);
    n->states[n->n_states] = (struct sw_node_plan_state){ .label = label,
                                                          .sets = json_object_new_array(),
                                                          .by_node = by_node };
    return &n->states[n->n_states++];
}

/* The state that the DaemonSet belongs to by the resource's inventory; NULL: none. */
static const char *state_of(const struct plan *p, struct json_object *set)
{
    struct json_object *inventory = sw_inventory_of(sw_json_get(p->preview.resource, "status"));
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *entry = sw_json_at(inventory, i);
        if (*sw_obj_uid(set) && sw_streq(sw_json_str(entry, "", "uid", NULL), sw_obj_uid(set)))
            return sw_json_str(entry, "", "state", NULL);
    }
    return NULL;
}

/* The states of status.states, with their DaemonSets on the cluster. A state that counts other
 * nodes than the resource selects is one of the nodes that its DaemonSets run on. */
static int read_states(struct plan *p, struct sw_err *err)
{
    const struct sw_preview *d = &p->preview;
    SW_AUTO_JSON *sets = NULL;
    SW_AUTO_JSON *tolerations = sw_sharing_tolerations(d->resource);
    struct sw_node_choice choice = { d->facts.node_set, d->resource, tolerations };
    const struct sw_request_opts opts = { .retries = RETRIES };
    struct json_object *states = sw_json_find(d->resource, "status", "states", NULL);
    int64_t n_chosen = 0;
    (void)sw_inventory_of(sw_json_get(d->resource, "status"));
    for (uint32_t i = 0; i < sw_node_set_end(d->facts.node_set); i++) {
        const char *name = sw_node_set_name(d->facts.node_set, i);
        n_chosen += name && sw_node_is_chosen(name, &choice);
    }
    int rc = sw_cluster_find(&p->preview.conn, "apps/v1", "DaemonSet", d->ns, NULL, &opts, &sets,
                             err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *label = sw_json_str(state, "", "label", NULL);
        const char *note = sw_json_str(state, "", "note", NULL);
        if (*note)
            add_note(p, sw_json_str(state, "", "name", NULL), note);
        bool by_node = sw_json_int(state, 0, "nodes", "total", NULL) != n_chosen;
        struct sw_node_plan_state *s = add_state(p, *label ? sw_strdup(label) : NULL, by_node);
        const char *ready = sw_json_str(state, "", "readyLabel", NULL);
        s->ready_label = *ready ? sw_strdup(ready) : NULL;
        for (size_t k = 0; k < sw_json_len(sets); k++)
            if (sw_streq(state_of(p, sw_json_at(sets, k)), sw_json_str(state, "", "name", NULL)))
                (void)json_object_array_add(s->sets, json_object_get(sw_json_at(sets, k)));
    }
    return rc;
}

/* ---- a recipe -----------------------------------------------------------------------------------
 */

/* Whether the state waits for the object. */
static bool is_awaited(const struct sw_recipe_state *state, struct json_object *doc)
{
    SW_ERR(ignored);
    struct sw_gate *gate = NULL;
    if (sw_gate_new(doc, state->wait_all, &gate, &ignored) < 0)
        return state->wait_all;
    bool awaited = gate->awaited;
    sw_gate_free(gate);
    return awaited;
}

/* Add a DaemonSet to its state, as the server would store it: pods of an older
 * template are recognized by the generation that a changed template gets. */
static int add_set(struct sw_preview *preview, const struct sw_preview_pass *pass,
                   const struct sw_manifest *m, void *arg, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = RETRIES, .dry_run = true, .force = true };
    struct plan *p = arg;
    const struct sw_kind *kind;
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_JSON *applied = NULL;
    if (!sw_streq(sw_obj_kind(m->doc), "DaemonSet"))
        return 0;
    int rc = sw_preview_object(preview, pass, m, &doc, &kind, err);
    if (rc == 0 && kind)
        rc = sw_cluster_apply(&preview->conn, kind, sw_obj_namespace(doc), sw_obj_name(doc), doc,
                              &opts, &applied, err);
    if (rc < 0 && (rc != SW_NOTFOUND || !doc)) /* not found: its namespace does not exist yet */
        return sw_err_wrap(err, rc, "%s:%d", m->path, m->line);
    struct sw_node_plan_state *s = &p->nodes.states[m->state];
    struct json_object *set = applied ? applied : doc;
    s->by_node = s->by_node || is_awaited(sw_plan_state(preview->opened.plan, m->state), set);
    (void)json_object_array_add(s->sets, json_object_get(set));
    return 0;
}

/* A sw_preview_fn. */
static int add_manifest(struct sw_preview *preview, const struct sw_preview_pass *pass,
                        const struct sw_manifest *m, void *arg, struct sw_err *err)
{
    struct plan *p = arg;
    const char *note = sw_obj_annotation(m->doc, SW_ANN_NOTE);
    SW_ERR(why);
    if (note)
        add_note(p, sw_plan_state(preview->opened.plan, m->state)->name, note);
    if (sw_release_steps_add(p->releases, preview, pass, m, &why) < 0)
        (void)fprintf(stderr, "slipway plan: %s:%d: %s\n", m->path, m->line, sw_err_text(&why));
    sw_absent_charts_take(p->absent, preview, m);
    sw_awaited_labels_take(&p->awaited, preview, m);
    return add_set(preview, pass, m, arg, err);
}

static int read_recipe(struct plan *p, const char *source, struct sw_err *err)
{
    int rc = sw_preview_init(&p->preview, "plan", &p->opts.recipe, &p->opts.connect, source,
                             p->opts.timeout_ms, err);
    if (rc < 0)
        return rc;
    const char *name = sw_obj_name(p->preview.resource);
    p->name = sw_strdup(name);
    p->releases = json_object_new_array();
    p->absent = sw_absent_charts_new(&p->preview);
    struct json_object *metadata = (struct json_object *)sw_recipe_metadata(
        p->preview.opened.recipe);
    p->nodes.metadata = metadata;
    for (size_t i = 0; rc == 0 && i < sw_plan_n_states(p->preview.opened.plan); i++) {
        const struct sw_recipe_state *state = sw_plan_state(p->preview.opened.plan, i);
        char *label = NULL;
        if (state->label)
            rc = sw_recipe_label(name, state->label, &label, err);
        struct sw_node_plan_state *s = add_state(p, label, false);
        s->ready_label = sw_ready_label(metadata, p->preview.ns, state->name, state->label);
        s->kernel_affine = state->kernel_affine;
    }
    return rc == 0 ? sw_preview_each(&p->preview, add_manifest, p, err) : rc;
}

/* Has the resource a release @name (NULL: none is asked about)? */
static bool is_deployed(const struct plan *p, const char *name)
{
    struct json_object *states = sw_json_find(p->preview.resource, "status", "states", NULL);
    for (size_t i = 0; name && i < sw_json_len(states); i++) {
        struct json_object *release = sw_json_get(sw_json_at(states, i), "release");
        if (sw_streq(sw_json_str(release, NULL, "name", NULL), name) &&
            sw_json_str(release, NULL, "deployed", NULL))
            return true;
    }
    return false;
}

/* What AICR's records of the recipe, @records or NULL, say of the step of @release. */
static void add_record(const struct plan *p, struct json_object *release,
                       struct json_object *records)
{
    const char *from = sw_json_str(release, NULL, "from", NULL),
               *to = sw_json_str(release, "", "to", NULL);
    struct json_object *record = sw_json_get(records, sw_json_str(release, "", "name", NULL));
    if (records && from && !sw_streq(from, to))
        sw_json_set(release, sw_aicr_upgrade(record, from, to), "record", NULL);
    else if (!from && is_deployed(p, sw_aicr_replaces(record)))
        sw_json_set(release, sw_aicr_replacement(record, to), "record", NULL);
}

/* Which of the values that the recipe sets the new chart of @release has not any more. */
static void add_vanished(struct plan *p, struct json_object *release)
{
    const char *from = sw_json_str(release, NULL, "from", NULL);
    if (!from || sw_streq(from, sw_json_str(release, "", "to", NULL)))
        return;
    SW_AUTO_JSON *vanished = sw_vanished_values_of(&p->preview,
                                                   sw_json_str(release, "", "name", NULL),
                                                   sw_json_str(release, "", "namespace", NULL));
    if (sw_json_len(vanished))
        sw_json_set(release, json_object_get(vanished), "vanishedValues", NULL);
}

/* The releases that change, each with what is to be known of its step; the caller's. */
static struct json_object *changed_releases(struct plan *p)
{
    struct json_object *changed = sw_release_steps_changed(p->releases);
    const char *text = sw_json_str((struct json_object *)p->nodes.metadata, "", "annotations",
                                   SW_ANN_UPGRADES, NULL);
    SW_AUTO_JSON *records = NULL;
    SW_ERR(err); /* of what cannot be read `slipway lint` tells */
    if (*text && sw_yaml_parse(text, strlen(text), NULL, &records, &err) < 0)
        records = NULL;
    for (size_t i = 0; i < sw_json_len(changed); i++) {
        add_record(p, sw_json_at(changed, i), records);
        add_vanished(p, sw_json_at(changed, i));
    }
    return changed;
}

/* ---- either -------------------------------------------------------------------------------------
 */

/* @name: of a resource on the cluster, or else of a chart's folder. */
static int read_named(struct plan *p, const char *name, struct sw_err *err)
{
    struct sw_preview *d = &p->preview;
    SW_AUTO_CHARS *chart = sw_printf("%s/Chart.yaml", name);
    p->name = sw_strdup(name);
    int rc = sw_connection_init(&d->conn, "plan", &p->opts.connect, err);
    if (rc < 0)
        return rc;
    d->conn.until_ms = sw_loop_now_ms(d->conn.loop) + p->opts.timeout_ms;
    rc = sw_cluster_resource(&d->conn, name, RETRIES, &d->resource, err);
    if (rc == SW_NOTFOUND && access(chart, R_OK) == 0) {
        sw_preview_done(d);
        free(SW_TAKE(p->name));
        return read_recipe(p, name, err);
    }
    if (rc < 0)
        return rc;
    const char *ns = sw_json_str(d->resource, "", "spec", "namespace", NULL);
    d->ns = *ns ? ns : name;
    p->absent = sw_absent_charts_of(d->resource);
    sw_preview_read_shared(d);
    rc = sw_cluster_facts_read(&d->conn, d->resource, NULL, &d->facts, err);
    return rc == 0 ? read_states(p, err) : rc;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void put_actions(struct printbuf *out, struct json_object *actions)
{
    size_t width = 4;
    for (size_t i = 0; i < sw_json_len(actions); i++) {
        size_t len = strlen(sw_json_str(sw_json_at(actions, i), "", "node", NULL));
        width = len > width ? len : width;
    }
    if (sw_json_len(actions))
        sprintbuf(out, "%-5s  %-*s  %-14s  %s\n", "ROUND", (int)width, "NODE", "ACTION",
                  "PODS, LABELS");
    for (size_t i = 0; i < sw_json_len(actions); i++) {
        struct json_object *a = sw_json_at(actions, i);
        struct json_object *pods = sw_json_get(a, "pods"), *labels = sw_json_get(a, "labels");
        sprintbuf(out, "%-5d  %-*s  %-14s  %s", (int)sw_json_int(a, 0, "round", NULL), (int)width,
                  sw_json_str(a, "", "node", NULL), sw_json_str(a, "", "action", NULL),
                  sw_json_str(a, "", "taint", NULL));
        for (size_t k = 0; k < sw_json_len(pods); k++) {
            struct json_object *pod = sw_json_at(pods, k);
            const char *refused = sw_json_str(pod, "", "refused", NULL);
            sprintbuf(out, "%s%s/%s%s%s%s", k ? ", " : "", sw_json_str(pod, "", "namespace", NULL),
                      sw_json_str(pod, "", "name", NULL), *refused ? " (refused: " : "", refused,
                      *refused ? ")" : "");
        }
        if (labels) { /* as arguments of `kubectl label` */
            const char *between = "";
            json_object_object_foreach(labels, key, value)
            {
                sprintbuf(out, "%s%s%s%s", between, key, value ? "=" : "-",
                          value ? json_object_get_string(value) : "");
                between = ", ";
            }
        }
        sprintbuf(out, "\n");
    }
}

static int print_json(struct plan *p)
{
    const struct sw_node_plan *n = &p->nodes;
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, p->name, "resource", NULL);
    sw_json_set(doc, json_object_new_boolean(n->has_policy), "upgradePolicy", NULL);
    sw_json_set(doc, json_object_new_boolean(n->was_paused), "paused", NULL);
    sw_json_set(doc, json_object_new_int64((int64_t)n->n_drivers), "nodes", NULL);
    sw_json_set(doc, json_object_get(n->actions), "actions", NULL);
    sw_json_set(doc, json_object_get(n->waiting), "waiting", NULL);
    if (p->notes)
        sw_json_set(doc, json_object_get(p->notes), "notes", NULL);
    sw_json_set(doc, sw_preview_shared(&p->preview), "sharedReleases", NULL);
    sw_json_set(doc, changed_releases(p), "releases", NULL);
    sw_json_set(doc, json_object_get(p->absent), "notInstalled", NULL);
    sw_json_set(doc, sw_awaited_labels_list(&p->awaited), "awaitedLabels", NULL);
    return sw_cli_print_json(doc);
}

static int print_text(struct plan *p)
{
    const struct sw_node_plan *n = &p->nodes;
    struct printbuf *out = printbuf_new();
    bool by_node = sw_json_find_by(n->actions, "action", "replace driver");
    if (!n->has_policy)
        sprintbuf(out, "%s has no spec.upgradePolicy: the DaemonSet controller replaces drivers.\n",
                  p->name);
    else if (!by_node)
        sprintbuf(out, "%s: no node needs a new driver.\n", p->name);
    put_actions(out, n->actions);
    for (size_t i = 0; i < sw_json_len(p->notes); i++) {
        struct json_object *row = sw_json_at(p->notes, i);
        sprintbuf(out, "state %s: %s\n", sw_json_str(row, "", "state", NULL),
                  sw_json_str(row, "", "note", NULL));
    }
    for (size_t i = 0; i < sw_json_len(n->waiting); i++) {
        struct json_object *w = sw_json_at(n->waiting, i);
        sprintbuf(out, "waits: %s: %s\n", sw_json_str(w, "", "node", NULL),
                  sw_json_str(w, "", "why", NULL));
    }
    SW_AUTO_JSON *shared = sw_preview_shared(&p->preview);
    for (size_t i = 0; i < sw_json_len(shared); i++) {
        SW_AUTO_CHARS *line = sw_shared_release_line(sw_json_at(shared, i));
        sprintbuf(out, "%s\n", line);
    }
    SW_AUTO_JSON *releases = changed_releases(p);
    SW_AUTO_CHARS *steps = sw_release_steps_text(releases);
    SW_AUTO_CHARS *absent = sw_absent_charts_text(p->absent);
    SW_AUTO_CHARS *awaited = sw_awaited_labels_text(&p->awaited);
    sprintbuf(out, "%s%s%s", steps, absent, awaited);
    if (n->was_paused && by_node)
        sprintbuf(out, "It is paused: spec.upgradePolicy.autoUpgrade is false.\n");
    int rc = sw_cli_print(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

/* Read what the plan is made of. */
static int read_all(struct plan *p, const char *operand, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = RETRIES };
    bool is_recipe = p->opts.recipe.source.repo || strchr(operand, '/') ||
                     sw_dns_label_fault(operand);
    int rc = is_recipe ? read_recipe(p, operand, err) : read_named(p, operand, err);
    SW_AUTO_JSON *shared = rc == 0 ? sw_preview_shared(&p->preview) : NULL;
    sw_absent_charts_drop_shared(p->absent, shared);
    if (rc == 0)
        rc = sw_cluster_find(&p->preview.conn, "v1", "Pod", NULL, NULL, &opts, &p->nodes.pods, err);
    p->nodes.name = p->name;
    p->nodes.resource = p->preview.resource;
    p->nodes.node_set = p->preview.facts.node_set;
    p->nodes.facts = p->preview.facts.facts;
    p->nodes.all = p->opts.all;
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct plan p = { .opts = { .timeout_ms = 30000 } };
    struct sw_operands rest;
    SW_ERR(err);
    p.opts.recipe.source.late = true;
    int rc = sw_cli_parse(call, &p.opts, 1, &rest);
    if (rc) {
        rc--;
    } else if (p.opts.snapshot) { /* what does not fit is not walked */
        rc = recommend_offline("plan", rest.items[0], p.opts.recipe.source.criteria,
                               p.opts.snapshot, p.opts.output);
        rc = rc ? TROUBLE : SOME_ACTION;
    } else if (read_all(&p, rest.items[0], &err) < 0 || sw_node_plan_make(&p.nodes, &err) < 0) {
        (void)sw_cli_fail("plan", &err);
        rc = TROUBLE;
    } else {
        rc = sw_streq(p.opts.output, "json") ? print_json(&p) : print_text(&p);
        rc = rc ? TROUBLE : sw_json_len(p.nodes.actions) > 0 ? SOME_ACTION : NO_ACTION;
    }
    sw_node_plan_done(&p.nodes);
    sw_preview_done(&p.preview);
    sw_recipe_flags_done(&p.opts.recipe);
    json_object_put(p.releases);
    json_object_put(p.notes);
    json_object_put(p.absent);
    sw_awaited_labels_done(&p.awaited);
    free(p.name);
    return rc;
}

const struct sw_command sw_command_plan = {
    .name = "plan",
    .args = "RECIPE|NAME",
    .missing = "which recipe, or which resource? 'slipway status' lists resources",
    .summary = "print the actions on nodes before they are done",
    .details =
        "Of a recipe as if it were applied now, or of a SpecialResource as it is: which "
        "taints and labels\n"
        "nodes get and lose, and in which order nodes with drivers are cordoned, drained "
        "(with the pods that\n"
        "are evicted), get their new driver and are uncordoned, by spec.upgradePolicy. The "
        "decisions are the\n"
        "operator's, as if each action succeeded. Of a recipe also which releases of its "
        "subcharts go to\n"
        "another version or change, and in which steps, what its states have chosen, and "
        "which of them wait\n"
        "for labels of Node Feature Discovery that the recipe installs itself.\n"
        "With --snapshot no cluster is asked: the constraints of a recipe of NVIDIA's AI "
        "Cluster Runtime are held\n"
        "against the snapshot, as 'slipway recommend' does.\n"
        "Nothing is written. A NAME is first "
        "looked up as a\n"
        "resource; ./NAME is the folder.\n"
        "\n"
        "Exit status: 0 no node needs anything, 1 actions, 2 errors, or a constraint that is "
        "not met.",
    .flags = flags,
    .execute = execute,
};
