/* The report as a document, and the words for what is wrong. The views are in view.c. */
#include "cli/view/report.h"

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

const char *sw_report_phase(const struct sw_report *report)
{
    if (is_true(report->status, "Ready"))
        return "Ready";
    return is_true(report->status, "Errored") ? "Errored" : "Progressing";
}

static void copy(struct json_object *to, struct json_object *from, const char *key)
{
    struct json_object *value = sw_json_get(from, key);
    if (value)
        (void)json_object_object_add(to, key, sw_json_copy(value));
}

static struct json_object *state_json(struct json_object *state)
{
    struct json_object *out = json_object_new_object(), *objects = json_object_new_object();
    sw_json_set_str(out, sw_json_str(state, "", "name", NULL), "name", NULL);
    sw_json_set_str(out, sw_json_str(state, "", "phase", NULL), "phase", NULL);
    struct json_object *needs = sw_json_get(state, "needs");
    (void)json_object_object_add(out, "needs",
                                 needs ? sw_json_copy(needs) : json_object_new_array());
    sw_json_set(objects, json_object_new_int64(sw_json_int(state, 0, "objects", "ready", NULL)),
                "ready", NULL);
    sw_json_set(objects, json_object_new_int64(sw_json_int(state, 0, "objects", "total", NULL)),
                "total", NULL);
    (void)json_object_object_add(out, "objects", objects);
    copy(out, state, "startedAt");
    copy(out, state, "readyAt");
    copy(out, state, "message");
    copy(out, state, "rolledBack");
    return out;
}

/* Does @key end in the name of one of the states, or in the last part of it ("driver.0000")? A
 * resource whose name begins with this one's and a dash has labels that begin alike. */
static bool is_of_state(struct json_object *states, const char *state)
{
    for (size_t i = 0; i < sw_json_len(states); i++) {
        const char *name = sw_json_str(sw_json_at(states, i), "", "name", NULL);
        const char *dot = strrchr(name, '.');
        if (sw_streq(name, state) || (dot && sw_streq(dot + 1, state)))
            return true;
    }
    return false;
}

static struct json_object *node_labels(const struct sw_report *report, struct json_object *labels)
{
    struct json_object *out = json_object_new_object();
    SW_AUTO_CHARS *prefix = sw_printf(STATE_LABEL "%s-", report->name);
    if (!labels)
        return out;
    json_object_object_foreach(
        labels, key,
        value) if (sw_starts_with(key, prefix) &&
                   is_of_state(sw_json_get(report->status, "states"), key + strlen(prefix)))(void)
        json_object_object_add(out, key, json_object_get(value));
    return out;
}

struct json_object *sw_report_json(const struct sw_report *report)
{
    struct json_object *out = json_object_new_object(), *states = json_object_new_array(),
                       *nodes = json_object_new_array(),
                       *from = sw_json_get(report->status, "states");
    sw_json_set_str(out, report->name, "name", NULL);
    sw_json_set_str(out, sw_report_phase(report), "phase", NULL);
    for (size_t i = 0; i < sw_json_len(from); i++)
        (void)json_object_array_add(states, state_json(sw_json_at(from, i)));
    (void)json_object_object_add(out, "states", states);
    for (size_t i = 0; i < sw_json_len(report->nodes); i++) {
        struct json_object *node = json_object_new_object(), *of = sw_json_at(report->nodes, i);
        sw_json_set_str(node, sw_json_str(of, "", "name", NULL), "name", NULL);
        (void)json_object_object_add(node, "labels",
                                     node_labels(report, sw_json_get(of, "labels")));
        (void)json_object_array_add(nodes, node);
    }
    (void)json_object_object_add(out, "nodes", nodes);
    struct json_object *upgrade = sw_json_get(report->status, "upgrade");
    if (upgrade)
        (void)json_object_object_add(out, "upgrade", json_object_get(upgrade));
    SW_AUTO_CHARS *trouble = sw_report_trouble(report);
    if (*trouble)
        sw_json_set_str(out, trouble, "message", NULL);
    return out;
}

/* States that are stuck or wait for something of their own; those that only wait for another state
 * would repeat what that one says. */
char *sw_report_trouble(const struct sw_report *report)
{
    if (is_true(report->status, "Ready"))
        return sw_strdup("");
    struct json_object *states = sw_json_get(report->status, "states");
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i);
        const char *message = sw_json_str(state, "", "message", NULL);
        if (!*message || sw_streq(sw_json_str(state, "", "phase", NULL), "Ready") ||
            !sw_json_get(state, "startedAt"))
            continue;
        sw_append(&text, "%sstate '%s': %s", *text ? "\n" : "",
                  sw_json_str(state, "", "name", NULL), message);
    }
    if (*text)
        return text;
    sw_chars_auto(&text);
    static const char *const types[] = { "Errored", "Progressing" };
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        struct json_object *c = sw_json_find_by(sw_json_get(report->status, "conditions"), "type",
                                                types[i]);
        if (is_true(report->status, types[i]))
            return sw_strdup(sw_json_str(c, "", "message", NULL));
    }
    return sw_strdup("nothing is known about it yet");
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
