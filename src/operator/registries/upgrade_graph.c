#include "operator/registries/upgrade_graph.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "net/http/http.h"

#define GRAPH "https://api.openshift.com/api/upgrades_info/v1/graph"

enum { ANSWER_MS = 30000, MAX_GRAPH = 64 << 20 };

static const char *const channels[] = { "stable", "fast", "candidate" };

struct sw_upgrade_graph {
    struct sw_http *http;
    char *base, *version;
    size_t channel;
    struct sw_http_transfer *transfer;
    char *body;
    size_t body_len;
    sw_upgrade_graph_fn *fn;
    void *arg;
};

static int on_data(int status SW_UNUSED, const char *bytes, size_t len,
                   struct sw_err *err SW_UNUSED, void *arg)
{
    struct sw_upgrade_graph *g = arg;
    g->body = sw_realloc(g->body, g->body_len + len + 1, 1);
    memcpy(g->body + g->body_len, bytes, len);
    g->body_len += len;
    return 0;
}

static void ask(struct sw_upgrade_graph *g);

static void on_done(const struct sw_http_result *r, void *arg)
{
    struct sw_upgrade_graph *g = arg;
    SW_AUTO_CHARS *body = SW_TAKE(g->body);
    size_t len = g->body_len;
    SW_AUTO_JSON *doc = NULL;
    g->transfer = NULL;
    g->body_len = 0;
    if (r->code < 0 || r->http_status >= 500) {
        SW_AUTO_CHARS *why = sw_printf(
            "the release image of version %s cannot be asked for: %s (HTTP %d)", g->version,
            r->code < 0 ? sw_err_text(r->err) : r->url, r->http_status);
        g->fn(SW_UNAVAILABLE, why, NULL, g->arg);
        return;
    }
    if (r->http_status == 200)
        (void)!sw_json_parse(body ? body : "", len, NULL, &doc, NULL);
    struct json_object *node = sw_json_find_by(sw_json_get(doc, "nodes"), "version", g->version);
    const char *image = sw_json_str(node, NULL, "payload", NULL);
    if (image) {
        g->fn(0, NULL, image, g->arg);
    } else if (++g->channel < SW_COUNT(channels)) {
        ask(g);
    } else {
        SW_AUTO_CHARS *why = sw_printf("version %s is in none of the channels stable, fast and "
                                       "candidate",
                                       g->version);
        g->fn(SW_NOTFOUND, why, NULL, g->arg);
    }
}

static void ask(struct sw_upgrade_graph *g)
{
    static const char *const headers[] = { "Accept: application/json", NULL };
    const char *dot = strchr(g->version, '.');
    int minor = dot ? (int)(dot + 1 - g->version + (int)strcspn(dot + 1, "."))
                    : (int)strlen(g->version);
    SW_AUTO_CHARS *url = sw_printf("%s?arch=amd64&channel=%s-%.*s", g->base, channels[g->channel],
                                   minor, g->version);
    g->transfer = sw_http_start(g->http, &(struct sw_http_spec){ .method = "GET",
                                                                 .url = url,
                                                                 .headers = headers,
                                                                 .answer_ms = ANSWER_MS,
                                                                 .idle_ms = ANSWER_MS,
                                                                 .max_bytes = MAX_GRAPH,
                                                                 .max_redirects = 3,
                                                                 .on_data = on_data,
                                                                 .on_done = on_done,
                                                                 .arg = g });
}

struct sw_upgrade_graph *sw_upgrade_graph_open(struct sw_http *http, const char *base,
                                               const char *version, sw_upgrade_graph_fn *fn,
                                               void *arg)
{
    struct sw_upgrade_graph *g = sw_zalloc(1, sizeof *g);
    const char *set = base ? base : getenv("SLIPWAY_UPGRADE_GRAPH_URL");
    *g = (struct sw_upgrade_graph){ .http = http,
                                    .base = sw_strdup(set && *set ? set : GRAPH),
                                    .version = sw_strdup(version),
                                    .fn = fn,
                                    .arg = arg };
    ask(g);
    return g;
}

void sw_upgrade_graph_close(struct sw_upgrade_graph *g)
{
    if (!g)
        return;
    sw_http_cancel(g->transfer);
    free(g->base);
    free(g->version);
    free(g->body);
    free(g);
}
