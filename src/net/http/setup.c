/* Sets libcurl's options for one request. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/base.h"
#include "net/http/internal.h"
#include "net/http/tls.h"

enum { UNACKED_MS = 20000 };

/* As libcurl itself opens one; to which port is kept, which tells whether a proxy is used. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose SW_UNUSED,
                                 struct curl_sockaddr *at)
{
    struct sw_http *http = arg;
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to = { 0 };
    (void)memcpy(&to, &at->addr, at->addrlen < sizeof to ? at->addrlen : sizeof to);
    http->opened_port = ntohs(at->family == AF_INET6 ? to.v6.sin6_port : to.v4.sin_port);
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

/** Notice a server that has vanished (no FIN, no RST) although nothing times out by itself there.
 */
static int on_new_socket(void *arg SW_UNUSED, curl_socket_t fd, curlsocktype type SW_UNUSED)
{
    unsigned unacked_ms = UNACKED_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, sizeof unacked_ms);
    return CURL_SOCKOPT_OK; /* without it the deadlines still hold */
}

static void set_server(CURL *easy, struct sw_http_transfer *t)
{
    const struct sw_http_opts *o = &t->http->opts;
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, o->user_agent);
    if (o->username) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        (void)curl_easy_setopt(easy, CURLOPT_USERNAME, o->username);
        (void)curl_easy_setopt(easy, CURLOPT_PASSWORD, o->password ? o->password : "");
    }
    if (o->proxy_url)
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, o->proxy_url);
    if (o->direct)
        (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    if (o->connect_to) {
        t->connect_to = curl_slist_append(NULL, o->connect_to);
        (void)curl_easy_setopt(easy, CURLOPT_CONNECT_TO, t->connect_to);
    }
    if (o->tls)
        sw_http_tls_setup(o->tls, easy);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    (void)curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t->http);
}

static void set_redirects(CURL *easy, const struct sw_http_spec *spec, bool tls)
{
    bool tls_only = tls && (!spec->may_downgrade || http_gate);
#if LIBCURL_VERSION_NUM >= 0x075500
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, tls_only ? "https" : "http,https");
#else
    long both = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS, both);
    (void)curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, tls_only ? (long)CURLPROTO_HTTPS : both);
#endif
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, spec->max_redirects ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)spec->max_redirects);
}

static void set_body(CURL *easy, const struct sw_http_spec *spec)
{
    bool head = sw_streq(spec->method, "HEAD");
    bool may_have_body = !head && !sw_streq(spec->method, "GET") &&
                         !sw_streq(spec->method, "DELETE");
    if (head)
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (spec->body || may_have_body) { /* an empty one says so: "Content-Length: 0" */
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body_len);
        (void)curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, spec->body ? spec->body : "");
    }
    if (!head)
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, spec->method);
}

void sw_http_setup(struct sw_http_transfer *t, const struct sw_http_spec *spec)
{
    CURL *easy = t->easy;
    set_server(easy, t);
    t->headers = curl_slist_append(NULL, "Expect:"); /* no round trip before the body */
    for (size_t i = 0; spec->headers && spec->headers[i]; i++)
        t->headers = curl_slist_append(t->headers, spec->headers[i]);
    (void)curl_easy_setopt(easy, CURLOPT_URL, spec->url);
    /* HTTP/2 is agreed on in the TLS handshake: the first ones wait to learn whether they can share
     * the connection. Without TLS there is nothing to wait for. */
    bool tls = sw_starts_with(spec->url, "https:");
    t->tls = tls;
    long version = tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
    (void)curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    set_body(easy, spec);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    set_redirects(easy, spec, tls);
    /* libcurl reads http_proxy in lower case only, since a CGI's request header could set
     * HTTP_PROXY; other clients read that too where they are no CGI */
    const char *proxy = getenv("HTTP_PROXY");
    if (!tls && !t->http->opts.proxy_url && proxy && !getenv("http_proxy") &&
        !getenv("REQUEST_METHOD"))
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, proxy);
    /* Transfers that share an HTTP/2 connection keep libcurl's own size: with buffers of several
     * sizes, 7.88.1 was seen (by valgrind) to write a frame behind the end of a smaller one. */
    if (spec->buffer_bytes && !tls)
        (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, spec->buffer_bytes);
}
