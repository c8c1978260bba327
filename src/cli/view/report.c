/* The report as a document, and the message of what is wrong. The views are in view.c. */
#include "cli/view/report.h"
#include "operator/inventory/inventory.h"

#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#define STATE_LABEL "specialresource.openshift.io/state-"

static bool is_true(struct json_object *status, const char *type)
{
    struct json_object *c = sw_json_find_by(sw_json_get(status, "conditions"), "type", type);
    return sw_streq(sw_json_str(c, "", "status", NULL), "True");
}

static int by_name(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    return strcmp(sw_json_str(x, "", "name", NULL), sw_json_str(y, "", "name", NULL));
}

struct json_object *sw_report_nodes(struct json_object *items)
{
    struct json_object *nodes = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *item = sw_json_at(items, i), *node = json_object_new_object();
        sw_json_set_str(node, sw_obj_name(item), "name", NULL);
        sw_json_set(node, json_object_get(sw_json_find(item, "metadata", "labels", NULL)), "labels",
                    NULL);
        (void)json_object_array_add(nodes, node);
    }
    json_object_array_sort(nodes, by_name);
    return nodes;
}

bool sw_report_is_paused(struct json_object *resource)
{
    return sw_streq(sw_json_str(resource, "", "spec", "managementState", NULL), "Unmanaged") &&
           !sw_obj_annotation(resource, SW_UNINSTALLING);
}

const char *sw_report_uninstalling(struct json_object *resource)
{
    return sw_obj_annotation(resource, SW_UNINSTALLING);
}

bool sw_report_is_outdated(struct json_object *resource)
{
    return sw_json_find(resource, "status", "conditions", NULL) && !sw_report_is_paused(resource) &&
           !sw_json_find(resource, "metadata", "deletionTimestamp", NULL) &&
           !sw_report_uninstalling(resource) &&
           sw_json_int(resource, 0, "status", "observedGeneration", NULL) <
               sw_json_int(resource, 0, "metadata", "generation", NULL);
}

struct sw_report sw_report_of(struct json_object *resource)
{
    return (struct sw_report){
        .name = sw_obj_name(resource),
        .status = sw_json_get(resource, "status"),
        .is_deleting = sw_json_find(resource, "metadata", "deletionTimestamp", NULL) ||
                       sw_report_uninstalling(resource),
        .uninstalling = sw_report_uninstalling(resource),
        .is_paused = sw_report_is_paused(resource),
        .is_outdated = sw_report_is_outdated(resource),
    };
}

const char *sw_report_phase(const struct sw_report *report)
{
    if (report->is_outdated || report->uninstalling)
        return "Progressing";
    if (is_true(report->status, "Ready"))
        return "Ready";
    return is_true(report->status, "Errored") ? "Errored" : "Progressing";
}

static struct json_object *state_json(struct json_object *state)
{
    static const char *const copied[] = { "startedAt", "readyAt", "message", "rolledBack",
                                          "check" };
    struct json_object *out = json_object_new_object(), *needs = sw_json_get(state, "needs");
    sw_json_set_str(out, sw_json_str(state, "", "name", NULL), "name", NULL);
    sw_json_set_str(out, sw_json_str(state, "", "phase", NULL), "phase", NULL);
    sw_json_set(out, needs ? sw_json_copy(needs) : json_object_new_array(), "needs", NULL);
    sw_json_set(out, json_object_new_int64(sw_json_int(state, 0, "objects", "ready", NULL)),
                "objects", "ready", NULL);
    sw_json_set(out, json_object_new_int64(sw_json_int(state, 0, "objects", "total", NULL)),
                "objects", "total", NULL);
    for (size_t i = 0; i < SW_COUNT(copied); i++)
        if (sw_json_get(state, copied[i]))
            sw_json_set(out, sw_json_copy(sw_json_get(state, copied[i])), copied[i], NULL);
    return out;
}

/* Whether @name is the name of one of the states, or its last part ("0000" of "driver.0000"). The
 * labels of a resource "a" and of a resource "a-b" have the same prefix. */
static bool is_state(struct json_object *states, const char *name)
{
    for (size_t i = 0; i < sw_json_len(states); i++) {
        const char *state = sw_json_str(sw_json_at(states, i), "", "name", NULL);
        const char *dot = strrchr(state, '.');
        if (sw_streq(state, name) || (dot && sw_streq(dot + 1, name)))
            return true;
    }
    return false;
}

struct json_object *sw_report_json(const struct sw_report *report)
{
    struct json_object *out = json_object_new_object(),
                       *from = sw_json_get(report->status, "states"),
                       *upgrade = sw_json_get(report->status, "upgrade");
    SW_AUTO_CHARS *prefix = sw_printf(STATE_LABEL "%s-", report->name);
    SW_AUTO_CHARS *trouble = sw_report_trouble(report);
    sw_json_set_str(out, report->name, "name", NULL);
    sw_json_set_str(out, sw_report_phase(report), "phase", NULL);
    if (report->is_paused)
        sw_json_set(out, json_object_new_boolean(true), "paused", NULL);
    struct json_object *states = sw_json_need_list(out, "states", NULL);
    for (size_t i = 0; i < sw_json_len(from); i++)
        (void)json_object_array_add(states, state_json(sw_json_at(from, i)));
    struct json_object *nodes = sw_json_need_list(out, "nodes", NULL);
    for (size_t i = 0; i < sw_json_len(report->nodes); i++) {
        struct json_object *of = sw_json_at(report->nodes, i), *node = json_object_new_object();
        sw_json_set_str(node, sw_json_str(of, "", "name", NULL), "name", NULL);
        struct json_object *labels = sw_json_need_map(node, "labels", NULL),
                           *all = sw_json_get(of, "labels");
        (void)json_object_array_add(nodes, node);
        if (!all)
            continue;
        json_object_object_foreach(all, key, value)
        {
            bool is_short = sw_json_find_by(from, "label", key); /* it ends in a hash */
            if (is_short || (sw_starts_with(key, prefix) && is_state(from, key + strlen(prefix))))
                (void)json_object_object_add(labels, key, json_object_get(value));
        }
    }
    if (upgrade)
        sw_json_set(out, json_object_get(upgrade), "upgrade", NULL);
    if (*trouble)
        sw_json_set_str(out, trouble, "message", NULL);
    return out;
}

static const char *condition_message(struct json_object *status, const char *type)
{
    struct json_object *conditions = sw_json_get(status, "conditions");
    return is_true(status, type)
               ? sw_json_str(sw_json_find_by(conditions, "type", type), "", "message", NULL)
               : NULL;
}

/* What is wrong with the resource as a whole (its chart, say), where no state has failed. Borrowed;
 * NULL: nothing is. */
static const char *fault_of_all(struct json_object *status)
{
    struct json_object *states = sw_json_get(status, "states");
    for (size_t i = 0; i < sw_json_len(states); i++)
        if (sw_streq(sw_json_str(sw_json_at(states, i), "", "phase", NULL), "Failed"))
            return NULL;
    return condition_message(status, "Errored");
}

/* States that only wait for another state are left out: they would repeat its message. */
char *sw_report_trouble(const struct sw_report *report)
{
    if (report->uninstalling)
        return sw_printf("it is being uninstalled%s%s; slipway uninstall %s goes on",
                         *report->uninstalling ? ": " : "", report->uninstalling, report->name);
    if (report->is_outdated)
        return sw_strdup("its spec has changed, and nothing has walked that yet");
    if (is_true(report->status, "Ready"))
        return sw_strdup("");
    const char *fault = fault_of_all(report->status);
    if (fault && *fault)
        return sw_strdup(fault);
    struct json_object *states = sw_json_get(report->status, "states");
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *message = sw_json_str(state, "", "message", NULL);
        const char *phase = sw_json_str(state, "", "phase", NULL);
        bool begun = sw_json_get(state, "startedAt") || sw_streq(phase, "Failed");
        const bool needs = sw_streq(sw_json_str(state, "", "reason", NULL), "Needs");
        if (!*message || sw_streq(phase, "Ready") || !begun || needs)
            continue;
        sw_append(&text, "%sstate '%s': %s", *text ? "\n" : "",
                  sw_json_str(state, "", "name", NULL), message);
        const char *hint = sw_json_str(state, "", "hint", NULL);
        if (*hint)
            sw_append(&text, "\nhint: %s", hint);
    }
    if (*text)
        return text;
    sw_chars_auto(&text);
    const char *progress = condition_message(report->status, "Progressing");
    return sw_strdup(progress ? progress : "nothing is known about it yet");
}

bool sw_report_has_fresh_pods(struct json_object *status, int64_t ms)
{
    static const char *const stay[] = { "DaemonSet", "Deployment", "StatefulSet", "ReplicaSet" };
    struct json_object *states = sw_json_get(status, "states");
    struct json_object *inventory = sw_inventory_of(status);
    bool has_pods = false, is_fresh = false;
    SW_ERR(ignored);
    for (size_t i = 0; i < sw_json_len(inventory); i++)
        for (size_t k = 0; k < SW_COUNT(stay); k++)
            has_pods = has_pods ||
                       sw_streq(sw_json_str(sw_json_at(inventory, i), "", "kind", NULL), stay[k]);
    for (size_t i = 0; has_pods && i < sw_json_len(states); i++) {
        int64_t ready_ms = 0;
        const char *text = sw_json_str(sw_json_at(states, i), "", "readyAt", NULL);
        if (sw_time_parse(text, &ready_ms, &ignored) < 0)
            sw_err_done(&ignored);
        is_fresh = is_fresh || ready_ms + ms + 1000 > sw_now_ms(); /* it has whole seconds */
    }
    return is_fresh;
}

/* How long a kind that is not served is waited for; 0: on. Nothing brings one to Kubernetes' own
 * groups, whose names have no dot; others may come with an operator, from OLM later still. */
static int64_t unserved_ms(const struct sw_report *report, const char *message)
{
    static const char *const before[] = { " is not in '", " of '" };
    struct json_object *inventory = sw_inventory_of(report->status);
    const char *group = NULL;
    for (size_t i = 0; !group && i < SW_COUNT(before); i++)
        if ((group = strstr(message, before[i])))
            group += strlen(before[i]);
    if (strstr(message, " is no version of the core API") ||
        (group && !memchr(group, '.', strcspn(group, "/'"))))
        return 30000;
    if (strstr(message, "; did you mean '"))
        return 120000;
    return sw_json_find_by(inventory, "kind", "Subscription") ? 0 : 300000;
}

/* Is it a webhook that does not answer? Its pods may come yet. */
static bool is_webhook_down(const char *message)
{
    return strstr(message, "failed calling webhook") || strstr(message, "failed to call webhook");
}

struct json_object *sw_report_hopeless(const struct sw_report *report, int64_t *patience_ms)
{
    static const struct {
        const char *reason, *text; /* NULL: any */
        int64_t ms;
    } rows[] = {
        { "ImagePullBackOff", NULL, 30000 }, /* kubelet has tried it three times by then */
        { "ErrImageNeverPull", NULL, 5000 },   { "InvalidImageName", NULL, 5000 },
        { "NoMatchingNodes", NULL, 60000 },  /* labels may be on their way */
        { "NamespaceMissing", NULL, 60000 }, /* as may who makes it */
        { NULL, "denied the request", 30000 }, { NULL, "is forbidden", 30000 },
        { "NotVisible", NULL, 30000 },         { "NotApplied", " cannot ", 30000 },
    };
    struct json_object *states = sw_json_get(report->status, "states");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *message = sw_json_str(state, "", "message", NULL);
        if (sw_streq(sw_json_str(state, "", "reason", NULL), "NotServed") &&
            sw_json_get(state, "startedAt") && (*patience_ms = unserved_ms(report, message)) > 0)
            return state;
        if (is_webhook_down(message))
            continue;
        for (size_t k = 0;
             k < SW_COUNT(rows) && !sw_streq(sw_json_str(state, "", "phase", NULL), "Ready"); k++)
            if ((!rows[k].reason ||
                 sw_streq(rows[k].reason, sw_json_str(state, "", "reason", NULL))) &&
                (!rows[k].text ||
                 (sw_json_get(state, "startedAt") && strstr(message, rows[k].text)))) {
                *patience_ms = rows[k].ms;
                return state;
            }
    }
    return NULL;
}

char *sw_report_message(const struct sw_report *report)
{
    return report->status ? sw_report_trouble(report)
                          : sw_strdup("no operator has looked at it yet; does one run?");
}

char *sw_report_duration(int64_t ms, char buf[static 16])
{
    if (ms < 0)
        ms = 0;
    if (ms < 1000)
        (void)snprintf(buf, 16, "%dms", (int)ms);
    else if (ms < 60000)
        (void)snprintf(buf, 16, "%d.%ds", (int)(ms / 1000), (int)(ms % 1000 / 100));
    else if (ms < 3600000)
        (void)snprintf(buf, 16, "%dm%02ds", (int)(ms / 60000), (int)(ms / 1000 % 60));
    else
        (void)snprintf(buf, 16, "%dh%02dm", (int)(ms / 3600000 % 100000), (int)(ms / 60000 % 60));
    return buf;
}

char *sw_report_age(int64_t ms, char buf[static 16])
{
    static const struct {
        int64_t from_ms, ms;
        const char *unit;
    } units[] = { { INT64_C(48) * 3600000, INT64_C(24) * 3600000, "d" },
                  { 3600000, 3600000, "h" },
                  { 120000, 60000, "m" },
                  { 0, 1000, "s" } };
    size_t i = 0;
    while (units[i].from_ms && ms < units[i].from_ms)
        i++;
    (void)snprintf(buf, 16, "%d%s", (int)(ms > 0 ? ms / units[i].ms % 10000000 : 0), units[i].unit);
    return buf;
}
