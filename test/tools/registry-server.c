/* registry-server [graph=TEXT] REPO:TAG NAME=TEXT... REPO:TAG ...: an image registry on loopback
 * until stdin ends. Each image has one layer of the files named; @HOST@ in a text is the registry's
 * own address; graph is what is answered at /graph, for which no channel is asked. The address is
 * printed first. */
#include "unit/chart/registry_server.h"

static char *graph; /* or NULL */

static void on_request(struct server *srv, struct sreq *req, void *arg)
{
    if (graph && sw_starts_with(req->path, "/graph"))
        reply(req, 200, graph);
    else
        registry_on_request(srv, req, arg);
}

static void on_stdin(evutil_socket_t fd, short what SW_UNUSED, void *arg)
{
    char bytes[256];
    if (read((int)fd, bytes, sizeof bytes) <= 0)
        sw_loop_stop(arg);
}

static char *with_host(const char *text, const char *host)
{
    char *out = sw_strdup("");
    for (const char *at; (at = strstr(text, "@HOST@")); text = at + 6) {
        char *longer = sw_printf("%s%.*s%s", out, (int)(at - text), text, host);
        free(out);
        out = longer;
    }
    char *whole = sw_printf("%s%s", out, text);
    free(out);
    return whole;
}

static void put_one(struct registry *r, const char *name, struct json_object *files)
{
    const char *colon = strrchr(name, ':');
    SW_AUTO_CHARS *repo = sw_strndup(name, (size_t)(colon - name));
    SW_AUTO_JSON *layers = json_object_new_array();
    (void)json_object_array_add(layers, json_object_get(files));
    free(put_image(r, repo, colon + 1, OCI_MANIFEST, layers));
}

int main(int argc, char **argv)
{
    struct sw_loop *loop = sw_loop_new(NULL);
    struct registry r = { 0 };
    registry_start(&r, loop);
    r.srv.on_request = on_request;
    SW_AUTO_CHARS *host = registry_host(&r);
    SW_AUTO_JSON *files = json_object_new_object();
    const char *image = NULL;
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals) {
            if (image)
                put_one(&r, image, files);
            image = argv[i];
            json_object_put(files);
            files = json_object_new_object();
            continue;
        }
        *equals = '\0';
        SW_AUTO_CHARS *text = with_host(equals + 1, host);
        if (image) {
            sw_json_set_str(files, text, argv[i], NULL);
        } else if (sw_streq(argv[i], "graph")) {
            graph = SW_TAKE(text);
        } else {
            (void)fprintf(stderr, "registry-server: %s= is before any image\n", argv[i]);
            return 2;
        }
    }
    if (image)
        put_one(&r, image, files);
    (void)printf("%s\n", host);
    (void)fflush(stdout);
    struct event *end = event_new(sw_loop_base(loop), 0, EV_READ | EV_PERSIST, on_stdin, loop);
    (void)event_add(end, NULL);
    sw_loop_run(loop);
    event_free(end);
    registry_stop(&r);
    free(graph);
    sw_loop_free(loop);
    return 0;
}
