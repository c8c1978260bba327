#include "cli/recipe/source_flags.h"

#include <string.h>

#include <json-c/json.h>

#include "base/loop.h"
#include "chart/fetch/fetch.h"
#include "cli/cluster/connect.h"
#include "data/json/json.h"
#include "kube/kube.h"

/* ---- ConfigMaps of a cluster -------------------------------------------------------------------
 */

struct cluster {
    const struct sw_connect_opts *opts;
    struct sw_connection conn;
    int code;
    struct json_object *map;
    struct sw_err err;
};

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct cluster *c = arg;
    c->code = a->code;
    if (a->code < 0)
        sw_err_set(&c->err, a->code, "%s", sw_err_text(a->err));
    else
        c->code = sw_json_parse(a->text, a->len_bytes, NULL, &c->map, &c->err);
    sw_loop_stop(c->conn.loop);
}

static int ask(struct cluster *c, const char *ns, const char *name, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("/api/v1/namespaces/%s/configmaps/%s", ns, name);
    int rc = sw_connection_init(&c->conn, "fetch", c->opts, err);
    if (rc < 0)
        return rc;
    c->code = sw_err_set(&c->err, SW_CANCELED, "interrupted");
    (void)sw_kube_raw(c->conn.kube, "GET", path, &(struct sw_request_opts){ .retries = 1 },
                      on_answer, c);
    sw_loop_run(c->conn.loop);
    return c->code < 0 ? sw_err_move(err, &c->err) : 0;
}

static int get_config_map(void *arg, const char *ns, const char *name, struct json_object **out,
                          struct sw_err *err)
{
    static const struct sw_connect_opts usual;
    const struct sw_connect_opts *opts = arg;
    struct cluster c = { .opts = opts ? opts : &usual };
    if (c.opts->emulate)
        return sw_err_set(err, SW_NOTFOUND, "the embedded cluster begins empty");
    int rc = ask(&c, ns, name, err);
    if (rc == 0)
        *out = SW_TAKE(c.map);
    sw_connection_done(&c.conn);
    json_object_put(c.map);
    sw_err_done(&c.err);
    return rc;
}

/* ---- the recipe --------------------------------------------------------------------------------
 */

int sw_source_open(const struct sw_source_flags *flags, const char *source,
                   const struct sw_connect_opts *connect, struct sw_recipe **out,
                   struct sw_fetcher **fetcher, struct sw_err *err)
{
    const struct sw_fetch_opts opts = {
        .auth = { .username = flags->username,
                  .password = flags->password,
                  .pass_credentials = flags->pass_credentials,
                  .ca_file = flags->ca_file,
                  .cert_file = flags->cert_file,
                  .key_file = flags->key_file,
                  .insecure = flags->insecure,
                  .docker_config = flags->registry_config },
        .cache_dir = flags->cache_dir,
        .timeout_ms = flags->fetch_timeout_ms,
        .verify = flags->verify,
        .keyring = flags->keyring,
        .config_map = get_config_map,
        .config_map_arg = (void *)connect,
    };
    SW_AUTO(sw_fetcher) *f = sw_fetcher_new(&opts);
    const struct sw_recipe_opts open = { .get = sw_fetcher_get,
                                         .get_arg = f,
                                         .chart = flags->repo ? source : NULL,
                                         .version = flags->version };
    const char *from = flags->repo ? flags->repo : source;
    int rc = sw_fetcher_open(f, from, &open, out, err);
    if (fetcher)
        *fetcher = SW_TAKE(f);
    return rc;
}
