#include "data/cel/urls.h"

#include <ctype.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/text/percent.h"

static const char *piece(struct cel_run *x, const char *from, const char *to)
{
    return sw_arena_strndup(x->arena, from, (size_t)(to - from));
}

/* A percent sign has two hexadecimal digits behind it, and there is no control character. */
static bool is_plain(const char *text)
{
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p) ||
            (*p == '%' && (!isxdigit((unsigned char)p[1]) || !isxdigit((unsigned char)p[2]))))
            return false;
    return true;
}

/* "name:80", "[::1]:80" */
static bool read_host(struct cel_run *x, struct cel_url *url)
{
    const char *host = url->host, *close = *host == '[' ? strchr(host, ']') : NULL;
    if (*host == '[' && !close)
        return false;
    const char *after = close ? close + 1 : host + strcspn(host, ":");
    url->hostname = close ? piece(x, host + 1, close) : piece(x, host, after);
    url->port = *after == ':' ? after + 1 : "";
    if (!close && strpbrk(host, " <>\"^`{|}\\"))
        return false;
    return (!*after || *after == ':') && strspn(url->port, "0123456789") == strlen(url->port);
}

static size_t scheme_len(const char *text)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*text))
        return 0;
    while (isalnum((unsigned char)text[n]) || (text[n] && strchr("+-.", text[n])))
        n++;
    return text[n] == ':' ? n : 0;
}

const struct cel_url *sw_cel_read_url(struct cel_run *x, const char *text)
{
    struct cel_url *url = sw_arena_alloc(x->arena, sizeof *url);
    const size_t scheme = scheme_len(text);
    const char *at = text + scheme + (scheme ? 1 : 0);
    *url = (struct cel_url){ .text = text, .scheme = "", .host = "", .hostname = "", .port = "" };
    if (!is_plain(text) || (*at != '/' && (!scheme || !*at)))
        return NULL;
    char *lower = sw_arena_strndup(x->arena, text, scheme);
    for (size_t i = 0; i < scheme; i++)
        lower[i] = (char)tolower((unsigned char)lower[i]);
    url->scheme = lower;
    if (scheme && strncmp(at, "//", 2) == 0) {
        const char *end = at + 2 + strcspn(at + 2, "/?");
        const char *host = piece(x, at + 2, end), *user = strrchr(host, '@');
        url->host = user ? user + 1 : host;
        at = end;
    }
    if (*at != '/' && scheme && !*url->host && at == text + scheme + 1)
        at += strcspn(at, "?"); /* mailto:a@b */
    const char *question = at + strcspn(at, "?");
    url->path = piece(x, at, question);
    url->query = *question ? question + 1 : "";
    return read_host(x, url) ? url : NULL;
}

enum { MAKE, TEST };

static struct cel_value to_url(struct cel_run *x, const struct cel_value *args, int test)
{
    const char *text = sw_cel_chars(x, args[0]);
    const struct cel_url *url = sw_cel_read_url(x, text);
    if (test)
        return sw_cel_bool(url != NULL);
    if (!url)
        return sw_cel_fail(x,
                           "URL parse error during conversion from string: parse \"%s\": invalid "
                           "URI for request",
                           text);
    return (struct cel_value){ .kind = CEL_URL, .url = url };
}

enum { SCHEME, HOST, HOSTNAME, PORT, PATH };

static struct cel_value get(struct cel_run *x, const struct cel_value *args, int which)
{
    const struct cel_url *u = args[0].url;
    const char *pieces[] = { u->scheme, u->host, u->hostname, u->port, u->path };
    (void)x;
    return sw_cel_static(pieces[which]);
}

static struct cel_value decoded(struct cel_run *x, const char *from, const char *to)
{
    char *out = sw_arena_alloc(x->arena, (size_t)(to - from) + 1);
    size_t len = 0;
    for (const char *p = from; p < to; p++) {
        if (*p == '%' && p + 2 < to) {
            out[len++] = (char)(sw_hex_digit(p[1]) << 4 | sw_hex_digit(p[2]));
            p += 2;
        } else {
            out[len++] = *p == '+' ? ' ' : *p;
        }
    }
    return (struct cel_value){ .kind = CEL_STRING, .s = { out, len } };
}

/* The values of a key, in order. */
static struct cel_value values_of(struct cel_run *x, const struct cel_value *pairs, size_t n,
                                  struct cel_value key)
{
    struct cel_value *items = sw_arena_alloc(x->arena, (n + 1) * sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (sw_cel_equal(x, pairs[2 * i], key))
            items[count++] = pairs[2 * i + 1];
    return sw_cel_list(x, items, count);
}

static struct cel_value query(struct cel_run *x, const struct cel_value *args, int variant)
{
    const char *at = args[0].url->query;
    const size_t most = strlen(at) + 1;
    struct cel_value *pairs = sw_arena_alloc(x->arena, 2 * most * sizeof *pairs);
    struct cel_value *entries = sw_arena_alloc(x->arena, 2 * most * sizeof *entries);
    size_t n = 0, n_keys = 0;
    (void)variant;
    if (!sw_cel_charge(x, most))
        return sw_cel_over(x);
    while (*at) {
        const char *end = at + strcspn(at, "&");
        const char *equals = memchr(at, '=', (size_t)(end - at));
        if (end > at && !memchr(at, ';', (size_t)(end - at))) {
            pairs[2 * n] = decoded(x, at, equals ? equals : end);
            pairs[2 * n + 1] = equals ? decoded(x, equals + 1, end) : sw_cel_static("");
            n++;
        }
        at = *end ? end + 1 : end;
    }
    for (size_t i = 0; i < n; i++) {
        const struct cel_map map = { .n = n_keys, .entries = entries };
        struct cel_value found;
        if (sw_cel_find(x, &map, pairs[2 * i], &found))
            continue;
        entries[2 * n_keys] = pairs[2 * i];
        entries[2 * n_keys + 1] = values_of(x, pairs, n, pairs[2 * i]);
        n_keys++;
    }
    return sw_cel_map(x, entries, n_keys);
}

bool sw_cel_equal_of_library(struct cel_run *x, struct cel_value a, struct cel_value b)
{
    (void)x;
    switch (a.kind) {
    case CEL_TYPE:
        return a.type == b.type;
    case CEL_URL:
        return sw_streq(a.url->text, b.url->text);
    case CEL_IP:
    case CEL_CIDR:
        return a.net->v6 == b.net->v6 && a.net->bits == b.net->bits &&
               memcmp(a.net->bytes, b.net->bytes, sizeof a.net->bytes) == 0;
    default:
        return a.format == b.format;
    }
}

const struct cel_function sw_cel_urls[] = {
    { "url", "s>U", to_url, MAKE },
    { "isURL", "s>b", to_url, TEST },
    { "getScheme", "U.>s", get, SCHEME },
    { "getHost", "U.>s", get, HOST },
    { "getHostname", "U.>s", get, HOSTNAME },
    { "getPort", "U.>s", get, PORT },
    { "getEscapedPath", "U.>s", get, PATH },
    { "getQuery", "U.>MsLs", query, 0 },
    { 0 },
};
