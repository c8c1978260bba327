/* charts: one controller (a process of its own) beside 65 charts of 1 to 12 MB, as published ones:
 * a few templates, CustomResourceDefinitions of 300 kB each, files. On an embedded API server, each
 * is walked to Ready; then the controller is started again. Prints JSON objects: the controller's
 * memory, that of its children and both together (PSS; a page that two processes share counts half
 * in each), at most and at rest, and its CPU at rest.
 *
 *     build/bench/charts [--charts N] [--slipway FILE] */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "process.h"

#include <fcntl.h>
#include <ftw.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CRD_BYTES = 300000,
    FILE_BYTES = 256 << 10,
    SMALLEST = 1 << 20,
    LARGEST = 12 << 20,
    MAX_CRDS = 8, /* of a chart */
    SAMPLE_US = 10000,
    GIVE_UP_S = 600,
    QUIET_MS = 8000, /* without a request: it is at rest, and has given free memory back */
    REST_MS = 10000,
};

/* What the sampler sees, shared with it. */
struct seen {
    volatile int pid;                      /* of the controller; 0: none */
    volatile long rss, pss, children, all; /* KiB, at most */
    volatile int n_children;
};

struct bench {
    struct sw_connection conn;
    const char *slipway;
    int n_charts, n_ready, n_errored;
    char *dir;
    pid_t controller, sampler;
    struct seen *seen;
    double last_request_s;
    int n_open, n_failed;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "charts: %s\n", what);
    exit(1);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* A field of /proc/PID/FILE in KiB; 0: it is not there. */
static long memory_of(pid_t pid, const char *file, const char *field)
{
    char path[64], line[256];
    long kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    while (f && !kib && fgets(line, sizeof line, f))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field) + 1, NULL, 10);
    if (f)
        (void)fclose(f);
    return kib;
}

static void keep_most(volatile long *most, long now)
{
    if (now > *most)
        *most = now;
}

static void sample(struct seen *seen)
{
    char path[64];
    const pid_t pid = seen->pid;
    long pss = memory_of(pid, "smaps_rollup", "Pss"), children = 0;
    int n = 0, child;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = fopen(path, "r");
    for (; f && fscanf(f, "%d", &child) == 1; n++)
        children += memory_of(child, "smaps_rollup", "Pss");
    if (f)
        (void)fclose(f);
    seen->n_children = n;
    keep_most(&seen->rss, memory_of(pid, "status", "VmRSS"));
    keep_most(&seen->pss, pss);
    keep_most(&seen->children, children);
    keep_most(&seen->all, pss + children);
}

/* A process of its own: the emulator's is busy. */
static void start_sampler(struct bench *b)
{
    b->seen = mmap(NULL, sizeof *b->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    if (b->seen == MAP_FAILED)
        die("no memory to share");
    b->sampler = fork();
    if (b->sampler != 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;; (void)usleep(SAMPLE_US))
        if (b->seen->pid)
            sample(b->seen);
}

static double cpu_of(pid_t pid)
{
    SW_AUTO_CHARS *path = sw_printf("/proc/%d/stat", (int)pid);
    unsigned long user = 0, sys = 0;
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                     &sys) != 2)
        die("the controller is not there any more");
    (void)fclose(f);
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- charts ------------------------------------------------------------------------------------
 */

static void write_file(const struct bench *b, int chart, const char *name, const char *text)
{
    SW_ERR(err);
    SW_AUTO_CHARS *path = sw_printf("%s/c%d/%s", b->dir, chart, name);
    if (sw_file_write(path, text, strlen(text), &err) < 0)
        die(sw_err_text(&err));
}

/* As generators write them: a description for each field, a type, now and then a pattern. */
static char *make_crd(int chart, int i)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    (void)fprintf(f,
                  "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n"
                  "  name: things%d.c%d.example.com\nspec:\n  group: c%d.example.com\n"
                  "  names: {kind: Thing%d, plural: things%d, singular: thing%d}\n"
                  "  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n"
                  "    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n"
                  "        properties:\n          spec:\n            type: object\n"
                  "            properties:\n",
                  i, chart, chart, i, i, i);
    for (int group = 0; ftell(f) < CRD_BYTES; group++) {
        (void)fprintf(f,
                      "              group%d:\n                description: What follows belongs "
                      "together, and is optional as a whole.\n                type: object\n"
                      "                properties:\n",
                      group);
        for (int field = 0; field < 12; field++)
            (void)fprintf(f,
                          "                  field%d:\n                    description: >-\n"
                          "                      The %d-th setting of group %d of chart %d. It is "
                          "read when the object is created,\n                      and again when "
                          "the controller of the kind is started.\n                    type: %s\n",
                          field, field, group, chart, field % 3 ? "string" : "integer");
    }
    (void)fclose(f);
    return text;
}

static char *make_dashboard(int chart, int i)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    for (int panel = 0; ftell(f) < FILE_BYTES; panel++)
        (void)fprintf(f, "{\"panel\": %d, \"title\": \"chart %d, page %d\", \"unit\": \"bytes\"}\n",
                      panel, chart, i);
    (void)fclose(f);
    return text;
}

static const char templates[] =
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: {{ .Release.Name }}}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata:\n"
    "  {{- range $i := until 20 }}\n  key{{ $i }}: {{ $.Values.text | quote }}\n  {{- end }}\n---\n"
    "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\nspec:\n"
    "  selector: {app: {{ .Release.Name }}}\n  ports: [{port: 80}]\n---\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\nspec:\n"
    "  replicas: 1\n  selector: {matchLabels: {app: {{ .Release.Name }}}}\n  template:\n"
    "    metadata: {labels: {app: {{ .Release.Name }}}}\n"
    "    spec: {containers: [{name: main, image: example.com/main}]}\n";

/* @return its bytes */
static size_t write_chart(const struct bench *b, int i)
{
    static const char *const folders[] = { "", "crds", "templates", "files" };
    const double part = b->n_charts > 1 ? (double)i / (b->n_charts - 1) : 1;
    const size_t size = SMALLEST + (size_t)((LARGEST - SMALLEST) * part * part);
    const int n_crds = 1 + (int)((MAX_CRDS - 1) * part);
    size_t done = 0;
    for (size_t f = 0; f < SW_COUNT(folders); f++) {
        SW_AUTO_CHARS *path = sw_printf("%s/c%d/%s", b->dir, i, folders[f]);
        (void)mkdir(path, 0755);
    }
    SW_AUTO_CHARS *meta = sw_printf("apiVersion: v2\nname: c%d\nversion: 0.1.0\n", i);
    write_file(b, i, "Chart.yaml", meta);
    write_file(b, i, "values.yaml", "text: as it is\n");
    write_file(b, i, "templates/all.yaml", templates);
    for (int k = 0; k < n_crds; k++) {
        SW_AUTO_CHARS *text = make_crd(i, k), *name = sw_printf("crds/things%d.yaml", k);
        write_file(b, i, name, text);
        done += strlen(text);
    }
    for (int k = 0; done < size; k++) {
        SW_AUTO_CHARS *text = make_dashboard(i, k), *name = sw_printf("files/page%d.json", k);
        write_file(b, i, name, text);
        done += strlen(text);
    }
    return done;
}

static int remove_one(const char *path, const struct stat *st SW_UNUSED, int type SW_UNUSED,
                      struct FTW *ftw SW_UNUSED)
{
    return remove(path);
}

/* ---- the server --------------------------------------------------------------------------------
 */

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       void *arg)
{
    struct bench *b = arg;
    bool lease = sw_streq(req->resource, "leases");
    if (!lease && req->user_agent && !strstr(req->user_agent, "bench"))
        b->last_request_s = now_s();
}

static void open_server(struct bench *b)
{
    SW_ERR(err);
    b->conn.command = "charts";
    b->conn.loop = sw_loop_new(NULL);
    if (sw_emulator_open(b->conn.loop,
                         &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES,
                                                     .n_nodes = 2,
                                                     .seed = 1,
                                                     .on_request = on_request,
                                                     .arg = b },
                         &b->conn.emulator, &err) < 0)
        die(sw_err_text(&err));
    SW_AUTO_CHARS *text = sw_emulator_kubeconfig(b->conn.emulator);
    SW_AUTO_CHARS *path = sw_printf("%s/kubeconfig", b->dir);
    if (sw_file_write(path, text, strlen(text), &err) < 0 ||
        sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = path }, &b->conn.config, &err) <
            0 ||
        sw_kube_new(b->conn.loop, b->conn.config,
                    &(struct sw_kube_opts){ .user_agent = "bench", .seed = 1 }, &b->conn.kube,
                    &err) < 0)
        die(sw_err_text(&err));
}

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct bench *b = arg;
    b->n_open--;
    if (code < 0 && b->n_failed++ == 0)
        (void)fprintf(stderr, "charts: %s\n", err ? sw_err_text(err) : "not installed");
}

static void add_resource(struct bench *b, int i)
{
    SW_AUTO_CHARS *name = sw_printf("c%d", i);
    SW_AUTO_CHARS *url = sw_printf("file://%s/c%d", b->dir, i);
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(doc, "SpecialResource", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, name, "spec", "namespace", NULL);
    sw_json_set_str(doc, name, "spec", "chart", "name", NULL);
    sw_json_set_str(doc, "0.1.0", "spec", "chart", "version", NULL);
    sw_json_set_str(doc, "bench", "spec", "chart", "repository", "name", NULL);
    sw_json_set_str(doc, url, "spec", "chart", "repository", "url", NULL);
    b->n_open++;
    (void)sw_install_start(&b->conn, doc, on_installed, b);
}

static void on_resources(const struct sw_kube_answer *a, void *arg)
{
    struct bench *b = arg;
    struct json_object *items = a->items;
    b->n_open -= !a->more;
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *list = sw_json_find(sw_json_at(items, i), "status", "conditions", NULL);
        struct json_object *ready = sw_json_find_by(list, "type", "Ready"),
                           *errored = sw_json_find_by(list, "type", "Errored");
        b->n_ready += sw_streq(sw_json_str(ready, "", "status", NULL), "True");
        if (!sw_streq(sw_json_str(errored, "", "status", NULL), "True"))
            continue;
        b->n_errored++;
        (void)fprintf(stderr, "charts: %s: %s\n", sw_obj_name(sw_json_at(items, i)),
                      sw_json_str(errored, "", "message", NULL));
    }
}

static void count_ready(struct bench *b)
{
    const struct sw_kind *kind = sw_kube_kind_find(b->conn.kube, "sro.openshift.io/v1beta1",
                                                   "SpecialResource");
    if (!kind)
        die("SpecialResources are not served");
    b->n_open++;
    b->n_ready = b->n_errored = 0;
    (void)sw_kube_list(b->conn.kube, kind, NULL, NULL, on_resources, b);
    while (b->n_open)
        sw_loop_step(b->conn.loop, 100);
}

/* ---- the controller ----------------------------------------------------------------------------
 */

static void start_controller(struct bench *b)
{
    SW_AUTO_CHARS *kubeconfig = sw_printf("%s/kubeconfig", b->dir);
    int fds[2]; /* closed when the program has begun: before it, it is a copy of this process */
    char byte;
    if (pipe2(fds, O_CLOEXEC) < 0)
        die("no pipe");
    b->last_request_s = now_s();
    b->controller = fork();
    if (b->controller == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setenv("TMPDIR", b->dir, 1); /* no file system in memory */
        (void)execl(b->slipway, b->slipway, "controller", "--kubeconfig", kubeconfig,
                    "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
                    "--no-registries", "--allowed-files", b->dir, "--log-level", "error",
                    (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    while (read(fds[0], &byte, 1) > 0)
        ;
    (void)close(fds[0]);
    *b->seen = (struct seen){ .pid = b->controller };
}

static void stop_controller(struct bench *b)
{
    b->seen->pid = 0;
    (void)kill(b->controller, SIGTERM);
    (void)waitpid(b->controller, NULL, 0);
}

static void run_for(struct bench *b, double seconds)
{
    double end_s = now_s() + seconds;
    for (double left; (left = end_s - now_s()) > 0;)
        sw_loop_step(b->conn.loop, (int64_t)(left * 1000) + 1);
}

/* Until it asks for nothing any more, and has no child. @return seconds until then */
static double await_rest(struct bench *b)
{
    double begin_s = now_s(), end_s = begin_s + GIVE_UP_S;
    while (now_s() < b->last_request_s + QUIET_MS / 1e3 || b->seen->n_children) {
        run_for(b, 0.1);
        if (now_s() > end_s)
            die("the controller does not come to rest");
        if (waitpid(b->controller, NULL, WNOHANG) != 0)
            die("the controller ended");
    }
    return b->last_request_s - begin_s;
}

static void measure(struct bench *b, const char *what, double seconds)
{
    double cpu_s = cpu_of(b->controller);
    run_for(b, REST_MS / 1e3);
    (void)printf("{\"bench\":\"charts-%s\",\"charts\":%d,\"ready\":%d,\"seconds\":%.1f,"
                 "\"peak_kib\":%ld,\"peak_pss_kib\":%ld,\"children_peak_pss_kib\":%ld,"
                 "\"together_peak_pss_kib\":%ld,\"rest_rss_kib\":%ld,\"rest_anonymous_kib\":%ld,"
                 "\"rest_pss_kib\":%ld,\"rest_cpu_ms_per_min\":%.0f,"
                 "\"target\":{\"peak_kib\":49152,\"rest_rss_kib\":24576}}\n",
                 what, b->n_charts, b->n_ready, seconds,
                 memory_of(b->controller, "status", "VmHWM"), b->seen->pss, b->seen->children,
                 b->seen->all, memory_of(b->controller, "status", "VmRSS"),
                 memory_of(b->controller, "status", "RssAnon"),
                 memory_of(b->controller, "smaps_rollup", "Pss"),
                 (cpu_of(b->controller) - cpu_s) * 60e6 / REST_MS);
    (void)fflush(stdout);
}

/* ---- both --------------------------------------------------------------------------------------
 */

static void install(struct bench *b)
{
    for (int i = 0; i < b->n_charts; i++)
        add_resource(b, i);
    double begin_s = now_s(), end_s = begin_s + GIVE_UP_S;
    while (b->n_open && now_s() < end_s)
        sw_loop_step(b->conn.loop, 100);
    if (b->n_open || b->n_failed)
        die("the resources are not created");
    while (b->n_ready < b->n_charts) {
        run_for(b, 1);
        count_ready(b);
        if (b->n_errored == b->n_charts)
            die("no chart can be used");
        if (now_s() > end_s)
            die("the resources do not get Ready in time");
    }
    double seconds = now_s() - begin_s;
    (void)await_rest(b);
    measure(b, "install", seconds);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    struct bench b = { .slipway = "build/slipway", .n_charts = 65 };
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--charts") == 0)
            b.n_charts = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--slipway") == 0)
            b.slipway = argv[i + 1];
    }
    SW_AUTO_CHARS *dir = sw_printf("%s/slipway-charts-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    b.dir = mkdtemp(dir);
    if (!b.dir)
        die("no folder for files");
    start_sampler(&b);
    for (int i = 0; i < b.n_charts; i++)
        (void)write_chart(&b, i);
    open_server(&b);
    start_controller(&b);
    install(&b);
    stop_controller(&b);
    start_controller(&b);
    double seconds = await_rest(&b);
    count_ready(&b);
    measure(&b, "start", seconds);
    stop_controller(&b);
    (void)kill(b.sampler, SIGKILL);
    (void)waitpid(b.sampler, NULL, 0);
    sw_connection_done(&b.conn);
    (void)nftw(b.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
