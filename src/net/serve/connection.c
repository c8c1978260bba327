/* Which connection is closed when there are too many. */
#include "net/serve/connection.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 4 /* a peer may have one in so many of max_conns */ };

bool sw_serve_is_between(const struct sw_serve_reply *p)
{
    return p->conn.in.len == p->conn.in.at && !p->skip;
}

/* IPv4 as IPv6 maps it. */
static struct sw_serve_address of_ipv4(const struct in_addr *address)
{
    struct sw_serve_address out = { { [10] = 0xff, [11] = 0xff } };
    memcpy(out.bytes + 12, address, 4);
    return out;
}

static struct sw_serve_address address_of(const struct sockaddr *from)
{
    struct sw_serve_address out = { { 0 } };
    if (from && from->sa_family == AF_INET)
        return of_ipv4(&((const struct sockaddr_in *)(const void *)from)->sin_addr);
    if (from && from->sa_family == AF_INET6) {
        const struct in6_addr *address =
            &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        /* who has one IPv6 address has the 2^64 around it */
        memcpy(out.bytes, address, IN6_IS_ADDR_V4MAPPED(address) ? 16 : 8);
    }
    return out;
}

/* ---- trusted peers -----------------------------------------------------------------------------
 */

/* "10.0.0.1", "10.0.0.0/16", "fd00::/8" */
static bool read_range(char *text, struct sw_serve_range *out)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;
    char *slash = strchr(text, '/'), *end = NULL;
    if (slash)
        *slash = '\0';
    const bool is_ipv4 = inet_pton(AF_INET, text, &ipv4) == 1;
    if (!is_ipv4 && inet_pton(AF_INET6, text, &ipv6) != 1)
        return false;
    const unsigned long all = is_ipv4 ? 32 : 128, n = slash ? strtoul(slash + 1, &end, 10) : all;
    if (n > all || (slash && (end == slash + 1 || *end)))
        return false;
    if (is_ipv4) {
        *out = (struct sw_serve_range){ of_ipv4(&ipv4), (unsigned)n + 96, true };
        return true;
    }
    *out = (struct sw_serve_range){ 0 };
    memcpy(out->address.bytes, &ipv6, 16);
    out->n_bits = (unsigned)n > 64 ? 64 : (unsigned)n; /* a peer is known by so many */
    return true;
}

int sw_serve_read_trusted(struct sw_serve *s, struct sw_err *err)
{
    SW_AUTO_CHARS *list = sw_strdup(s->opts.trusted_peers ? s->opts.trusted_peers : "");
    size_t cap = 0;
    for (char *rest = list, *item; (item = strsep(&rest, ","));) {
        if (!*item)
            continue;
        SW_GROW(s->trusted, s->n_trusted, cap);
        SW_AUTO_CHARS *text = sw_strdup(item);
        if (!read_range(text, &s->trusted[s->n_trusted]))
            return sw_err_set(err, SW_INVALID,
                              "'%s' is no address and no range of addresses (10.0.0.0/16)", item);
        s->n_trusted++;
    }
    return 0;
}

static bool is_trusted(const struct sw_serve *s, const struct sw_serve_address *address)
{
    const bool is_ipv4 = address->bytes[10] == 0xff; /* of IPv6 the first 64 bits are known */
    for (size_t i = 0; i < s->n_trusted; i++) {
        const struct sw_serve_range *r = &s->trusted[i];
        const size_t whole = r->n_bits / 8;
        const unsigned rest = r->n_bits % 8;
        if (is_ipv4 == r->is_ipv4 && memcmp(address->bytes, r->address.bytes, whole) == 0 &&
            (!rest || (address->bytes[whole] ^ r->address.bytes[whole]) >> (8 - rest) == 0))
            return true;
    }
    return false;
}

struct sw_serve_peer *sw_serve_join(struct sw_serve *s, const struct sockaddr *from)
{
    const struct sw_serve_address address = address_of(from);
    struct sw_serve_peer *p = s->peers;
    while (p && memcmp(&p->address, &address, sizeof address) != 0)
        p = p->next;
    if (!p) {
        p = sw_zalloc(1, sizeof *p);
        p->address = address;
        p->is_trusted = is_trusted(s, &address);
        p->used_s = s->least_used_s;
        p->next = s->peers;
        s->peers = p;
    }
    p->n_conns++;
    return p;
}

void sw_serve_leave(struct sw_serve *s, struct sw_serve_peer *peer)
{
    struct sw_serve_peer **at = &s->peers;
    if (--peer->n_conns > 0)
        return;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    free(peer);
}

const uint8_t *sw_serve_address(const struct sw_serve_reply *reply)
{
    return reply->peer->address.bytes;
}

bool sw_serve_is_trusted(const struct sw_serve_reply *reply)
{
    return reply->peer->is_trusted;
}

/* ---- room --------------------------------------------------------------------------------------
 */

/* What is closed first: a connection of which no request came yet, then one between requests, then
 * one that is late with a request or with taking an answer, then one with an answer that may end at
 * any time, as a watch. NEVER: it waits for its answer. */
enum { NEVER = 4 };

static int rank(const struct sw_serve_reply *p)
{
    if (p->asked)
        return p->on_close ? 3 : NEVER;
    return !p->served ? 0 : sw_serve_is_between(p) && !p->stalled ? 1 : 2;
}

/* Of the connections of @peer, or NULL of those of all peers that have @n_conns of them, the one to
 * close; NULL: none can be. */
static struct sw_serve_reply *choose(const struct sw_serve *s, const struct sw_serve_peer *peer,
                                     int n_conns)
{
    struct sw_serve_reply *best = NULL;
    int best_rank = NEVER;
    for (struct sw_serve_reply *p = s->conns; p; p = p->next) {
        if (peer ? p->peer != peer : p->peer->is_trusted || p->peer->n_conns < n_conns)
            continue;
        const int r = rank(p);
        if (r < best_rank || (best && r == best_rank && p->active_ms <= best->active_ms)) {
            best = p;
            best_rank = r;
        }
    }
    return best;
}

bool sw_serve_has_place(const struct sw_serve *s, const struct sw_serve_peer *peer,
                        struct sw_serve_reply **instead)
{
    const int max = s->opts.max_conns;
    int most = 0;
    *instead = NULL;
    if (max == INT_MAX)
        return true;
    if (!peer->is_trusted && peer->n_conns > (max + SHARES - 1) / SHARES) {
        *instead = choose(s, peer, 0);
        return *instead;
    }
    if (s->counts.open_conns < (unsigned)max)
        return true;
    for (const struct sw_serve_peer *p = s->peers; p; p = p->next)
        if (!p->is_trusted && p->n_conns > most)
            most = p->n_conns;
    *instead = choose(s, NULL, most); /* of whoever has most */
    if (!*instead)
        *instead = choose(s, NULL, 0);
    return *instead;
}
