#pragma once
/* connection: what the server holds of a connection, which of them is closed when there are too
 * many, who has room for what, and whose turn it is. Internal to serve. */
#include <stdbool.h>
#include <stdint.h>

#include "net/serve/conn.h"
#include "net/serve/request.h"
#include "net/serve/serve.h"
#include "net/serve/tls.h"

struct event;
struct evconnlistener;
struct sockaddr;

/** Who has a connection: the address of the other side, of IPv6 its first 64 bits; all zero where
 * it is not known. */
struct sw_serve_address {
    uint8_t bytes[SW_SERVE_ADDRESS_LEN];
};

/** All connections from one address. */
struct sw_serve_peer {
    struct sw_serve_address address;
    bool is_trusted; /* it is in opts.trusted_peers */
    int n_conns;
    double used_s;                             /* see sw_serve_take_turns() */
    struct sw_serve_reply *later, **later_end; /* its connections that wait for a turn */
    struct sw_serve_peer *next;
};

/** Addresses of one family whose first @n_bits are those of @address. */
struct sw_serve_range {
    struct sw_serve_address address;
    unsigned n_bits;
    bool is_ipv4;
};

/** One connection; it is also the reply that a route gets. */
struct sw_serve_reply {
    struct sw_serve *server; /* NULL: the connection has ended, the route has yet to answer */
    struct sw_serve_peer *peer;
    struct sw_conn conn;
    struct event *readable, *writable;
    struct sw_serve_progress progress;
    size_t skip;   /* bytes still to come of a request that is refused */
    bool shaken;   /* the handshake is over */
    bool stalled;  /* answers wait for the client to read */
    bool last;     /* close when all answers are out */
    bool asked;    /* a route has not answered yet */
    bool serving;  /* within the route's call */
    bool no_body;  /* the request is HEAD */
    bool finished; /* by sw_serve_abort() in the route's call: close after it */
    bool more;     /* a request may have come that waits until the answer before it is out */
    bool served;   /* a request of it came completely */
    int64_t deadline_ms;
    int64_t active_ms; /* when it was accepted, or a request of it came completely */
    /* the peer's connections that wait for a turn; before_later: NULL: it does not wait */
    struct sw_serve_reply *next_later, **before_later;
    int n_woken; /* how often its socket was readable while it waited */
    void (*on_close)(void *arg);
    bool (*step)(void *arg); /* sw_serve_work(); NULL: the answer is not made in steps */
    void *on_close_arg;      /* of both */
    size_t kept_len;         /* bytes of the request that stay until it is answered */
    struct sw_serve_reply *prev, *next;
};

/** A server. */
struct sw_serve {
    struct sw_loop *loop;
    struct sw_serve_opts opts;
    struct sw_serve_tls tls;
    struct sw_serve_counts counts;
    struct evconnlistener *listener;
    struct sw_timer *tick, *drain;
    struct sw_serve_reply *conns;
    struct sw_serve_peer *peers;
    struct sw_timer *turn;          /* set while a connection waits for one */
    double least_used_s;            /* what the last of them had used; it only grows */
    double calm_s, calm_at_s;       /* see sw_serve_take_turn() */
    int n_accepted;                 /* since the last turn; then no more until it comes */
    struct sw_serve_range *trusted; /* opts.trusted_peers */
    size_t n_trusted;
    struct sw_conn_spare spare;
    int64_t next_refresh_ms;      /* of the certificate */
    uint64_t settled_conns;       /* counts.conns when memory was given back last */
    bool full, stopping, closing; /* full: no descriptors, nothing is accepted for a second */
};

/** Nothing of a request has come. */
bool sw_serve_is_between(const struct sw_serve_reply *p);

/** Read opts.trusted_peers. @return 0 | SW_INVALID */
int sw_serve_read_trusted(struct sw_serve *s, struct sw_err *err) SW_CHECKED;
/** The peer at the address @from (NULL: not known), with one more connection, which
 * sw_serve_leave() takes from it. */
struct sw_serve_peer *sw_serve_join(struct sw_serve *s, const struct sockaddr *from);
/** A connection of @peer has ended. */
void sw_serve_leave(struct sw_serve *s, struct sw_serve_peer *peer);
/** Is there room for the connection with which @peer has just joined? *@instead: the one that has
 * to be closed for it; NULL: none. */
bool sw_serve_has_place(const struct sw_serve *s, const struct sw_serve_peer *peer,
                        struct sw_serve_reply **instead);

/** Bytes that have come on @p and are not used up. */
size_t sw_serve_unread(const struct sw_serve_reply *p);
/** Make room for the request of @p whose head has come: @hang_up is called for connections that are
 * late, of addresses that hold more than that of @p. Small ones, and those of trusted addresses,
 * need none. @return whether it fits in beside the others */
bool sw_serve_make_room(const struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q));
/** More than opts.max_bodies_bytes was read, or is not taken: @hang_up is called for connections of
 * the address that holds most. @return false: @p was one */
bool sw_serve_shed(struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q));
/** The same for what @p has read of a head that has not ended, or behind a request.
 * @return false: there was no room, and the connection has ended */
bool sw_serve_fits(struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q));

/** @p wants to go on when it is its turn. */
void sw_serve_wait_turn(struct sw_serve_reply *p);
/** The same, but while little is asked for it is its turn at once: @go_on is called. */
void sw_serve_take_turn(struct sw_serve_reply *p, void (*go_on)(struct sw_serve_reply *p));
/** @p wants nothing any more. */
void sw_serve_leave_turns(struct sw_serve_reply *p);
/** Call @go_on for connections that wait, for half a millisecond, then let the loop see what has
 * come meanwhile. The next one is of the peer that has used least of the server's time: who asks
 * for little waits for one other at most, whatever all the others ask for. A new peer begins with
 * what the others have used at least, and of what one does not use a tenth of a second is kept.
 * (Fair queueing: A. Demers, S. Keshav, S. Shenker, "Analysis and Simulation of a Fair Queueing
 * Algorithm", 1989.) @go_on may end the connection. */
void sw_serve_take_turns(struct sw_serve *s, void (*go_on)(struct sw_serve_reply *p));
