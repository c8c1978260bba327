#include "kube/metrics/metrics_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/metrics/access.h"
#include "net/serve/serve.h"

enum { TIMEOUT_MS = 10 * 1000, MAX_HEAD = 16 * 1024, MAX_CONNS = 64 };

struct sw_metrics_server {
    struct sw_metrics_server_opts opts;
    struct sw_access *access; /* NULL: everybody is served */
    struct sw_serve *serve;
    char *cert, *key;
};

/* "Bearer TOKEN" as sent. NULL: something else. Borrowed from @header. */
static const char *bearer_of(const char *header)
{
    if (!header || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    return header + 7 + strspn(header + 7, " ");
}

static const struct sw_metrics_page *page_of(const struct sw_metrics_server *s,
                                             const struct sw_serve_request *r)
{
    for (size_t i = 0; i < s->opts.n_pages; i++)
        if (strlen(s->opts.pages[i].path) == r->path_len &&
            memcmp(s->opts.pages[i].path, r->path, r->path_len) == 0)
            return &s->opts.pages[i];
    return NULL;
}

static void on_get(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct sw_metrics_server *s = arg;
    const struct sw_metrics_page *page = page_of(s, r);
    if (!page) {
        sw_serve_text(reply, 404, "not found\n");
        return;
    }
    if (!s->access) {
        page->serve(reply, s->opts.arg);
        return;
    }
    SW_AUTO_CHARS *header = sw_serve_header(r, "Authorization");
    if (!header) /* forwarded by the API server, which keeps that one */
        header = sw_serve_header(r, "X-Slipway-Authorization");
    const struct sw_access_request request = { .token = bearer_of(header),
                                               .verb = r->is_head ? "head" : "get",
                                               .path = page->path };
    sw_access_ask(s->access, &request, reply, page->serve, s->opts.arg);
    if (header)
        explicit_bzero(header, strlen(header));
}

static const struct sw_serve_route routes[] = { { "GET", NULL, on_get } };

int sw_metrics_server_open(struct sw_loop *loop, const struct sw_metrics_server_opts *opts,
                           struct sw_metrics_server **out, struct sw_err *err)
{
    const struct sw_metrics_flags *flags = opts->flags;
    const char *address = sw_text_or(flags->address, "0");
    *out = NULL;
    if (sw_streq(address, "0"))
        return 0;
    struct sw_metrics_server *s = sw_zalloc(1, sizeof *s);
    struct sw_serve_opts serve = { .routes = routes,
                                   .n_routes = SW_COUNT(routes),
                                   .arg = s,
                                   .request_ms = TIMEOUT_MS,
                                   .max_head_bytes = MAX_HEAD,
                                   .max_body_bytes = 1,
                                   .max_conns = MAX_CONNS };
    s->opts = *opts;
    if (flags->secure) {
        serve.tls = &sw_serve_openssl;
        serve.own_name = opts->program;
        serve.min_version = flags->min_version;
        serve.cipher_suites = flags->suites;
        if (sw_text_or(flags->cert_dir, NULL)) {
            serve.cert_file = s->cert = sw_printf("%s/%s", flags->cert_dir, flags->cert_name);
            serve.key_file = s->key = sw_printf("%s/%s", flags->cert_dir, flags->cert_key);
        }
        s->access = sw_access_new(&(struct sw_access_opts){ .loop = loop,
                                                            .kube = opts->kube,
                                                            .kubeconfig = opts->kubeconfig,
                                                            .program = opts->program });
    }
    int rc = sw_serve_open_at(loop, address, &serve, &s->serve, err);
    if (rc < 0) {
        sw_metrics_server_close(s);
        return sw_err_wrap(err, rc, "metrics");
    }
    char port[16];
    (void)snprintf(port, sizeof port, "%d", sw_serve_port(s->serve));
    sw_log(SW_LOG_INFO, "serving metrics", "at", port, "secure", flags->secure ? "true" : "false",
           NULL);
    *out = s;
    return 0;
}

int sw_metrics_server_port(const struct sw_metrics_server *server)
{
    return server ? sw_serve_port(server->serve) : 0;
}

void sw_metrics_server_close(struct sw_metrics_server *server)
{
    if (!server)
        return;
    sw_serve_close(server->serve);
    sw_access_free(server->access);
    free(server->cert);
    free(server->key);
    free(server);
}
