/* Opens and frees a registry client; sets its mirrors and certificates. */
#include <stdlib.h>

#include "chart/registry/call.h"
#include "data/json/json.h"

enum { TIMEOUT_MS = 30000, RETRIES = 2, RETRY_MS = 1000 };

struct sw_registry *sw_registry_new(struct sw_loop *loop, const struct sw_registry_opts *opts)
{
    struct sw_registry *reg = sw_zalloc(1, sizeof *reg);
    reg->loop = loop;
    if (opts)
        reg->opts = *opts;
    reg->opts.user_agent = sw_strdup(reg->opts.user_agent ? reg->opts.user_agent : "slipway");
    if (!reg->opts.timeout_ms)
        reg->opts.timeout_ms = TIMEOUT_MS;
    if (!reg->opts.retries)
        reg->opts.retries = RETRIES;
    if (!reg->opts.retry_ms)
        reg->opts.retry_ms = RETRY_MS;
    return reg;
}

void sw_registry_free(struct sw_registry *reg)
{
    if (!reg)
        return;
    files_free(reg);
    while (reg->calls)
        sw_registry_cancel(reg->calls);
    endpoints_free(reg);
    tokens_free(reg);
    cached_free(reg);
    sw_mirrors_free(reg->mirrors);
    json_object_put(reg->ca_by_host);
    free(reg->ca_bundle);
    free((char *)reg->opts.user_agent);
    free(reg);
}

void sw_registry_set_mirrors(struct sw_registry *reg, struct sw_mirrors *mirrors)
{
    sw_mirrors_free(reg->mirrors);
    reg->mirrors = mirrors;
}

static int check_pem(const char *source, const char *pem, struct sw_err *err)
{
    SW_AUTO(sw_http_tls) *tls = NULL;
    return sw_http_tls_new(&(struct sw_http_tls_opts){ .source = source, .ca_data = pem }, &tls,
                           err);
}

int sw_registry_set_cas(struct sw_registry *reg, const char *bundle, struct json_object *by_host,
                        struct sw_err *err)
{
    int rc = bundle ? check_pem("the CA bundle", bundle, err) : 0;
    if (by_host && rc == 0) {
        json_object_object_foreach(by_host, host, pem) if (rc == 0)
            rc = check_pem(host, json_object_get_string(pem), err);
    }
    if (rc < 0 || (sw_streq(reg->ca_bundle, bundle) && sw_json_equal(reg->ca_by_host, by_host)))
        return rc;
    free(reg->ca_bundle);
    json_object_put(reg->ca_by_host);
    reg->ca_bundle = sw_strdup(bundle);
    reg->ca_by_host = sw_json_copy(by_host);
    for (struct endpoint *p = reg->endpoints, *next; p;
         p = next) { /* those in use are freed later */
        next = p->next;
        p->stale = true;
        p->n_users++;
        endpoint_leave(reg, p);
    }
    return 0;
}
