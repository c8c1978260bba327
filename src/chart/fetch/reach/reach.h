#pragma once
/* reach: which hosts and addresses the sources of recipes may be at. Who writes a resource names
 * them, and a server that is asked may redirect to others; the process that fetches stands inside
 * the cluster. So what is refused unless the list of the operator's admin says otherwise:
 *
 *  - loopback, link-local, multicast and unspecified addresses, those of cloud metadata, and the
 *    ranges of the cluster's services and pods, in any form (mapped, NAT64, 6to4, Teredo, ISATAP);
 *  - names that stand for these: localhost, *.svc, *.cluster.local, metadata.google.internal;
 *  - private addresses, unless a host that the author wrote resolves to them: not those that only a
 *    redirect, a repository's index or a registry's realm leads to.
 *
 * The list: items that are separated by commas, HOST, *.DOMAIN, *, ADDRESS or ADDRESS/BITS, each
 * with :PORT where it is for one port ("[::1]:80"). A host or address of the list may be reached,
 * whatever it is. With a "!" before it, it is refused. A list that names hosts is complete: other
 * hosts are refused, unless it has "*", too. The most forbidding item decides.
 *
 * sw_reach_enforce() makes it hold for the whole process: it is asked for each connection that any
 * library makes, by its address after the name was resolved, and for each URL that is asked for or
 * redirected to. Behind a proxy, which resolves the names, the URL alone decides.
 * Pinned by test/unit/chart/reach_test.c and test/emulator/chart/allowed_sources_test.sh. */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* ---- ranges ------------------------------------------------------------------------------------
 */

/** A range of addresses: IPv6, with IPv4 as ::ffff:0:0/96. */
struct sw_range {
    struct in6_addr base;
    unsigned n_bits;
};
/** "10.0.0.0/8", "fd00::/8", "127.0.0.1". @return false: neither range nor address */
bool sw_range_parse(const char *text, struct sw_range *out);
bool sw_range_has(const struct sw_range *range, const struct in6_addr *address);
/** Heap; as sw_range_parse() reads it. */
char *sw_range_text(const struct sw_range *range);

/** A set of ranges. Zero-initialise; sw_ranges_done(). */
struct sw_ranges {
    struct sw_range *items;
    size_t n, cap;
};
void sw_ranges_done(struct sw_ranges *set);
/** Add @range, unless it is in the set; two halves become one. */
void sw_ranges_add(struct sw_ranges *set, struct sw_range range);
bool sw_ranges_have(const struct sw_ranges *set, const struct in6_addr *address);

/* ---- what may be reached -----------------------------------------------------------------------
 */

struct sw_reach;
/** @list: as above, "" for none.
 * @return 0 | SW_INVALID: an item is none of these */
int sw_reach_new(const char *list, struct sw_reach **out, struct sw_err *err) SW_CHECKED;
void sw_reach_free(struct sw_reach *reach); /* NULL is accepted */
SW_DEFINE_AUTO(sw_reach, sw_reach_free)
/** A range of the cluster's services or pods. */
void sw_reach_add_cluster(struct sw_reach *reach, const struct sw_range *range);
/** The "host" or "host:port" of a URL, whose scheme may be missing, without a login; heap. */
char *sw_reach_place(const char *url);
/** The author himself wrote this host, or host:port: it may resolve to private addresses. */
void sw_reach_add_written(struct sw_reach *reach, const char *place);
/** The cluster's admin named this place, host or host:port, himself: it may be reached, unless the
 * list refuses it. Without a port: at those of HTTPS and HTTP. */
void sw_reach_add_admins(struct sw_reach *reach, const char *place);
/** The proxy of a URL ("http://proxy:3128", "proxy:3128") may be connected to. */
void sw_reach_add_proxy(struct sw_reach *reach, const char *url);

/** Whether @place, host or host:port, may be asked, as far as its name says: a host of the list is
 * remembered as one. */
bool sw_reach_has_host(struct sw_reach *reach, const char *place, unsigned usual_port);
/** Whether @address may be connected to. Hosts are resolved where that depends on it. */
bool sw_reach_has_address(const struct sw_reach *reach, const struct in6_addr *address,
                          unsigned port);

/* ---- for this process --------------------------------------------------------------------------
 */

/** From here on nothing else can be connected to in this process and its children. @reach is taken.
 * The proxies of the environment are added to it. */
void sw_reach_enforce(struct sw_reach *reach);
/** From here on nothing but @port can be connected to in this process and its children, beside what
 * is enforced: for a library that follows redirects to other ports of a host with its password.
 * Does nothing where there is a proxy, which is told the port. */
void sw_reach_keep_to_port(unsigned port);
/** What is enforced; NULL: nothing. Borrowed. */
struct sw_reach *sw_reach_enforced(void);
/** sw_reach_has_host() of what is enforced. */
bool sw_reach_admits(const char *place, unsigned usual_port);
/** Whether the last connection or URL that was asked for, in this process or a child, was refused
 * by what is enforced. */
bool sw_reach_refused(void);
/** Whether redirects cannot be judged by addresses alone: there is a proxy, or the list names
 * hosts. */
bool sw_reach_is_by_name(const struct sw_reach *reach);
