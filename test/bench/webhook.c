/* The admission webhook over TLS 1.3 keep-alive, 1, 8 and 32 connections: admissions a second,
 * latency, the server's CPU each and its memory; the peer's figures beside. One JSON object a line.
 *
 *     webhook [PROGRAM [REVIEW.json]]
 *
 * The server is a process of its own, so that its CPU and memory are its alone. */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "certificate.h"
#include "process.h"

enum { N_ADMISSIONS = 30000, WARM_UP = 500 };

static const struct {
    int conns;
    double rate, p99_ms, cpu_us;
} peer[] = {
    { 1, 1662, 1.9, 686 },
    { 8, 2648, 13.3, 651 },
    { 32, 2262, 84, 612 },
};

static char *request;
static size_t request_len;
static int port;

/* ---- the server --------------------------------------------------------------------------------
 */

/* Start it and read its port from the first lines it logs. */
static pid_t start(const char *program, const char *cert, const char *key)
{
    int fds[2];
    if (pipe(fds) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        SW_AUTO_CHARS *c = sw_printf("--tlscert=%s", cert), *k = sw_printf("--tlskey=%s", key);
        (void)dup2(fds[1], STDERR_FILENO);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)execl(program, program, "--listen=127.0.0.1", "--port=0", "--drain=0", c, k, NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    char buf[4096] = "";
    size_t n = 0;
    ssize_t got;
    const char *at = NULL;
    while (!at && n + 1 < sizeof buf && (got = read(fds[0], buf + n, sizeof buf - 1 - n)) > 0) {
        n += (size_t)got;
        buf[n] = '\0';
        at = strstr(buf, "port=");
    }
    if (!at) {
        (void)fprintf(stderr, "webhook: %s did not start: %s\n", program, buf);
        exit(1);
    }
    port = (int)strtol(at + 5, NULL, 10);
    if (fork() == 0) { /* somebody must read what it logs */
        while (read(fds[0], buf, sizeof buf) > 0)
            continue;
        _exit(0);
    }
    (void)close(fds[0]);
    return pid;
}

/* ---- the client: one thread, one request under way on each connection ---------------------------
 */

struct client {
    SSL *ssl;
    double sent_s;
    size_t need; /* bytes of the answer still to come; 0: its head is not complete */
    char head[2048];
    size_t head_len;
};

struct worker {
    struct client *clients;
    int n_clients;
    int budget; /* admissions to make */
    double *latency_s;
    int n_done, n_bad;
};

static SSL *connect_tls(SSL_CTX *ctx)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        return NULL;
    SSL *ssl = SSL_new(ctx);
    (void)SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) != 1)
        return NULL;
    return ssl;
}

static void send_one(struct client *c)
{
    c->sent_s = now_s();
    c->need = c->head_len = 0;
    if (SSL_write(c->ssl, request, (int)request_len) != (int)request_len)
        exit(1);
}

/* @return true: the answer is complete */
static bool receive(struct worker *w, struct client *c)
{
    const int n = SSL_read(c->ssl, c->head + c->head_len, (int)(sizeof c->head - 1 - c->head_len));
    if (n <= 0) {
        w->n_bad++;
        exit(1);
    }
    c->head_len += (size_t)n;
    c->head[c->head_len] = '\0';
    char *body = strstr(c->head, "\r\n\r\n"), *len = strstr(c->head, "Content-Length: ");
    if (!body || !len)
        return false;
    if (c->head_len < (size_t)(body + 4 - c->head) + (size_t)strtol(len + 16, NULL, 10))
        return false;
    w->n_bad += strncmp(c->head, "HTTP/1.1 200", 12) != 0;
    return true;
}

static void work(struct worker *w)
{
    struct pollfd fds[64];
    int sent = 0;
    for (int i = 0; i < w->n_clients; i++, sent++) {
        fds[i] = (struct pollfd){ SSL_get_fd(w->clients[i].ssl), POLLIN, 0 };
        send_one(&w->clients[i]);
    }
    while (w->n_done < w->budget) {
        if (poll(fds, (nfds_t)w->n_clients, 5000) <= 0)
            exit(1);
        for (int i = 0; i < w->n_clients; i++) {
            struct client *c = &w->clients[i];
            if (!fds[i].revents || !receive(w, c))
                continue;
            w->latency_s[w->n_done++] = now_s() - c->sent_s;
            if (sent < w->budget) {
                send_one(c);
                sent++;
            }
        }
    }
}

static void run(SSL_CTX *ctx, pid_t pid, size_t row, int n, bool print)
{
    struct worker w = { .n_clients = peer[row].conns, .budget = n };
    w.clients = calloc((size_t)w.n_clients, sizeof *w.clients);
    w.latency_s = calloc((size_t)n, sizeof *w.latency_s);
    for (int i = 0; i < w.n_clients; i++)
        if (!(w.clients[i].ssl = connect_tls(ctx)))
            exit(1);
    const double cpu = cpu_s(pid), begin = now_s();
    work(&w);
    const double wall = now_s() - begin, used = cpu_s(pid) - cpu;
    qsort(w.latency_s, (size_t)n, sizeof *w.latency_s, by_value);
    if (print)
        printf("{\"bench\":\"webhook\",\"connections\":%d,\"admissions\":%d,\"failed\":%d,"
               "\"per_s\":%.0f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"cpu_us\":%.1f,\"rss_kib\":%ld,"
               "\"peak_kib\":%ld,\"tls\":\"%s\",\"target\":{\"cpu_us\":65,\"p99_ms\":%.1f,"
               "\"rss_kib\":8192},\"peer\":{\"per_s\":%.0f,\"p99_ms\":%.1f,\"cpu_us\":%.0f}}\n",
               w.n_clients, n, w.n_bad, n / wall, w.latency_s[n / 2] * 1e3,
               w.latency_s[n * 99 / 100] * 1e3, used / n * 1e6, rss_kib(pid, "VmRSS:"),
               rss_kib(pid, "VmHWM:"), SSL_get_version(w.clients[0].ssl), peer[row].p99_ms / 10,
               peer[row].rate, peer[row].p99_ms, peer[row].cpu_us);
    for (int i = 0; i < w.n_clients; i++) {
        (void)close(SSL_get_fd(w.clients[i].ssl));
        SSL_free(w.clients[i].ssl);
    }
    free(w.clients);
    free(w.latency_s);
}

int main(int argc, char **argv)
{
    const char *program = argc > 1 ? argv[1] : "build/slipway-webhook";
    const char *review = argc > 2 ? argv[2] : "test/bench/admission.json";
    SW_ERR(err);
    SW_AUTO_CHARS *body = NULL;
    size_t len;
    (void)signal(SIGPIPE, SIG_IGN);
    if (sw_file_read(review, 1 << 20, &body, &len, &err) < 0) {
        (void)fprintf(stderr, "webhook: %s\n", sw_err_text(&err));
        return 1;
    }
    request = sw_printf("POST /mutate-pod?timeout=10s HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                        len, body);
    request_len = strlen(request);
    char dir[] = "/tmp/slipway-bench-XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    SW_AUTO_CHARS *cert = sw_printf("%s/tls.crt", dir), *key = sw_printf("%s/tls.key", dir);
    write_certificate(cert, key);
    const pid_t pid = start(program, cert, key);
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    printf("{\"bench\":\"webhook-idle\",\"rss_kib\":%ld,\"target_kib\":8192,\"peer_kib\":27341}\n",
           rss_kib(pid, "VmRSS:"));
    run(ctx, pid, 1, WARM_UP, false);
    for (size_t i = 0; i < SW_COUNT(peer); i++)
        run(ctx, pid, i, N_ADMISSIONS, true);
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    SSL_CTX_free(ctx);
    (void)unlink(cert);
    (void)unlink(key);
    (void)rmdir(dir);
    free(request);
    return 0;
}
