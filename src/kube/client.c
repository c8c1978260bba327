/* client: opens and frees the client. */
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/loop.h"
#include "data/json/table.h"
#include "data/text/url.h"
#include "kube/config/exec.h"
#include "kube/internal.h"

enum { MAX_IN_FLIGHT = 16, TIMEOUT_MS = 30000, MAX_WARNINGS = 256 };

static void on_warning(const char *text, void *arg)
{
    struct sw_kube *k = arg;
    if (!k->opts.on_warning || lh_table_lookup_entry(k->warned, text) ||
        lh_table_length(k->warned) >= MAX_WARNINGS)
        return;
    (void)lh_table_insert(k->warned, sw_strdup(text), NULL);
    k->opts.on_warning(text, k->opts.arg);
}

/** Set base_url and host_header from the configuration. @direct: the server is on loopback, no
 * proxy is used. @connect_to: for struct sw_http_opts, the caller's. */
static int read_address(struct sw_kube *k, bool *direct, char **connect_to, struct sw_err *err)
{
    const struct sw_kube_config *c = k->config;
    const char *source = c->source ? c->source : "the configuration";
    if (!c->server || !c->server[0])
        return sw_err_set(err, SW_INVALID, "%s: no server is given", source);
    SW_AUTO_CHARS *shown = sw_url_shown(c->server);
    if (!sw_starts_with(c->server, "https://") && !sw_starts_with(c->server, "http://"))
        return sw_err_set(err, SW_INVALID,
                          "%s: server '%s' begins neither with https:// nor http://", source,
                          shown);
    __attribute__((cleanup(sw_http_url_done))) struct sw_http_url url = { 0 };
    if (sw_http_url_parse(c->server, &url, NULL) < 0 || url.query)
        return sw_err_set(err, SW_INVALID, "%s: server '%s' is not an address", source, shown);
    *direct = sw_http_is_loopback(url.host) && !c->proxy_url;
    url.path[sw_before_slashes(url.path, strlen(url.path), 0)] = '\0';
    if (c->tls_server_name && sw_starts_with(c->server, "https:")) {
        /* TLS verifies this name, while the connection goes to the address */
        const char *name = c->tls_server_name;
        k->base_url = sw_printf("https://%s:%s%s", name, url.port, url.path);
        k->host_header = sw_printf("%s:%s", url.host, url.port);
        *connect_to = sw_printf("%s:%s:%s:%s", name, url.port, url.host, url.port);
    } else {
        k->base_url = sw_strndup(c->server, sw_before_slashes(c->server, strlen(c->server), 0));
    }
    return 0;
}

static void set_opts(struct sw_kube *k, const struct sw_kube_opts *opts)
{
    if (opts)
        k->opts = *opts;
    k->opts.user_agent = sw_strdup(k->opts.user_agent ? k->opts.user_agent : "slipway");
    k->opts.field_manager = sw_strdup(k->opts.field_manager ? k->opts.field_manager : "slipway");
    if (k->opts.max_in_flight <= 0)
        k->opts.max_in_flight = MAX_IN_FLIGHT;
    if (k->opts.timeout_ms <= 0)
        k->opts.timeout_ms = TIMEOUT_MS;
    k->random = k->opts.seed;
    if (!k->random && getrandom(&k->random, sizeof k->random, 0) < 0)
        k->random = (uint64_t)sw_now_ms();
}

static void kube_free_memory(void *arg)
{
    struct sw_kube *k = arg;
    sw_http_tls_free(k->tls);
    kube_counts_free(k->counts);
    kube_trace_free(k->trace);
    kube_kinds_free(k->kinds);
    kube_token_free(k->token);
    if (k->warned)
        lh_table_free(k->warned);
    sw_kube_config_free(k->config);
    free((char *)k->opts.user_agent);
    free((char *)k->opts.field_manager);
    free(k->base_url);
    free(k->host_header);
    free(k);
}

/* What it says about impersonation must not be lost: without it, requests have other rights. */
static int check_identity(const struct sw_kube_config *c, struct sw_err *err)
{
    const char *source = c->source ? c->source : "the kubeconfig";
    if (c->as_user && !c->as_user[strspn(c->as_user, " \t")])
        return sw_err_set(err, SW_INVALID, "%s: the user's 'as' is empty", source);
    if (!c->as_user && c->as_groups && c->as_groups[0])
        return sw_err_set(err, SW_INVALID, "%s: the user has 'as-groups', and no 'as'", source);
    return 0;
}

int sw_kube_new(struct sw_loop *loop, const struct sw_kube_config *config,
                const struct sw_kube_opts *opts, struct sw_kube **out, struct sw_err *err)
{
    struct sw_kube *k = sw_zalloc(1, sizeof *k);
    SW_AUTO_CHARS *connect_to = NULL;
    bool direct = false;
    k->loop = loop;
    k->config = sw_kube_config_copy(config);
    k->on_up = kube_watch_wake_all;
    set_opts(k, opts);
    TAILQ_INIT(&k->queue);
    k->token = kube_token_new();
    struct sw_exec_answer answer = { 0 };
    struct sw_http_tls_opts tls = { .source = config->source,
                                    .ca_data = config->ca_data,
                                    .ca_file = config->ca_file,
                                    .cert_data = config->cert_data,
                                    .cert_file = config->cert_file,
                                    .key_data = config->key_data,
                                    .key_file = config->key_file,
                                    .insecure = config->insecure };
    int rc = check_identity(config, err);
    if (rc == 0)
        rc = read_address(k, &direct, &connect_to, err);
    if (rc == 0 && config->exec && !config->token && !config->token_file)
        rc = sw_exec_get(config, &answer, err);
    if (answer.cert) {
        tls.cert_data = answer.cert;
        tls.key_data = answer.key;
        tls.cert_file = tls.key_file = NULL;
    }
    if (rc == 0)
        rc = sw_http_tls_new(&tls, &k->tls, err);
    kube_token_take(k->token, &answer);
    sw_exec_answer_done(&answer);
    if (rc < 0) {
        kube_free_memory(k);
        return rc;
    }
    k->counts = kube_counts_new();
    k->trace = kube_trace_new();
    k->kinds = kube_kinds_new();
    k->warned = lh_kchar_table_new(16, sw_table_free_key);
    k->http = sw_http_new(loop, &(struct sw_http_opts){ .user_agent = k->opts.user_agent,
                                                        .proxy_url = config->proxy_url,
                                                        .username = config->username,
                                                        .password = config->password,
                                                        .connect_to = connect_to,
                                                        .direct = direct,
                                                        .tls = k->tls,
                                                        .on_warning = on_warning,
                                                        .on_freed = kube_free_memory,
                                                        .arg = k });
    *out = k;
    return 0;
}

void sw_kube_free(struct sw_kube *k)
{
    if (!k)
        return;
    sw_http_enter(k->http);
    k->opts.on_server = NULL;
    k->opts.on_warning = NULL;
    kube_watch_unhook_all(k);
    struct sw_kube_request *r, *next;
    for (r = LIST_FIRST(&k->requests); r; r = next) {
        next = LIST_NEXT(r, in_all);
        kube_request_over(r);
    }
    kube_fetches_free(k);
    sw_http_free(k->http); /* frees k too, by on_freed, when no callback runs */
    sw_http_leave(k->http);
}

const char *sw_kube_server(const struct sw_kube *k)
{
    return k->config->server;
}

const char *sw_kube_ns(const struct sw_kube *k)
{
    return sw_text_or(k->config->ns, "default");
}
