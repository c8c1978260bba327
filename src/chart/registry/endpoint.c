/* The registries that are talked to, each with its certificates, and the tokens they gave. */
#include "chart/registry/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/json/path.h"

enum { MAX_TOKENS = 64, DOUBT_MS = 5000 };

static void place_is_freed(void *arg)
{
    struct place *p = arg;
    sw_http_tls_free(p->tls);
    free(p->host);
    free(p);
}

/* Within a callback of its transfers its memory goes a little later. */
static void place_free(struct place *p)
{
    if (p->http)
        sw_http_free(p->http);
    else
        place_is_freed(p);
}

/* PEM for @host: "reg..5000" is how a ConfigMap's key spells "reg:5000". */
static const char *ca_of(const struct sw_registry *reg, const char *host)
{
    SW_AUTO_CHARS *dots = sw_strdup(host);
    char *colon = strrchr(dots, ':');
    const char *pem = sw_json_str(reg->ca_by_host, NULL, host, NULL);
    if (pem || !colon)
        return pem;
    *colon = '\0';
    SW_AUTO_CHARS *key = sw_printf("%s..%s", dots, colon + 1);
    return sw_json_str(reg->ca_by_host, NULL, key, NULL);
}

static bool is_loopback(const char *host)
{
    const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
    size_t len = colon && (!bracket || colon > bracket) ? (size_t)(colon - host) : strlen(host);
    SW_AUTO_CHARS *name = sw_strndup(host, len);
    return sw_http_is_loopback(name);
}

static int open_place(struct sw_registry *reg, struct place *p, struct sw_err *err)
{
    const char *own = ca_of(reg, p->host), *bundle = reg->ca_bundle;
    SW_AUTO_CHARS *pem = sw_printf("%s\n%s", bundle ? bundle : "", own ? own : "");
    struct sw_http_tls_opts opts = {
        .source = p->host,
        .ca_data = own || bundle ? pem : NULL,
        .with_system = true,
        .insecure = p->insecure,
        .hint = "give its CA, or list the registry as insecure",
    };
    int rc = sw_http_tls_new(&opts, &p->tls, err);
    if (rc < 0)
        return rc;
    p->http = sw_http_new(reg->loop, &(struct sw_http_opts){ .user_agent = reg->opts.user_agent,
                                                             .direct = is_loopback(p->host),
                                                             .tls = p->tls,
                                                             .on_freed = place_is_freed,
                                                             .arg = p });
    return 0;
}

int place_enter(struct sw_registry *reg, const char *host, bool insecure, struct place **out,
                struct sw_err *err)
{
    for (struct place *p = reg->places; p; p = p->next)
        if (!p->stale && p->insecure == insecure && sw_streq(p->host, host)) {
            p->n_users++;
            *out = p;
            return 0;
        }
    struct place *p = sw_zalloc(1, sizeof *p);
    *p = (struct place){ .host = sw_strdup(host), .insecure = insecure, .n_users = 1 };
    int rc = open_place(reg, p, err);
    if (rc < 0) {
        place_free(p);
        return rc;
    }
    p->next = reg->places;
    reg->places = *out = p;
    return 0;
}

/* Without users and with old certificates it goes; else it is kept for its connections. */
void place_leave(struct sw_registry *reg, struct place *place)
{
    if (!place || --place->n_users || !place->stale)
        return;
    for (struct place **at = &reg->places; *at; at = &(*at)->next)
        if (*at == place) {
            *at = place->next;
            break;
        }
    place_free(place);
}

void places_free(struct sw_registry *reg)
{
    for (struct place *p = reg->places, *next; p; p = next) {
        next = p->next;
        place_free(p);
    }
    reg->places = NULL;
}

char *place_address(const struct place *place)
{
    bool hub = sw_streq(place->host, "docker.io");
    return sw_printf("%s://%s", place->plain ? "http" : "https",
                     hub ? "registry-1.docker.io" : place->host);
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

static void token_free(struct token *t)
{
    OPENSSL_cleanse(t->value, strlen(t->value));
    free(t->value);
    free(t->key);
    free(t);
}

const char *token_find(struct sw_registry *reg, const char *key)
{
    for (struct token *t = reg->tokens; t; t = t->next)
        if (sw_streq(t->key, key))
            return t->until_ms > sw_loop_now_ms(reg->loop) ? t->value : NULL;
    return NULL;
}

void token_drop(struct sw_registry *reg, const char *key)
{
    for (struct token **at = &reg->tokens; *at; at = &(*at)->next)
        if (sw_streq((*at)->key, key)) {
            struct token *t = *at;
            *at = t->next;
            token_free(t);
            reg->n_tokens--;
            return;
        }
}

void token_put(struct sw_registry *reg, const char *key, const char *value, int64_t lives_ms)
{
    token_drop(reg, key);
    struct token *t = sw_zalloc(1, sizeof *t);
    *t = (struct token){ .next = reg->tokens,
                         .key = sw_strdup(key),
                         .value = sw_strdup(value),
                         .until_ms = sw_loop_now_ms(reg->loop) + lives_ms - DOUBT_MS };
    reg->tokens = t;
    if (++reg->n_tokens <= MAX_TOKENS)
        return;
    struct token *last = t;
    while (last->next)
        last = last->next;
    token_drop(reg, last->key);
}

void tokens_free(struct sw_registry *reg)
{
    while (reg->tokens)
        token_drop(reg, reg->tokens->key);
}
