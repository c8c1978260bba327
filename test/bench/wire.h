#pragma once
/* A connection to a server under attack: TCP with or without TLS, or a unix socket. Both the
 * hostile and the honest clients of hostile.c stand on it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/** What is connected to, and how. */
struct wire_server {
    int port;           /* of loopback; 0: @socket */
    const char *socket; /* a path */
    SSL_CTX *tls;       /* NULL: none */
};

/** A connection. */
struct wire {
    int fd; /* -1: closed */
    SSL *ssl;
};

static inline void wire_close(struct wire *w)
{
    SSL_free(w->ssl);
    if (w->fd >= 0)
        (void)close(w->fd);
    *w = (struct wire){ .fd = -1 };
}

static inline int wire_connect(int fd, const struct wire_server *to, uint32_t from)
{
    if (to->socket) {
        struct sockaddr_un path = { .sun_family = AF_UNIX };
        (void)snprintf(path.sun_path, sizeof path.sun_path, "%s", to->socket);
        return connect(fd, (const struct sockaddr *)&path, sizeof path);
    }
    const struct sockaddr_in me = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(from) };
    const struct sockaddr_in it = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)to->port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    (void)bind(fd, (const struct sockaddr *)&me, sizeof me);
    return connect(fd, (const struct sockaddr *)&it, sizeof it);
}

/** Connect from the address @from of loopback; without blocking where @flags is SOCK_NONBLOCK. The
 * handshake comes with the first byte. @return whether it began */
static inline bool wire_open(struct wire *w, const struct wire_server *to, uint32_t from, int flags)
{
    *w = (struct wire){ .fd = socket(to->socket ? AF_UNIX : AF_INET,
                                     SOCK_STREAM | SOCK_CLOEXEC | flags, 0) };
    if (w->fd < 0 || (wire_connect(w->fd, to, from) != 0 && errno != EINPROGRESS)) {
        wire_close(w);
        return false;
    }
    const int on = 1;
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* no such thing: unix */
    if (to->tls) {
        w->ssl = SSL_new(to->tls);
        (void)SSL_set_mode(w->ssl,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        (void)SSL_set_fd(w->ssl, w->fd);
        SSL_set_connect_state(w->ssl);
    }
    return true;
}

/* What an answer of OpenSSL means: as wire_read(). */
static inline long wire_result(const struct wire *w, int n)
{
    const int why = n > 0 ? SSL_ERROR_NONE : SSL_get_error(w->ssl, n);
    return n > 0 ? n : why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

/** @return 1: it is done; 0: not yet; -1: the connection is over */
static inline long wire_handshake(struct wire *w)
{
    return w->ssl ? wire_result(w, SSL_do_handshake(w->ssl)) : 1;
}

/** @return the number of bytes; 0: none now; -1: the connection is over */
static inline long wire_read(struct wire *w, void *to, size_t len)
{
    if (w->ssl)
        return wire_result(w, SSL_read(w->ssl, to, (int)len));
    const ssize_t n = recv(w->fd, to, len, 0);
    return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
}

/** As wire_read(). */
static inline long wire_write(struct wire *w, const void *from, size_t len)
{
    if (w->ssl)
        return wire_result(w, SSL_write(w->ssl, from, (int)len));
    const ssize_t n = send(w->fd, from, len, MSG_NOSIGNAL);
    return n >= 0 ? n : errno == EAGAIN || errno == ENOTCONN ? 0 : -1;
}

/** Whether the other side has ended it; nothing is taken from it. */
static inline bool wire_is_over(const struct wire *w)
{
    char byte;
    const ssize_t n = recv(w->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN);
}
