#pragma once
/* Hostile connections to a TLS server, of one kind each, from eight addresses of loopback, by a
 * process of its own: what is closed is opened again, at most 2,000 a second. For webhook.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HOSTILE_CONNS = 2000, HOSTILE_ADDRESSES = 8, HOSTILE_OPENS_PER_MS = 2 };

enum hostile_kind {
    HOSTILE_SILENT, /* no byte is sent */
    HOSTILE_IDLE,   /* the handshake, and no more */
    HOSTILE_SLOW,   /* a request of which a byte comes now and then */
    HOSTILE_UNREAD, /* requests for metrics in one piece, no answer is read */
    HOSTILE_BUSY,   /* requests for metrics, one after the other */
    HOSTILE_SHAKES, /* a handshake after the other */
    N_HOSTILE,
};

static const char *const hostile_names[N_HOSTILE] = {
    [HOSTILE_SILENT] = "silent", [HOSTILE_IDLE] = "idle", [HOSTILE_SLOW] = "slow",
    [HOSTILE_UNREAD] = "unread", [HOSTILE_BUSY] = "busy", [HOSTILE_SHAKES] = "handshakes",
};

struct hostile {
    int fd; /* -1: closed */
    SSL *ssl;
    bool shaken;
    size_t sent;
};

static const char hostile_request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

static inline void hostile_close(struct hostile *h)
{
    SSL_free(h->ssl);
    if (h->fd >= 0)
        (void)close(h->fd);
    *h = (struct hostile){ .fd = -1 };
}

static inline void hostile_open(struct hostile *h, SSL_CTX *ctx, int port, int i)
{
    const struct sockaddr_in from = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(0x7f000002U +
                                                               (uint32_t)i % HOSTILE_ADDRESSES) };
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    h->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (h->fd < 0)
        return;
    (void)bind(h->fd, (const struct sockaddr *)&from, sizeof from);
    if (connect(h->fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        hostile_close(h);
        return;
    }
    h->ssl = SSL_new(ctx);
    (void)SSL_set_fd(h->ssl, h->fd);
    SSL_set_connect_state(h->ssl);
}

/* What the kind does where it may read or write. @return false: the connection is over */
static inline bool hostile_act(struct hostile *h, enum hostile_kind kind)
{
    char bytes[4096];
    if (kind == HOSTILE_SILENT)
        return recv(h->fd, bytes, 1, MSG_DONTWAIT) != 0;
    if (!h->shaken) {
        const int rc = SSL_do_handshake(h->ssl);
        h->shaken = rc == 1;
        const int why = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(h->ssl, rc);
        return (why == SSL_ERROR_NONE && kind != HOSTILE_SHAKES) || why == SSL_ERROR_WANT_READ ||
               why == SSL_ERROR_WANT_WRITE;
    }
    int n = 1;
    if (kind == HOSTILE_SLOW)
        n = SSL_write(h->ssl, &hostile_request[h->sent++ % 16], 1);
    else if (kind == HOSTILE_UNREAD && h->sent++ < 64)
        for (int i = 0; i < 16 && n > 0; i++)
            n = SSL_write(h->ssl, hostile_request, sizeof hostile_request - 1);
    else if (kind == HOSTILE_BUSY && SSL_read(h->ssl, bytes, sizeof bytes) != 0)
        n = SSL_write(h->ssl, hostile_request, sizeof hostile_request - 1);
    else if (kind == HOSTILE_IDLE || kind == HOSTILE_UNREAD)
        return recv(h->fd, bytes, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
    if (n > 0)
        return true;
    const int why = SSL_get_error(h->ssl, n);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

/* In the child: never returns. */
static inline void hostile_run(enum hostile_kind kind, int port)
{
    static struct hostile all[HOSTILE_CONNS];
    static struct pollfd fds[HOSTILE_CONNS];
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < HOSTILE_CONNS; i++)
        all[i].fd = -1;
    for (unsigned turn = 0;; turn++) {
        int n_opened = 0;
        for (int i = 0; i < HOSTILE_CONNS; i++) {
            if (all[i].fd < 0 && n_opened < HOSTILE_OPENS_PER_MS) {
                hostile_open(&all[i], ctx, port, i);
                n_opened++;
            }
            fds[i] = (struct pollfd){ .fd = all[i].fd, .events = POLLIN };
            if (all[i].fd >= 0 && !all[i].shaken && kind != HOSTILE_SILENT && all[i].sent == 0)
                fds[i].events |= SSL_want_write(all[i].ssl) ? POLLOUT : 0;
        }
        const struct timespec pause = { .tv_nsec = 1000 * 1000 };
        (void)nanosleep(&pause, NULL);
        (void)poll(fds, HOSTILE_CONNS, 0);
        for (int i = 0; i < HOSTILE_CONNS; i++) {
            const bool slow = all[i].shaken && kind == HOSTILE_SLOW &&
                              turn % 256 == (unsigned)i % 256;
            const bool first = !all[i].shaken && all[i].fd >= 0;
            const bool pours = all[i].shaken && kind == HOSTILE_UNREAD && all[i].sent < 64;
            if (all[i].fd >= 0 && (fds[i].revents || slow || first || pours) &&
                !hostile_act(&all[i], kind))
                hostile_close(&all[i]);
        }
    }
}

/** Begin; kill and wait for the process that is returned. */
static inline pid_t hostile_start(enum hostile_kind kind, int port)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        hostile_run(kind, port);
    }
    return pid;
}
