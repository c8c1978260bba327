#pragma once
/* connection: what the server holds of a connection, and which of them is closed when there are too
 * many. Internal to serve. */
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
    uint8_t bytes[16];
};

/** All connections from one address. */
struct sw_serve_peer {
    struct sw_serve_address address;
    bool is_trusted; /* it is in opts.trusted_peers */
    int n_conns;
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
    bool is_later;     /* it is in sw_serve.later */
    struct sw_serve_reply *next_later;
    void (*on_close)(void *arg);
    void *on_close_arg;
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
    struct sw_serve_reply *later,
        **later_end; /* go on in the next turn of the loop, in this order */
    struct sw_timer *turn;
    struct sw_serve_range *trusted; /* opts.trusted_peers */
    size_t n_trusted;
    struct sw_conn_spare spare;
    int64_t next_refresh_ms;      /* of the certificate */
    uint64_t settled_conns;       /* counts.conns when memory was given back last */
    bool full, stopping, closing; /* full: nothing is accepted for now */
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
