#include "net/serve/listen.h"

#include <errno.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/serve/serve.h"

/* @return the socket, or -1 */
static int bind_to(const struct sockaddr *addr, socklen_t len)
{
    const int on = 1, off = 0;
    const int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0;
    if (ok && addr->sa_family == AF_INET6) /* whatever the system's default: IPv4 comes in, too */
        ok = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
    if (ok && bind(fd, addr, len) == 0)
        return fd;
    const int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}

/* 0.0.0.0 is all addresses, as in Go's servers: clusters may have IPv6 alone. */
static int bind_to_all(int port)
{
    const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    const struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    const int fd = bind_to((const struct sockaddr *)&v6, sizeof v6);
    if (fd >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL))
        return fd;
    return bind_to((const struct sockaddr *)&v4, sizeof v4);
}

int sw_serve_listen(struct sw_loop *loop, const char *address, int port,
                    evconnlistener_cb on_accept, void *arg, struct evconnlistener **out,
                    struct sw_err *err)
{
    address = address ? address : "0.0.0.0";
    struct sockaddr_storage addr = { 0 };
    int len = sizeof addr;
    const bool v6 = strchr(address, ':') != NULL && address[0] != '[';
    SW_AUTO_CHARS *text = sw_printf(v6 ? "[%s]:%d" : "%s:%d", address, port);
    /* port 0 cannot be said in text */
    SW_AUTO_CHARS *bare = sw_printf(v6 ? "[%s]" : "%s", address);
    if (evutil_parse_sockaddr_port(bare, (struct sockaddr *)&addr, &len) != 0 || port < 0 ||
        port > 65535)
        return sw_err_set(err, SW_INVALID, "'%s' is no address to listen on", text);
    struct sockaddr_in *in = (struct sockaddr_in *)&addr;
    const bool all = addr.ss_family == AF_INET && in->sin_addr.s_addr == htonl(INADDR_ANY);
    if (addr.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&addr)->sin6_port = htons((uint16_t)port);
    else
        in->sin_port = htons((uint16_t)port);
    const int fd = all ? bind_to_all(port) : bind_to((struct sockaddr *)&addr, (socklen_t)len);
    struct evconnlistener *listener = NULL;
    if (fd >= 0)
        listener = evconnlistener_new(sw_loop_base(loop), on_accept, arg,
                                      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 512, fd);
    if (!listener) {
        const int why = errno;
        if (fd >= 0)
            (void)close(fd);
        return sw_err_set(err, why == EACCES ? SW_FORBIDDEN : SW_UNAVAILABLE, "listen on %s: %s",
                          text, strerror(why));
    }
    *out = listener;
    return 0;
}

int sw_serve_listener_port(struct evconnlistener *listener)
{
    struct sockaddr_in6 addr = { 0 }; /* the port is where it is in sockaddr_in */
    socklen_t len = sizeof addr;
    if (getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&addr, &len) != 0)
        return 0;
    return ntohs(addr.sin6_port);
}

int sw_serve_parse_address(const char *text, char **address, int *port, struct sw_err *err)
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    const size_t host_len = colon ? (size_t)(colon - text) : 0;
    char *end;
    const long n = strtol(digits, &end, 10);
    const bool bracketed = host_len >= 2 && text[0] == '[' && text[host_len - 1] == ']';
    if (!*digits || *end || n < 0 || n > 65535 || digits[0] == '+' || digits[0] == '-' ||
        (!bracketed && memchr(text, ':', host_len)))
        return sw_err_set(err, SW_INVALID, "'%s' is no address: expected HOST:PORT or :PORT", text);
    *address = bracketed  ? sw_strndup(text + 1, host_len - 2)
               : host_len ? sw_strndup(text, host_len)
                          : NULL;
    *port = (int)n;
    return 0;
}
