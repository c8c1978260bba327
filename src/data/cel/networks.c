/* Kubernetes' addresses and networks: ip(), cidr(). */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "data/cel/functions.h"

/* Neither a zone nor an IPv4 address in IPv6 are allowed. @return NULL, or what is wrong */
static const char *read_address(const char *text, struct cel_net *out)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    memset(out, 0, sizeof *out);
    out->bits = -1;
    if (strchr(text, '%'))
        return "IP address \"%s\" with zone value is not allowed";
    if (inet_pton(AF_INET, text, out->bytes) == 1)
        return NULL;
    if (inet_pton(AF_INET6, text, out->bytes) != 1)
        return "IP Address \"%s\" parse error during conversion from string: ParseAddr(\"%s\"): "
               "unable to parse IP";
    out->v6 = true;
    return memcmp(out->bytes, mapped, sizeof mapped) == 0
               ? "IPv4-mapped IPv6 address \"%s\" is not allowed"
               : NULL;
}

#define PREFIX "network address parse error during conversion from string: "

/* @return NULL, or what is wrong */
static const char *read_network(const char *text, struct cel_net *out)
{
    const char *slash = strchr(text, '/');
    SW_AUTO_CHARS *address = sw_strndup(text, slash ? (size_t)(slash - text) : strlen(text));
    const size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    if (!digits || slash[1 + digits] || digits > 3 || (slash[1] == '0' && digits > 1) ||
        read_address(address, out))
        return PREFIX PREFIX "netip.ParsePrefix(\"%s\"): no '/'";
    out->bits = (int)strtol(slash + 1, NULL, 10);
    return out->bits <= (out->v6 ? 128 : 32) ? NULL
                                             : PREFIX PREFIX
               "netip.ParsePrefix(\"%s\"): prefix length out of range";
}

static struct cel_value of_net(struct cel_run *x, const struct cel_net *net)
{
    struct cel_net *kept = sw_arena_alloc(x->arena, sizeof *kept);
    *kept = *net;
    return (struct cel_value){ .kind = net->bits < 0 ? CEL_IP : CEL_CIDR, .net = kept };
}

static struct cel_value fail(struct cel_run *x, const char *wrong, const char *text)
{
    char *message = NULL;
    for (const char *p = wrong; *p; p++) {
        if (strncmp(p, "%s", 2) == 0) {
            sw_append(&message, "%s", text);
            p++;
        } else {
            sw_append(&message, "%c", *p);
        }
    }
    SW_AUTO_CHARS *all = message;
    return sw_cel_fail(x, "%s", all);
}

enum { MAKE, TEST };

static struct cel_value to_ip(struct cel_run *x, const struct cel_value *args, int test)
{
    struct cel_net net;
    const char *text = sw_cel_chars(x, args[0]);
    const char *wrong = read_address(text, &net);
    if (test)
        return sw_cel_bool(!wrong);
    return wrong ? fail(x, wrong, text) : of_net(x, &net);
}

static struct cel_value to_cidr(struct cel_run *x, const struct cel_value *args, int test)
{
    struct cel_net net;
    const char *text = sw_cel_chars(x, args[0]);
    const char *wrong = read_network(text, &net);
    if (test)
        return sw_cel_bool(!wrong);
    return wrong ? fail(x, wrong, text) : of_net(x, &net);
}

struct cel_value sw_cel_net_text(struct cel_run *x, struct cel_value v)
{
    char buf[INET6_ADDRSTRLEN];
    (void)inet_ntop(v.net->v6 ? AF_INET6 : AF_INET, v.net->bytes, buf, sizeof buf);
    return sw_cel_static(v.net->bits < 0 ? sw_arena_strdup(x->arena, buf)
                                         : sw_arena_printf(x->arena, "%s/%d", buf, v.net->bits));
}

static struct cel_value is_canonical(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value ip = to_ip(x, args, MAKE);
    (void)variant;
    if (ip.kind == CEL_ERROR)
        return ip;
    const struct cel_value text = sw_cel_net_text(x, ip);
    return sw_cel_bool(sw_cel_equal(x, text, args[0]));
}

enum { UNSPECIFIED, LOOPBACK, LINK_MULTICAST, LINK_UNICAST, GLOBAL_UNICAST };

static bool is_zero(const struct cel_net *net, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (net->bytes[i])
            return false;
    return true;
}

static bool has_property(const struct cel_net *net, int which)
{
    const unsigned char *b = net->bytes;
    const size_t len = net->v6 ? 16 : 4;
    const bool multicast = net->v6 ? b[0] == 0xff : b[0] >> 4 == 0xe;
    switch (which) {
    case UNSPECIFIED:
        return is_zero(net, 0, len);
    case LOOPBACK:
        return net->v6 ? is_zero(net, 0, 15) && b[15] == 1 : b[0] == 127;
    case LINK_MULTICAST:
        return net->v6 ? b[0] == 0xff && (b[1] & 15) == 2 : b[0] == 224 && !b[1] && !b[2];
    case LINK_UNICAST:
        return net->v6 ? b[0] == 0xfe && (b[1] & 0xc0) == 0x80 : b[0] == 169 && b[1] == 254;
    default:
        return !has_property(net, UNSPECIFIED) && !has_property(net, LOOPBACK) && !multicast &&
               !has_property(net, LINK_UNICAST) &&
               (net->v6 || b[0] != 255 || b[1] != 255 || b[2] != 255 || b[3] != 255);
    }
}

static struct cel_value test(struct cel_run *x, const struct cel_value *args, int which)
{
    (void)x;
    return sw_cel_bool(has_property(args[0].net, which));
}

static struct cel_value family(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return sw_cel_int(args[0].net->v6 ? 6 : 4);
}

/* ---- networks -----------------------------------------------------------------------------------
 */

static void mask(struct cel_net *net, int bits)
{
    for (int i = 0; i < 16; i++) {
        const int left = bits - 8 * i;
        if (left < 8)
            net->bytes[i] &= (unsigned char)(left <= 0 ? 0 : 0xff << (8 - left));
    }
}

/* Is the address, or the whole of a smaller network, in @net? */
static bool contains(const struct cel_net *net, const struct cel_net *other)
{
    struct cel_net a = *net, b = *other;
    if (a.v6 != b.v6 || (b.bits >= 0 && b.bits < a.bits))
        return false;
    mask(&a, net->bits);
    mask(&b, net->bits);
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

/* containsIP(), containsCIDR(); of texts, too */
static struct cel_value fn_contains(struct cel_run *x, const struct cel_value *args, int network)
{
    struct cel_value other = args[1];
    if (other.kind == CEL_STRING)
        other = network ? to_cidr(x, &other, MAKE) : to_ip(x, &other, MAKE);
    return other.kind == CEL_ERROR ? sw_cel_no_overload(x)
                                   : sw_cel_bool(contains(args[0].net, other.net));
}

enum { ADDRESS, MASKED };

static struct cel_value derive(struct cel_run *x, const struct cel_value *args, int what)
{
    struct cel_net net = *args[0].net;
    if (what == MASKED)
        mask(&net, net.bits);
    else
        net.bits = -1;
    return of_net(x, &net);
}

static struct cel_value prefix_length(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return sw_cel_int(args[0].net->bits);
}

const struct cel_function sw_cel_networks[] = {
    { "ip", "s>P", to_ip, MAKE },
    { "isIP", "s>b", to_ip, TEST },
    { "ip.isCanonical", "s>b", is_canonical, 0 },
    { "family", "P.>i", family, 0 },
    { "isUnspecified", "P.>b", test, UNSPECIFIED },
    { "isLoopback", "P.>b", test, LOOPBACK },
    { "isLinkLocalMulticast", "P.>b", test, LINK_MULTICAST },
    { "isLinkLocalUnicast", "P.>b", test, LINK_UNICAST },
    { "isGlobalUnicast", "P.>b", test, GLOBAL_UNICAST },
    { "cidr", "s>C", to_cidr, MAKE },
    { "isCIDR", "s>b", to_cidr, TEST },
    { "containsIP", "C.P>b", fn_contains, 0 },
    { "containsIP", "C.s>b", fn_contains, 0 },
    { "containsCIDR", "C.C>b", fn_contains, 1 },
    { "containsCIDR", "C.s>b", fn_contains, 1 },
    { "ip", "C.>P", derive, ADDRESS },
    { "masked", "C.>C", derive, MASKED },
    { "prefixLength", "C.>i", prefix_length, 0 },
    { 0 },
};
