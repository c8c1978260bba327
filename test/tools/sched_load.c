/* clang-format off */
/* sched_load: load for a scheduler on a real API server (hack/bench-scheduler.sh), and its figures
 * as JSON. $KUBECONFIG names the server.
 *
 *     sched_load nodes N GPUS          nodes with A100s, their NodeAccelerators
 *     sched_load pods N NAME RESOURCE  pods of schedulerName NAME, each wanting one RESOURCE ("-": none)
 *     sched_load bound N NAME          wait until so many of them are bound: how fast
 *     sched_load writes N              plain writes of small objects: how fast
 *     sched_load ceiling N NAME        write for such pods what a scheduler with slices has to write,
 *                                      without deciding anything: how fast
 *     sched_load filter N TIMES URL    ask an extender about N nodes: how fast
 *     sched_load clear NAME            delete those pods, and all claims and Events
 */
/* clang-format on */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "bench/process.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "slicing/mig/mig.h"

enum { IN_FLIGHT = 64 };
#define NS "das-operator"
#define DAS "inference.redhat.com/v1alpha1"

struct load {
    struct sw_loop *loop;
    struct sw_kube *kube;
    const struct sw_kind *kind; /* that was found last */
    size_t next, n, n_open, n_bound;
    const struct sw_kind *kinds[2];
    struct json_object *(*make)(const struct load *l, size_t i);
    struct json_object *status; /* NULL, or what each object's status is patched to */
    const char *scheduler, *resource, *ns;
    int n_gpus; /* of each node */
    double first_s, last_s;
    bool done;
};

static double seconds(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what, const struct sw_err *err)
{
    (void)fprintf(stderr, "sched_load: %s: %s\n", what, sw_err_text(err));
    exit(1);
}

static void run(struct load *l)
{
    l->done = false;
    while (!l->done)
        sw_loop_step(l->loop, 1000);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct load *l = arg;
    if (code < 0)
        die("kind", err);
    l->kind = kind;
    l->done = true;
}

static const struct sw_kind *find_kind(struct load *l, const char *api_version, const char *kind)
{
    (void)sw_kube_kind(l->kube, api_version, kind, on_kind, l);
    run(l);
    return l->kind;
}

/* ---- creating many -----------------------------------------------------------------------------
 */

static void create_next(struct load *l);

static void on_patched(const struct sw_kube_answer *a, void *arg)
{
    struct load *l = arg;
    if (a->code < 0)
        die("status", a->err);
    l->n_open--;
    create_next(l);
}

static void on_created(const struct sw_kube_answer *a, void *arg)
{
    struct load *l = arg;
    if (a->code < 0 && !sw_streq(a->reason, "AlreadyExists"))
        die("create", a->err);
    if (l->status && a->object) {
        (void)sw_kube_patch(l->kube, l->kind, l->ns, sw_obj_name(a->object), SW_PATCH_MERGE,
                            l->status, &(struct sw_request_opts){ .subresource = "status" },
                            on_patched, l);
        return;
    }
    l->n_open--;
    create_next(l);
}

static void create_next(struct load *l)
{
    while (l->n_open < IN_FLIGHT && l->next < l->n) {
        SW_AUTO_JSON *body = l->make(l, l->next++);
        l->n_open++;
        (void)sw_kube_create(l->kube, l->kind, l->ns, NULL, body,
                             &(struct sw_request_opts){ .retries = 3 }, on_created, l);
    }
    l->done = l->n_open == 0;
}

/* @return objects a second */
static double create_all(struct load *l, const struct sw_kind *kind, const char *ns, size_t n,
                         struct json_object *(*make)(const struct load *l, size_t i))
{
    const double begin = seconds();
    l->kind = kind;
    l->ns = ns;
    l->next = 0;
    l->n = n;
    l->make = make;
    create_next(l);
    run(l);
    return (double)n / (seconds() - begin);
}

static struct json_object *named(const char *api_version, const char *kind, const char *fmt,
                                 size_t i)
{
    char name[64];
    struct json_object *doc = json_object_new_object();
    (void)snprintf(name, sizeof name, "%s-%05zu", fmt, i);
    sw_json_set_str(doc, api_version, "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    return doc;
}

static struct json_object *make_node(const struct load *l, size_t i)
{
    SW_AUTO_CHARS *slices = sw_printf("%d", l->n_gpus * 7);
    const char *const amounts[][2] = {
        { "cpu", "64" }, { "memory", "256Gi" }, { "pods", "250" }, { "mig.das.com/1g.5gb", slices }
    };
    struct json_object *doc = named("v1", "Node", "node", i), *ready = json_object_new_object();
    sw_json_set_str(doc, "true", "metadata", "labels", "nvidia.com/mig.capable", NULL);
    for (size_t k = 0; k < SW_COUNT(amounts); k++) {
        sw_json_set_str(doc, amounts[k][1], "status", "capacity", amounts[k][0], NULL);
        sw_json_set_str(doc, amounts[k][1], "status", "allocatable", amounts[k][0], NULL);
    }
    sw_json_set_str(ready, "Ready", "type", NULL);
    sw_json_set_str(ready, "True", "status", NULL);
    json_object_array_add(sw_json_need_list(doc, "status", "conditions", NULL), ready);
    return doc;
}

/* As kubelet registers it: a scheduler asks for it about each node, and its absence costs more. */
static struct json_object *make_csi_node(const struct load *l SW_UNUSED, size_t i)
{
    struct json_object *doc = named("storage.k8s.io/v1", "CSINode", "node", i);
    (void)sw_json_need_list(doc, "spec", "drivers", NULL);
    return doc;
}

static struct json_object *make_accelerator(const struct load *l SW_UNUSED, size_t i)
{
    struct json_object *doc = named(DAS, "NodeAccelerator", "node", i);
    sw_json_set_str(doc, NS, "metadata", "namespace", NULL);
    sw_json_set_str(doc, "nvidia-mig", "spec", "acceleratorType", NULL);
    return doc;
}

static struct json_object *make_pod(const struct load *l, size_t i)
{
    struct json_object *doc = named("v1", "Pod", l->scheduler, i), *c = json_object_new_object();
    struct json_object *tolerate = json_object_new_object();
    sw_json_set_str(doc, l->scheduler, "metadata", "labels", "load", NULL);
    sw_json_set_str(doc, l->scheduler, "spec", "schedulerName", NULL);
    sw_json_set_str(tolerate, "Exists", "operator", NULL);
    json_object_array_add(sw_json_need_list(doc, "spec", "tolerations", NULL), tolerate);
    sw_json_set_str(c, "main", "name", NULL);
    sw_json_set_str(c, "none", "image", NULL);
    if (strcmp(l->resource, "-") != 0)
        sw_json_set_str(c, "1", "resources", "limits", l->resource, NULL);
    json_object_array_add(sw_json_need_list(doc, "spec", "containers", NULL), c);
    return doc;
}

static struct json_object *make_small(const struct load *l SW_UNUSED, size_t i)
{
    struct json_object *doc = named("v1", "ConfigMap", "small", i);
    sw_json_set_str(doc, "some text of a few words, as long as a claim's spec or so", "data",
                    "text", NULL);
    return doc;
}

static struct json_object *accelerator_status(int n_gpus)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    struct json_object *doc = json_object_new_object();
    sw_json_set(doc, sw_mig_geometry_to_json(g), "status", "nodeResources", "migPlacement", NULL);
    struct json_object *list = sw_json_need_list(doc, "status", "nodeResources", "nodeGpus", NULL);
    for (int i = 0; i < n_gpus; i++) {
        SW_AUTO_CHARS *uuid = sw_printf("GPU-8c5b1d9e-0000-4000-8000-%012d", i);
        struct json_object *gpu = json_object_new_object();
        sw_json_set_str(gpu, uuid, "gpuUuid", NULL);
        json_object_array_add(list, gpu);
    }
    return doc;
}

static void make_nodes(struct load *l, size_t n, int n_gpus)
{
    l->n_gpus = n_gpus;
    (void)create_all(l, find_kind(l, "v1", "Node"), NULL, n, make_node);
    (void)create_all(l, find_kind(l, "storage.k8s.io/v1", "CSINode"), NULL, n, make_csi_node);
    const struct sw_kind *kind = find_kind(l, DAS, "NodeAccelerator");
    l->status = accelerator_status(n_gpus);
    (void)create_all(l, kind, NS, n, make_accelerator);
    json_object_put(l->status);
}

/* ---- the same writes without a scheduler -------------------------------------------------------
 */

static void chain_next(struct load *l);

/* One pod's way: its claim is created (and marked where its definition makes it staged), it is
 * bound, and an Event says so. */
struct chain {
    struct load *l;
    size_t i;
    int step;
};

static const struct sw_kind claim_kind = { .group = "inference.redhat.com",
                                           .version = "v1alpha1",
                                           .api_version = DAS,
                                           .kind = "AllocationClaim",
                                           .plural = "allocationclaims",
                                           .namespaced = true };
static const struct sw_kind event_kind = { .group = "",
                                           .version = "v1",
                                           .api_version = "v1",
                                           .kind = "Event",
                                           .plural = "events",
                                           .namespaced = true };

static const char uid[] = "00eb6d65-f6fd-4ef6-a531-d66a518a2afd"; /* of none: no matter */

static struct json_object *make_claim(const struct load *l, size_t i)
{
    struct json_object *doc = named(DAS, "AllocationClaim", l->scheduler, i);
    const char *name = sw_obj_name(doc);
    sw_json_set_str(doc, "slipway-scheduler", "metadata", "labels", "app.kubernetes.io/managed-by",
                    NULL);
    sw_json_set_str(doc, uid, "metadata", "labels", "slipway.dev/pod-uid", NULL);
    sw_json_set_str(doc, "node-00000", "metadata", "labels", "slipway.dev/node", NULL);
    sw_json_set_str(doc, "1g.5gb", "spec", "profile", NULL);
    sw_json_set_str(doc, "Pod", "spec", "podRef", "kind", NULL);
    sw_json_set_str(doc, "default", "spec", "podRef", "namespace", NULL);
    sw_json_set_str(doc, name, "spec", "podRef", "name", NULL);
    sw_json_set_str(doc, uid, "spec", "podRef", "uid", NULL);
    sw_json_set(doc, json_object_new_int(1), "spec", "migPlacement", "size", NULL);
    sw_json_set(doc, json_object_new_int(0), "spec", "migPlacement", "start", NULL);
    sw_json_set_str(doc, "GPU-8c5b1d9e-0000-4000-8000-000000000000", "spec", "gpuUUID", NULL);
    sw_json_set_str(doc, "node-00000", "spec", "nodename", NULL);
    sw_json_set_str(doc, "main", "spec", "containerName", NULL);
    return doc;
}

static void on_step(const struct sw_kube_answer *a, void *arg);

static void mark_claim(struct chain *c, const struct sw_kube_answer *made)
{
    struct json_object *condition = json_object_new_object();
    sw_json_set_str(condition, "State", "type", NULL);
    sw_json_set_str(condition, "True", "status", NULL);
    sw_json_set_str(condition, "created", "reason", NULL);
    sw_json_set_str(condition, "the pod is placed", "message", NULL);
    sw_json_set_str(condition, "2026-01-01T00:00:00Z", "lastTransitionTime", NULL);
    sw_json_set_str(made->object, "created", "status", "state", NULL);
    json_object_array_add(sw_json_need_list(made->object, "status", "conditions", NULL), condition);
    (void)sw_kube_update(c->l->kube, &claim_kind, NS, sw_obj_name(made->object), made->object,
                         &(struct sw_request_opts){ .subresource = "status" }, on_step, c);
}

static void bind_pod(struct chain *c)
{
    SW_AUTO_JSON *doc = named("v1", "Binding", c->l->scheduler, c->i);
    sw_json_set_str(doc, "v1", "target", "apiVersion", NULL);
    sw_json_set_str(doc, "Node", "target", "kind", NULL);
    sw_json_set_str(doc, "node-00000", "target", "name", NULL);
    (void)sw_kube_create(c->l->kube, c->l->kind, "default", sw_obj_name(doc), doc,
                         &(struct sw_request_opts){ .subresource = "binding" }, on_step, c);
}

static void tell_event(struct chain *c)
{
    SW_AUTO_JSON *pod = named("v1", "Pod", c->l->scheduler, c->i);
    SW_AUTO_JSON *doc = sw_kube_event_doc(
        &(struct sw_kube_event){ .id = sw_obj_name(pod),
                                 .ns = "default",
                                 .of = { .api_version = "v1",
                                         .kind = "Pod",
                                         .ns = "default",
                                         .name = sw_obj_name(pod),
                                         .uid = uid },
                                 .reason = "Scheduled",
                                 .message = "Successfully assigned the pod to node-00000",
                                 .component = "sched_load",
                                 .at_ms = sw_now_ms() });
    (void)sw_kube_create(c->l->kube, &event_kind, "default", NULL, doc, NULL, on_step, c);
}

static void on_step(const struct sw_kube_answer *a, void *arg)
{
    struct chain *c = arg;
    if (a->code < 0)
        die("ceiling", a->err);
    const bool made = c->step == 0 &&
                      sw_streq(sw_json_str(a->object, "", "status", "state", NULL), "created");
    c->step += made; /* nothing is left to mark */
    switch (c->step++) {
    case 0:
        mark_claim(c, a);
        return;
    case 1:
        bind_pod(c);
        return;
    case 2:
        tell_event(c);
        return;
    default:
        break;
    }
    struct load *l = c->l;
    free(c);
    l->n_open--;
    chain_next(l);
}

static void chain_next(struct load *l)
{
    while (l->n_open < IN_FLIGHT && l->next < l->n) {
        struct chain *c = sw_zalloc(1, sizeof *c);
        *c = (struct chain){ .l = l, .i = l->next++ };
        SW_AUTO_JSON *body = make_claim(l, c->i);
        l->n_open++;
        (void)sw_kube_create(l->kube, &claim_kind, NS, NULL, body, NULL, on_step, c);
    }
    l->done = l->n_open == 0;
}

static void ceiling(struct load *l, size_t n)
{
    l->kind = find_kind(l, "v1", "Pod");
    l->n = n;
    const double begin = seconds();
    chain_next(l);
    run(l);
    printf("%.1f\n", (double)n / (seconds() - begin));
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

static void on_pod(const struct sw_watch_event *e, void *arg)
{
    struct load *l = arg;
    if (e->type == SW_WATCH_ERROR)
        die("watch", e->err);
    if (!e->object || !*sw_json_str(e->object, "", "spec", "nodeName", NULL))
        return;
    /* a pod is told of again when its status changes: each is counted once */
    const size_t i = strtoul(strrchr(e->name, '-') + 1, NULL, 10);
    static bool seen[1 << 17];
    if (seen[i])
        return;
    seen[i] = true;
    l->last_s = seconds();
    if (l->n_bound++ == 0)
        l->first_s = l->last_s;
    l->done = l->n_bound == l->n;
}

static void wait_bound(struct load *l, size_t n, const char *scheduler)
{
    static const char *const fields[] = { "spec.nodeName", NULL };
    const struct sw_kind *kind = find_kind(l, "v1", "Pod");
    SW_AUTO_CHARS *selector = sw_printf("load=%s", scheduler);
    const struct sw_watch_opts opts = { .label_selector = selector, .fields = fields };
    l->n = n;
    l->n_bound = 0;
    (void)sw_kube_watch_open(l->kube, kind, &opts, on_pod, l);
    run(l);
    printf("%.4g\n", (double)(n - 1) / (l->last_s - l->first_s));
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static char *filter_body(size_t n)
{
    struct json_object *doc = json_object_new_object(), *names = json_object_new_array();
    struct load l = { .scheduler = "das-scheduler", .resource = "mig.das.com/1g.5gb" };
    struct json_object *pod = make_pod(&l, 0);
    sw_json_set_str(pod, "11111111-2222-3333-4444-555555555555", "metadata", "uid", NULL);
    sw_json_set(doc, pod, "Pod", NULL);
    for (size_t i = 0; i < n; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "node-%05zu", i);
        json_object_array_add(names, json_object_new_string(name));
    }
    sw_json_set(doc, names, "NodeNames", NULL);
    char *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    json_object_put(doc);
    return text;
}

/* A connection of its own, blocking: what is measured is the extender, not a client's document. */
static int connect_to(const char *url)
{
    const char *port = strrchr(url, ':');
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(
                                  (uint16_t)strtoul(port ? port + 1 : "", NULL, 10)) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        perror(url);
        exit(1);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void send_all(int fd, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        const ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL);
        if (n <= 0) {
            perror("send");
            exit(1);
        }
        at += (size_t)n;
    }
}

/* One answer of 200, to its last byte. */
static void receive_answer(int fd, char *buf, size_t cap)
{
    size_t len = 0, whole = SIZE_MAX;
    while (len < whole) {
        const ssize_t n = recv(fd, buf + len, cap - 1 - len, 0);
        if (n <= 0) {
            (void)fputs("sched_load: the extender hung up\n", stderr);
            exit(1);
        }
        len += (size_t)n;
        buf[len] = '\0';
        const char *body = whole == SIZE_MAX ? strstr(buf, "\r\n\r\n") : NULL;
        const char *length = body ? strcasestr(buf, "content-length:") : NULL;
        if (length)
            whole = (size_t)(body + 4 - buf) + strtoul(length + 15, NULL, 10);
        if (length && !sw_starts_with(buf, "HTTP/1.1 200")) {
            (void)fprintf(stderr, "sched_load: %s\n", buf);
            exit(1);
        }
    }
}

static void ask_filter(size_t n, size_t times, const char *url)
{
    enum { ANSWER_BYTES = 8 << 20 };
    SW_AUTO_CHARS *body = filter_body(n);
    SW_AUTO_CHARS *text = sw_printf("POST /filter HTTP/1.1\r\nHost: extender\r\nContent-Type: "
                                    "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                                    strlen(body), body);
    SW_AUTO_CHARS *buf = sw_alloc(ANSWER_BYTES);
    const int fd = connect_to(url);
    double *took = sw_zalloc(times, sizeof *took);
    for (size_t i = 0; i < times; i++) {
        const double begin = seconds();
        send_all(fd, text, strlen(text));
        receive_answer(fd, buf, ANSWER_BYTES);
        took[i] = (seconds() - begin) * 1e3;
    }
    qsort(took, times, sizeof *took, by_value);
    printf("%.2f %.2f\n", took[times / 2], took[times * 99 / 100]);
    free(took);
    (void)close(fd);
}

/* ---- clearing ----------------------------------------------------------------------------------
 */

static void on_cleared(const struct sw_kube_answer *a SW_UNUSED, void *arg)
{
    ((struct load *)arg)->done = true;
}

static void clear(struct load *l, const char *scheduler)
{
    const struct sw_request_opts opts = { .timeout_ms = 120000 };
    SW_AUTO_CHARS *pods = sw_printf("/api/v1/namespaces/default/pods?labelSelector=load%%3D%s"
                                    "&gracePeriodSeconds=0",
                                    scheduler);
    (void)sw_kube_raw(l->kube, "DELETE", pods, &opts, on_cleared, l);
    run(l);
    (void)sw_kube_raw(l->kube, "DELETE", "/apis/" DAS "/namespaces/" NS "/allocationclaims", &opts,
                      on_cleared, l);
    run(l);
    (void)sw_kube_raw(l->kube, "DELETE", "/api/v1/namespaces/default/events", &opts, on_cleared, l);
    run(l);
}

int main(int argc, char **argv)
{
    struct load l = { .loop = sw_loop_new(NULL) };
    struct sw_kube_config *config = NULL;
    SW_ERR(err);
    const char *what = argc > 2 ? argv[1] : "";
    const size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (sw_kubeconfig_load(NULL, &config, &err) < 0 ||
        sw_kube_new(l.loop, config, &(struct sw_kube_opts){ .max_in_flight = IN_FLIGHT }, &l.kube,
                    &err) < 0)
        die("kubeconfig", &err);
    l.scheduler = argc > 3 ? argv[3] : "";
    l.resource = argc > 4 ? argv[4] : "-";
    if (strcmp(what, "nodes") == 0 && argc > 3)
        make_nodes(&l, n, atoi(argv[3]));
    else if (strcmp(what, "pods") == 0)
        printf("%.1f\n", create_all(&l, find_kind(&l, "v1", "Pod"), "default", n, make_pod));
    else if (strcmp(what, "writes") == 0)
        printf("%.1f\n",
               create_all(&l, find_kind(&l, "v1", "ConfigMap"), "default", n, make_small));
    else if (strcmp(what, "bound") == 0)
        wait_bound(&l, n, l.scheduler);
    else if (strcmp(what, "ceiling") == 0)
        ceiling(&l, n);
    else if (strcmp(what, "filter") == 0 && argc > 4)
        ask_filter(n, strtoul(argv[3], NULL, 10), argv[4]);
    else if (strcmp(what, "clear") == 0)
        clear(&l, argv[2]);
    else
        (void)fputs("usage: see the head of test/tools/sched_load.c\n", stderr);
    sw_kube_free(l.kube);
    sw_kube_config_free(config);
    sw_loop_free(l.loop);
    return 0;
}
