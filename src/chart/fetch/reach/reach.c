#include "chart/fetch/reach/reach.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/http/http.h"

/* An item of the list. */
struct item {
    bool refuse;
    bool is_range, is_any; /* else a name */
    char *name;            /* "host"; ".domain" of "*.domain" */
    struct sw_range range;
    unsigned port; /* 0: any */
};

struct names {
    char **items;
    size_t n, cap;
};

struct sw_reach {
    struct item *items;
    size_t n, cap;
    bool names_hosts, has_any;
    struct sw_ranges cluster;
    struct names written;                  /* hosts that may be at private addresses */
    struct names vouched;                  /* hosts of the list that were asked for */
    struct names proxies, proxies_at_port; /* "host"; "host port" */
    struct names admins;                   /* "host port" */
};

static const char *const never[] = {
    "0.0.0.0/8",          "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", /* protocols; Oracle's
                                                                              metadata */
    "100.100.100.200/32",                                                  /* Alibaba's metadata */
    "168.63.129.16/32",                                                    /* Azure's host */
    "224.0.0.0/4",        "240.0.0.0/4", "::/128",         "::1/128",      "fe80::/10",
    "fec0::/10",          "ff00::/8",    "fd00:ec2::/32", /* Amazon's metadata */
    "fd20:ce::/32",                                       /* Google's */
};

static const char *const private[] = {
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7",
};

/* Names that stand for what is never reached; with a "." before it, all that end so. */
static const char *const never_names[] = {
    "localhost",     ".localhost",     "localhost.localdomain",
    ".svc",          ".cluster.local", "metadata.google.internal",
    "metadata",      "instance-data",  "instance-data.ec2.internal",
    "ip6-localhost", "ip6-loopback",
};

/* ---- names -------------------------------------------------------------------------------------
 */

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (sw_streq(names->items[i], name))
            return true;
    return false;
}

static void add_name(struct names *names, const char *name)
{
    if (has_name(names, name))
        return;
    SW_GROW(names->items, names->n, names->cap);
    names->items[names->n++] = sw_strdup(name);
}

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

/* In lower case, without brackets and the dot at its end; heap. */
static char *plain_name(const char *host)
{
    size_t len = strlen(host);
    bool bracket = len > 1 && host[0] == '[' && host[len - 1] == ']';
    char *name = bracket ? sw_strndup(host + 1, len - 2) : sw_strdup(host);
    len = strlen(name);
    while (len > 1 && name[len - 1] == '.')
        name[--len] = '\0';
    for (char *c = name; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return name;
}

static bool name_matches(const char *pattern, const char *name)
{
    return *pattern == '.' ? sw_ends_with(name, pattern) : sw_streq(pattern, name);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

/* Cut ":PORT" off; brackets too. @return false: not a port */
static bool take_port(char *text, unsigned *port)
{
    char *colon = strrchr(text, ':'), *bracket = strrchr(text, ']');
    bool has_port = colon && (bracket ? colon > bracket : colon == strchr(text, ':'));
    unsigned n = 0;
    if (has_port) {
        const char *digit = colon + 1;
        for (; *digit >= '0' && *digit <= '9' && n < 65536; digit++)
            n = n * 10 + (unsigned)(*digit - '0');
        if (*digit || n == 0 || n > 65535)
            return false;
        *colon = '\0';
    }
    if (bracket && *text == '[') { /* "[fd00::]/8", too */
        memmove(bracket, bracket + 1, strlen(bracket));
        memmove(text, text + 1, strlen(text));
    }
    *port = n;
    return true;
}

static bool is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || strchr(".-_", *c)))
            return false;
    return *text && !strstr(text, "..");
}

static int add_item(struct sw_reach *r, const char *text, struct sw_err *err)
{
    struct item item = { .refuse = *text == '!' };
    SW_AUTO_CHARS *bare = sw_strdup(text + item.refuse);
    bool ok = take_port(bare, &item.port);
    item.is_any = sw_streq(bare, "*");
    item.is_range = ok && sw_range_parse(bare, &item.range);
    if (ok && !item.is_any && !item.is_range) {
        SW_AUTO_CHARS *name = plain_name(bare + (sw_starts_with(bare, "*.") ? 1 : 0));
        ok = is_name(name) && (*name != '.' || sw_starts_with(bare, "*."));
        item.name = ok ? SW_TAKE(name) : NULL;
    }
    if (!ok)
        return sw_err_set(err, SW_INVALID,
                          "'%s': expected HOST, *.DOMAIN, *, ADDRESS or ADDRESS/BITS, each with "
                          ":PORT and with ! before it where that is wanted",
                          text);
    r->names_hosts |= item.name && !item.refuse;
    r->has_any |= item.is_any && !item.refuse;
    SW_GROW(r->items, r->n, r->cap);
    r->items[r->n++] = item;
    return 0;
}

int sw_reach_new(const char *list, struct sw_reach **out, struct sw_err *err)
{
    SW_AUTO(sw_reach) *r = sw_zalloc(1, sizeof *r);
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ", \t\n");
        SW_AUTO_CHARS *text = sw_strndup(at, len);
        int rc = len ? add_item(r, text, err) : 0;
        if (rc < 0)
            return rc;
        at += len + (at[len] != '\0');
    }
    *out = SW_TAKE(r);
    return 0;
}

void sw_reach_free(struct sw_reach *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        free(r->items[i].name);
    free(r->items);
    sw_ranges_done(&r->cluster);
    names_done(&r->written);
    names_done(&r->vouched);
    names_done(&r->proxies);
    names_done(&r->proxies_at_port);
    names_done(&r->admins);
    free(r);
}

void sw_reach_add_cluster(struct sw_reach *r, const struct sw_range *range)
{
    sw_ranges_add(&r->cluster, *range);
}

void sw_reach_add_written(struct sw_reach *r, const char *place)
{
    SW_AUTO_CHARS *host = sw_strdup(place);
    unsigned port;
    (void)take_port(host, &port);
    SW_AUTO_CHARS *name = plain_name(host);
    add_name(&r->written, name);
}

char *sw_reach_place(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t len = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', len);
    return at ? sw_strndup(at + 1, (size_t)(host + len - at - 1)) : sw_strndup(host, len);
}

void sw_reach_add_admins(struct sw_reach *r, const char *place)
{
    static const unsigned usual[] = { 443, 80 };
    SW_AUTO_CHARS *host = sw_strdup(place);
    unsigned port;
    if (!take_port(host, &port))
        return;
    SW_AUTO_CHARS *name = plain_name(host);
    for (size_t i = 0; i < SW_COUNT(usual); i++) {
        SW_AUTO_CHARS *both = sw_printf("%s %u", name, port ? port : usual[i]);
        add_name(&r->admins, both);
    }
}

void sw_reach_add_proxy(struct sw_reach *r, const char *url)
{
    SW_AUTO_CHARS *text = sw_reach_place(url);
    unsigned port;
    if (!take_port(text, &port))
        return;
    SW_AUTO_CHARS *name = plain_name(text);
    SW_AUTO_CHARS *both = sw_printf("%s %u", name, port);
    if (*name)
        add_name(port ? &r->proxies_at_port : &r->proxies, port ? both : name);
}

bool sw_reach_is_by_name(const struct sw_reach *r)
{
    return r->proxies.n || r->proxies_at_port.n || (r->names_hosts && !r->has_any);
}

/* ---- addresses ---------------------------------------------------------------------------------
 */

static bool in_list(const char *const *list, size_t n, const struct in6_addr *address)
{
    for (size_t i = 0; i < n; i++) {
        struct sw_range range;
        if (sw_range_parse(list[i], &range) && sw_range_has(&range, address))
            return true;
    }
    return false;
}

static struct in6_addr mapped(const unsigned char v4[4], unsigned char mask)
{
    struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
    for (int i = 0; i < 4; i++)
        a.s6_addr[12 + i] = v4[i] ^ mask;
    return a;
}

/* The IPv4 address that @address stands for, or leads to. @return false: none */
static bool embedded(const struct in6_addr *address, struct in6_addr *out)
{
    static const struct {
        const char *range;
        int at; /* of the four bytes */
        unsigned char mask;
    } rows[] = {
        { "::/96", 12, 0 },           { "64:ff9b::/96", 12, 0 }, { "64:ff9b:1::/48", 12, 0 },
        { "::ffff:0:0:0/96", 12, 0 }, { "2002::/16", 2, 0 },     { "2001::/32", 12, 0xff },
    };
    const unsigned char *b = address->s6_addr;
    struct sw_range range;
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_range_parse(rows[i].range, &range) && sw_range_has(&range, address)) {
            *out = mapped(b + rows[i].at, rows[i].mask);
            return true;
        }
    bool isatap = (b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
    if (isatap)
        *out = mapped(b + 12, 0);
    return isatap;
}

static struct in6_addr address_of(const struct sockaddr *any)
{
    if (any->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)any)->sin6_addr;
    return mapped((const unsigned char *)&((const struct sockaddr_in *)any)->sin_addr, 0);
}

static bool resolves_to(const char *host, const struct in6_addr *address)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    bool found = false;
    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *one = list; one && !found; one = one->ai_next) {
        struct in6_addr other = address_of(one->ai_addr);
        found = memcmp(&other, address, sizeof other) == 0;
    }
    freeaddrinfo(list);
    return found;
}

static bool any_resolves_to(const struct names *names, const struct in6_addr *address)
{
    for (size_t i = 0; i < names->n; i++)
        if (resolves_to(names->items[i], address))
            return true;
    return false;
}

/* Is @address at @port that of a "host port" of @names? */
static bool is_place(const struct names *names, const struct in6_addr *address, unsigned port)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *both = names->items[i], *space = strchr(both, ' ');
        SW_AUTO_CHARS *host = sw_strndup(both, (size_t)(space - both));
        SW_AUTO_CHARS *wanted = sw_printf("%u", port);
        if (sw_streq(space + 1, wanted) && resolves_to(host, address))
            return true;
    }
    return false;
}

static bool is_proxy(const struct sw_reach *r, const struct in6_addr *address, unsigned port)
{
    return is_place(&r->proxies_at_port, address, port) || any_resolves_to(&r->proxies, address);
}

/* An address of the list. @return -1: refused; 1: may be reached; 0: it is not in it */
static int listed_address(const struct sw_reach *r, const struct in6_addr *address, unsigned port)
{
    int found = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct item *item = &r->items[i];
        if (!item->is_range || (item->port && item->port != port) ||
            !sw_range_has(&item->range, address))
            continue;
        if (item->refuse)
            return -1;
        found = 1;
    }
    return found;
}

bool sw_reach_has_address(const struct sw_reach *r, const struct in6_addr *address, unsigned port)
{
    struct in6_addr inner;
    bool has_inner = embedded(address, &inner);
    int listed = listed_address(r, address, port);
    if (listed < 0 || (has_inner && listed_address(r, &inner, port) < 0))
        return false;
    if (listed > 0)
        return true;
    bool is_never = sw_ranges_have(&r->cluster, address) ||
                    in_list(never, SW_COUNT(never), address);
    bool is_private = in_list(private, SW_COUNT(private), address);
    if (has_inner) {
        is_never |= sw_ranges_have(&r->cluster, &inner) || in_list(never, SW_COUNT(never), &inner);
        is_private |= in_list(private, SW_COUNT(private), &inner);
    }
    if (!is_never && !is_private)
        return true;
    return (is_private && !is_never && any_resolves_to(&r->written, address)) ||
           any_resolves_to(&r->vouched, address) || is_proxy(r, address, port) ||
           is_place(&r->admins, address, port);
}

/* ---- hosts -------------------------------------------------------------------------------------
 */

/* "127.0.0.1", and "2130706433", "0x7f.1", which are the same */
static bool is_address(const char *name, struct in6_addr *out)
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    if (getaddrinfo(name, NULL, &hints, &list) != 0)
        return false;
    *out = address_of(list->ai_addr);
    freeaddrinfo(list);
    return true;
}

/* As listed_address(); 2: by its name. */
static int listed_name(const struct sw_reach *r, const char *name, unsigned port)
{
    int found = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct item *item = &r->items[i];
        if (item->is_range || (item->port && item->port != port) ||
            (item->name && !name_matches(item->name, name)))
            continue;
        if (item->refuse)
            return -1;
        found = item->name ? 2 : found ? found : 1;
    }
    return found;
}

bool sw_reach_has_host(struct sw_reach *r, const char *place, unsigned usual_port)
{
    SW_AUTO_CHARS *host = sw_strdup(place);
    unsigned port;
    if (!take_port(host, &port))
        return false;
    port = port ? port : usual_port;
    SW_AUTO_CHARS *name = plain_name(host);
    struct in6_addr address;
    int listed = listed_name(r, name, port);
    SW_AUTO_CHARS *both = sw_printf("%s %u", name, port);
    if (listed < 0)
        return false;
    if (has_name(&r->admins, both))
        return true;
    bool numeric = is_address(name, &address);
    if (numeric && listed_address(r, &address, port) > 0)
        return true;
    if (listed == 2)
        add_name(&r->vouched, name);
    if (listed == 2 && !numeric)
        return true;
    if (!listed && r->names_hosts)
        return false;
    if (numeric)
        return sw_reach_has_address(r, &address, port);
    for (size_t i = 0; i < SW_COUNT(never_names); i++)
        if (name_matches(never_names[i], name))
            return false;
    return true;
}

/* ---- for this process --------------------------------------------------------------------------
 */

static struct sw_reach *enforced;
static bool *refused;      /* shared with children */
static unsigned only_port; /* 0: any */

static const char *const proxy_variables[] = { "http_proxy", "https_proxy", "all_proxy",
                                               "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };

struct sw_reach *sw_reach_enforced(void)
{
    return enforced;
}

bool sw_reach_refused(void)
{
    return refused && *refused;
}

bool sw_reach_admits(const char *place, unsigned usual_port)
{
    if (!enforced)
        return true;
    *refused = !sw_reach_has_host(enforced, place, usual_port);
    return !*refused;
}

static bool may_connect(const struct sockaddr *to, socklen_t len)
{
    bool v4 = len >= sizeof(struct sockaddr_in) && to->sa_family == AF_INET,
         v6 = len >= sizeof(struct sockaddr_in6) && to->sa_family == AF_INET6;
    if (!v4 && !v6)
        return false;
    unsigned port = ntohs(v4 ? ((const struct sockaddr_in *)to)->sin_port
                             : ((const struct sockaddr_in6 *)to)->sin6_port);
    struct in6_addr address = address_of(to);
    if (only_port && port != only_port)
        return false;
    return !enforced || sw_reach_has_address(enforced, &address, port);
}

/* Sockets of the machine (name service), and those that ask name servers. */
static bool is_for_names(int fd, const struct sockaddr *to)
{
    int type = 0;
    socklen_t len = sizeof type;
    return to->sa_family == AF_UNIX || to->sa_family == AF_UNSPEC ||
           (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM);
}

/* connect(), for this program and the libraries that it loads: libcurl, libgit2 and libssh2 do not
 * all let an address be judged. The C library's own, with which names are resolved, is its own. */
int reach_connect(int fd, const struct sockaddr *to, socklen_t len) __asm__("connect");
__attribute__((visibility("default"), used)) int reach_connect(int fd, const struct sockaddr *to,
                                                               socklen_t len)
{
    if ((enforced || only_port) && len >= sizeof to->sa_family && !is_for_names(fd, to)) {
        const bool may = may_connect(to, len);
        if (refused)
            *refused = !may;
        if (!may) {
            errno = EACCES;
            return -1;
        }
    }
    return (int)syscall(SYS_connect, fd, to, len);
}

void sw_reach_keep_to_port(unsigned port)
{
    for (size_t i = 0; i < SW_COUNT(proxy_variables); i++)
        if (sw_text_or(getenv(proxy_variables[i]), NULL))
            return;
    only_port = port;
}

/* A sw_http_gate. */
static int on_url(const char *url, struct sw_err *err)
{
    struct sw_http_url parts;
    int rc = sw_http_url_parse(url, &parts, err);
    if (rc < 0)
        return rc;
    if (!sw_reach_admits(parts.host, (unsigned)strtoul(parts.port, NULL, 10)))
        rc = sw_err_set(err, SW_INVALID, "%s: address not allowed", parts.host);
    sw_http_url_done(&parts);
    return rc;
}

void sw_reach_enforce(struct sw_reach *reach)
{
    for (size_t i = 0; i < SW_COUNT(proxy_variables); i++) {
        const char *url = getenv(proxy_variables[i]);
        if (url && *url)
            sw_reach_add_proxy(reach, url);
    }
    void *page = mmap(NULL, sizeof *refused, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
    if (page == MAP_FAILED)
        abort(); /* no memory */
    refused = page;
    sw_reach_free(enforced);
    enforced = reach;
    sw_http_set_gate(on_url);
}
