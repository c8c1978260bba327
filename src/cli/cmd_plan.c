/* slipway plan: what will be done to nodes while drivers are replaced, before it is done. Decided
 * by the very functions that the controller asks (engine/upgrade.h, controller/drain.h), played
 * through as if all went well. Nothing is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/loop.h"
#include "cli/connect.h"
#include "cli/talk.h"
#include "cli/text.h"
#include "controller/drain.h"
#include "data/data.h"
#include "engine/upgrade.h"

/* As diff's. */
enum { NO_ACTION = 0, SOME_ACTION = 1, TROUBLE = 2 };

struct plan_opts {
    struct sw_connect_opts connect;
    const char *output;
    bool all;
    int64_t timeout_ms;
};

const struct sw_flag sw_flags_plan[] = {
    { "all", 0, SW_FLAG_BOOL, offsetof(struct plan_opts, all), NULL, NULL,
      "as if a new driver had just been applied: every node" },
    { "output", 'o', SW_FLAG_STRING, offsetof(struct plan_opts, output), "FORMAT", "text|json",
      "text, or json: one document" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct plan_opts, timeout_ms), "TIME", NULL,
      "give up after so long (default 30s)" },
    SW_CONNECT_FLAGS(struct plan_opts, connect),
    { 0 },
};

struct plan {
    const struct plan_opts *opts;
    struct sw_connection conn;
    const char *name;
    struct json_object *resource, *nodes, *sets, *pods; /* owned */
    struct sw_upgrade_policy policy;
    bool has_policy, was_paused;
    struct sw_upgrade_node *facts;
    size_t n;
    struct json_object *actions, *waiting; /* owned */
};

/* ---- reading -----------------------------------------------------------------------------------
 */

static int read_all(struct plan *p, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = 5 };
    int rc = sw_talk_find(&p->conn, "sro.openshift.io/v1beta1", "SpecialResource", NULL, p->name,
                          &opts, &p->resource, err);
    const char *ns = sw_json_str(p->resource, "", "spec", "namespace", NULL);
    struct json_object *policy = sw_json_find(p->resource, "spec", "upgradePolicy", NULL);
    if (rc == 0)
        rc = sw_upgrade_policy_read(policy, &p->policy, err);
    if (rc == 0)
        rc = sw_talk_find(&p->conn, "v1", "Node", NULL, NULL, &opts, &p->nodes, err);
    if (rc == 0)
        rc = sw_talk_find(&p->conn, "apps/v1", "DaemonSet", *ns ? ns : p->name, NULL, &opts,
                          &p->sets, err);
    if (rc == 0)
        rc = sw_talk_find(&p->conn, "v1", "Pod", NULL, NULL, &opts, &p->pods, err);
    p->has_policy = policy != NULL;
    p->was_paused = p->policy.paused;
    p->policy.paused = false; /* a plan is for deciding whether to begin */
    return rc;
}

/* The driver's DaemonSet that the pod is of, or NULL. */
static struct json_object *driver_of(const struct plan *p, struct json_object *pod)
{
    struct json_object *owner = sw_json_at(sw_json_find(pod, "metadata", "ownerReferences", NULL),
                                           0);
    for (size_t i = 0; i < sw_json_len(p->sets); i++) {
        struct json_object *ds = sw_json_at(p->sets, i);
        if (sw_streq(sw_obj_annotation(ds, "slipway.dev/upgrade"), "by-node") &&
            sw_streq(sw_obj_annotation(ds, "slipway.dev/resource"), p->name) &&
            sw_streq(sw_obj_uid(ds), sw_json_str(owner, "", "uid", NULL)))
            return ds;
    }
    return NULL;
}

static const char *label_of(struct json_object *node, const char *prefix, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s%s", prefix, name);
    return sw_obj_label(node, key);
}

static void look_at_pods(const struct plan *p, struct sw_upgrade_node *node, bool *any)
{
    node->finished = true;
    for (size_t i = 0; i < sw_json_len(p->pods); i++) {
        struct json_object *pod = sw_json_at(p->pods, i);
        if (!sw_streq(sw_json_str(pod, "", "spec", "nodeName", NULL), node->name))
            continue;
        struct json_object *ds = driver_of(p, pod);
        if (!ds)
            continue;
        const char *now = sw_obj_annotation(ds, "deprecated.daemonset.template.generation");
        bool old = p->opts->all || !sw_streq(now, sw_obj_label(pod, "pod-template-generation"));
        struct json_object *ready = sw_obj_condition(pod, "Ready");
        *any = true;
        node->outdated = node->outdated || old;
        node->finished = node->finished && !old &&
                         sw_streq(sw_json_str(ready, "", "status", NULL), "True");
    }
}

static bool has_other_cordon(struct json_object *node, const char *name)
{
    struct json_object *labels = sw_json_find(node, "metadata", "labels", NULL);
    SW_AUTO_CHARS *own = sw_printf("%s%s", SW_UPGRADE_CORDON_LABEL, name);
    if (!json_object_is_type(labels, json_type_object))
        return false;
    json_object_object_foreach(labels, key, value)
    {
        (void)value;
        if (sw_starts_with(key, SW_UPGRADE_CORDON_LABEL) && !sw_streq(key, own))
            return true;
    }
    return false;
}

static void look_at_nodes(struct plan *p)
{
    p->facts = sw_zalloc(sw_json_len(p->nodes) + 1, sizeof *p->facts);
    for (size_t i = 0; i < sw_json_len(p->nodes); i++) {
        struct json_object *node = sw_json_at(p->nodes, i);
        struct json_object *ready = sw_obj_condition(node, "Ready");
        const char *since = label_of(node, SW_UPGRADE_SINCE_LABEL, p->name);
        struct sw_upgrade_node f = {
            .name = sw_obj_name(node),
            .ready = sw_streq(sw_json_str(ready, "", "status", NULL), "True"),
            .unschedulable = sw_json_bool(node, false, "spec", "unschedulable", NULL),
            .skipped = sw_streq(sw_obj_label(node, SW_UPGRADE_SKIP_LABEL), "true"),
            .step = sw_upgrade_step_find(label_of(node, SW_UPGRADE_LABEL, p->name)),
            .since_ms = since ? strtoll(since, NULL, 10) * 1000 : 0,
            .cordoned = label_of(node, SW_UPGRADE_CORDON_LABEL, p->name) != NULL,
            .shared = has_other_cordon(node, p->name),
        };
        bool any = f.step != SW_UP_NONE;
        look_at_pods(p, &f, &any);
        if (any)
            p->facts[p->n++] = f;
    }
}

/* ---- what will be done -------------------------------------------------------------------------
 */

static void add_pod(struct json_object *list, struct json_object *pod, const char *why)
{
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, sw_obj_namespace(pod), "namespace", NULL);
    sw_json_set_str(entry, sw_obj_name(pod), "name", NULL);
    if (why && *why)
        sw_json_set_str(entry, why, "refused", NULL);
    (void)json_object_array_add(list, entry);
}

/* Those that a drain evicts; or the old driver's. */
static struct json_object *pods_on(const struct plan *p, const char *node, bool drivers)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(p->pods); i++) {
        struct json_object *pod = sw_json_at(p->pods, i);
        if (!sw_streq(sw_json_str(pod, "", "spec", "nodeName", NULL), node))
            continue;
        const char *why = drivers ? NULL : drain_filter(pod, &p->policy, NULL, NULL);
        if (drivers ? driver_of(p, pod) != NULL : why != NULL)
            add_pod(list, pod, why);
    }
    return list;
}

static struct json_object *action(const struct plan *p, size_t round, const char *node,
                                  const char *what)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int64((int64_t)round + 1), "round", NULL);
    sw_json_set_str(doc, node, "node", NULL);
    sw_json_set_str(doc, what, "action", NULL);
    (void)json_object_array_add(p->actions, doc);
    return doc;
}

static void on_step(size_t round, const struct sw_upgrade_node *node,
                    const struct sw_upgrade_decision *d, void *arg)
{
    struct plan *p = arg;
    struct json_object *doc;
    switch (d->what) {
    case SW_UPDO_BEGIN:
        if (d->cordon)
            (void)action(p, round, node->name, "cordon");
        break;
    case SW_UPDO_DRAIN:
        doc = action(p, round, node->name, "drain");
        sw_json_set(doc, pods_on(p, node->name, false), "pods", NULL);
        break;
    case SW_UPDO_RESTART:
        doc = action(p, round, node->name, "replace driver");
        sw_json_set(doc, pods_on(p, node->name, true), "pods", NULL);
        break;
    case SW_UPDO_FINISH:
        if (d->uncordon)
            (void)action(p, round, node->name, "uncordon");
        break;
    case SW_UPDO_FAIL:
        (void)action(p, round, node->name, sw_upgrade_step_name(d->next));
        break;
    default:
        doc = json_object_new_object();
        sw_json_set_str(doc, node->name, "node", NULL);
        sw_json_set_str(doc, sw_upgrade_why_words(d->why), "why", NULL);
        (void)json_object_array_add(p->waiting, doc);
        break;
    }
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static int print_json(const struct plan *p)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, p->name, "resource", NULL);
    sw_json_set(doc, json_object_new_boolean(p->has_policy), "upgradePolicy", NULL);
    sw_json_set(doc, json_object_new_boolean(p->was_paused), "paused", NULL);
    sw_json_set(doc, json_object_new_int64((int64_t)p->n), "nodes", NULL);
    sw_json_set(doc, json_object_get(p->actions), "actions", NULL);
    sw_json_set(doc, json_object_get(p->waiting), "waiting", NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PRETTY, &len);
    int rc = sw_cli_print(text, len);
    return rc ? rc : sw_cli_print("\n", 1);
}

static void put_pods(struct printbuf *out, struct json_object *pods)
{
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i);
        const char *refused = sw_json_str(pod, "", "refused", NULL);
        sprintbuf(out, "%s%s/%s%s%s%s", i ? ", " : "", sw_json_str(pod, "", "namespace", NULL),
                  sw_json_str(pod, "", "name", NULL), *refused ? " (refused: " : "", refused,
                  *refused ? ")" : "");
    }
}

static int print_text(const struct plan *p)
{
    struct printbuf *out = printbuf_new();
    int width = 4;
    for (size_t i = 0; i < p->n; i++)
        if ((int)strlen(p->facts[i].name) > width)
            width = (int)strlen(p->facts[i].name);
    if (!p->has_policy)
        sprintbuf(out, "%s has no spec.upgradePolicy: the DaemonSet controller replaces drivers.\n",
                  p->name);
    else if (sw_json_len(p->actions) == 0)
        sprintbuf(out, "%s: no node needs a new driver.\n", p->name);
    else
        sprintbuf(out, "%-5s  %-*s  %-14s  %s\n", "ROUND", width, "NODE", "ACTION", "PODS");
    for (size_t i = 0; i < sw_json_len(p->actions); i++) {
        struct json_object *a = sw_json_at(p->actions, i);
        sprintbuf(out, "%-5d  %-*s  %-14s  ", (int)sw_json_int(a, 0, "round", NULL), width,
                  sw_json_str(a, "", "node", NULL), sw_json_str(a, "", "action", NULL));
        put_pods(out, sw_json_get(a, "pods"));
        sprintbuf(out, "\n");
    }
    for (size_t i = 0; i < sw_json_len(p->waiting); i++) {
        struct json_object *w = sw_json_at(p->waiting, i);
        sprintbuf(out, "waits: %s: %s\n", sw_json_str(w, "", "node", NULL),
                  sw_json_str(w, "", "why", NULL));
    }
    if (p->was_paused && sw_json_len(p->actions))
        sprintbuf(out, "It is paused: spec.upgradePolicy.autoUpgrade is false.\n");
    int rc = sw_cli_print(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int plan(struct plan *p)
{
    SW_ERR(err);
    p->conn.until_ms = sw_loop_now_ms(p->conn.loop) + p->opts->timeout_ms;
    if (read_all(p, &err) < 0) {
        (void)sw_cli_fail("plan", &err);
        return TROUBLE;
    }
    p->actions = json_object_new_array();
    p->waiting = json_object_new_array();
    look_at_nodes(p);
    if (p->has_policy)
        sw_upgrade_plan(&p->policy, p->facts, p->n, sw_now_ms(), on_step, p);
    if (sw_streq(p->opts->output, "json") ? print_json(p) : print_text(p))
        return TROUBLE;
    return sw_json_len(p->actions) ? SOME_ACTION : NO_ACTION;
}

int sw_cmd_plan(int argc, char **argv)
{
    struct plan_opts opts = { .timeout_ms = 30000 };
    struct sw_operands rest;
    struct plan p = { .opts = &opts };
    SW_ERR(err);
    int rc = sw_cli_parse("plan", argc, argv, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    if (rest.n == 0)
        return sw_cli_usage("plan", "which resource? 'slipway status' lists them");
    p.name = rest.items[0];
    if (sw_connection_init(&p.conn, "plan", &opts.connect, &err) < 0) {
        (void)sw_cli_fail("plan", &err);
        rc = TROUBLE;
    } else {
        rc = plan(&p);
    }
    json_object_put(p.resource);
    json_object_put(p.nodes);
    json_object_put(p.sets);
    json_object_put(p.pods);
    json_object_put(p.actions);
    json_object_put(p.waiting);
    free(p.facts);
    sw_connection_done(&p.conn);
    return rc;
}
