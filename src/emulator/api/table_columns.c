/* The columns of `kubectl get` for the built-in kinds. Source: what kube-apiserver 1.29 prints. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/table.h"
#include "emulator/store/document.h"

/* ---- plain fields -------------------------------------------------------------------------------
 */

/* The text @s (taken; NULL: empty), or @otherwise where it is empty. */
static json_object *text_or(char *s, const char *otherwise)
{
    json_object *cell = sw_str(s && s[0] ? s : otherwise);
    free(s);
    return cell;
}

static json_object *value_of(const struct sw_cell *c)
{
    return sw_doc_at(c->doc, c->path);
}

static json_object *field_or(const struct sw_cell *c, const char *otherwise)
{
    json_object *value = value_of(c);
    return sw_str(value ? json_object_get_string(value) : otherwise);
}

static json_object *field(const struct sw_cell *c)
{
    return field_or(c, "");
}

static json_object *field_or_none(const struct sw_cell *c)
{
    return field_or(c, "<none>");
}

static json_object *field_or_unset(const struct sw_cell *c)
{
    return field_or(c, "<unset>");
}

static json_object *field_or_na(const struct sw_cell *c)
{
    return field_or(c, "N/A");
}

static json_object *number(const struct sw_cell *c)
{
    return json_object_new_int64(json_object_get_int64(value_of(c)));
}

static json_object *boolean(const struct sw_cell *c)
{
    return json_object_new_boolean(json_object_get_boolean(value_of(c)));
}

static json_object *count(const struct sw_cell *c)
{
    return json_object_new_int64((int64_t)sw_json_len(value_of(c)));
}

static json_object *since(const struct sw_cell *c)
{
    int64_t ms;
    char buf[32];
    const char *time = json_object_get_string(value_of(c));
    if (!time || sw_time_parse(time, &ms, NULL) < 0)
        return sw_str("<unknown>");
    return sw_str(sw_human_duration(c->now_ms - ms, buf));
}

static json_object *since_or_none(const struct sw_cell *c)
{
    return value_of(c) ? since(c) : sw_str("<none>");
}

/* ---- selectors and containers -------------------------------------------------------------------
 */

static json_object *map_text(const struct sw_cell *c)
{
    json_object *map = value_of(c);
    char *out = NULL;
    if (json_object_is_type(map, json_type_object)) {
        json_object_object_foreach(map, key, value)
        {
            sw_append(&out, "%s%s=%s", out ? "," : "", key, json_object_get_string(value));
        }
    }
    return text_or(out, "<none>");
}

static json_object *selector_text(const struct sw_cell *c)
{
    struct sw_selector selector = { 0 };
    json_object *cell = NULL;
    if (sw_selector_from_object(value_of(c), &selector, NULL) == 0) {
        SW_AUTO_CHARS *s = sw_selector_text(&selector);
        cell = sw_str(s[0] ? s : "<none>");
    }
    sw_selector_done(&selector);
    return cell ? cell : sw_str("<none>");
}

static json_object *param_kind(const struct sw_cell *c)
{
    json_object *kind = sw_json_find(c->doc, "spec", "paramKind", NULL);
    if (!kind)
        return sw_str("<unset>");
    SW_AUTO_CHARS *text = sw_printf("%s/%s", sw_json_str(kind, "", "apiVersion", NULL),
                                    sw_json_str(kind, "", "kind", NULL));
    return sw_str(text);
}

/* By its name: whether it is in a namespace cannot be told from here. */
static json_object *param_ref(const struct sw_cell *c)
{
    json_object *ref = sw_json_find(c->doc, "spec", "paramRef", NULL);
    const char *name = sw_json_str(ref, "", "name", NULL);
    json_object *selector = sw_json_get(ref, "selector");
    if (*name) {
        SW_AUTO_CHARS *text = sw_printf("%s/%s", sw_json_str(ref, "*", "namespace", NULL), name);
        return sw_str(text);
    }
    if (!selector)
        return sw_str("<unset>");
    SW_AUTO_CHARS *labels = NULL, *all = NULL;
    json_object *map = sw_json_get(selector, "matchLabels");
    json_object_object_foreach(map, key, value)
    {
        sw_append(&labels, "%s%s: %s", labels ? "," : "", key, json_object_get_string(value));
    }
    all = sw_printf("&LabelSelector{MatchLabels:map[string]string{%s%s},MatchExpressions:[]"
                    "LabelSelectorRequirement{},}",
                    labels ? labels : "", labels ? "," : "");
    return sw_str(all);
}

static json_object *of_containers(const struct sw_cell *c, const char *key)
{
    char *out = NULL;
    json_object *list = value_of(c);
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&out, "%s%s", i ? "," : "", sw_json_str(sw_json_at(list, i), "", key, NULL));
    return text_or(out, "");
}

static json_object *container_names(const struct sw_cell *c)
{
    return of_containers(c, "name");
}

static json_object *container_images(const struct sw_cell *c)
{
    return of_containers(c, "image");
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

/* The status of a pod whose init containers are not done, else NULL. */
static const char *init_reason(json_object *doc, char buf[static 64])
{
    json_object *list = sw_json_find(doc, "status", "initContainerStatuses", NULL);
    size_t total = sw_json_len(sw_json_find(doc, "spec", "initContainers", NULL));
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *state = sw_json_get(sw_json_at(list, i), "state");
        json_object *ended = sw_json_get(state, "terminated");
        const char *waiting = sw_json_str(state, "", "waiting", "reason", NULL);
        if (ended && sw_json_int(ended, 0, "exitCode", NULL) == 0)
            continue;
        if (ended)
            (void)snprintf(buf, 64, "Init:%s", sw_json_str(ended, "Error", "reason", NULL));
        else if (waiting[0] && strcmp(waiting, "PodInitializing") != 0)
            (void)snprintf(buf, 64, "Init:%s", waiting);
        else
            (void)snprintf(buf, 64, "Init:%zu/%zu", i, total);
        return buf;
    }
    return NULL;
}

/* The reason of the last container that has one; pods with running ones are Running. */
static const char *container_reason(json_object *doc, const char *reason, char buf[static 64])
{
    json_object *list = sw_json_find(doc, "status", "containerStatuses", NULL);
    bool running = false;
    for (size_t i = sw_json_len(list); i-- > 0;) {
        json_object *status = sw_json_at(list, i), *state = sw_json_get(status, "state");
        const char *waiting = sw_json_str(state, "", "waiting", "reason", NULL);
        json_object *ended = sw_json_get(state, "terminated");
        const char *why = sw_json_str(ended, "", "reason", NULL);
        if (waiting[0])
            reason = waiting;
        else if (ended && why[0])
            reason = why;
        else if (ended) {
            (void)snprintf(buf, 64, "ExitCode:%d", (int)sw_json_int(ended, 0, "exitCode", NULL));
            reason = buf;
        } else if (sw_json_bool(status, false, "ready", NULL) && sw_json_get(state, "running"))
            running = true;
    }
    if (strcmp(reason, "Completed") == 0 && running)
        return strcmp(sw_cond_status(doc, "Ready"), "True") == 0 ? "Running" : "NotReady";
    return reason;
}

static json_object *pod_status(const struct sw_cell *c)
{
    char buf[64];
    const char *reason = sw_json_str(c->doc, "Unknown", "status", "phase", NULL);
    reason = sw_json_str(c->doc, reason, "status", "reason", NULL);
    const char *init = init_reason(c->doc, buf);
    reason = init ? init : container_reason(c->doc, reason, buf);
    if (sw_doc_is_deleted(c->doc))
        reason = strcmp(sw_json_str(c->doc, "", "status", "reason", NULL), "NodeLost") == 0
                     ? "Unknown"
                     : "Terminating";
    return sw_str(reason);
}

static json_object *pod_ready(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "status", "containerStatuses", NULL);
    size_t ready = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        ready += sw_json_bool(sw_json_at(list, i), false, "ready", NULL);
    char buf[48];
    (void)snprintf(buf, sizeof buf, "%zu/%zu", ready,
                   sw_json_len(sw_json_find(c->doc, "spec", "containers", NULL)));
    return sw_str(buf);
}

static json_object *pod_restarts(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "status", "containerStatuses", NULL);
    int64_t n = 0, last_ms = 0, ms;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *s = sw_json_at(list, i);
        n += sw_json_int(s, 0, "restartCount", NULL);
        const char *ended = sw_json_str(s, "", "lastState", "terminated", "finishedAt", NULL);
        if (ended[0] && sw_time_parse(ended, &ms, NULL) == 0 && ms > last_ms)
            last_ms = ms;
    }
    char buf[96], ago[32];
    if (n > 0 && last_ms)
        (void)snprintf(buf, sizeof buf, "%lld (%s ago)", (long long)n,
                       sw_human_duration(c->now_ms - last_ms, ago));
    else
        (void)snprintf(buf, sizeof buf, "%lld", (long long)n);
    return sw_str(buf);
}

/* ---- workloads ----------------------------------------------------------------------------------
 */

static json_object *ready_replicas(const struct sw_cell *c)
{
    char buf[48];
    (void)snprintf(buf, sizeof buf, "%lld/%lld",
                   (long long)sw_json_int(c->doc, 0, "status", "readyReplicas", NULL),
                   (long long)sw_json_int(c->doc, 0, "spec", "replicas", NULL));
    return sw_str(buf);
}

static json_object *job_status(const struct sw_cell *c)
{
    static const char *const types[] = { "Complete", "Failed", "Suspended", "FailureTarget" };
    for (size_t i = 0; i < SW_COUNT(types); i++)
        if (strcmp(sw_cond_status(c->doc, types[i]), "True") == 0)
            return sw_str(types[i]);
    return sw_str("Running");
}

static json_object *job_completions(const struct sw_cell *c)
{
    char buf[64];
    long long done = sw_json_int(c->doc, 0, "status", "succeeded", NULL);
    long long completions = sw_json_int(c->doc, -1, "spec", "completions", NULL);
    long long parallelism = sw_json_int(c->doc, 1, "spec", "parallelism", NULL);
    if (completions >= 0)
        (void)snprintf(buf, sizeof buf, "%lld/%lld", done, completions);
    else
        (void)snprintf(buf, sizeof buf, parallelism > 1 ? "%lld/1 of %lld" : "%lld/1", done,
                       parallelism);
    return sw_str(buf);
}

static json_object *job_duration(const struct sw_cell *c)
{
    int64_t began, ended = c->now_ms;
    char buf[32];
    const char *from = sw_json_str(c->doc, "", "status", "startTime", NULL);
    const char *to = sw_json_str(c->doc, "", "status", "completionTime", NULL);
    if (!from[0] || sw_time_parse(from, &began, NULL) < 0)
        return sw_str("");
    if (to[0])
        (void)!sw_time_parse(to, &ended, NULL);
    return sw_str(sw_human_duration(ended - began, buf));
}

static json_object *bool_title(const struct sw_cell *c)
{
    return sw_str(json_object_get_boolean(value_of(c)) ? "True" : "False");
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static json_object *node_status(const struct sw_cell *c)
{
    json_object *ready = sw_obj_condition(c->doc, "Ready");
    bool off = sw_json_bool(c->doc, false, "spec", "unschedulable", NULL);
    const char *value = sw_json_str(ready, "", "status", NULL);
    const char *status = !ready ? "Unknown" : strcmp(value, "True") == 0 ? "Ready" : "NotReady";
    return text_or(sw_printf("%s%s", status, off ? ",SchedulingDisabled" : ""), "");
}

static json_object *node_roles(const struct sw_cell *c)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    json_object *labels = sw_json_find(c->doc, "metadata", "labels", NULL);
    char *out = NULL;
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            if (strncmp(key, prefix, sizeof prefix - 1) == 0 && key[sizeof prefix - 1])
                sw_append(&out, "%s%s", out ? "," : "", key + sizeof prefix - 1);
            else if (strcmp(key, "kubernetes.io/role") == 0)
                sw_append(&out, "%s%s", out ? "," : "", json_object_get_string(value));
        }
    }
    return text_or(out, "<none>");
}

static json_object *node_address(const struct sw_cell *c)
{
    json_object *one = sw_json_find_by(sw_json_find(c->doc, "status", "addresses", NULL), "type",
                                       c->path);
    return sw_str(sw_json_str(one, "<none>", "address", NULL));
}

/* ---- services -----------------------------------------------------------------------------------
 */

static json_object *service_external(const struct sw_cell *c)
{
    const char *type = sw_json_str(c->doc, "", "spec", "type", NULL);
    if (strcmp(type, "ExternalName") == 0)
        return sw_str(sw_json_str(c->doc, "<none>", "spec", "externalName", NULL));
    json_object *ips = sw_json_find(c->doc, "status", "loadBalancer", "ingress", NULL);
    if (sw_json_len(ips) > 0)
        return sw_str(sw_json_str(sw_json_at(ips, 0), "<none>", "ip", NULL));
    return sw_str(strcmp(type, "LoadBalancer") == 0 ? "<pending>" : "<none>");
}

static json_object *service_ports(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "spec", "ports", NULL);
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *p = sw_json_at(list, i);
        int64_t outside = sw_json_int(p, 0, "nodePort", NULL);
        sw_append(&out, "%s%lld", i ? "," : "", (long long)sw_json_int(p, 0, "port", NULL));
        if (outside)
            sw_append(&out, ":%lld", (long long)outside);
        sw_append(&out, "/%s", sw_json_str(p, "", "protocol", NULL));
    }
    return text_or(out, "<none>");
}

static json_object *endpoints(const struct sw_cell *c)
{
    json_object *subsets = sw_json_get(c->doc, "subsets");
    char *out = NULL;
    size_t n = 0;
    for (size_t s = 0; s < sw_json_len(subsets); s++) {
        json_object *ports = sw_json_get(sw_json_at(subsets, s), "ports");
        json_object *addresses = sw_json_get(sw_json_at(subsets, s), "addresses");
        for (size_t p = 0; p < sw_json_len(ports); p++)
            for (size_t a = 0; a < sw_json_len(addresses); a++)
                if (++n <= 3)
                    sw_append(&out, "%s%s:%lld", n > 1 ? "," : "",
                              sw_json_str(sw_json_at(addresses, a), "", "ip", NULL),
                              (long long)sw_json_int(sw_json_at(ports, p), 0, "port", NULL));
    }
    if (n > 3)
        sw_append(&out, " + %zu more...", n - 3);
    return text_or(out, "<none>");
}

static json_object *slice_endpoints(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "endpoints");
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *addresses = sw_json_get(sw_json_at(list, i), "addresses");
        const char *first = json_object_get_string(sw_json_at(addresses, 0));
        sw_append(&out, "%s%s", i ? "," : "", first ? first : "");
    }
    return text_or(out, "<unset>");
}

static json_object *slice_ports(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "ports");
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&out, "%s%lld", i ? "," : "",
                  (long long)sw_json_int(sw_json_at(list, i), 0, "port", NULL));
    return text_or(out, "<unset>");
}

/* ---- other kinds --------------------------------------------------------------------------------
 */

static json_object *data_count(const struct sw_cell *c)
{
    return json_object_new_int64((int64_t)(sw_json_len(sw_json_get(c->doc, "data")) +
                                           sw_json_len(sw_json_get(c->doc, "binaryData"))));
}

/* A reference as "kind/name". */
static json_object *reference(const struct sw_cell *c)
{
    return text_or(sw_printf("%s/%s", sw_json_str(value_of(c), "", "kind", NULL),
                             sw_json_str(value_of(c), "", "name", NULL)),
                   "");
}

/* A text (taken) with its part before the first '/' in lower case. */
static json_object *lower_kind(char *s)
{
    for (char *p = s; *p && *p != '/'; p++)
        *p = (char)tolower((unsigned char)*p);
    return text_or(s, "");
}

static json_object *subjects(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "subjects");
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *s = sw_json_at(list, i);
        if (strcmp(sw_json_str(s, "", "kind", NULL), c->path) != 0)
            continue;
        const char *ns = sw_json_str(s, "", "namespace", NULL);
        sw_append(&out, "%s%s%s%s", out ? ", " : "", ns, ns[0] ? "/" : "",
                  sw_json_str(s, "", "name", NULL));
    }
    return text_or(out, "");
}

/* What a claim for devices has come to. */
static json_object *claim_state(const struct sw_cell *c)
{
    char *text = sw_json_find(c->doc, "metadata", "deletionTimestamp", NULL) ? sw_strdup("deleted")
                                                                             : NULL;
    json_object *status = sw_json_get(c->doc, "status");
    const char *const fields[] = { "allocation", "reservedFor" };
    const char *const words[] = { "allocated", "reserved" };
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        if (sw_json_len(sw_json_get(status, fields[i])))
            sw_append(&text, "%s%s", text ? "," : "", words[i]);
    return text_or(text ? text : sw_strdup("pending"), "");
}

static json_object *event_object(const struct sw_cell *c)
{
    json_object *o = sw_json_get(c->doc, "involvedObject");
    return lower_kind(
        sw_printf("%s/%s", sw_json_str(o, "", "kind", NULL), sw_json_str(o, "", "name", NULL)));
}

static json_object *event_source(const struct sw_cell *c)
{
    const char *reporter = sw_json_str(c->doc, "", "reportingComponent", NULL);
    const char *host = sw_json_str(c->doc, "", "source", "host", NULL);
    return text_or(sw_printf("%s%s%s", sw_json_str(c->doc, reporter, "source", "component", NULL),
                             host[0] ? ", " : "", host),
                   "");
}

static json_object *event_since(const struct sw_cell *c)
{
    const char *paths[] = { c->path, "eventTime", "metadata.creationTimestamp" };
    for (size_t i = 0; i < SW_COUNT(paths); i++)
        if (sw_doc_at(c->doc, paths[i]))
            return since(&(struct sw_cell){ c->doc, c->now_ms, paths[i] });
    return sw_str("<unknown>");
}

static json_object *event_message(const struct sw_cell *c)
{
    const char *s = sw_json_str(c->doc, "", "message", NULL);
    size_t len = strlen(s);
    while (len > 0 && (s[len - 1] == '\n' || s[len - 1] == ' '))
        len--;
    return json_object_new_string_len(s, (int)len);
}

static json_object *event_count(const struct sw_cell *c)
{
    int64_t n = sw_json_int(c->doc, 1, "count", NULL);
    return json_object_new_int64(sw_json_int(c->doc, n, "series", "count", NULL));
}

static json_object *api_service(const struct sw_cell *c)
{
    json_object *service = sw_json_find(c->doc, "spec", "service", NULL);
    if (!service)
        return sw_str("Local");
    return text_or(sw_printf("%s/%s", sw_json_str(service, "", "namespace", NULL),
                             sw_json_str(service, "", "name", NULL)),
                   "");
}

static json_object *condition_status(const struct sw_cell *c)
{
    return sw_str(sw_json_str(sw_obj_condition(c->doc, c->path), "Unknown", "status", NULL));
}

static json_object *ingress_hosts(const struct sw_cell *c)
{
    json_object *rules = sw_json_find(c->doc, "spec", "rules", NULL);
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(rules); i++)
        sw_append(&out, "%s%s", i ? "," : "", sw_json_str(sw_json_at(rules, i), "*", "host", NULL));
    return text_or(out, "*");
}

static json_object *ingress_ports(const struct sw_cell *c)
{
    return sw_str(sw_json_len(sw_json_find(c->doc, "spec", "tls", NULL)) > 0 ? "80, 443" : "80");
}

static json_object *ingress_address(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "status", "loadBalancer", "ingress", NULL);
    return sw_str(sw_json_str(sw_json_at(list, 0), "", "ip", NULL));
}

static json_object *access_modes(const struct sw_cell *c)
{
    static const char *const shorts[][2] = { { "ReadWriteOnce", "RWO" },
                                             { "ReadOnlyMany", "ROX" },
                                             { "ReadWriteMany", "RWX" },
                                             { "ReadWriteOncePod", "RWOP" } };
    json_object *list = sw_json_find(c->doc, "spec", "accessModes", NULL);
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++)
        for (size_t s = 0; s < SW_COUNT(shorts); s++)
            if (sw_streq(json_object_get_string(sw_json_at(list, i)), shorts[s][0]))
                sw_append(&out, "%s%s", out ? "," : "", shorts[s][1]);
    return text_or(out, "");
}

/* "pods: 1/3, requests.cpu: 250m/1": of the limits (@limits), or of the rest. */
static json_object *quota_amounts(const struct sw_cell *c, bool limits)
{
    json_object *hard = sw_json_find(c->doc, "status", "hard", NULL);
    json_object *used = sw_json_find(c->doc, "status", "used", NULL);
    SW_AUTO_JSON *resources = sw_json_sorted_keys(hard);
    char *out = NULL;
    for (size_t i = 0; i < sw_json_len(resources); i++) {
        const char *resource = json_object_get_string(sw_json_at(resources, i));
        if ((strncmp(resource, "limits", 6) == 0) == limits)
            sw_append(&out, "%s%s: %s/%s", out ? ", " : "", resource,
                      sw_json_str(used, "0", resource, NULL),
                      sw_json_str(hard, "", resource, NULL));
    }
    return text_or(out, "");
}

static json_object *quota_requests(const struct sw_cell *c)
{
    return quota_amounts(c, false);
}

static json_object *quota_limits(const struct sw_cell *c)
{
    return quota_amounts(c, true);
}

static json_object *revision_owner(const struct sw_cell *c)
{
    json_object *owner = sw_json_at(sw_json_find(c->doc, "metadata", "ownerReferences", NULL), 0);
    const char *kind = sw_json_str(owner, "", "kind", NULL);
    if (!kind[0])
        return sw_str("<none>");
    return lower_kind(sw_printf("%s.apps/%s", kind, sw_json_str(owner, "", "name", NULL)));
}

/* ---- the table ----------------------------------------------------------------------------------
 */

#define COLUMNS static const struct sw_column
#define STR "string"
#define INT "integer"
#define AGE                                                                                        \
    {                                                                                              \
        "Age", STR, 0, "metadata.creationTimestamp", since                                         \
    }
#define TEMPLATE_CONTAINERS "spec.template.spec.containers"
#define WORKLOAD_WIDE                                                                              \
    { "Containers", STR, 1, TEMPLATE_CONTAINERS, container_names },                                \
        { "Images", STR, 1, TEMPLATE_CONTAINERS, container_images },                               \
    {                                                                                              \
        "Selector", STR, 1, "spec.selector", selector_text                                         \
    }

COLUMNS pods[] = {
    { "Ready", STR, 0, NULL, pod_ready },
    { "Status", STR, 0, NULL, pod_status },
    { "Restarts", STR, 0, NULL, pod_restarts },
    AGE,
    { "IP", STR, 1, "status.podIP", field_or_none },
    { "Node", STR, 1, "spec.nodeName", field_or_none },
    { "Nominated Node", STR, 1, "status.nominatedNodeName", field_or_none },
    { "Readiness Gates", STR, 1, "spec.noReadinessGates", field_or_none },
    { 0 },
};
COLUMNS deployments[] = {
    { "Ready", STR, 0, NULL, ready_replicas },
    { "Up-to-date", INT, 0, "status.updatedReplicas", number },
    { "Available", INT, 0, "status.availableReplicas", number },
    AGE,
    WORKLOAD_WIDE,
    { 0 },
};
COLUMNS daemon_sets[] = {
    { "Desired", INT, 0, "status.desiredNumberScheduled", number },
    { "Current", INT, 0, "status.currentNumberScheduled", number },
    { "Ready", INT, 0, "status.numberReady", number },
    { "Up-to-date", INT, 0, "status.updatedNumberScheduled", number },
    { "Available", INT, 0, "status.numberAvailable", number },
    { "Node Selector", STR, 0, "spec.template.spec.nodeSelector", map_text },
    AGE,
    WORKLOAD_WIDE,
    { 0 },
};
COLUMNS replica_sets[] = {
    { "Desired", INT, 0, "spec.replicas", number },
    { "Current", INT, 0, "status.replicas", number },
    { "Ready", INT, 0, "status.readyReplicas", number },
    AGE,
    WORKLOAD_WIDE,
    { 0 },
};
COLUMNS stateful_sets[] = {
    { "Ready", STR, 0, NULL, ready_replicas },
    AGE,
    { "Containers", STR, 1, TEMPLATE_CONTAINERS, container_names },
    { "Images", STR, 1, TEMPLATE_CONTAINERS, container_images },
    { 0 },
};
COLUMNS jobs[] = {
    { "Status", STR, 0, NULL, job_status },
    { "Completions", STR, 0, NULL, job_completions },
    { "Duration", STR, 0, NULL, job_duration },
    AGE,
    WORKLOAD_WIDE,
    { 0 },
};
COLUMNS cron_jobs[] = {
    { "Schedule", STR, 0, "spec.schedule", field },
    { "Timezone", STR, 0, "spec.timeZone", field_or_none },
    { "Suspend", STR, 0, "spec.suspend", bool_title },
    { "Active", INT, 0, "status.active", count },
    { "Last Schedule", STR, 0, "status.lastScheduleTime", since_or_none },
    AGE,
    { 0 },
};
COLUMNS services[] = {
    { "Type", STR, 0, "spec.type", field },
    { "Cluster-IP", STR, 0, "spec.clusterIP", field_or_none },
    { "External-IP", STR, 0, NULL, service_external },
    { "Port(s)", STR, 0, NULL, service_ports },
    AGE,
    { "Selector", STR, 1, "spec.selector", map_text },
    { 0 },
};
COLUMNS namespaces[] = { { "Status", STR, 0, "status.phase", field }, AGE, { 0 } };
COLUMNS nodes[] = {
    { "Status", STR, 0, NULL, node_status },
    { "Roles", STR, 0, NULL, node_roles },
    AGE,
    { "Version", STR, 0, "status.nodeInfo.kubeletVersion", field },
    { "Internal-IP", STR, 1, "InternalIP", node_address },
    { "External-IP", STR, 1, "ExternalIP", node_address },
    { "OS-Image", STR, 1, "status.nodeInfo.osImage", field },
    { "Kernel-Version", STR, 1, "status.nodeInfo.kernelVersion", field },
    { "Container-Runtime", STR, 1, "status.nodeInfo.containerRuntimeVersion", field },
    { 0 },
};
COLUMNS config_maps[] = { { "Data", INT, 0, NULL, data_count }, AGE, { 0 } };
COLUMNS secrets[] = {
    { "Type", STR, 0, "type", field }, { "Data", INT, 0, NULL, data_count }, AGE, { 0 }
};
COLUMNS accounts[] = { { "Secrets", INT, 0, "secrets", count }, AGE, { 0 } };
COLUMNS events[] = {
    { "Last Seen", STR, 0, "lastTimestamp", event_since },
    { "Type", STR, 0, "type", field },
    { "Reason", STR, 0, "reason", field },
    { "Object", STR, 0, NULL, event_object },
    { "Subobject", STR, 1, "involvedObject.fieldPath", field },
    { "Source", STR, 1, NULL, event_source },
    { "Message", STR, 0, NULL, event_message },
    { "First Seen", STR, 1, "firstTimestamp", event_since },
    { "Count", INT, 1, NULL, event_count },
    { "Name", STR, 1, "metadata.name", field },
    { 0 },
};
COLUMNS claims[] = {
    { "Status", STR, 0, "status.phase", field },
    { "Volume", STR, 0, "spec.volumeName", field },
    { "Capacity", STR, 0, "status.capacity.storage", field },
    { "Access Modes", STR, 0, NULL, access_modes },
    { "StorageClass", STR, 0, "spec.storageClassName", field },
    { "VolumeAttributesClass", STR, 0, "spec.volumeAttributesClassName", field_or_unset },
    AGE,
    { "VolumeMode", STR, 1, "spec.volumeMode", field },
    { 0 },
};
COLUMNS volumes[] = {
    { "Capacity", STR, 0, "spec.capacity.storage", field },
    { "Access Modes", STR, 0, NULL, access_modes },
    { "Reclaim Policy", STR, 0, "spec.persistentVolumeReclaimPolicy", field },
    { "Status", STR, 0, "status.phase", field },
    { "Claim", STR, 0, "spec.claimRef.name", field },
    { "StorageClass", STR, 0, "spec.storageClassName", field },
    { "Reason", STR, 0, "status.reason", field },
    AGE,
    { 0 },
};
COLUMNS storage_classes[] = {
    { "Provisioner", STR, 0, "provisioner", field },
    { "ReclaimPolicy", STR, 0, "reclaimPolicy", field },
    { "VolumeBindingMode", STR, 0, "volumeBindingMode", field },
    { "AllowVolumeExpansion", STR, 0, "allowVolumeExpansion", boolean },
    AGE,
    { 0 },
};
COLUMNS endpoint_sets[] = { { "Endpoints", STR, 0, NULL, endpoints }, AGE, { 0 } };
COLUMNS slices[] = {
    { "AddressType", STR, 0, "addressType", field },
    { "Ports", STR, 0, NULL, slice_ports },
    { "Endpoints", STR, 0, NULL, slice_endpoints },
    AGE,
    { 0 },
};
COLUMNS device_slices[] = {
    { "Node", STR, 0, "spec.nodeName", field_or_unset },
    { "Driver", STR, 0, "spec.driver", field },
    { "Pool", STR, 0, "spec.pool.name", field },
    AGE,
    { 0 },
};
COLUMNS device_claims[] = { { "State", STR, 0, NULL, claim_state }, AGE, { 0 } };
COLUMNS aged[] = { AGE, { 0 } };
COLUMNS quotas[] = {
    { "Request", STR, 0, NULL, quota_requests },
    { "Limit", STR, 0, NULL, quota_limits },
    AGE,
    { 0 },
};
COLUMNS dated[] = { { "Created At", "date", 0, "metadata.creationTimestamp", field }, { 0 } };
COLUMNS bindings[] = {
    { "Role", STR, 0, "roleRef", reference },
    AGE,
    { "Users", STR, 1, "User", subjects },
    { "Groups", STR, 1, "Group", subjects },
    { "ServiceAccounts", STR, 1, "ServiceAccount", subjects },
    { 0 },
};
COLUMNS leases[] = { { "Holder", STR, 0, "spec.holderIdentity", field }, AGE, { 0 } };
COLUMNS runtime_classes[] = { { "Handler", STR, 0, "handler", field }, AGE, { 0 } };
COLUMNS priorities[] = {
    { "Value", INT, 0, "value", number },
    { "Global-Default", "boolean", 0, "globalDefault", boolean },
    AGE,
    { 0 },
};
COLUMNS hooks[] = { { "Webhooks", INT, 0, "webhooks", count }, AGE, { 0 } };
COLUMNS validating_policies[] = {
    { "Validations", INT, 0, "spec.validations", count },
    { "ParamKind", STR, 0, NULL, param_kind },
    AGE,
    { 0 },
};
COLUMNS mutating_policies[] = {
    { "Mutations", INT, 0, "spec.mutations", count },
    { "ParamKind", STR, 0, NULL, param_kind },
    AGE,
    { 0 },
};
COLUMNS policy_bindings[] = {
    { "PolicyName", STR, 0, "spec.policyName", field },
    { "ParamRef", STR, 0, NULL, param_ref },
    AGE,
    { 0 },
};
COLUMNS api_services[] = {
    { "Service", STR, 0, NULL, api_service },
    { "Available", STR, 0, "Available", condition_status },
    AGE,
    { 0 },
};
COLUMNS budgets[] = {
    { "Min Available", STR, 0, "spec.minAvailable", field_or_na },
    { "Max Unavailable", STR, 0, "spec.maxUnavailable", field_or_na },
    { "Allowed Disruptions", INT, 0, "status.disruptionsAllowed", number },
    AGE,
    { 0 },
};
COLUMNS ingresses[] = {
    { "Class", STR, 0, "spec.ingressClassName", field_or_none },
    { "Hosts", STR, 0, NULL, ingress_hosts },
    { "Address", STR, 0, NULL, ingress_address },
    { "Ports", STR, 0, NULL, ingress_ports },
    AGE,
    { 0 },
};
COLUMNS policies[] = { { "Pod-Selector", STR, 0, "spec.podSelector", selector_text }, AGE, { 0 } };
COLUMNS autoscalers[] = {
    { "Reference", STR, 0, "spec.scaleTargetRef", reference },
    { "MinPods", STR, 0, "spec.minReplicas", field_or_unset },
    { "MaxPods", INT, 0, "spec.maxReplicas", number },
    { "Replicas", INT, 0, "status.currentReplicas", number },
    AGE,
    { 0 },
};
COLUMNS drivers[] = {
    { "AttachRequired", "boolean", 0, "spec.attachRequired", boolean },
    { "PodInfoOnMount", "boolean", 0, "spec.podInfoOnMount", boolean },
    { "StorageCapacity", "boolean", 0, "spec.storageCapacity", boolean },
    AGE,
    { 0 },
};
COLUMNS revisions[] = {
    { "Controller", STR, 0, NULL, revision_owner },
    { "Revision", INT, 0, "revision", number },
    AGE,
    { 0 },
};

#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"

static const struct sw_columns rows[] = {
    { "", "Pod", pods, false },
    { "", "Service", services, false },
    { "", "Namespace", namespaces, false },
    { "", "Node", nodes, false },
    { "", "ConfigMap", config_maps, false },
    { "", "Secret", secrets, false },
    { "", "ServiceAccount", accounts, false },
    { "", "Event", events, true },
    { "events.k8s.io", "Event", events, true },
    { "", "PersistentVolumeClaim", claims, false },
    { "", "PersistentVolume", volumes, false },
    { "", "Endpoints", endpoint_sets, false },
    { "", "LimitRange", dated, false },
    { "", "ResourceQuota", quotas, false },
    { "", "ReplicationController", replica_sets, false },
    { "apps", "Deployment", deployments, false },
    { "apps", "DaemonSet", daemon_sets, false },
    { "apps", "ReplicaSet", replica_sets, false },
    { "apps", "StatefulSet", stateful_sets, false },
    { "apps", "ControllerRevision", revisions, false },
    { "batch", "Job", jobs, false },
    { "batch", "CronJob", cron_jobs, false },
    { "discovery.k8s.io", "EndpointSlice", slices, false },
    { "resource.k8s.io", "ResourceSlice", device_slices, false },
    { "resource.k8s.io", "ResourceClaim", device_claims, false },
    { "resource.k8s.io", "ResourceClaimTemplate", aged, false },
    { "resource.k8s.io", "DeviceClass", aged, false },
    { RBAC, "Role", dated, false },
    { RBAC, "ClusterRole", dated, false },
    { RBAC, "RoleBinding", bindings, false },
    { RBAC, "ClusterRoleBinding", bindings, false },
    { "apiextensions.k8s.io", "CustomResourceDefinition", dated, false },
    { "apiregistration.k8s.io", "APIService", api_services, false },
    { "coordination.k8s.io", "Lease", leases, false },
    { "node.k8s.io", "RuntimeClass", runtime_classes, false },
    { "scheduling.k8s.io", "PriorityClass", priorities, false },
    { ADMISSION, "MutatingWebhookConfiguration", hooks, false },
    { ADMISSION, "ValidatingWebhookConfiguration", hooks, false },
    { ADMISSION, "ValidatingAdmissionPolicy", validating_policies, false },
    { ADMISSION, "ValidatingAdmissionPolicyBinding", policy_bindings, false },
    { ADMISSION, "MutatingAdmissionPolicy", mutating_policies, false },
    { ADMISSION, "MutatingAdmissionPolicyBinding", policy_bindings, false },
    { "policy", "PodDisruptionBudget", budgets, false },
    { "networking.k8s.io", "Ingress", ingresses, false },
    { "networking.k8s.io", "NetworkPolicy", policies, false },
    { "autoscaling", "HorizontalPodAutoscaler", autoscalers, false },
    { "storage.k8s.io", "StorageClass", storage_classes, false },
    { "storage.k8s.io", "CSIDriver", drivers, false },
};

const struct sw_columns *sw_columns_of(const struct sw_emu_kind *kind)
{
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (kind->builtin && strcmp(rows[i].kind, kind->kind) == 0 &&
            strcmp(rows[i].group, kind->group) == 0)
            return &rows[i];
    return NULL;
}
