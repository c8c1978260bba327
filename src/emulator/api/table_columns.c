/* The columns of `kubectl get` for the built-in kinds. Source: what kube-apiserver 1.29 prints. */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/table.h"

/* ---- plain fields -------------------------------------------------------------------------------
 */

static json_object *text(const char *s)
{
    return json_object_new_string(s);
}

/* Text of a print buffer, which is freed; @otherwise where it is empty. */
static json_object *printed(struct printbuf *out, const char *otherwise)
{
    json_object *cell = text(out->bpos ? out->buf : otherwise);
    printbuf_free(out);
    return cell;
}

static json_object *at_path(json_object *doc, const char *path)
{
    while (doc && *path) {
        size_t len = strcspn(path, ".");
        SW_AUTO_CHARS *key = sw_strndup(path, len);
        doc = sw_json_get(doc, key);
        path += len + (path[len] == '.');
    }
    return doc;
}

static json_object *field(const struct sw_cell *c)
{
    json_object *value = at_path(c->doc, c->path);
    const char *s = value ? json_object_get_string(value) : "";
    return text(s);
}

static json_object *field_or_none(const struct sw_cell *c)
{
    json_object *value = at_path(c->doc, c->path);
    return text(value ? json_object_get_string(value) : "<none>");
}

static json_object *field_or_unset(const struct sw_cell *c)
{
    json_object *value = at_path(c->doc, c->path);
    return text(value ? json_object_get_string(value) : "<unset>");
}

static json_object *field_or_na(const struct sw_cell *c)
{
    json_object *value = at_path(c->doc, c->path);
    return text(value ? json_object_get_string(value) : "N/A");
}

static json_object *number(const struct sw_cell *c)
{
    return json_object_new_int64(json_object_get_int64(at_path(c->doc, c->path)));
}

static json_object *boolean(const struct sw_cell *c)
{
    return json_object_new_boolean(json_object_get_boolean(at_path(c->doc, c->path)));
}

static json_object *count(const struct sw_cell *c)
{
    return json_object_new_int64((int64_t)sw_json_len(at_path(c->doc, c->path)));
}

static json_object *since(const struct sw_cell *c)
{
    int64_t ms;
    char buf[32];
    const char *time = json_object_get_string(at_path(c->doc, c->path));
    if (!time || sw_time_parse(time, &ms, NULL) < 0)
        return text("<unknown>");
    return text(sw_human_duration(c->now_ms - ms, buf));
}

static json_object *since_or_none(const struct sw_cell *c)
{
    return at_path(c->doc, c->path) ? since(c) : text("<none>");
}

/* ---- selectors and containers -------------------------------------------------------------------
 */

static void print_map(json_object *map, struct printbuf *out)
{
    if (!json_object_is_type(map, json_type_object))
        return;
    json_object_object_foreach(map, key, value)
    {
        sprintbuf(out, "%s%s=%s", out->bpos ? "," : "", key, json_object_get_string(value));
    }
}

static json_object *map_text(const struct sw_cell *c)
{
    struct printbuf *out = printbuf_new();
    print_map(at_path(c->doc, c->path), out);
    return printed(out, "<none>");
}

static json_object *selector_text(const struct sw_cell *c)
{
    struct sw_selector selector = { 0 };
    json_object *cell = NULL;
    if (sw_selector_from_object(at_path(c->doc, c->path), &selector, NULL) == 0) {
        SW_AUTO_CHARS *s = sw_selector_text(&selector);
        cell = text(s[0] ? s : "<none>");
    }
    sw_selector_done(&selector);
    return cell ? cell : text("<none>");
}

static json_object *of_containers(const struct sw_cell *c, const char *key)
{
    struct printbuf *out = printbuf_new();
    json_object *list = at_path(c->doc, c->path);
    for (size_t i = 0; i < sw_json_len(list); i++)
        sprintbuf(out, "%s%s", i ? "," : "", sw_json_str(sw_json_at(list, i), "", key, NULL));
    return printed(out, "");
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

static bool is_ready(json_object *doc)
{
    return strcmp(sw_json_str(sw_obj_condition(doc, "Ready"), "", "status", NULL), "True") == 0;
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
        return is_ready(doc) ? "Running" : "NotReady";
    return reason;
}

static json_object *pod_status(const struct sw_cell *c)
{
    char buf[64];
    const char *reason = sw_json_str(c->doc, "Unknown", "status", "phase", NULL);
    reason = sw_json_str(c->doc, reason, "status", "reason", NULL);
    const char *init = init_reason(c->doc, buf);
    reason = init ? init : container_reason(c->doc, reason, buf);
    if (sw_json_find(c->doc, "metadata", "deletionTimestamp", NULL))
        reason = strcmp(sw_json_str(c->doc, "", "status", "reason", NULL), "NodeLost") == 0
                     ? "Unknown"
                     : "Terminating";
    return text(reason);
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
    return text(buf);
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
    return text(buf);
}

/* ---- workloads ----------------------------------------------------------------------------------
 */

static json_object *ready_of_wanted(const struct sw_cell *c)
{
    char buf[48];
    (void)snprintf(buf, sizeof buf, "%lld/%lld",
                   (long long)sw_json_int(c->doc, 0, "status", "readyReplicas", NULL),
                   (long long)sw_json_int(c->doc, 0, "spec", "replicas", NULL));
    return text(buf);
}

static json_object *job_status(const struct sw_cell *c)
{
    static const char *const types[][2] = { { "Complete", "Complete" },
                                            { "Failed", "Failed" },
                                            { "Suspended", "Suspended" },
                                            { "FailureTarget", "FailureTarget" } };
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        json_object *condition = sw_obj_condition(c->doc, types[i][0]);
        if (strcmp(sw_json_str(condition, "", "status", NULL), "True") == 0)
            return text(types[i][1]);
    }
    return text("Running");
}

static json_object *job_completions(const struct sw_cell *c)
{
    char buf[64];
    long long done = sw_json_int(c->doc, 0, "status", "succeeded", NULL);
    long long wanted = sw_json_int(c->doc, -1, "spec", "completions", NULL);
    long long side = sw_json_int(c->doc, 1, "spec", "parallelism", NULL);
    if (wanted >= 0)
        (void)snprintf(buf, sizeof buf, "%lld/%lld", done, wanted);
    else
        (void)snprintf(buf, sizeof buf, side > 1 ? "%lld/1 of %lld" : "%lld/1", done, side);
    return text(buf);
}

static json_object *job_duration(const struct sw_cell *c)
{
    int64_t began, ended = c->now_ms;
    char buf[32];
    const char *from = sw_json_str(c->doc, "", "status", "startTime", NULL);
    const char *to = sw_json_str(c->doc, "", "status", "completionTime", NULL);
    if (!from[0] || sw_time_parse(from, &began, NULL) < 0)
        return text("");
    if (to[0])
        (void)!sw_time_parse(to, &ended, NULL);
    return text(sw_human_duration(ended - began, buf));
}

static json_object *bool_title(const struct sw_cell *c)
{
    return text(json_object_get_boolean(at_path(c->doc, c->path)) ? "True" : "False");
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static json_object *node_status(const struct sw_cell *c)
{
    json_object *ready = sw_obj_condition(c->doc, "Ready");
    bool off = sw_json_bool(c->doc, false, "spec", "unschedulable", NULL);
    const char *value = sw_json_str(ready, "", "status", NULL);
    const char *word = !ready ? "Unknown" : strcmp(value, "True") == 0 ? "Ready" : "NotReady";
    SW_AUTO_CHARS *all = sw_printf("%s%s", word, off ? ",SchedulingDisabled" : "");
    return text(all);
}

static json_object *node_roles(const struct sw_cell *c)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    json_object *labels = sw_json_find(c->doc, "metadata", "labels", NULL);
    struct printbuf *out = printbuf_new();
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            if (strncmp(key, prefix, sizeof prefix - 1) == 0 && key[sizeof prefix - 1])
                sprintbuf(out, "%s%s", out->bpos ? "," : "", key + sizeof prefix - 1);
            else if (strcmp(key, "kubernetes.io/role") == 0)
                sprintbuf(out, "%s%s", out->bpos ? "," : "", json_object_get_string(value));
        }
    }
    return printed(out, "<none>");
}

static json_object *node_address(const struct sw_cell *c)
{
    json_object *one = sw_json_find_by(sw_json_find(c->doc, "status", "addresses", NULL), "type",
                                       c->path);
    return text(sw_json_str(one, "<none>", "address", NULL));
}

/* ---- services -----------------------------------------------------------------------------------
 */

static json_object *service_external(const struct sw_cell *c)
{
    const char *type = sw_json_str(c->doc, "", "spec", "type", NULL);
    if (strcmp(type, "ExternalName") == 0)
        return text(sw_json_str(c->doc, "<none>", "spec", "externalName", NULL));
    json_object *ips = sw_json_find(c->doc, "status", "loadBalancer", "ingress", NULL);
    if (sw_json_len(ips) > 0)
        return text(sw_json_str(sw_json_at(ips, 0), "<none>", "ip", NULL));
    return text(strcmp(type, "LoadBalancer") == 0 ? "<pending>" : "<none>");
}

static json_object *service_ports(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "spec", "ports", NULL);
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *p = sw_json_at(list, i);
        int64_t outside = sw_json_int(p, 0, "nodePort", NULL);
        sprintbuf(out, "%s%lld", i ? "," : "", (long long)sw_json_int(p, 0, "port", NULL));
        if (outside)
            sprintbuf(out, ":%lld", (long long)outside);
        sprintbuf(out, "/%s", sw_json_str(p, "", "protocol", NULL));
    }
    return printed(out, "<none>");
}

static json_object *endpoints(const struct sw_cell *c)
{
    json_object *subsets = sw_json_get(c->doc, "subsets");
    struct printbuf *out = printbuf_new();
    size_t n = 0;
    for (size_t s = 0; s < sw_json_len(subsets); s++) {
        json_object *ports = sw_json_get(sw_json_at(subsets, s), "ports");
        json_object *addresses = sw_json_get(sw_json_at(subsets, s), "addresses");
        for (size_t p = 0; p < sw_json_len(ports); p++)
            for (size_t a = 0; a < sw_json_len(addresses); a++)
                if (++n <= 3)
                    sprintbuf(out, "%s%s:%lld", n > 1 ? "," : "",
                              sw_json_str(sw_json_at(addresses, a), "", "ip", NULL),
                              (long long)sw_json_int(sw_json_at(ports, p), 0, "port", NULL));
    }
    if (n > 3)
        sprintbuf(out, " + %zu more...", n - 3);
    return printed(out, "<none>");
}

static json_object *slice_endpoints(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "endpoints");
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *addresses = sw_json_get(sw_json_at(list, i), "addresses");
        const char *first = json_object_get_string(sw_json_at(addresses, 0));
        sprintbuf(out, "%s%s", i ? "," : "", first ? first : "");
    }
    return printed(out, "<unset>");
}

static json_object *slice_ports(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "ports");
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(list); i++)
        sprintbuf(out, "%s%lld", i ? "," : "",
                  (long long)sw_json_int(sw_json_at(list, i), 0, "port", NULL));
    return printed(out, "<unset>");
}

/* ---- the rest -----------------------------------------------------------------------------------
 */

static json_object *data_count(const struct sw_cell *c)
{
    return json_object_new_int64((int64_t)(sw_json_len(sw_json_get(c->doc, "data")) +
                                           sw_json_len(sw_json_get(c->doc, "binaryData"))));
}

static json_object *role_ref(const struct sw_cell *c)
{
    SW_AUTO_CHARS *s = sw_printf("%s/%s", sw_json_str(c->doc, "", "roleRef", "kind", NULL),
                                 sw_json_str(c->doc, "", "roleRef", "name", NULL));
    return text(s);
}

static json_object *subjects(const struct sw_cell *c)
{
    json_object *list = sw_json_get(c->doc, "subjects");
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *s = sw_json_at(list, i);
        if (strcmp(sw_json_str(s, "", "kind", NULL), c->path) != 0)
            continue;
        const char *ns = sw_json_str(s, "", "namespace", NULL);
        sprintbuf(out, "%s%s%s%s", out->bpos ? ", " : "", ns, ns[0] ? "/" : "",
                  sw_json_str(s, "", "name", NULL));
    }
    return printed(out, "");
}

static json_object *event_object(const struct sw_cell *c)
{
    json_object *o = sw_json_get(c->doc, "involvedObject");
    SW_AUTO_CHARS *s = sw_printf("%s/%s", sw_json_str(o, "", "kind", NULL),
                                 sw_json_str(o, "", "name", NULL));
    for (char *p = s; *p && *p != '/'; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    return text(s);
}

static json_object *event_source(const struct sw_cell *c)
{
    const char *who = sw_json_str(c->doc, "", "reportingComponent", NULL);
    const char *host = sw_json_str(c->doc, "", "source", "host", NULL);
    SW_AUTO_CHARS *s = sw_printf("%s%s%s", sw_json_str(c->doc, who, "source", "component", NULL),
                                 host[0] ? ", " : "", host);
    return text(s);
}

static json_object *event_since(const struct sw_cell *c)
{
    const char *both[] = { c->path, "eventTime", "metadata.creationTimestamp" };
    for (size_t i = 0; i < SW_COUNT(both); i++)
        if (at_path(c->doc, both[i]))
            return since(&(struct sw_cell){ c->doc, c->now_ms, both[i] });
    return text("<unknown>");
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
        return text("Local");
    SW_AUTO_CHARS *s = sw_printf("%s/%s", sw_json_str(service, "", "namespace", NULL),
                                 sw_json_str(service, "", "name", NULL));
    return text(s);
}

static json_object *condition_status(const struct sw_cell *c)
{
    return text(sw_json_str(sw_obj_condition(c->doc, c->path), "Unknown", "status", NULL));
}

static json_object *ingress_hosts(const struct sw_cell *c)
{
    json_object *rules = sw_json_find(c->doc, "spec", "rules", NULL);
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(rules); i++)
        sprintbuf(out, "%s%s", i ? "," : "", sw_json_str(sw_json_at(rules, i), "*", "host", NULL));
    return printed(out, "*");
}

static json_object *ingress_ports(const struct sw_cell *c)
{
    return text(sw_json_len(sw_json_find(c->doc, "spec", "tls", NULL)) > 0 ? "80, 443" : "80");
}

static json_object *ingress_address(const struct sw_cell *c)
{
    json_object *list = sw_json_find(c->doc, "status", "loadBalancer", "ingress", NULL);
    return text(sw_json_str(sw_json_at(list, 0), "", "ip", NULL));
}

static json_object *access_modes(const struct sw_cell *c)
{
    static const char *const shorts[][2] = { { "ReadWriteOnce", "RWO" },
                                             { "ReadOnlyMany", "ROX" },
                                             { "ReadWriteMany", "RWX" },
                                             { "ReadWriteOncePod", "RWOP" } };
    json_object *list = sw_json_find(c->doc, "spec", "accessModes", NULL);
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < sw_json_len(list); i++)
        for (size_t s = 0; s < SW_COUNT(shorts); s++)
            if (sw_streq(json_object_get_string(sw_json_at(list, i)), shorts[s][0]))
                sprintbuf(out, "%s%s", out->bpos ? "," : "", shorts[s][1]);
    return printed(out, "");
}

static json_object *autoscaler_target(const struct sw_cell *c)
{
    SW_AUTO_CHARS *s = sw_printf("%s/%s",
                                 sw_json_str(c->doc, "", "spec", "scaleTargetRef", "kind", NULL),
                                 sw_json_str(c->doc, "", "spec", "scaleTargetRef", "name", NULL));
    return text(s);
}

static json_object *revision_owner(const struct sw_cell *c)
{
    json_object *owner = sw_json_at(sw_json_find(c->doc, "metadata", "ownerReferences", NULL), 0);
    const char *kind = sw_json_str(owner, "", "kind", NULL);
    if (!kind[0])
        return text("<none>");
    SW_AUTO_CHARS *s = sw_printf("%s.apps/%s", kind, sw_json_str(owner, "", "name", NULL));
    for (char *p = s; *p && *p != '/'; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    return text(s);
}

static json_object *created_at(const struct sw_cell *c)
{
    return text(sw_json_str(c->doc, "", "metadata", "creationTimestamp", NULL));
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
    { "Ready", STR, 0, NULL, ready_of_wanted },
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
    { "Ready", STR, 0, NULL, ready_of_wanted },
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
COLUMNS dated[] = { { "Created At", "date", 0, NULL, created_at }, { 0 } };
COLUMNS bindings[] = {
    { "Role", STR, 0, NULL, role_ref },
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
    { "Reference", STR, 0, NULL, autoscaler_target },
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
    { "", "ReplicationController", replica_sets, false },
    { "apps", "Deployment", deployments, false },
    { "apps", "DaemonSet", daemon_sets, false },
    { "apps", "ReplicaSet", replica_sets, false },
    { "apps", "StatefulSet", stateful_sets, false },
    { "apps", "ControllerRevision", revisions, false },
    { "batch", "Job", jobs, false },
    { "batch", "CronJob", cron_jobs, false },
    { "discovery.k8s.io", "EndpointSlice", slices, false },
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
