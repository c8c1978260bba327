#include "cli/cluster/endpoint.h"

#include "base/base.h"
#include "base/loop.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MAX_HEADER_BYTES = 8192, TIMEOUT_S = 10 };

struct sw_endpoint {
    struct evhttp *http;
    const struct sw_endpoint_path *paths;
    void *arg;
};

static void on_request(struct evhttp_request *req, void *arg)
{
    struct sw_endpoint *e = arg;
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    for (const struct sw_endpoint_path *p = e->paths; p->path; p++) {
        if (!sw_streq(path, p->path))
            continue;
        int status = 200;
        SW_AUTO_CHARS *body = p->answer(e->arg, &status);
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
                                "text/plain; version=0.0.4; charset=utf-8");
        (void)evbuffer_add(evhttp_request_get_output_buffer(req), body, strlen(body));
        evhttp_send_reply(req, status, NULL, NULL);
        return;
    }
    evhttp_send_error(req, HTTP_NOTFOUND, NULL);
}

static int parse_address(const char *address, char **host, long *port, struct sw_err *err)
{
    const char *colon = strrchr(address, ':');
    char *end = NULL;
    *port = colon ? strtol(colon + 1, &end, 10) : -1;
    if (!colon || end == colon + 1 || *end || *port < 0 || *port > 65535)
        return sw_err_set(err, SW_INVALID, "'%s' is not an address such as :8080 or 127.0.0.1:8080",
                          address);
    size_t len = (size_t)(colon - address);
    bool brackets = len >= 2 && address[0] == '[' && address[len - 1] == ']';
    *host = len == 0 ? sw_strdup("::") : sw_strndup(address + brackets, len - 2 * (size_t)brackets);
    return 0;
}

/* Any port was wanted: which one it became. */
static void tell_port(struct evhttp_bound_socket *socket, const char *host, const char *path)
{
    struct sockaddr_storage bound = { 0 };
    socklen_t len = sizeof bound;
    if (getsockname(evhttp_bound_socket_get_fd(socket), (struct sockaddr *)&bound, &len) != 0)
        return;
    int port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                 : ((struct sockaddr_in *)&bound)->sin_port);
    SW_AUTO_CHARS *address = sw_printf(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
    sw_log(SW_LOG_INFO, "listening", "address", address, "for", path, NULL);
}

int sw_endpoint_open(struct sw_loop *loop, const char *address,
                     const struct sw_endpoint_path *paths, void *arg, struct sw_endpoint **out,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *host = NULL;
    long port;
    *out = NULL;
    if (sw_streq(address, "0"))
        return 0;
    int rc = parse_address(address, &host, &port, err);
    if (rc < 0)
        return rc;
    struct sw_endpoint *e = sw_zalloc(1, sizeof *e);
    *e = (struct sw_endpoint){ evhttp_new(sw_loop_base(loop)), paths, arg };
    evhttp_set_allowed_methods(e->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(e->http, MAX_HEADER_BYTES);
    evhttp_set_max_body_size(e->http, 0);
    evhttp_set_timeout(e->http, TIMEOUT_S);
    evhttp_set_gencb(e->http, on_request, e);
    struct evhttp_bound_socket *socket = evhttp_bind_socket_with_handle(e->http, host,
                                                                        (ev_uint16_t)port);
    if (!socket && address[0] == ':') /* all addresses: there is no IPv6 */
        socket = evhttp_bind_socket_with_handle(e->http, "0.0.0.0", (ev_uint16_t)port);
    if (!socket) {
        sw_endpoint_close(e);
        return sw_err_set(err, SW_UNAVAILABLE, "cannot listen on '%s'", address);
    }
    if (port == 0)
        tell_port(socket, host, paths->path);
    *out = e;
    return 0;
}

void sw_endpoint_close(struct sw_endpoint *e)
{
    if (!e)
        return;
    evhttp_free(e->http);
    free(e);
}
