/* Who has room for what: how many bytes an address holds, and whose connection ends when there are
 * too many. */
#include "net/serve/connection.h"

enum {
    /* of a request that each connection may read, however many there are */
    SMALL_BYTES = 8 * 1024,
    TINY_BYTES = 1024, /* of a head: it is not looked at whether they fit */
};

size_t sw_serve_unread(const struct sw_serve_reply *p)
{
    return p->conn.in.len - p->conn.in.at;
}

static size_t body_bytes(const struct sw_serve_reply *p)
{
    const struct sw_serve_progress *at = &p->progress;
    return !at->head_len ? 0 : at->chunked ? p->server->opts.max_body_bytes : at->content_len;
}

/* What it holds or may come to hold: of a request that has begun, of those behind it, and of
 * answers. */
static size_t held_bytes(const struct sw_serve_reply *p)
{
    const size_t body = body_bytes(p), in = sw_serve_unread(p);
    return (body > in ? body : in) + p->conn.out.len - p->conn.out.at;
}

static size_t peer_bytes(const struct sw_serve *s, const struct sw_serve_peer *peer)
{
    size_t n = 0;
    for (const struct sw_serve_reply *q = s->conns; q; q = q->next)
        n += q->peer == peer ? held_bytes(q) : 0;
    return n;
}

/* Of all addresses that are not trusted, but without what @but holds. */
static size_t strangers_bytes(const struct sw_serve *s, const struct sw_serve_reply *but)
{
    size_t n = 0;
    for (const struct sw_serve_reply *q = s->conns; q; q = q->next)
        n += q == but || q->peer->is_trusted ? 0 : held_bytes(q);
    return n;
}

/* The connection that is late most with a request, or with taking an answer, of the address that
 * holds most, and more than @than (NULL: nothing); NULL: there is none, or all of it is being
 * answered. */
static struct sw_serve_reply *greediest(const struct sw_serve *s, const struct sw_serve_peer *than)
{
    struct sw_serve_reply *late = NULL;
    const struct sw_serve_peer *greedy = NULL;
    size_t most = than ? peer_bytes(s, than) : 0;
    for (const struct sw_serve_peer *other = s->peers; other; other = other->next) {
        const size_t n = other == than || other->is_trusted ? 0 : peer_bytes(s, other);
        greedy = n > most ? other : greedy;
        most = n > most ? n : most;
    }
    for (struct sw_serve_reply *q = s->conns; q && greedy; q = q->next)
        if (q->peer == greedy && (!q->asked || q->on_close) && held_bytes(q) &&
            (!late || q->deadline_ms < late->deadline_ms))
            late = q;
    return late;
}

bool sw_serve_make_room(const struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q))
{
    struct sw_serve *s = p->server;
    const size_t wanted = body_bytes(p);
    while (wanted > SMALL_BYTES && !p->peer->is_trusted) {
        const size_t taken = strangers_bytes(s, p);
        if (!taken || taken + wanted <= s->opts.max_bodies_bytes)
            return true;
        struct sw_serve_reply *late = greediest(s, p->peer);
        if (!late)
            return false;
        s->counts.crowded_out++;
        hang_up(SW_LINKED(late));
    }
    return true;
}

bool sw_serve_shed(struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q))
{
    struct sw_serve *s = p->server;
    for (size_t all; (all = strangers_bytes(s, NULL)) > s->opts.max_bodies_bytes;) {
        struct sw_serve_reply *late = greediest(s, NULL);
        if (!late || held_bytes(late) == all)
            break; /* one that is alone may be larger */
        s->counts.crowded_out++;
        hang_up(SW_LINKED(late));
        if (late == p)
            return false;
    }
    return true;
}

bool sw_serve_fits(struct sw_serve_reply *p, void (*hang_up)(struct sw_serve_reply *q))
{
    return p->progress.head_len || sw_serve_unread(p) <= TINY_BYTES || p->peer->is_trusted ||
           sw_serve_shed(p, hang_up);
}
