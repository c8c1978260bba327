/* sprig's URLs, as Go's net/url reads and writes them. */
#include <arpa/inet.h>

#include "chart/template/funcs/funcs.h"
#include "data/go/strconv.h"

/* A component of a URL, which decides what has to be escaped in it. */
enum mode { PATH, USER, HOST, ZONE, FRAGMENT };

struct span {
    const char *s;
    size_t len;
};

static struct span span_of(struct sw_value v)
{
    return (struct span){ v.as.s, v.len };
}

static struct span cut(struct span *rest, char at, bool *found)
{
    const char *p = memchr(rest->s, at, rest->len);
    struct span before = *rest;
    if (found)
        *found = p != NULL;
    before.len = p ? (size_t)(p - rest->s) : rest->len;
    size_t used = before.len + (p != NULL);
    *rest = (struct span){ rest->s + used, rest->len - used };
    return before;
}

static bool is_alnum(unsigned char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

static bool in(unsigned char c, const char *set)
{
    return c && strchr(set, c);
}

static bool must_escape(unsigned char c, enum mode mode)
{
    if (is_alnum(c) || in(c, "-_.~"))
        return false;
    if ((mode == HOST || mode == ZONE) && in(c, "!$&'()*+,;=:[]<>\""))
        return false;
    if (in(c, "$&+,/:;=?@")) {
        if (mode == PATH)
            return c == '?';
        if (mode == USER)
            return in(c, "@/?:");
        return mode != FRAGMENT;
    }
    return !(mode == FRAGMENT && in(c, "!()*"));
}

static void put_escaped(struct text *t, struct span s, enum mode mode)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (must_escape(c, mode))
            sw_text_printf(t, "%%%02X", c);
        else
            sw_text_char(t, (char)c);
    }
}

/* ---- reading ---- */

struct url {
    struct span scheme, opaque, host, path, query, fragment;
    struct span user, password;
    bool has_user, has_password;
};

struct reader {
    struct call *c;
    struct sw_err *err;
};

static int unescape(const struct reader *r, struct span in_text, enum mode mode, struct span *out)
{
    if (!sw_arena_has_room(r->c->arena, in_text.len + 1))
        return sw_err_set(r->err, SW_INVALID, "too large");
    char *copy = sw_arena_alloc(r->c->arena, in_text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < in_text.len;) {
        unsigned char c = (unsigned char)in_text.s[i];
        if (c == '%') {
            const char *s = in_text.s + i;
            size_t left = in_text.len - i;
            bool valid = left >= 3 && sw_hex_digit(s[1]) >= 0 && sw_hex_digit(s[2]) >= 0;
            int byte = valid ? sw_hex_digit(s[1]) << 4 | sw_hex_digit(s[2]) : 0;
            if (mode == HOST && byte != '%') /* a host has no ASCII to escape */
                valid = valid && byte >= 0x80;
            if (mode == ZONE && byte != '%' && byte != ' ')
                valid = valid && !must_escape((unsigned char)byte, HOST);
            if (!valid)
                return sw_err_set(r->err, SW_INVALID, "invalid URL escape %s",
                                  sw_quoted(r->c->arena, s, left > 3 ? 3 : left));
            copy[n++] = (char)byte;
            i += 3;
            continue;
        }
        if ((mode == HOST || mode == ZONE) && c < 0x80 && must_escape(c, mode))
            return sw_err_set(r->err, SW_INVALID, "invalid character %s in host name",
                              sw_quoted(r->c->arena, in_text.s + i, 1));
        copy[n++] = (char)c;
        i++;
    }
    *out = (struct span){ copy, n };
    return 0;
}

/* ":80", or nothing. */
static int check_port(const struct reader *r, struct span port)
{
    bool valid = port.len == 0 || port.s[0] == ':';
    for (size_t i = 1; i < port.len; i++)
        valid = valid && port.s[i] >= '0' && port.s[i] <= '9';
    return valid ? 0
                 : sw_err_set(r->err, SW_INVALID, "invalid port %s after host",
                              sw_quoted(r->c->arena, port.s, port.len));
}

/* "[fe80::1%25en0]:80" */
static int read_ip_literal(const struct reader *r, struct span host, struct span *out)
{
    const char *close = memrchr(host.s, ']', host.len);
    if (!close)
        return sw_err_set(r->err, SW_INVALID, "missing ']' in host");
    struct span name = { host.s + 1, (size_t)(close - host.s - 1) }, address, zone = { "", 0 };
    struct span port = { close + 1, host.len - name.len - 2 };
    const char *percent = memmem(name.s, name.len, "%25", 3);
    struct span before = name;
    before.len = percent ? (size_t)(percent - name.s) : name.len;
    int rc = check_port(r, port);
    if (rc == 0)
        rc = unescape(r, before, HOST, &address);
    if (rc == 0 && percent)
        rc = unescape(r, (struct span){ percent, name.len - before.len }, ZONE, &zone);
    if (rc != 0)
        return rc;
    struct in6_addr ip;
    const char *text = sw_arena_strndup(r->c->arena, address.s, address.len);
    if (inet_pton(AF_INET6, text, &ip) != 1)
        return sw_err_set(r->err, SW_INVALID, "invalid host: ParseAddr(%s): unable to parse IP",
                          sw_quoted(r->c->arena, address.s, address.len));
    const char *whole = sw_arena_printf(r->c->arena, "[%.*s%.*s]%.*s", (int)address.len, address.s,
                                        (int)zone.len, zone.s, (int)port.len, port.s);
    *out = (struct span){ whole, strlen(whole) };
    return 0;
}

static int read_user(const struct reader *r, struct span info, struct url *u)
{
    for (size_t i = 0; i < info.len; i++) {
        unsigned char c = (unsigned char)info.s[i];
        if (!is_alnum(c) && !in(c, "-._:~!$&'()*+,;=%@"))
            return sw_err_set(r->err, SW_INVALID, "net/url: invalid userinfo");
    }
    u->has_user = true;
    struct span name = cut(&info, ':', &u->has_password);
    int rc = unescape(r, name, USER, &u->user);
    if (rc == 0 && u->has_password)
        rc = unescape(r, info, USER, &u->password);
    return rc;
}

/* "http:", taken off @rest. */
static int read_scheme(const struct reader *r, struct span *rest, struct url *u)
{
    for (size_t i = 0; i < rest->len; i++) {
        unsigned char c = (unsigned char)rest->s[i];
        if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
            continue;
        if (c == ':' && i == 0)
            return sw_err_set(r->err, SW_INVALID, "missing protocol scheme");
        if (c == ':') {
            char *lower = sw_arena_strndup(r->c->arena, rest->s, i);
            for (size_t k = 0; k < i; k++)
                lower[k] |= lower[k] >= 'A' && lower[k] <= 'Z' ? 0x20 : 0;
            u->scheme = (struct span){ lower, i };
            *rest = (struct span){ rest->s + i + 1, rest->len - i - 1 };
            return 0;
        }
        if (i == 0 || !(is_alnum(c) || in(c, "+-.")))
            return 0;
    }
    return 0;
}

static bool starts(struct span s, const char *with)
{
    size_t n = strlen(with);
    return s.len >= n && memcmp(s.s, with, n) == 0;
}

/* All but the fragment. */
static int read_rest(const struct reader *r, struct span text, struct url *u)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.s[i] < ' ' || text.s[i] == 0x7F)
            return sw_err_set(r->err, SW_INVALID, "net/url: invalid control character in URL");
    }
    int rc = read_scheme(r, &text, u);
    if (rc < 0)
        return rc;
    struct span query = text, rest = cut(&query, '?', NULL);
    u->query = query;
    if (!starts(rest, "/")) {
        if (u->scheme.len) {
            u->opaque = rest;
            return 0;
        }
        struct span segment = rest, first = cut(&segment, '/', NULL);
        if (memchr(first.s, ':', first.len))
            return sw_err_set(r->err, SW_INVALID, "first path segment in URL cannot contain colon");
    }
    if (starts(rest, "//") && (u->scheme.len || !starts(rest, "///"))) {
        const char *slash = memchr(rest.s + 2, '/', rest.len - 2);
        size_t end = slash ? (size_t)(slash - rest.s) : rest.len;
        struct span user = { rest.s + 2, end - 2 }, host = user;
        const char *at = memrchr(user.s, '@', user.len);
        if (at) {
            user.len = (size_t)(at - user.s);
            host = (struct span){ at + 1, host.len - user.len - 1 };
        }
        const char *bracket = memchr(host.s, '[', host.len), *colon = memchr(host.s, ':', host.len);
        size_t name_len = colon ? (size_t)(colon - host.s) : host.len;
        if (bracket && bracket > host.s)
            rc = sw_err_set(r->err, SW_INVALID, "invalid IP-literal");
        else if (bracket)
            rc = read_ip_literal(r, host, &u->host);
        else
            rc = check_port(r, (struct span){ host.s + name_len, host.len - name_len });
        if (rc == 0 && !bracket)
            rc = unescape(r, host, HOST, &u->host);
        if (rc == 0 && at)
            rc = read_user(r, user, u);
        rest = (struct span){ rest.s + end, rest.len - end };
    }
    return rc < 0 ? rc : unescape(r, rest, PATH, &u->path);
}

/* url.Parse; the error names the text that was parsed. */
static int read_url(const struct reader *r, struct span text, struct url *u)
{
    static const struct span empty = { "", 0 };
    *u = (struct url){ empty, empty, empty, empty, empty, empty, empty, empty, false, false };
    struct span fragment = text, rest = cut(&fragment, '#', NULL), failed = rest;
    int rc = read_rest(r, rest, u);
    if (rc == 0) {
        failed = text;
        rc = unescape(r, fragment, FRAGMENT, &u->fragment);
    }
    if (rc < 0)
        sw_err_wrap(r->err, rc, "parse %s", sw_quoted(r->c->arena, failed.s, failed.len));
    return rc;
}

static void put_user(struct text *t, const struct url *u)
{
    put_escaped(t, u->user, USER);
    if (u->has_password) {
        sw_text_char(t, ':');
        put_escaped(t, u->password, USER);
    }
}

/* ---- the functions ---- */

static int fn_url_parse(struct call *c)
{
    struct url u;
    SW_ERR(err);
    const struct reader r = { c, &err };
    if (read_url(&r, span_of(c->args[0]), &u) < 0)
        return sw_call_fail(c, "unable to parse url: %s", sw_err_text(&err));
    const char *close = memrchr(u.host.s, ']', u.host.len);
    const char *colon = memrchr(u.host.s, ':', u.host.len);
    struct span hostname = u.host; /* without its port and brackets */
    if (starts(u.host, "[") && close)
        hostname = (struct span){ u.host.s + 1, (size_t)(close - u.host.s - 1) };
    else if (colon)
        hostname.len = (size_t)(colon - u.host.s);
    put_user(c->text, &u);
    struct sw_map *map = sw_map_new(c->arena);
    sw_map_set_cstr(map, "userinfo", sw_call_take(c));
    const struct {
        const char *key;
        struct span value;
    } parts[] = { { "scheme", u.scheme },    { "host", u.host },   { "hostname", hostname },
                  { "path", u.path },        { "query", u.query }, { "opaque", u.opaque },
                  { "fragment", u.fragment } };
    for (size_t i = 0; i < SW_COUNT(parts); i++)
        sw_map_set_cstr(map, parts[i].key, sw_value_text(parts[i].value.s, parts[i].value.len));
    return sw_return(c, sw_value_map(map));
}

/* "//user@host/path" */
static void put_hierarchy(struct text *t, size_t mark, const struct url *u)
{
    if (u->scheme.len || u->host.len || u->has_user) {
        if (u->host.len || u->path.len || u->has_user)
            sw_text_puts(t, "//");
        if (u->has_user) {
            put_user(t, u);
            sw_text_char(t, '@');
        }
        put_escaped(t, u->host, HOST);
    }
    if (u->path.len && u->path.s[0] != '/' && u->host.len)
        sw_text_char(t, '/');
    if (t->len == mark) { /* "a:b" would be a scheme */
        struct span rest = u->path, first = cut(&rest, '/', NULL);
        if (memchr(first.s, ':', first.len))
            sw_text_puts(t, "./");
    }
    if (u->path.len == 1 && u->path.s[0] == '*')
        sw_text_char(t, '*');
    else
        put_escaped(t, u->path, PATH);
}

static int fn_url_join(struct call *c)
{
    struct url u = { 0 };
    struct span info;
    const struct {
        const char *key;
        struct span *to;
    } keys[] = { { "scheme", &u.scheme }, { "host", &u.host },     { "path", &u.path },
                 { "query", &u.query },   { "opaque", &u.opaque }, { "fragment", &u.fragment },
                 { "userinfo", &info } };
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const struct sw_value *v = sw_map_find_cstr(c->args[0].as.map, keys[i].key);
        if (v && sw_value_is_nil(*v))
            return sw_call_nil_deref(c);
        if (v && v->type != SW_T_STRING)
            return sw_call_fail(c, "unable to parse %s key, must be of type string, but %s found",
                                keys[i].key, sw_value_kind_name(*v));
        *keys[i].to = v ? span_of(*v) : (struct span){ "", 0 };
    }
    if (info.len) { /* read as that of a URL */
        struct url whole;
        SW_ERR(err);
        const struct reader r = { c, &err };
        const char *text = sw_arena_printf(c->arena, "proto://%.*s@host", (int)info.len, info.s);
        if (read_url(&r, (struct span){ text, strlen(text) }, &whole) < 0)
            return sw_call_fail(c, "unable to parse userinfo in dict: %s", sw_err_text(&err));
        u.has_user = whole.has_user;
        u.has_password = whole.has_password;
        u.user = whole.user;
        u.password = whole.password;
    }
    struct text *t = c->text;
    if (u.scheme.len) {
        sw_text_put(t, u.scheme.s, u.scheme.len);
        sw_text_char(t, ':');
    }
    if (u.opaque.len)
        sw_text_put(t, u.opaque.s, u.opaque.len);
    else
        put_hierarchy(t, c->mark, &u);
    if (u.query.len) {
        sw_text_char(t, '?');
        sw_text_put(t, u.query.s, u.query.len);
    }
    if (u.fragment.len) {
        sw_text_char(t, '#');
        put_escaped(t, u.fragment, FRAGMENT);
    }
    return sw_return_text(c);
}

/* A template does not use the network: its output depends on its input alone. */
static int fn_get_host_by_name(struct call *c)
{
    return sw_return(c, sw_value_text("", 0));
}

const struct func sw_funcs_urls[] = {
    { "urlParse", fn_url_parse, "s", "a map of a URL's parts", 0, 0 },
    { "urlJoin", fn_url_join, "m", "the URL of a map of parts", 0, 0 },
    { "getHostByName", fn_get_host_by_name, "s", "\"\": as Helm without --enable-dns", 0, 0 },
    { 0 },
};
