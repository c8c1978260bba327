/* The hosts of registries, each with its certificates and connections, and their tokens. */
#include "chart/registry/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/json/path.h"

enum { MAX_TOKENS = 64, DOUBT_MS = 5000 };

static void on_endpoint_freed(void *arg)
{
    struct endpoint *p = arg;
    sw_http_tls_free(p->tls);
    free(p->host);
    free(p);
}

/* Its memory is freed after the callbacks of its transfers. */
static void endpoint_free(struct endpoint *p)
{
    if (p->http)
        sw_http_free(p->http);
    else
        on_endpoint_freed(p);
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

bool endpoint_is_local(const struct endpoint *p)
{
    const char *colon = strrchr(p->host, ':'), *bracket = strrchr(p->host, ']');
    bool has_port = colon && (!bracket || colon > bracket);
    SW_AUTO_CHARS *name = sw_strndup(p->host,
                                     has_port ? (size_t)(colon - p->host) : strlen(p->host));
    return sw_http_is_loopback(name);
}

static int open_endpoint(struct sw_registry *reg, struct endpoint *p, struct sw_err *err)
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
                                                             .direct = endpoint_is_local(p),
                                                             .tls = p->tls,
                                                             .on_freed = on_endpoint_freed,
                                                             .arg = p });
    return 0;
}

int endpoint_enter(struct sw_registry *reg, const char *host, bool insecure, struct endpoint **out,
                   struct sw_err *err)
{
    for (struct endpoint *p = reg->endpoints; p; p = p->next)
        if (!p->stale && p->insecure == insecure && sw_streq(p->host, host)) {
            p->n_users++;
            *out = p;
            return 0;
        }
    struct endpoint *p = sw_zalloc(1, sizeof *p);
    *p = (struct endpoint){ .host = sw_strdup(host), .insecure = insecure, .n_users = 1 };
    int rc = open_endpoint(reg, p, err);
    if (rc < 0) {
        endpoint_free(p);
        return rc;
    }
    p->next = reg->endpoints;
    reg->endpoints = *out = p;
    return 0;
}

/* It is kept for its connections, unless it has old certificates. */
void endpoint_leave(struct sw_registry *reg, struct endpoint *endpoint)
{
    if (!endpoint || --endpoint->n_users || !endpoint->stale)
        return;
    for (struct endpoint **at = &reg->endpoints; *at; at = &(*at)->next)
        if (*at == endpoint) {
            *at = endpoint->next;
            break;
        }
    endpoint_free(endpoint);
}

void endpoints_free(struct sw_registry *reg)
{
    for (struct endpoint *p = reg->endpoints, *next; p; p = next) {
        next = p->next;
        endpoint_free(p);
    }
    reg->endpoints = NULL;
}

char *endpoint_url(const struct endpoint *endpoint)
{
    bool hub = sw_streq(endpoint->host, "docker.io");
    return sw_printf("%s://%s", endpoint->plain ? "http" : "https",
                     hub ? "registry-1.docker.io" : endpoint->host);
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

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
            OPENSSL_cleanse(t->value, strlen(t->value));
            free(t->value);
            free(t->key);
            free(t);
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
