/* Honest clients beside 2,000 hostile connections of each kind, for every port and socket of every
 * program: the latency of requests on connections that stay and on new ones, and the most memory
 * that the program has. One JSON object for each port and kind.
 *
 *     build/bench/hostile [PORT [KIND]]   PORT: webhook, controller-metrics, ...; all of them */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/loop.h"
#include "certificate.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "hostile.h"
#include "net/grpc/grpc.h"
#include "process.h"

enum {
    N_KEPT = 1000, /* requests on four connections that stay, one every 2 ms */
    N_NEW = 50,    /* requests on connections of their own */
    SETTLE_S = 2,  /* until most of the hostile ones are there */
    PATIENCE_S = 10,
    MAX_RESOURCES = 8,
};

struct bench {
    char dir[64], *cert, *key;
    pid_t emulator, webhook, controller, scheduler, plugin;
    struct wire_server api;
    cpu_set_t hostile_cpus;
    const char *only_port, *only_kind;
};

/** A port or a socket, and what an honest client sends there. */
struct target {
    const char *name;
    pid_t pid;
    struct wire_server at;
    const char *request; /* HTTP; NULL: gRPC */
    const char *greedy;  /* what a hostile one asks for by HTTP: a path; NULL: /healthz */
    const char *endless; /* a path whose answer does not end; NULL: there is none */
};

static void die(const char *what)
{
    (void)fprintf(stderr, "hostile: %s\n", what);
    exit(1);
}

/* ---- what is sent ------------------------------------------------------------------------------
 */

static const uint8_t preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
/* HEADERS: POST, http, :path, content-type application/grpc, te trailers */
#define CALL(size, flags, length, path)                                                            \
    "\0\0" size "\1" flags "\0\0\0\1\x83\x86\4" length path "\1\1x\x0f\x10\x10"                    \
    "application/grpc\0\2te\10trailers"
#define OPTIONS_PATH "/v1beta1.DevicePlugin/GetDevicePluginOptions"
#define WATCH_PATH "/v1beta1.DevicePlugin/ListAndWatch"
#define EMPTY_MESSAGE "\0\0\5\0\1\0\0\0\1\0\0\0\0\0" /* DATA, the stream's last */
static const uint8_t options_call[] = CALL("\x53", "\4", "\x2c", OPTIONS_PATH) EMPTY_MESSAGE;
static const uint8_t watch_call[] = CALL("\x49", "\4", "\x22", WATCH_PATH) EMPTY_MESSAGE;
/* HEADERS, then RST_STREAM */
static const uint8_t reset_call[] = CALL("\x53", "\4", "\x2c",
                                         OPTIONS_PATH) "\0\0\4\3\0\0\0\0\1\0\0\0\x8";
/* headers that do not end, and what goes on with them */
static const uint8_t endless_call[] = CALL("\x53", "\0", "\x2c", OPTIONS_PATH);
static const uint8_t more_headers[] = "\0\0\x10\x9\0\0\0\0\1\0\1a\14bbbbbbbbbbbb";
/* a message of 4 MiB less a byte, of which 4 KiB come each time */
static const uint8_t large_call[] = CALL("\x53", "\4", "\x2c",
                                         OPTIONS_PATH) "\0\0\5\0\0\0\0\0\1\0\0\x3f\xff\xff";
static const uint8_t ping[] = "\0\0\x8\6\0\0\0\0\0pingpong";

#define BYTES(literal)                                                                             \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }

enum { PREFACE_LEN = sizeof preface - 1, MAX_START = 512, DATA_LEN = 4096 };

/* The preface, and @call behind it. */
static struct hostile_bytes greeted(const void *call, size_t len)
{
    uint8_t *bytes = sw_alloc(MAX_START);
    memcpy(bytes, preface, PREFACE_LEN);
    memcpy(bytes + PREFACE_LEN, call, len);
    return (struct hostile_bytes){ bytes, PREFACE_LEN + len };
}

static struct hostile_bytes text_bytes(const char *text)
{
    return (struct hostile_bytes){ (const uint8_t *)text, strlen(text) };
}

/* DATA of the first stream. */
static struct hostile_bytes data_frame(void)
{
    uint8_t *bytes = sw_zalloc(1, 9 + DATA_LEN);
    bytes[1] = DATA_LEN >> 8;
    bytes[8] = 1;
    return (struct hostile_bytes){ bytes, 9 + DATA_LEN };
}

/* The kinds for a socket of gRPC. @return how many */
static size_t grpc_kinds(struct hostile_kind *out)
{
    const struct hostile_kind kinds[] = {
        { .name = "silent", .manner = HOSTILE_DUMB },
        { .name = "idle", .manner = HOSTILE_HOLD, .start = greeted("", 0) },
        { .name = "slow",
          .manner = HOSTILE_TRICKLE,
          .start = greeted("", 0),
          .unit = BYTES(endless_call) },
        { .name = "header",
          .manner = HOSTILE_POUR,
          .start = greeted(endless_call, sizeof endless_call - 1),
          .unit = BYTES(more_headers) },
        { .name = "body",
          .manner = HOSTILE_POUR,
          .start = greeted(large_call, sizeof large_call - 1),
          .unit = data_frame(),
          .max_sent = (4 << 20) - DATA_LEN },
        { .name = "unread", .manner = HOSTILE_POUR, .start = greeted("", 0), .unit = BYTES(ping) },
        { .name = "busy",
          .manner = HOSTILE_ASK,
          .start = greeted("", 0),
          .unit = BYTES(options_call),
          .counts = true },
        { .name = "calls",
          .manner = HOSTILE_HOLD,
          .start = greeted(watch_call, sizeof watch_call - 1) },
        { .name = "resets",
          .manner = HOSTILE_POUR,
          .start = greeted("", 0),
          .unit = BYTES(reset_call),
          .counts = true },
        { .name = "connects", .manner = HOSTILE_AGAIN, .start = greeted("", 0) },
    };
    memcpy(out, kinds, sizeof kinds);
    return SW_COUNT(kinds);
}

/* A request whose body is small as text, and large as a tree: empty objects. */
static struct hostile_bytes tree_request(const char *to)
{
    enum { BODY_LEN = 2900000 };
    static const char head[] =
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
        "\"request\":{\"uid\":\"u\",\"object\":{\"a\":[",
                      tail[] = "{}]}}}";
    char *text = sw_printf("%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                           "Content-Length: %d\r\n\r\n",
                           to, BODY_LEN);
    const size_t len = strlen(text), n_head = sizeof head - 1, n_tail = sizeof tail - 1;
    text = sw_realloc(text, len + BODY_LEN, 1);
    char *body = text + len;
    memcpy(body, head, n_head);
    memcpy(body + BODY_LEN - n_tail, tail, n_tail);
    const size_t n_items = BODY_LEN - n_tail - n_head;
    for (size_t i = 0; i < n_items; i++)
        body[n_head + i] = i + n_items % 3 < n_items ? "{},"[i % 3] : ' ';
    return (struct hostile_bytes){ (const uint8_t *)text, len + BODY_LEN };
}

/* A ClientHello of 128 KiB begins, in records of 1 KiB. */
static const uint8_t hello_start[] = "\26\3\1\0\4\1\2\0\0", hello_unit[1029] = "\26\3\1\4\0";

/* The kinds for a port of HTTP. @return how many */
static size_t http_kinds(const struct target *t, struct hostile_kind *out)
{
    static const char head[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n";
    static char spaces[4096];
    const struct hostile_bytes plain = text_bytes(
        sw_printf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess\r\n\r\n",
                  t->greedy ? t->greedy : "/healthz"));
    const char *large = t->at.tls    ? "POST /mutate-pod?timeout=10s"
                        : t->endless ? "POST /api/v1/namespaces/default/configmaps"
                                     : "POST /filter";
    memset(spaces, ' ', sizeof spaces);
    const struct hostile_kind kinds[] = {
        { .name = "silent", .manner = HOSTILE_DUMB },
        { .name = "idle",
          .manner = HOSTILE_HOLD,
          .start = t->at.tls ? (struct hostile_bytes){ NULL, 0 } : plain },
        { .name = "slow", .manner = HOSTILE_TRICKLE, .unit = text_bytes("GET /metrics HTT") },
        { .name = "header",
          .manner = HOSTILE_POUR,
          .start = text_bytes(head),
          .unit = text_bytes("a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n") },
        { .name = "body",
          .manner = HOSTILE_POUR,
          .start = text_bytes(
              sw_printf("%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        "Content-Length: 3145000\r\n\r\n",
                        large)),
          .unit = { (const uint8_t *)spaces, sizeof spaces },
          .max_sent = 3100000 },
        { .name = "tree", .manner = HOSTILE_ASK, .unit = tree_request(large) },
        { .name = "unread", .manner = HOSTILE_POUR, .unit = plain },
        { .name = "busy", .manner = HOSTILE_ASK, .unit = plain },
        { .name = "connects", .manner = HOSTILE_AGAIN },
    };
    const struct hostile_kind of_tls[] = {
        { .name = "hello",
          .manner = HOSTILE_POUR,
          .is_raw = true,
          .start = { hello_start, sizeof hello_start - 1 },
          .unit = { hello_unit, sizeof hello_unit } },
        { .name = "update", .manner = HOSTILE_UPDATE },
    };
    size_t n = SW_COUNT(kinds);
    memcpy(out, kinds, sizeof kinds);
    if (t->at.tls) {
        memcpy(out + n, of_tls, sizeof of_tls);
        n += SW_COUNT(of_tls);
    }
    if (t->endless)
        out[n++] = (struct hostile_kind){
            .name = "calls",
            .manner = HOSTILE_HOLD,
            .start = text_bytes(sw_printf("GET %s HTTP/1.1\r\nHost: x\r\n\r\n", t->endless)),
        };
    return n;
}

/* ---- honest clients ----------------------------------------------------------------------------
 */

struct honest {
    struct wire wire;
    bool watches; /* gRPC: it has the list of devices, as kubelet has, which goes on */
    size_t n_calls, len;
    char answer[1 << 20]; /* of gRPC also what came behind the answer before */
};

static bool http_is_complete(const char *text, size_t len)
{
    const char *body = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "content-length: ");
    return body && length && length < body &&
           len >= (size_t)(body + 4 - text) + (size_t)strtol(length + 16, NULL, 10);
}

/* The bytes up to the frame of HEADERS that ends a stream; 0: it has not come. */
static size_t grpc_answer_len(const uint8_t *bytes, size_t len)
{
    for (size_t at = 0, next; at + 9 <= len; at = next) {
        next = at + 9 + ((size_t)bytes[at] << 16 | (size_t)bytes[at + 1] << 8 | bytes[at + 2]);
        if (bytes[at + 3] == 1 && (bytes[at + 4] & 1))
            return next <= len ? next : 0;
    }
    return 0;
}

static bool send_all(struct honest *h, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        const long n = wire_write(&h->wire, (const char *)bytes + at, len - at);
        if (n <= 0) /* its time is up, too */
            return false;
        at += (size_t)n;
    }
    return true;
}

static bool send_request(struct honest *h, const struct target *t)
{
    if (t->request)
        return send_all(h, t->request, strlen(t->request));
    uint8_t call[512];
    const struct hostile_bytes unit = BYTES(options_call);
    if (h->n_calls == 0 && (!send_all(h, preface, PREFACE_LEN) ||
                            (h->watches && !send_all(h, watch_call, sizeof watch_call - 1))))
        return false;
    hostile_number(&unit, h->n_calls++, call);
    return send_all(h, call, unit.len);
}

/* Take what has come as the answer, if it is whole. */
static bool take_answer(struct honest *h, const struct target *t)
{
    const size_t n = t->request ? http_is_complete(h->answer, h->len) * h->len
                                : grpc_answer_len((const uint8_t *)h->answer, h->len);
    if (!t->request && n)
        memmove(h->answer, h->answer + n, h->len - n);
    h->len -= n;
    return n;
}

/* @return whether the whole answer came, and it is a good one */
static bool receive(struct honest *h, const struct target *t)
{
    do {
        const long n = wire_read(&h->wire, h->answer + h->len, sizeof h->answer - 1 - h->len);
        if (n <= 0)
            return false;
        h->len += (size_t)n;
        h->answer[h->len] = '\0';
    } while (!take_answer(h, t));
    return !t->request || strncmp(h->answer, "HTTP/1.1 20", 11) == 0;
}

static bool connect_to(struct honest *h, const struct target *t)
{
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    wire_close(&h->wire);
    h->n_calls = h->len = 0;
    for (const double end = now_s() + PATIENCE_S; now_s() < end; (void)usleep(1000)) {
        if (!wire_open(&h->wire, &t->at, INADDR_LOOPBACK, 0))
            continue; /* refused: as a client, try again */
        (void)setsockopt(h->wire.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        (void)setsockopt(h->wire.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (wire_handshake(&h->wire) > 0)
            return true;
        wire_close(&h->wire);
    }
    return false;
}

static bool ask(struct honest *h, const struct target *t)
{
    return (h->wire.fd >= 0 || connect_to(h, t)) && send_request(h, t) && receive(h, t);
}

/* ---- measuring ---------------------------------------------------------------------------------
 */

struct figures {
    double kept[N_KEPT], fresh[N_NEW];
    int n_failed;
};

static void one_request(struct figures *f, struct honest *h, const struct target *t, double *took_s)
{
    const double begin = now_s();
    if (!ask(h, t)) {
        f->n_failed++;
        wire_close(&h->wire);
    }
    *took_s = now_s() - begin;
}

/* @kept: 4 connections; with gRPC one, as kubelet has. */
static void measure(struct figures *f, struct honest *kept, const struct target *t)
{
    static struct honest fresh = { .wire.fd = -1 };
    for (int i = 0; i < N_KEPT; i++) {
        (void)usleep(2000);
        one_request(f, &kept[t->request ? i % 4 : 0], t, &f->kept[i]);
    }
    for (int i = 0; i < N_NEW; i++) {
        (void)usleep(2000);
        wire_close(&fresh.wire);
        one_request(f, &fresh, t, &f->fresh[i]);
    }
    wire_close(&fresh.wire);
    qsort(f->kept, N_KEPT, sizeof f->kept[0], by_value);
    qsort(f->fresh, N_NEW, sizeof f->fresh[0], by_value);
}

static void beside(const struct bench *b, const struct target *t, const struct hostile_kind *kind)
{
    static struct honest kept[4];
    static struct figures f;
    pid_t pids[HOSTILE_PEERS] = { 0 };
    f.n_failed = 0;
    for (int i = 0; i < 4; i++) {
        kept[i].wire.fd = -1;
        kept[i].watches = !t->request;
        if (!t->request && i)
            continue;
        if (!ask(&kept[i], t))
            die(sw_printf("%s does not answer: %.200s", t->name, kept[i].answer));
    }
    peak_again(t->pid);
    if (kind) {
        hostile_begin(kind, &t->at, &b->hostile_cpus, pids);
        for (const double end = now_s() + SETTLE_S; now_s() < end;)
            (void)usleep(10000);
    }
    const double begin = now_s(), cpu = cpu_s(t->pid);
    measure(&f, kept, t);
    printf(
        "{\"bench\":\"hostile\",\"port\":\"%s\",\"kind\":\"%s\",\"connections\":%d,\"failed\":%d,"
        "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"new_p50_ms\":%.3f,\"new_p99_ms\":%.3f,"
        "\"cpu_percent\":%.0f,\"peak_mib\":%.1f,\"target\":{\"p99_ms\":8,\"peak_mib\":24}}\n",
        t->name, kind ? kind->name : "none", kind ? HOSTILE_CONNS : 0, f.n_failed,
        f.kept[N_KEPT / 2] * 1e3, f.kept[N_KEPT * 99 / 100] * 1e3, f.fresh[N_NEW / 2] * 1e3,
        f.fresh[N_NEW * 99 / 100] * 1e3, (cpu_s(t->pid) - cpu) / (now_s() - begin) * 100,
        (double)rss_kib(t->pid, "VmHWM:") / 1024);
    (void)fflush(stdout);
    for (int i = 0; i < HOSTILE_PEERS; i++)
        end_process(pids[i], SIGKILL);
    for (int i = 0; i < 4; i++)
        wire_close(&kept[i].wire);
}

static void beside_all(const struct bench *b, const struct target *t)
{
    struct hostile_kind kinds[16];
    if (b->only_port && strcmp(b->only_port, t->name) != 0)
        return;
    const size_t n = t->request ? http_kinds(t, kinds) : grpc_kinds(kinds);
    beside(b, t, NULL);
    for (size_t i = 0; i < n; i++)
        if (!b->only_kind || strcmp(b->only_kind, kinds[i].name) == 0)
            beside(b, t, &kinds[i]);
}

/* ---- the programs ------------------------------------------------------------------------------
 */

static int free_port(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&a, len) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        die("no free port");
    (void)close(fd);
    return ntohs(a.sin_port);
}

static pid_t start(char *const argv[])
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    (void)execv(argv[0], argv);
    _exit(127);
}

static void wait_for_port(const struct wire_server *at, const char *who)
{
    struct wire w;
    for (const double end = now_s() + PATIENCE_S; now_s() < end; (void)usleep(10000))
        if (wire_open(&w, at, INADDR_LOOPBACK, 0)) {
            wire_close(&w);
            return;
        }
    die(sw_printf("%s does not listen", who));
}

/* The answer to a POST of @body to the API server; the caller's. */
static struct json_object *post(const struct bench *b, const char *path, const char *body)
{
    static struct honest h = { .wire.fd = -1 };
    SW_AUTO_CHARS *request = sw_printf(
        "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        path, strlen(body), body);
    const struct target t = { .at = b->api, .request = request };
    struct json_object *doc = NULL;
    wire_close(&h.wire);
    if (!ask(&h, &t))
        die(sw_printf("%s: %.300s", path, h.answer));
    const char *text = strstr(h.answer, "\r\n\r\n") + 4;
    (void)!sw_json_parse(text, strlen(text), NULL, &doc, NULL);
    return doc;
}

static void make(const struct bench *b, const char *path, const char *body)
{
    json_object_put(post(b, path, body));
}

static void make_crds(const struct bench *b)
{
    static const char *const files[] = { "deploy/crds/sro.openshift.io_specialresources.yaml",
                                         "deploy/crds/sro.openshift.io_specialresourcemodules.yaml",
                                         "deploy/crds/sro.openshift.io_preflightvalidations.yaml",
                                         "deploy/crds/inference.redhat.com_dasoperators.yaml",
                                         "states/scheduler/crds/allocationclaims.yaml",
                                         "states/scheduler/crds/nodeaccelerators.yaml" };
    for (size_t i = 0; i < SW_COUNT(files); i++) {
        SW_AUTO_CHARS *text = NULL;
        SW_AUTO_JSON *doc = NULL;
        size_t len;
        if (sw_file_read(files[i], 1 << 20, &text, &len, NULL) < 0 ||
            sw_yaml_parse(text, len, NULL, &doc, NULL) < 0)
            die(files[i]);
        SW_AUTO_CHARS *body = sw_strdup(json_object_to_json_string(doc));
        make(b, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body);
    }
}

/* An account that may read metrics. @return its token */
static char *make_reader(const struct bench *b)
{
    make(b, "/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"reader\"}}");
    make(b, "/apis/rbac.authorization.k8s.io/v1/clusterroles",
         "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"nonResourceURLs\":[\"/metrics\"],"
         "\"verbs\":[\"get\"]}]}");
    make(b, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         "{\"metadata\":{\"name\":\"reader\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s."
         "io\",\"kind\":\"ClusterRole\",\"name\":\"reader\"},\"subjects\":[{\"kind\":"
         "\"ServiceAccount\",\"namespace\":\"default\",\"name\":\"reader\"}]}");
    SW_AUTO_JSON *doc = post(b, "/api/v1/namespaces/default/serviceaccounts/reader/token",
                             "{\"spec\":{\"expirationSeconds\":3600}}");
    return sw_strdup(sw_json_str(doc, "", "status", "token", NULL));
}

static void start_emulator(struct bench *b)
{
    SW_AUTO_CHARS *listen = sw_printf("--listen=127.0.0.1:%d", b->api.port = free_port());
    SW_AUTO_CHARS *out = sw_printf("--kubeconfig-out=%s/kubeconfig", b->dir);
    b->emulator = start(
        (char *[]){ "build/slipway", "emulate", listen, out, "--log-level=error", NULL, NULL });
    wait_for_port(&b->api, "the emulator");
    make_crds(b);
    make(b, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"das-operator\"}}");
    make(b, "/api/v1/nodes", "{\"metadata\":{\"name\":\"node\"}}");
}

static void serve_register(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                           size_t len SW_UNUSED, void *arg)
{
    (*(int *)arg)++;
    sw_grpc_call_send(call, NULL, 0);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

/* The device plugin, and a kubelet with which it registers. */
static void start_plugin(struct bench *b, int health)
{
    static const struct sw_grpc_method methods[] = { { "/v1beta1.Registration/Register",
                                                       serve_register } };
    int n_registered = 0;
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_grpc_server *kubelet = NULL;
    SW_AUTO_CHARS *kubeconfig = sw_printf("--kubeconfig=%s/kubeconfig", b->dir);
    SW_AUTO_CHARS *folder = sw_printf("%s/kubelet", b->dir);
    SW_AUTO_CHARS *plugins = sw_printf("%s/device-plugins", folder);
    SW_AUTO_CHARS *dir = sw_printf("--kubelet-dir=%s", folder);
    SW_AUTO_CHARS *cdi = sw_printf("--cdi-dir=%s/cdi", b->dir);
    SW_AUTO_CHARS *journal = sw_printf("--journal-dir=%s/journal", b->dir);
    SW_AUTO_CHARS *at = sw_printf("--health-probe-bind-address=127.0.0.1:%d", health);
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet.sock", plugins);
    if (mkdir(folder, 0700) != 0 || mkdir(plugins, 0700) != 0 ||
        sw_grpc_server_open(loop,
                            &(struct sw_grpc_server_opts){ .socket = socket,
                                                           .methods = methods,
                                                           .n_methods = SW_COUNT(methods),
                                                           .arg = &n_registered },
                            &kubelet, NULL) < 0)
        die("no kubelet");
    b->plugin = start((char *[]){ "build/slipway-device-plugin", "--node-name=node",
                                  "--emulated-mode", "--api=deviceplugin", "--log-level=error",
                                  kubeconfig, dir, cdi, journal, at, NULL, NULL });
    for (const double end = now_s() + PATIENCE_S; n_registered < 7 && now_s() < end;)
        sw_loop_step(loop, 100);
    if (n_registered < 7)
        die("the device plugin does not register");
    sw_loop_step(loop, 100);
    /* the kubelet does not go away: that would make the plugin begin anew */
}

/* ---- the ports ---------------------------------------------------------------------------------
 */

static void bench_emulator(struct bench *b)
{
    beside_all(b, &(struct target){ "emulator", b->emulator, b->api,
                                    "GET /api/v1/namespaces/default HTTP/1.1\r\nHost: x\r\n\r\n",
                                    "/openapi/v2", "/api/v1/pods?watch=1" });
}

static void bench_webhook(struct bench *b, SSL_CTX *tls)
{
    SW_AUTO_CHARS *review = NULL;
    size_t len;
    struct wire_server at = { .port = free_port(), .tls = tls };
    SW_AUTO_CHARS *port = sw_printf("--port=%d", at.port);
    SW_AUTO_CHARS *cert = sw_printf("--tlscert=%s", b->cert),
                  *key = sw_printf("--tlskey=%s", b->key);
    if (sw_file_read("test/bench/admission.json", 1 << 20, &review, &len, NULL) < 0)
        die("test/bench/admission.json");
    b->webhook = start((char *[]){ "build/slipway-webhook", "--listen=127.0.0.1", "--drain=0",
                                   "--log-level=error", port, cert, key, NULL, NULL });
    wait_for_port(&at, "the webhook");
    SW_AUTO_CHARS *request = sw_printf(
        "POST /mutate-pod?timeout=10s HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        len, review);
    beside_all(b, &(struct target){ "webhook", b->webhook, at, request, NULL, NULL });
}

static const char healthz[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

static void bench_controller(struct bench *b, SSL_CTX *tls, const char *token)
{
    struct wire_server metrics = { .port = free_port(), .tls = tls },
                       health = { .port = free_port() };
    SW_AUTO_CHARS *kubeconfig = sw_printf("--kubeconfig=%s/kubeconfig", b->dir);
    SW_AUTO_CHARS *m = sw_printf("--metrics-bind-address=127.0.0.1:%d", metrics.port);
    SW_AUTO_CHARS *h = sw_printf("--health-probe-bind-address=127.0.0.1:%d", health.port);
    SW_AUTO_CHARS *cache = sw_printf("--cache-dir=%s/cache", b->dir);
    SW_AUTO_CHARS *request = sw_printf(
        "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token);
    b->controller = start((char *[]){ "build/slipway", "controller", "--no-registries",
                                      "--log-level=error", kubeconfig, m, h, cache, NULL, NULL });
    wait_for_port(&metrics, "the controller");
    wait_for_port(&health, "the controller");
    beside_all(b, &(struct target){ "controller-metrics", b->controller, metrics, request,
                                    "/metrics", NULL });
    beside_all(b,
               &(struct target){ "controller-health", b->controller, health, healthz, NULL, NULL });
}

static void bench_scheduler(struct bench *b)
{
    struct wire_server extender = { .port = free_port() }, probes = { .port = free_port() };
    SW_AUTO_CHARS *kubeconfig = sw_printf("--kubeconfig=%s/kubeconfig", b->dir);
    SW_AUTO_CHARS *port = sw_printf("--port=%d", extender.port);
    SW_AUTO_CHARS *h = sw_printf("--health-probe-bind-address=127.0.0.1:%d", probes.port);
    static const char body[] =
        "{\"pod\":{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"namespace\":\"default\"},"
        "\"spec\":{\"schedulerName\":\"das-scheduler\",\"containers\":[{"
        "\"name\":\"c\",\"image\":\"x\"}]}},\"nodenames\":[\"node\"]}";
    SW_AUTO_CHARS *request = sw_printf(
        "POST /filter HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        sizeof body - 1, body);
    b->scheduler = start((char *[]){ "build/slipway-scheduler", "--log-level=error", kubeconfig,
                                     port, h, NULL, NULL });
    wait_for_port(&extender, "the scheduler");
    wait_for_port(&probes, "the scheduler");
    beside_all(
        b, &(struct target){ "scheduler-extender", b->scheduler, extender, request, NULL, NULL });
    beside_all(b,
               &(struct target){ "scheduler-health", b->scheduler, probes, healthz, NULL, NULL });
}

static void bench_plugin(struct bench *b)
{
    const struct wire_server health = { .port = free_port() };
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet/device-plugins/mig.das.com_1g.5gb.sock", b->dir);
    start_plugin(b, health.port);
    wait_for_port(&health, "the device plugin");
    beside_all(b,
               &(struct target){ "device-plugin-health", b->plugin, health, healthz, NULL, NULL });
    beside_all(b, &(struct target){
                      "device-plugin-grpc", b->plugin, { .socket = socket }, NULL, NULL, NULL });
}

static int remove_one(const char *path, const struct stat *st SW_UNUSED, int type SW_UNUSED,
                      struct FTW *ftw SW_UNUSED)
{
    return remove(path);
}

int main(int argc, char **argv)
{
    struct bench b = { .dir = "/tmp/slipway-bench-XXXXXX",
                       .only_port = argc > 1 ? argv[1] : NULL,
                       .only_kind = argc > 2 ? argv[2] : NULL };
    (void)signal(SIGPIPE, SIG_IGN);
    b.hostile_cpus = hostile_pin();
    if (!mkdtemp(b.dir))
        return 1;
    b.cert = sw_printf("%s/tls.crt", b.dir);
    b.key = sw_printf("%s/tls.key", b.dir);
    write_certificate(b.cert, b.key);
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    start_emulator(&b);
    SW_AUTO_CHARS *token = make_reader(&b);
    bench_webhook(&b, tls);
    bench_controller(&b, tls, token);
    bench_scheduler(&b);
    bench_plugin(&b);
    bench_emulator(&b);
    const pid_t pids[] = { b.plugin, b.scheduler, b.controller, b.webhook, b.emulator };
    for (size_t i = 0; i < SW_COUNT(pids); i++)
        end_process(pids[i], SIGTERM);
    SSL_CTX_free(tls);
    free(b.cert);
    free(b.key);
    return nftw(b.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0;
}
