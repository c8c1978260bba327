/* scale: one controller (a process of its own) beside 5,000 nodes of 10 kB and 100 resources on an
 * embedded API server, or on another (which nobody else works on), whose audit log is at hand.
 * Prints JSON objects: memory, CPU of the first sync and of one node's change, requests at rest,
 * and how fast nodes are labelled beside plain PATCHes of this very server.
 *
 *     build/bench/scale [--nodes N] [--resources N] [--slipway FILE]
 *                       [--kubeconfig FILE --audit FILE]
 *
 * Nothing is walked by kubelets here: each resource applies one ConfigMap and then labels its
 * nodes. The first one selects all nodes, the others N / resources each. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "process.h"

#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NODE_BYTES = 10000,
    PATCHES_AT_ONCE = 16,
    CHANGES = 50,
    REST_MS = 10000,
    GIVE_UP_S = 300,
    AUDIT_LINE_BYTES = 64 * 1024,
    STEP_MS = 50, /* how often the audit log is read */
};

struct scale {
    struct sw_connection conn;
    const char *slipway, *server; /* "emulator", or what else it is */
    const char *kubeconfig;       /* of another server; NULL: the emulator */
    FILE *audit;                  /* its log */
    int n_nodes, n_resources;
    char *dir;   /* chart and kubeconfig */
    pid_t child; /* the controller */
    /* what the server was asked for by the controller */
    uint64_t n_reads, n_writes, n_node_patches;
    double first_label_s, last_label_s;
    double nodes_synced_s; /* the last list or watch of nodes; 0: none yet */
    double began_s;
    int n_open; /* requests of our own */
    int next_node, n_failed;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "scale: %s\n", what);
    exit(1);
}

/* ---- the controller's process ------------------------------------------------------------------
 */

static double cpu_of(pid_t pid)
{
    SW_AUTO_CHARS *path = sw_printf("/proc/%d/stat", (int)pid);
    unsigned long user = 0, sys = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &sys) != 2)
        user = sys = 0;
    (void)fclose(f);
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static long memory_of(pid_t pid, const char *field)
{
    SW_AUTO_CHARS *path = sw_printf("/proc/%d/status", (int)pid);
    char line[256];
    long kib = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field) + 1, NULL, 10);
    if (f)
        (void)fclose(f);
    return kib;
}

static void start_controller(struct scale *s)
{
    SW_AUTO_CHARS *kubeconfig = sw_printf("%s/kubeconfig", s->dir);
    s->began_s = now_s();
    s->child = fork();
    if (s->child != 0)
        return;
    (void)execl(s->slipway, s->slipway, "controller", "--kubeconfig", kubeconfig, "--allowed-files",
                s->dir, "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
                "--no-registries", "--releases", "none", "--log-level", "error", (char *)NULL);
    _exit(127);
}

/* ---- the server --------------------------------------------------------------------------------
 */

/* A request of the controller. */
static void count(struct scale *s, const char *verb, const char *resource, double at_s)
{
    if (!s->child)
        return;
    bool watch = sw_streq(verb, "watch");
    bool read = watch || sw_streq(verb, "get") || sw_streq(verb, "list");
    bool nodes = sw_streq(resource, "nodes");
    if (nodes && (watch || sw_streq(verb, "list"))) /* a server may tell late of a watch that has
                                                       nothing to say yet */
        s->nodes_synced_s = now_s();
    s->n_reads += read && !watch;
    s->n_writes += !read;
    if (read || !nodes)
        return;
    s->n_node_patches++;
    s->last_label_s = at_s;
    if (!s->first_label_s)
        s->first_label_s = s->last_label_s;
}

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       void *arg)
{
    if (!req->user_agent || !strstr(req->user_agent, "bench"))
        count(arg, req->verb, req->resource, now_s());
}

/* "2026-01-02T03:04:05.678901Z", as seconds of any one hour. */
static double seconds_of(const char *when)
{
    int minutes = 0;
    double seconds = 0;
    return sscanf(when, "%*d-%*d-%*dT%*d:%d:%lf", &minutes, &seconds) == 2 ? minutes * 60 + seconds
                                                                           : 0;
}

static void count_audited(struct scale *s, const char *line, size_t len)
{
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(line, len, NULL, &doc, NULL) < 0)
        die("the audit log is no JSON");
    const char *verb = sw_json_str(doc, "", "verb", NULL);
    const char *kind = sw_json_str(doc, "", "objectRef", "resource", NULL);
    bool begins = sw_streq(sw_json_str(doc, "", "stage", NULL), "ResponseStarted");
    if (!sw_starts_with(sw_json_str(doc, "", "userAgent", NULL), "slipway") ||
        begins != sw_streq(verb, "watch") || sw_streq(kind, "leases"))
        return;
    count(s, verb, kind, seconds_of(sw_json_str(doc, "", "stageTimestamp", NULL)));
}

static void read_audit(struct scale *s)
{
    static char line[AUDIT_LINE_BYTES];
    static size_t len; /* of one that is not whole yet */
    while (s->audit && fgets(line + len, (int)(sizeof line - len), s->audit)) {
        len += strlen(line + len);
        if (line[len - 1] != '\n')
            continue;
        count_audited(s, line, len - 1);
        len = 0;
    }
    if (s->audit)
        clearerr(s->audit);
}

static void step(struct scale *s, int64_t ms)
{
    sw_loop_step(s->conn.loop, s->audit && ms > STEP_MS ? STEP_MS : ms);
    read_audit(s);
}

static void run_for(struct scale *s, double seconds)
{
    double end_s = now_s() + seconds;
    for (double left; (left = end_s - now_s()) > 0;)
        step(s, (int64_t)(left * 1000) + 1);
}

/* ---- requests of our own -----------------------------------------------------------------------
 */

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct scale *s = arg;
    s->n_open--;
    if (a->code < 0 && s->n_failed++ == 0)
        (void)fprintf(stderr, "scale: %s\n", sw_err_text(a->err));
}

static void finish_requests(struct scale *s)
{
    double end_s = now_s() + GIVE_UP_S;
    while (s->n_open && now_s() < end_s)
        step(s, 100);
    if (s->n_open || s->n_failed)
        die("requests failed");
}

static const struct sw_kind node_kind = {
    .group = "", .version = "v1", .api_version = "v1", .kind = "Node", .plural = "nodes"
};

/* What a node of a cluster with Node Feature Discovery looks like: labels, images, managedFields.
 */
static struct json_object *make_node(const struct scale *s, int i)
{
    SW_AUTO_CHARS *name = sw_printf("node-%04d", i);
    SW_AUTO_CHARS *group = sw_printf("g%d", i % (s->n_resources > 1 ? s->n_resources - 1 : 1));
    struct json_object *node = json_object_new_object(), *images = json_object_new_array();
    sw_json_set_str(node, "v1", "apiVersion", NULL);
    sw_json_set_str(node, "Node", "kind", NULL);
    sw_json_set_str(node, name, "metadata", "name", NULL);
    sw_json_set_str(node, group, "metadata", "labels", "bench/group", NULL);
    sw_json_set_str(node, name, "metadata", "labels", "kubernetes.io/hostname", NULL);
    sw_json_set_str(node, "amd64", "metadata", "labels", "kubernetes.io/arch", NULL);
    sw_json_set_str(node, "5.14.0-427.13.1.el9_4.x86_64", "metadata", "labels",
                    "feature.node.kubernetes.io/kernel-version.full", NULL);
    for (int f = 0; f < 50; f++) {
        SW_AUTO_CHARS *key = sw_printf("feature.node.kubernetes.io/cpu-cpuid.FEATURE%02d", f);
        sw_json_set_str(node, "true", "metadata", "labels", key, NULL);
    }
    sw_json_set_str(node, "5.14.0-427.13.1.el9_4.x86_64", "status", "nodeInfo", "kernelVersion",
                    NULL);
    sw_json_set_str(node, "amd64", "status", "nodeInfo", "architecture", NULL);
    sw_json_set_str(node, "Red Hat Enterprise Linux CoreOS 416.94", "status", "nodeInfo", "osImage",
                    NULL);
    size_t size = strlen(json_object_to_json_string_ext(node, JSON_C_TO_STRING_PLAIN));
    for (int n = 0; size < NODE_BYTES - 200; n++, size += 150) {
        SW_AUTO_CHARS *image = sw_printf("registry.example.com/platform/component-%03d@sha256:"
                                         "0123456789abcdef0123456789abcdef0123456789abcdef"
                                         "0123456789abcdef",
                                         n);
        struct json_object *one = json_object_new_object(), *names = json_object_new_array();
        (void)json_object_array_add(names, json_object_new_string(image));
        (void)json_object_object_add(one, "names", names);
        (void)json_object_object_add(one, "sizeBytes", json_object_new_int(123456789));
        (void)json_object_array_add(images, one);
    }
    sw_json_set(node, images, "status", "images", NULL);
    return node;
}

static void make_nodes(struct scale *s)
{
    for (int i = 0; i < s->n_nodes; i++) {
        SW_AUTO_JSON *node = make_node(s, i);
        s->n_open++;
        (void)sw_kube_create(s->conn.kube, &node_kind, NULL, NULL, node, NULL, on_answer, s);
        if (i % 500 == 499)
            finish_requests(s);
    }
    finish_requests(s);
}

static void patch_node(struct scale *s, int i, const char *label, const char *value,
                       sw_kube_answer_fn *cb)
{
    SW_AUTO_CHARS *name = sw_printf("node-%04d", i);
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, value, "metadata", "labels", label, NULL);
    s->n_open++;
    (void)sw_kube_patch(s->conn.kube, &node_kind, NULL, name, SW_PATCH_MERGE, body, NULL, cb, s);
}

/* ---- a client beside us, as fast as it can -----------------------------------------------------
 */

static void on_patched(const struct sw_kube_answer *a, void *arg)
{
    struct scale *s = arg;
    on_answer(a, arg);
    if (s->next_node < s->n_nodes)
        patch_node(s, s->next_node++, "bench/plain", "true", on_patched);
}

static void connect_to(struct scale *s, const char *kubeconfig)
{
    SW_ERR(err);
    if (sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = kubeconfig }, &s->conn.config,
                           &err) < 0 ||
        sw_kube_new(s->conn.loop, s->conn.config,
                    &(struct sw_kube_opts){ .user_agent = "bench", .seed = 1 }, &s->conn.kube,
                    &err) < 0)
        die(sw_err_text(&err));
}

/* Nodes from @from up to @end; in a process of its own, as the controller is. */
static int patch_all(const char *kubeconfig, int from, int end)
{
    struct scale s = { .next_node = from, .n_nodes = end };
    s.conn.loop = sw_loop_new(NULL);
    connect_to(&s, kubeconfig);
    while (s.next_node < from + PATCHES_AT_ONCE && s.next_node < end)
        patch_node(&s, s.next_node++, "bench/plain", "true", on_patched);
    finish_requests(&s);
    return 0;
}

/* @return seconds */
static double patch_plainly(struct scale *s, int from, int end)
{
    SW_AUTO_CHARS *kubeconfig = sw_printf("%s/kubeconfig", s->dir);
    double begin_s = now_s();
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        SW_AUTO_CHARS *first = sw_printf("%d", from), *last = sw_printf("%d", end);
        (void)execl("/proc/self/exe", "scale", "--patch", kubeconfig, first, last, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0)
        step(s, 5);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the plain PATCHes failed");
    return now_s() - begin_s;
}

/* ---- resources ---------------------------------------------------------------------------------
 */

static void write_file(const struct scale *s, const char *name, const char *text)
{
    SW_ERR(err);
    SW_AUTO_CHARS *path = sw_printf("%s/%s", s->dir, name);
    if (sw_file_write(path, text, strlen(text), &err) < 0)
        die(sw_err_text(&err));
}

static void write_chart(struct scale *s)
{
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", s->dir);
    (void)mkdir(templates, 0755);
    write_file(s, "Chart.yaml", "apiVersion: v2\nname: scale\nversion: 0.1.0\n");
    write_file(s, "templates/0000-config.yaml",
               "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scale\ndata:\n"
               "  who: {{ .Release.Name }}\n");
}

static struct json_object *make_resource(const struct scale *s, int i)
{
    SW_AUTO_CHARS *name = sw_printf("r%d", i);
    SW_AUTO_CHARS *group = sw_printf("g%d", i - 1);
    SW_AUTO_CHARS *url = sw_printf("file://%s", s->dir);
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, name, "spec", "namespace", NULL);
    sw_json_set_str(doc, "scale", "spec", "chart", "name", NULL);
    sw_json_set_str(doc, "0.1.0", "spec", "chart", "version", NULL);
    sw_json_set_str(doc, "scale", "spec", "chart", "repository", "name", NULL);
    sw_json_set_str(doc, url, "spec", "chart", "repository", "url", NULL);
    if (i > 0)
        sw_json_set_str(doc, group, "spec", "nodeSelector", "bench/group", NULL);
    return doc;
}

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct scale *s = arg;
    s->n_open--;
    if (code < 0 && s->n_failed++ == 0)
        (void)fprintf(stderr, "scale: %s\n", err ? sw_err_text(err) : "not installed");
}

static void add_resource(struct scale *s, int i)
{
    SW_AUTO_JSON *doc = make_resource(s, i);
    s->n_open++;
    (void)sw_install_start(&s->conn, doc, on_installed, s);
}

/* Until the controller has labelled so many nodes, and then asks for nothing for a second. */
static void await_labels(struct scale *s, uint64_t n)
{
    double end_s = now_s() + GIVE_UP_S;
    uint64_t seen;
    do {
        seen = s->n_reads + s->n_writes;
        run_for(s, 1);
        if (now_s() > end_s)
            die("the nodes are not labelled in time");
    } while (s->n_node_patches < n || seen != s->n_reads + s->n_writes);
}

/* ---- figures -----------------------------------------------------------------------------------
 */

/* The plain PATCHes are half before the labels and half after: the machine's moods meet both. */
static void measure_labels(struct scale *s)
{
    int half = s->n_nodes / 2;
    double plain_s = patch_plainly(s, 0, half);
    add_resource(s, 0);
    finish_requests(s);
    await_labels(s, (uint64_t)s->n_nodes);
    double rate = (double)s->n_node_patches / (s->last_label_s - s->first_label_s);
    plain_s += patch_plainly(s, half, s->n_nodes);
    double plain = s->n_nodes / plain_s;
    (void)printf("{\"bench\":\"scale-labels\",\"server\":\"%s\",\"nodes\":%d,\"patches\":%llu,"
                 "\"per_s\":%.0f,"
                 "\"plain_per_s\":%.0f,\"ratio\":%.2f,\"seconds\":%.2f,"
                 "\"target\":{\"patches_per_node\":1,\"ratio\":0.8},"
                 "\"peers\":{\"gpu-operator\":{\"patches_per_node\":2,\"seconds\":52},"
                 "\"sro\":{\"seconds\":240}}}\n",
                 s->server, s->n_nodes, (unsigned long long)s->n_node_patches, rate, plain,
                 rate / plain, s->last_label_s - s->first_label_s);
}

static void measure_rest(struct scale *s)
{
    uint64_t labels = s->n_node_patches + (uint64_t)(s->n_resources > 1 ? s->n_nodes : 0);
    for (int i = 1; i < s->n_resources; i++)
        add_resource(s, i);
    finish_requests(s);
    await_labels(s, labels);
    uint64_t reads = s->n_reads, writes = s->n_writes;
    double cpu_s = cpu_of(s->child);
    run_for(s, REST_MS / 1000.0);
    (void)printf(
        "{\"bench\":\"scale-rest\",\"server\":\"%s\",\"nodes\":%d,\"resources\":%d,\"rss_kib\":%ld,"
        "\"peak_kib\":%ld,\"reads_per_min\":%.0f,\"writes_per_min\":%.0f,"
        "\"cpu_ms_per_min\":%.0f,"
        "\"target\":{\"rss_kib\":24576,\"peak_kib\":65536,\"reads_per_min\":0,"
        "\"writes_per_min\":0},\"peers\":{\"sro\":{\"rss_kib\":280000,"
        "\"requests_per_min\":520},\"gpu-operator\":{\"rss_kib\":281000}}}\n",
        s->server, s->n_nodes, s->n_resources, memory_of(s->child, "VmRSS"),
        memory_of(s->child, "VmHWM"), (double)(s->n_reads - reads) * 60000 / REST_MS,
        (double)(s->n_writes - writes) * 60000 / REST_MS,
        (cpu_of(s->child) - cpu_s) * 60e6 / REST_MS);
}

static void measure_change(struct scale *s)
{
    uint64_t requests = s->n_reads + s->n_writes;
    double cpu_s = cpu_of(s->child);
    for (int i = 0; i < CHANGES; i++) {
        patch_node(s, i * 7 % s->n_nodes, "bench/change", "true", on_answer);
        finish_requests(s);
        run_for(s, 0.02);
    }
    run_for(s, 1);
    (void)printf("{\"bench\":\"scale-node-change\",\"server\":\"%s\",\"nodes\":%d,\"cpu_ms\":%.2f,"
                 "\"requests\":%.2f,"
                 "\"target\":{\"cpu_ms\":5}}\n",
                 s->server, s->n_nodes, (cpu_of(s->child) - cpu_s) * 1000 / CHANGES,
                 (double)(s->n_reads + s->n_writes - requests) / CHANGES);
}

static void measure(struct scale *s)
{
    make_nodes(s);
    start_controller(s);
    double end_s = now_s() + GIVE_UP_S;
    while ((!s->nodes_synced_s || now_s() < s->nodes_synced_s + 1) && now_s() < end_s)
        step(s, 100);
    double cpu_s = cpu_of(s->child);
    (void)printf("{\"bench\":\"scale-first-sync\",\"server\":\"%s\",\"nodes\":%d,\"node_bytes\":%d,"
                 "\"cpu_s\":%.2f,"
                 "\"wall_s\":%.2f,\"peak_kib\":%ld,\"target\":{\"cpu_s\":1.0},"
                 "\"peers\":{\"client-go-json\":{\"cpu_s\":1.88,\"rss_kib\":141000}}}\n",
                 s->server, s->n_nodes, NODE_BYTES, cpu_s, s->nodes_synced_s - s->began_s,
                 memory_of(s->child, "VmHWM"));
    measure_labels(s);
    measure_rest(s);
    measure_change(s);
}

static void open_emulator(struct scale *s)
{
    SW_ERR(err);
    if (sw_emulator_open(s->conn.loop,
                         &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES,
                                                     .no_nodes = true,
                                                     .no_controllers = true,
                                                     .seed = 1,
                                                     .on_request = on_request,
                                                     .arg = s },
                         &s->conn.emulator, &err) < 0)
        die(sw_err_text(&err));
    SW_AUTO_CHARS *text = sw_emulator_kubeconfig(s->conn.emulator);
    write_file(s, "kubeconfig", text);
}

static void copy_kubeconfig(struct scale *s)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (sw_file_read(s->kubeconfig, 1 << 20, &text, &len, &err) < 0)
        die(sw_err_text(&err));
    write_file(s, "kubeconfig", text);
}

static void open_server(struct scale *s)
{
    SW_AUTO_CHARS *kubeconfig = sw_printf("%s/kubeconfig", s->dir);
    s->conn.command = "scale";
    s->conn.loop = sw_loop_new(NULL);
    s->server = s->kubeconfig ? "kube-apiserver" : "emulator";
    if (s->kubeconfig)
        copy_kubeconfig(s);
    else
        open_emulator(s);
    connect_to(s, kubeconfig);
}

static void remove_dir(struct scale *s)
{
    static const char *const names[] = { "templates/0000-config.yaml", "templates", "Chart.yaml",
                                         "kubeconfig", "" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", s->dir, names[i]);
        (void)remove(path);
    }
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/slipway-scale-XXXXXX";
    struct scale s = { .slipway = "build/slipway", .n_nodes = 5000, .n_resources = 100 };
    if (argc == 5 && strcmp(argv[1], "--patch") == 0)
        return patch_all(argv[2], (int)strtol(argv[3], NULL, 10), (int)strtol(argv[4], NULL, 10));
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--nodes") == 0)
            s.n_nodes = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--resources") == 0)
            s.n_resources = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--slipway") == 0)
            s.slipway = argv[i + 1];
        else if (strcmp(argv[i], "--kubeconfig") == 0)
            s.kubeconfig = argv[i + 1];
        else if (strcmp(argv[i], "--audit") == 0 && !(s.audit = fopen(argv[i + 1], "r")))
            die("no audit log");
    }
    if (s.kubeconfig && !s.audit)
        die("of another server the audit log is needed, too");
    s.dir = mkdtemp(dir);
    if (!s.dir)
        die("no folder for files");
    open_server(&s);
    write_chart(&s);
    measure(&s);
    (void)fflush(stdout);
    (void)kill(s.child, SIGTERM);
    (void)waitpid(s.child, NULL, 0);
    remove_dir(&s);
    sw_connection_done(&s.conn);
    return 0;
}
