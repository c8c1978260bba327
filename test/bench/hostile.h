#pragma once
/* Hostile connections to a server, of one kind each, from eight addresses of loopback (to a unix
 * socket: from eight processes): what is closed is opened again, at most 2,000 a second. A kind is
 * a row of a table: what is sent first, what after it, and how. For hostile.c. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "wire.h"

enum {
    HOSTILE_CONNS = 2000,
    HOSTILE_PEERS = 8,
    HOSTILE_OPENS_PER_S = 2000,
    HOSTILE_WRITES = 4, /* of one connection a turn, of a millisecond */
    /* They stand for other machines: they compute on processors of their own (hostile_pin()), and
     * where there is one only, they leave the program its turn. */
    HOSTILE_NICE = 10,
};

/** What a connection does once @start has been sent. */
enum hostile_manner {
    HOSTILE_DUMB,    /* it sends nothing at all, not even a handshake */
    HOSTILE_HOLD,    /* nothing more, and reads nothing */
    HOSTILE_TRICKLE, /* @unit again and again, a byte now and then */
    HOSTILE_POUR,    /* @unit again and again, as fast as it is taken; reads nothing */
    HOSTILE_ASK,     /* @unit, waits for bytes, and again */
    HOSTILE_UPDATE,  /* as POUR, of TLS itself: new keys, again and again */
    HOSTILE_AGAIN,   /* it closes, and comes again */
};

/** Bytes of which each frame of HTTP/2 may name its stream. */
struct hostile_bytes {
    const uint8_t *bytes;
    size_t len;
};

/** A kind of hostile connection. */
struct hostile_kind {
    const char *name;
    enum hostile_manner manner;
    struct hostile_bytes start, unit;
    bool counts;     /* unit is frames of HTTP/2, of a new stream each time */
    bool is_raw;     /* no TLS is spoken at a port that has it */
    size_t max_sent; /* then it holds; 0: never */
};

/** One connection. */
struct hostile {
    struct wire wire;
    bool asked, shaken, waits; /* asked: the handshake began */
    size_t sent;               /* bytes of start, then of all units */
};

/** The frames of @unit, of the stream that comes after @round others. @out has room for them. */
static inline void hostile_number(const struct hostile_bytes *unit, size_t round, uint8_t *out)
{
    const uint32_t stream = (uint32_t)(2 * round + 3);
    memcpy(out, unit->bytes, unit->len);
    for (size_t at = 0; at + 9 <= unit->len;) {
        const uint32_t id = htonl(stream);
        memcpy(out + at + 5, &id, 4);
        at += 9 + ((size_t)out[at] << 16 | (size_t)out[at + 1] << 8 | out[at + 2]);
    }
}

/* Send what comes next, at most @max bytes. @return as wire_write() */
static inline long hostile_send(struct hostile *h, const struct hostile_kind *k, size_t max)
{
    uint8_t numbered[512];
    const struct hostile_bytes *start = &k->start, *unit = &k->unit;
    const uint8_t *from = start->bytes + h->sent;
    size_t len = start->len - h->sent;
    if (h->sent >= start->len) {
        const size_t behind = h->sent - start->len, at = behind % unit->len;
        from = unit->bytes;
        if (k->counts) {
            hostile_number(unit, behind / unit->len, numbered);
            from = numbered;
        }
        from += at;
        len = unit->len - at;
    }
    const long n = wire_write(&h->wire, from, len < max ? len : max);
    h->sent += n > 0 ? (size_t)n : 0;
    return n;
}

static inline bool hostile_is_full(const struct hostile *h, const struct hostile_kind *k)
{
    return k->max_sent && h->sent >= k->max_sent;
}

/* Ask for new keys. @return as wire_write() */
static inline long hostile_update(struct hostile *h)
{
    (void)SSL_key_update(h->wire.ssl, SSL_KEY_UPDATE_REQUESTED);
    return wire_handshake(&h->wire);
}

/* What the kind does in a turn. @return false: the connection is over */
static inline bool hostile_act(struct hostile *h, const struct hostile_kind *k, bool turn)
{
    char bytes[4096];
    if (k->manner == HOSTILE_DUMB)
        return !wire_is_over(&h->wire);
    if (!h->shaken) {
        const long rc = wire_handshake(&h->wire);
        h->shaken = rc > 0;
        h->asked = true;
        return rc >= 0 && !(h->shaken && k->manner == HOSTILE_AGAIN && !k->start.len);
    }
    long n = 1;
    for (int i = 0; i < HOSTILE_WRITES && h->sent < k->start.len && n > 0; i++)
        n = hostile_send(h, k, SIZE_MAX);
    if (n < 0 || h->sent < k->start.len)
        return n >= 0;
    if (k->manner == HOSTILE_AGAIN)
        return false;
    if (k->manner == HOSTILE_TRICKLE && turn)
        return hostile_send(h, k, 1) >= 0;
    for (int i = 0; k->manner == HOSTILE_POUR && i < HOSTILE_WRITES && n > 0; i++)
        n = hostile_is_full(h, k) ? 0 : hostile_send(h, k, SIZE_MAX);
    for (int i = 0; k->manner == HOSTILE_UPDATE && i < HOSTILE_WRITES && n > 0; i++)
        n = hostile_update(h);
    if (k->manner == HOSTILE_ASK) {
        n = h->waits ? wire_read(&h->wire, bytes, sizeof bytes) : 1;
        if (n > 0)
            do
                n = hostile_send(h, k, SIZE_MAX);
            while (n > 0 && (h->sent - k->start.len) % k->unit.len);
        h->waits = n < 0 || (h->sent - k->start.len) % k->unit.len == 0;
    }
    return n >= 0 && !(k->manner != HOSTILE_ASK && wire_is_over(&h->wire));
}

/* What a connection waits for. */
static inline short hostile_events(const struct hostile *h, const struct hostile_kind *k)
{
    if (k->manner == HOSTILE_DUMB)
        return POLLRDHUP;
    if (!h->shaken)
        return h->asked ? POLLIN : POLLOUT;
    if (h->sent < k->start.len || k->manner == HOSTILE_UPDATE ||
        (k->manner == HOSTILE_POUR && !hostile_is_full(h, k)))
        return POLLOUT | POLLRDHUP;
    return k->manner == HOSTILE_ASK ? h->waits ? POLLIN : POLLOUT : POLLRDHUP;
}

/* One process's connections, for good; @peer: which process, of @n. */
static inline void hostile_run(const struct hostile_kind *kind, const struct wire_server *to,
                               int peer, int n)
{
    static struct hostile all[HOSTILE_CONNS];
    static struct pollfd fds[HOSTILE_CONNS];
    const struct wire_server raw = { .port = to->port, .socket = to->socket };
    const int n_conns = HOSTILE_CONNS / n;
    double opens = 0;
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < n_conns; i++)
        all[i].wire.fd = -1;
    for (unsigned turn = 0;; turn++) {
        opens = opens < 4 ? opens + HOSTILE_OPENS_PER_S / 1000.0 / n : opens;
        for (int i = 0; i < n_conns; i++) {
            struct hostile *h = &all[i];
            if (h->wire.fd < 0 && opens >= 1) {
                opens--;
                *h = (struct hostile){ 0 };
                const uint32_t from = 0x7f000002U + (uint32_t)(peer + i) % HOSTILE_PEERS;
                (void)wire_open(&h->wire, kind->is_raw ? &raw : to, from, SOCK_NONBLOCK);
            }
            fds[i] = (struct pollfd){ .fd = h->wire.fd, .events = hostile_events(h, kind) };
        }
        const struct timespec pause = { .tv_nsec = 1000 * 1000 };
        (void)nanosleep(&pause, NULL);
        (void)poll(fds, (nfds_t)n_conns, 0);
        for (int i = 0; i < n_conns; i++) {
            const bool its_turn = kind->manner == HOSTILE_TRICKLE &&
                                  turn % 256 == (unsigned)i % 256;
            if (all[i].wire.fd >= 0 && (fds[i].revents || its_turn) &&
                !hostile_act(&all[i], kind, its_turn))
                wire_close(&all[i].wire);
        }
    }
}

/** Run this process and those that it starts on the first half of its processors. @return the other
 * half; of one processor, that one */
static inline cpu_set_t hostile_pin(void)
{
    cpu_set_t all, ours, theirs;
    CPU_ZERO(&all);
    CPU_ZERO(&ours);
    CPU_ZERO(&theirs);
    (void)sched_getaffinity(0, sizeof all, &all);
    const int n = CPU_COUNT(&all);
    for (int cpu = 0, i = 0; i < n; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, i++ < n / 2 ? &ours : &theirs);
    if (n > 1)
        (void)sched_setaffinity(0, sizeof ours, &ours);
    return theirs;
}

/** Begin, on the processors @cpus; @pids are to be killed, and waited for, where they are not 0. */
static inline void hostile_begin(const struct hostile_kind *kind, const struct wire_server *to,
                                 const cpu_set_t *cpus, pid_t pids[static HOSTILE_PEERS])
{
    const int n = to->socket ? HOSTILE_PEERS : 1;
    for (int i = 0; i < HOSTILE_PEERS; i++) {
        pids[i] = i < n ? fork() : 0;
        if (i < n && pids[i] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            (void)!nice(HOSTILE_NICE);
            (void)sched_setaffinity(0, sizeof *cpus, cpus);
            hostile_run(kind, to, i, n);
        }
    }
}
