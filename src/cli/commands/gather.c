/* slipway gather: an archive for a support case, of limited size and without secrets. Failures are
 * listed in its notes.txt and do not stop the rest. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/output.h"
#include "chart/recipe/package/pack.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/gather.h"
#include "cli/view/explain.h"
#include "cli/view/report.h"
#include "data/data.h"
#include "data/json/redact.h"
#include "data/text/url.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/inventory/inventory.h"
#include "operator/release/record.h"

enum { LOG_BYTES = 256 * 1024, LOG_LINES = 2000, MAX_EVENTS = 2000, MAX_MIB = 64 };

struct gather_opts {
    struct sw_connect_opts connect;
    const char *output, *operator_ns;
    int64_t max_mib;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct gather_opts, output), "FILE", NULL,
      "file to write; -: stdout (default slipway-gather-<time>.tar.gz)" },
    { "operator-namespace", 0, SW_FLAG_STRING, offsetof(struct gather_opts, operator_ns), "NAME",
      NULL, "namespace of the operator (default $OPERATOR_NAMESPACE, else slipway)" },
    { "max-size", 0, SW_FLAG_NUMBER, offsetof(struct gather_opts, max_mib), "MIB", NULL,
      "size limit in MiB, not compressed (default 64)" },
    SW_CONNECT_FLAGS(struct gather_opts, connect),
    { 0 },
};

struct gather {
    struct gather_opts opts;
    struct sw_connection *conn;
    struct sw_files files;
    struct json_object *namespaces; /* to gather from: {name: true} */
    const char *only;               /* a resource, with all logs; NULL: all resources */
    char *notes;                    /* what could not be read, or was too large; heap */
};

/* ---- files -------------------------------------------------------------------------------------
 */

static void note(struct gather *g, const char *what, const char *why)
{
    sw_append(&g->notes, "%s: %s\n", what, why);
}

/* Takes @bytes. */
static void put(struct gather *g, const char *path, char *bytes, size_t len)
{
    SW_ERR(err);
    if (g->files.bytes + len > (size_t)g->opts.max_mib << 20) {
        note(g, path, "left out, the archive is full (--max-size)");
        free(bytes);
    } else if (sw_files_add(&g->files, path, bytes, len, &err) < 0) {
        note(g, path, sw_err_text(&err));
    }
}

static void put_object(struct gather *g, const char *folder, struct json_object *object)
{
    const char *ns = sw_json_str(object, "", "metadata", "namespace", NULL);
    SW_AUTO_CHARS *path = sw_printf("%s/%s-%s%s%s.yaml", folder, sw_obj_kind(object), ns,
                                    *ns ? "-" : "", sw_obj_name(object));
    size_t len;
    for (char *c = path; *c; c++)
        *c = *c == ':' ? '_' : *c;
    sw_redact_object(object);
    char *text = sw_yaml_text(object, &len);
    put(g, path, text, len);
}

static void add_namespace(struct gather *g, const char *ns)
{
    if (ns && *ns)
        sw_json_set(g->namespaces, json_object_new_boolean(true), ns, NULL);
}

/* ---- what is listed ----------------------------------------------------------------------------
 */

/* All objects of a kind; NULL where it cannot be read, which is noted. */
static struct json_object *list(struct gather *g, const char *api_version, const char *kind,
                                const char *ns, const struct sw_request_opts *opts)
{
    struct json_object *items = NULL;
    SW_ERR(err);
    int rc = sw_cluster_find(g->conn, api_version, kind, ns, NULL, opts, &items, &err);
    if (rc < 0 && rc != SW_NOTFOUND)
        note(g, kind, sw_err_text(&err));
    for (size_t i = 0; i < sw_json_len(items); i++) { /* lists omit both */
        sw_json_set_str(sw_json_at(items, i), api_version, "apiVersion", NULL);
        sw_json_set_str(sw_json_at(items, i), kind, "kind", NULL);
    }
    return items;
}

/* @entry: of status.inventory. */
static void gather_entry(struct gather *g, const char *resource, struct json_object *entry)
{
    SW_AUTO_JSON *live = NULL;
    SW_AUTO_CHARS *folder = sw_printf("objects/%s", resource);
    const char *ns = sw_json_str(entry, NULL, "namespace", NULL);
    const char *name = sw_json_str(entry, "", "name", NULL);
    SW_ERR(err);
    add_namespace(g, ns);
    if (sw_cluster_find(g->conn, sw_json_str(entry, "", "apiVersion", NULL),
                        sw_json_str(entry, "", "kind", NULL), ns, name, NULL, &live, &err) < 0)
        note(g, name, sw_err_text(&err));
    else
        put_object(g, folder, live);
}

static struct json_object *gather_nodes(struct gather *g)
{
    static const char *const fields[] = { "metadata.labels",
                                          "metadata.annotations",
                                          "metadata.creationTimestamp",
                                          "spec.taints",
                                          "spec.unschedulable",
                                          "status.nodeInfo",
                                          "status.conditions",
                                          "status.allocatable",
                                          "status.capacity",
                                          NULL };
    SW_AUTO_JSON *items = list(g, "v1", "Node", NULL,
                               &(struct sw_request_opts){ .fields = fields });
    for (size_t i = 0; i < sw_json_len(items); i++)
        put_object(g, "nodes", sw_json_at(items, i));
    return sw_report_nodes(items);
}

static void gather_explanation(struct gather *g, struct json_object *resource)
{
    const struct sw_style plain = { 0 };
    SW_AUTO_JSON *chain = sw_explain(g->conn, resource, NULL);
    char *text = sw_explain_text(chain, &plain, sw_now_ms());
    sw_redact_text(text);
    put(g, "explanation.txt", text, strlen(text));
}

static void gather_resources(struct gather *g, struct json_object *nodes)
{
    const struct sw_style plain = { 0 };
    SW_AUTO_JSON *items = list(g, "sro.openshift.io/v1beta1", "SpecialResource", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *r = sw_json_at(items, i);
        if (g->only && !sw_streq(g->only, sw_obj_name(r)))
            continue;
        struct json_object *inventory = sw_inventory_of(sw_json_get(r, "status"));
        const struct sw_report report = { .name = sw_obj_name(r),
                                          .status = sw_json_get(r, "status"),
                                          .nodes = nodes,
                                          .now_ms = sw_loop_now_ms(g->conn->loop) };
        SW_AUTO_CHARS *tables = sw_report_tables(&report, &plain);
        SW_AUTO_CHARS *trouble = sw_report_trouble(&report);
        SW_AUTO_CHARS *path = sw_printf("status/%s.txt", sw_obj_name(r));
        char *text = sw_printf("%s\n%s\n", tables, trouble);
        put(g, path, text, strlen(text));
        add_namespace(g, sw_json_str(r, "", "spec", "namespace", NULL));
        for (size_t k = 0; k < sw_json_len(inventory); k++)
            gather_entry(g, sw_obj_name(r), sw_json_at(inventory, k));
        if (g->only)
            gather_explanation(g, r);
        put_object(g, "resources", r);
    }
}

/* ---- a namespace --------------------------------------------------------------------------------
 */

static void gather_events(struct gather *g, const char *ns)
{
    SW_AUTO_JSON *items = list(g, "v1", "Event", ns, NULL);
    SW_AUTO_CHARS *path = sw_printf("events/%s.txt", ns);
    char *text = sw_strdup("");
    size_t n = sw_json_len(items), first = n > MAX_EVENTS ? n - MAX_EVENTS : 0;
    for (size_t i = first; i < n; i++) {
        struct json_object *e = sw_json_at(items, i);
        sw_append(&text, "%s %s %s/%s %s: %s\n", sw_text_or(sw_kube_event_time(e), "-"),
                  sw_json_str(e, "", "type", NULL),
                  sw_json_str(e, "", "involvedObject", "kind", NULL),
                  sw_json_str(e, "", "involvedObject", "name", NULL),
                  sw_json_str(e, "", "reason", NULL), sw_json_str(e, "", "message", NULL));
    }
    sw_redact_text(text);
    put(g, path, text, strlen(text));
}

static void gather_log(struct gather *g, const char *ns, const char *pod, const char *container,
                       bool previous)
{
    char *text = NULL;
    size_t len = 0;
    SW_AUTO_CHARS *path = sw_printf("logs/%s/%s/%s%s.log", ns, pod, container,
                                    previous ? ".previous" : "");
    SW_ERR(err);
    if (sw_cluster_logs(g->conn, ns, pod,
                        &(struct sw_request_opts){ .container = container,
                                                   .tail_lines = LOG_LINES,
                                                   .limit_bytes = LOG_BYTES,
                                                   .previous = previous },
                        &text, &len, &err) < 0) {
        if (!previous)
            note(g, path, sw_err_text(&err));
        return;
    }
    sw_redact_text(text);
    put(g, path, text, strlen(text));
}

static void gather_pod(struct gather *g, struct json_object *pod, bool always)
{
    const char *ns = sw_json_str(pod, "", "metadata", "namespace", NULL), *name = sw_obj_name(pod);
    struct json_object *container;
    bool logs = always || !sw_pod_is_well(pod);
    for (size_t i = 0; logs && (container = sw_pod_container(pod, i)); i++) {
        const char *c = sw_json_str(container, "", "name", NULL);
        gather_log(g, ns, name, c, false);
        gather_log(g, ns, name, c, true);
    }
    put_object(g, "pods", pod);
}

/* The port named metrics of the pod. */
static int64_t metrics_port(struct json_object *pod)
{
    struct json_object *ports = sw_json_get(
        sw_json_at(sw_json_find(pod, "spec", "containers", NULL), 0), "ports");
    for (size_t i = 0; i < sw_json_len(ports); i++)
        if (sw_streq(sw_json_str(sw_json_at(ports, i), "", "name", NULL), "metrics"))
            return sw_json_int(sw_json_at(ports, i), 0, "containerPort", NULL);
    return 8080;
}

static bool is_secure(struct json_object *pod)
{
    struct json_object *args = sw_json_get(
        sw_json_at(sw_json_find(pod, "spec", "containers", NULL), 0), "args");
    for (size_t i = 0; i < sw_json_len(args); i++)
        if (sw_streq(json_object_get_string(sw_json_at(args, i)), "--metrics-secure=false"))
            return false;
    return true;
}

/* A token of the pod's own account, for ten minutes; it may read what the operator serves. */
static char *token_of(struct gather *g, const char *ns, struct json_object *pod)
{
    SW_AUTO_CHARS *path = sw_printf(
        "/api/v1/namespaces/%s/serviceaccounts/%s/token", ns,
        sw_json_str(pod, "default", "spec", "serviceAccountName", NULL));
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len = 0;
    SW_ERR(err);
    if (sw_cluster_post(g->conn, path,
                        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
                        "\"spec\":{\"expirationSeconds\":600}}",
                        &text, &len, &err) < 0 ||
        sw_json_parse(text, len, NULL, &doc, &err) < 0) {
        note(g, "a token for the operator's metrics", sw_err_text(&err));
        return NULL;
    }
    return sw_strdup(sw_json_str(doc, "", "status", "token", NULL));
}

/* What the operator serves at its port: metrics, or its last requests to the API server. */
static void gather_port(struct gather *g, const char *ns, struct json_object *pod, const char *what,
                        const char *token)
{
    const char *name = sw_obj_name(pod);
    SW_AUTO_CHARS *from = sw_printf("/api/v1/namespaces/%s/pods/%s%s:%lld/proxy/%s", ns,
                                    token ? "https:" : "", name, (long long)metrics_port(pod),
                                    what);
    SW_AUTO_CHARS *path = sw_printf("%s/%s.txt", what, name);
    char *text = NULL;
    size_t len = 0;
    SW_ERR(err);
    const struct sw_request_opts opts = { .proxied = token };
    if (sw_cluster_path(g->conn, from, &opts, &text, &len, &err) < 0)
        note(g, path, sw_err_text(&err));
    else
        put(g, path, text, len);
}

static void gather_ports(struct gather *g, const char *ns, struct json_object *pod)
{
    SW_AUTO_CHARS *token = is_secure(pod) ? token_of(g, ns, pod) : NULL;
    gather_port(g, ns, pod, "metrics", token);
    gather_port(g, ns, pod, "requests", token);
}

static void gather_namespace(struct gather *g, const char *ns)
{
    bool own = sw_streq(ns, g->opts.operator_ns);
    SW_AUTO_JSON *pods = list(g, "v1", "Pod", ns, NULL);
    gather_events(g, ns);
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i);
        if (own && sw_streq(sw_obj_label(pod, "app.kubernetes.io/component"), "controller"))
            gather_ports(g, ns, pod);
        gather_pod(g, pod, own || g->only);
    }
}

/* ---- Helm's records -----------------------------------------------------------------------------
 */

/* Replace the rendered YAML at @key by YAML without secrets. */
static void redact_manifest(struct json_object *doc, const char *key)
{
    const char *text = sw_json_str(doc, NULL, key, NULL);
    struct sw_yaml_docs docs;
    SW_ERR(err);
    if (!text)
        return;
    SW_AUTO_CHARS *redacted = NULL;
    if (sw_yaml_parse_all(text, strlen(text), &(struct sw_yaml_opts){ 0 }, &docs, &err) < 0) {
        redacted = sw_printf("# %zu bytes that are no YAML are left out\n", strlen(text));
    } else {
        redacted = sw_strdup("");
        for (size_t i = 0; i < docs.n_docs; i++) {
            struct json_object *object = docs.docs[i].object;
            sw_redact_object(object);
            SW_AUTO_CHARS *one = object ? sw_yaml_text(object, NULL) : NULL;
            sw_append(&redacted, "%s%s", one ? "---\n" : "", one ? one : "");
        }
        sw_yaml_docs_done(&docs);
    }
    sw_json_set_str(doc, redacted, key, NULL);
}

/* The chart's files are left out: they are base64 and may contain anything. */
static void redact_release(struct json_object *release)
{
    static const char *const files[] = { "templates", "files" };
    struct json_object *hooks = sw_json_get(release, "hooks");
    redact_manifest(release, "manifest");
    for (size_t i = 0; i < sw_json_len(hooks); i++)
        redact_manifest(sw_json_at(hooks, i), "manifest");
    for (size_t f = 0; f < SW_COUNT(files); f++) {
        struct json_object *list = sw_json_find(release, "chart", files[f], NULL);
        for (size_t i = 0; i < sw_json_len(list); i++)
            (void)sw_json_del(sw_json_at(list, i), "data", NULL);
    }
    SW_AUTO_CHARS *notes = sw_strdup(sw_json_str(release, "", "info", "notes", NULL));
    sw_redact_text(notes);
    if (*notes)
        sw_json_set_str(release, notes, "info", "notes", NULL);
    sw_redact_object(release);
}

/* The release records of the gathered namespaces. */
static void gather_releases(struct gather *g)
{
    static const char *const kinds[] = { "ConfigMap", "Secret" };
    for (size_t k = 0; k < SW_COUNT(kinds); k++) {
        SW_AUTO_JSON *items = list(g, "v1", kinds[k], NULL,
                                   &(struct sw_request_opts){ .label_selector = "owner=helm" });
        for (size_t i = 0; i < sw_json_len(items); i++) {
            struct json_object *record = sw_json_at(items, i), *release = NULL;
            SW_ERR(err);
            if (!sw_json_get(g->namespaces, sw_obj_namespace(record)))
                continue;
            if (sw_release_of_record(record, &release, &err) < 0) {
                note(g, sw_obj_name(record), sw_err_text(&err));
            } else {
                redact_release(release);
                sw_json_set(record, release, "release", NULL);
            }
            (void)sw_json_del(record, "data", NULL);
            put_object(g, "releases", record);
        }
    }
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void gather_namespaces(struct gather *g)
{
    json_object_object_foreach(g->namespaces, ns, value)
    {
        (void)value;
        gather_namespace(g, ns);
    }
}

static void put_notes(struct gather *g)
{
    char *notes = sw_strdup(g->notes ? g->notes : "everything could be read\n");
    put(g, "notes.txt", notes, strlen(notes));
}

static void gather_all(struct gather *g)
{
    static const struct {
        const char *api_version, *kind;
    } kinds[] = {
        { "sro.openshift.io/v1beta1", "SpecialResourceModule" },
        { "sro.openshift.io/v1beta1", "PreflightValidation" },
        { "inference.redhat.com/v1alpha1", "DASOperator" },
        { "inference.redhat.com/v1alpha1", "NodeAccelerator" },
        { "inference.redhat.com/v1alpha1", "AllocationClaim" },
        { "nvidia.com/v1", "ClusterPolicy" },
    };
    SW_AUTO_CHARS *server = NULL;
    size_t len = 0;
    SW_ERR(err);
    if (sw_cluster_path(g->conn, "/version", NULL, &server, &len, &err) < 0)
        note(g, "/version", sw_err_text(&err));
    SW_AUTO_CHARS *api_server = sw_url_shown(sw_kube_server(g->conn->kube));
    char *version = sw_printf("slipway %s\nserver %s\n%s\n", sw_version, api_server,
                              server ? server : "");
    put(g, "version.txt", version, strlen(version));
    SW_AUTO_JSON *nodes = gather_nodes(g);
    gather_resources(g, nodes);
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        SW_AUTO_JSON *items = list(g, kinds[i].api_version, kinds[i].kind, NULL, NULL);
        for (size_t k = 0; k < sw_json_len(items); k++)
            put_object(g, "resources", sw_json_at(items, k));
    }
    add_namespace(g, g->opts.operator_ns);
    add_namespace(g, "default"); /* Events about SpecialResources are there */
    gather_namespaces(g);
    gather_releases(g);
    put_notes(g);
}

static int write_archive(struct gather *g, struct sw_err *err)
{
    char now[21], *bytes = NULL;
    size_t len = 0;
    sw_time_rfc3339(sw_loop_wall_ms(g->conn->loop), now);
    for (char *c = now; *c; c++)
        *c = *c == ':' ? '-' : *c;
    SW_AUTO_CHARS *folder = sw_printf("slipway-gather-%s", now);
    SW_AUTO_CHARS *name = sw_printf("%s.tar.gz", folder);
    const char *path = g->opts.output ? g->opts.output : name;
    bool to_stdout = sw_streq(path, "-");
    int rc = sw_files_pack(&g->files, folder, &bytes, &len, err);
    sw_output_as_it_is(to_stdout);
    if (rc == 0 && to_stdout)
        (void)fwrite(bytes, 1, len, stdout); /* main() checks stdout for errors */
    else if (rc == 0)
        rc = sw_file_write(path, bytes, len, err);
    if (rc == 0 && !to_stdout)
        (void)printf("wrote %s (%zu files)\n", path, g->files.n);
    free(bytes);
    return rc;
}

static struct sw_files no_files(const struct gather *g)
{
    return sw_files_init(&(struct sw_recipe_opts){ .max_bytes = (size_t)g->opts.max_mib << 20,
                                                   .max_files = 100000 });
}

static void gather_done(struct gather *g)
{
    sw_files_done(&g->files);
    json_object_put(g->namespaces);
    free(g->notes);
}

int sw_gather_resource(struct sw_connection *conn, const char *name, const char *dir,
                       struct sw_err *err)
{
    struct gather g = { .opts = { .max_mib = MAX_MIB },
                        .conn = conn,
                        .only = name,
                        .namespaces = json_object_new_object() };
    g.files = no_files(&g);
    SW_AUTO_JSON *nodes = gather_nodes(&g);
    gather_resources(&g, nodes);
    gather_namespaces(&g);
    put_notes(&g);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < g.files.n; i++) {
        const struct sw_recipe_file *f = &g.files.items[i];
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->name);
        rc = sw_file_write_deep(path, f->bytes, f->len, err);
    }
    gather_done(&g);
    return rc;
}

static int gather(struct gather *g)
{
    SW_ERR(err);
    if (sw_connection_init(g->conn, "gather", &g->opts.connect, &err) < 0 ||
        sw_cluster_kinds(g->conn, &err) < 0)
        return sw_cli_fail("gather", &err);
    g->files = no_files(g);
    gather_all(g);
    if (write_archive(g, &err) < 0)
        return sw_cli_fail("gather", &err);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct sw_connection conn = { 0 };
    struct gather g = { .conn = &conn,
                        .opts = { .max_mib = MAX_MIB, .operator_ns = sw_cli_operator_namespace() },
                        .namespaces = json_object_new_object() };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &g.opts, 0, &rest);
    if (rc == 0 && (g.opts.max_mib < 1 || g.opts.max_mib > 1024))
        rc = 1 + sw_cli_usage("gather", "--max-size is between 1 and 1024");
    rc = rc ? rc - 1 : gather(&g);
    gather_done(&g);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_gather = {
    .name = "gather",
    .args = "",
    .summary = "collect logs, objects and status for a support case",
    .details = "Writes one .tar.gz: SpecialResources and their status, the objects that were "
               "applied, nodes, Events,\n"
               "logs of the operator and of pods that are not Ready, metrics. Secrets and texts "
               "that look like\n"
               "secrets are left out; read the archive all the same before you give it to others.",
    .flags = flags,
    .execute = execute,
};
