/* One resource: a socket in kubelet's folder, the DevicePlugin service on it, its registration. */
#include "slicing/deviceplugin/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/messages.h"
#include "slicing/deviceplugin/tickets.h"

/* A kubelet that restarts is mostly back before LOST_MS have passed. */
enum {
    REGISTER_AGAIN_MS = 1000,
    LOST_MS = 3000,
    REGISTER_TIMEOUT_MS = 10 * 1000,
    MAX_MESSAGE_BYTES = 256 * 1024, /* lists of devices, of which a node has some hundred */
};

struct watcher { /* a ListAndWatch under way */
    LIST_ENTRY(watcher) link;
    struct dp_endpoint *e;
    struct sw_grpc_call *call;
};

struct dp_endpoint {
    struct sw_device_plugin *p;
    const struct dp_resource *r;
    struct sw_grpc_server *server;
    LIST_HEAD(watcher_list, watcher) watchers;
    struct dp_bytes devices; /* sent last */
    size_t n_healthy;
    struct sw_grpc_request *registration;
    struct sw_timer *again;
    bool registered;
    char *trouble; /* logged last */
};

/* ---- ListAndWatch ------------------------------------------------------------------------------
 */

void dp_endpoint_refresh(struct dp_endpoint *e)
{
    bool *healthy = sw_zalloc(e->r->n_devices + 1, sizeof *healthy);
    dp_inventory_health(e->p->driver, e->r, e->p->broker, e->p->shut_again, healthy);
    e->n_healthy = 0;
    for (size_t i = 0; i < e->r->n_devices; i++)
        e->n_healthy += healthy[i];
    const struct dp_bytes now = dp_message_devices(e->r->text, healthy, e->r->n_devices);
    free(healthy);
    if (now.len == e->devices.len && e->devices.bytes &&
        memcmp(now.bytes, e->devices.bytes, now.len) == 0) {
        free(now.bytes);
        return;
    }
    free(e->devices.bytes);
    e->devices = now;
    struct watcher *w;
    LIST_FOREACH(w, &e->watchers, link)
    sw_grpc_call_replace(w->call, now.bytes, now.len);
}

static void on_watcher_gone(struct sw_grpc_call *call SW_UNUSED, void *arg)
{
    struct watcher *w = arg;
    LIST_REMOVE(w, link);
    if (LIST_EMPTY(&w->e->watchers) && w->e->registered)
        sw_timer_set(w->e->again, LOST_MS);
    free(w);
}

static void list_and_watch(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                           size_t len SW_UNUSED, void *arg)
{
    struct dp_endpoint *e = arg;
    struct watcher *w = sw_zalloc(1, sizeof *w);
    w->e = e;
    w->call = call;
    LIST_INSERT_HEAD(&e->watchers, w, link);
    sw_grpc_call_on_gone(call, on_watcher_gone, w);
    sw_grpc_call_send(call, e->devices.bytes, e->devices.len);
}

/* ---- the other calls ---------------------------------------------------------------------------
 */

static void reply(struct sw_grpc_call *call, struct dp_bytes answer)
{
    sw_grpc_call_send(call, answer.bytes, answer.len);
    free(answer.bytes);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

static void get_options(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                        size_t len SW_UNUSED, void *arg SW_UNUSED)
{
    reply(call, dp_message_options(true));
}

static void get_preferred(struct sw_grpc_call *call, const uint8_t *message, size_t len,
                          void *arg SW_UNUSED)
{
    SW_ERR(err);
    struct dp_bytes answer;
    if (dp_message_prefer(message, len, &answer, &err) < 0)
        sw_grpc_call_end(call, SW_GRPC_INVALID_ARGUMENT, sw_err_text(&err));
    else
        reply(call, answer);
}

static void allocate(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
    struct dp_endpoint *e = arg;
    dp_ticket_allocate(e->p, call, e->r->profile, message, len);
}

static void pre_start(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
    struct dp_endpoint *e = arg;
    dp_ticket_start(e->p, call, e->r->profile, message, len);
}

static const struct sw_grpc_method methods[] = {
    { DP_SERVICE "GetDevicePluginOptions", get_options },
    { DP_SERVICE "ListAndWatch", list_and_watch },
    { DP_SERVICE "GetPreferredAllocation", get_preferred },
    { DP_SERVICE "Allocate", allocate },
    { DP_SERVICE "PreStartContainer", pre_start },
};

/* ---- registration ------------------------------------------------------------------------------
 */

/* When its stream ends, kubelet takes the plugin for gone: it offers no devices until the plugin
 * registers again. */
static void on_again(void *arg)
{
    struct dp_endpoint *e = arg;
    if (e->registered && !LIST_EMPTY(&e->watchers))
        return;
    if (e->registered)
        sw_log(SW_LOG_WARN, "kubelet has closed its stream", "resource", e->r->name, NULL);
    e->registered = false;
    dp_endpoint_register(e);
}

static void on_registered(int status, const char *message, void *arg)
{
    struct dp_endpoint *e = arg;
    e->registration = NULL;
    if (status == SW_GRPC_OK) {
        e->registered = true;
        e->p->n.registrations++;
        free(SW_TAKE(e->trouble));
        sw_log(SW_LOG_INFO, "registered", "resource", e->r->name, NULL);
        return;
    }
    if (!sw_streq(e->trouble, message))
        sw_log(SW_LOG_WARN, "not registered; trying again", "resource", e->r->name, "error",
               message, NULL);
    sw_text_set(&e->trouble, message);
    sw_timer_set(e->again, REGISTER_AGAIN_MS);
}

void dp_endpoint_register(struct dp_endpoint *e)
{
    if (e->registered || e->registration)
        return;
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet.sock", e->p->plugins_dir);
    struct dp_bytes m = dp_message_register(e->r->socket, e->r->name, true);
    sw_timer_stop(e->again);
    e->registration = sw_grpc_request_start(
        e->p->loop, &(struct sw_grpc_request_opts){ .socket = socket,
                                                    .path = "/v1beta1.Registration/Register",
                                                    .message = m.bytes,
                                                    .len_bytes = m.len,
                                                    .timeout_ms = REGISTER_TIMEOUT_MS,
                                                    .on_done = on_registered,
                                                    .arg = e });
    free(m.bytes);
}

bool dp_endpoint_is_registered(const struct dp_endpoint *e)
{
    return e->registered;
}

size_t dp_endpoint_n_healthy(const struct dp_endpoint *e)
{
    return e->n_healthy;
}

void dp_endpoint_forget(struct dp_endpoint *e)
{
    e->registered = false;
    sw_timer_stop(e->again);
    sw_grpc_request_cancel(SW_TAKE(e->registration));
}

void dp_endpoint_leave(struct dp_endpoint *e)
{
    dp_endpoint_forget(e);
    sw_grpc_server_close(SW_TAKE(e->server));
}

/* ---- open and close ----------------------------------------------------------------------------
 */

int dp_endpoint_listen(struct dp_endpoint *e, struct sw_err *err)
{
    if (e->server && sw_grpc_server_is_there(e->server))
        return 0;
    sw_grpc_server_close(SW_TAKE(e->server));
    e->registered = false;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", e->p->plugins_dir, e->r->socket);
    return sw_grpc_server_open(
        e->p->loop,
        &(struct sw_grpc_server_opts){ .socket = path,
                                       .methods = methods,
                                       .n_methods = SW_COUNT(methods),
                                       .arg = e,
                                       .max_message_bytes = MAX_MESSAGE_BYTES },
        &e->server, err);
}

struct dp_endpoint *dp_endpoint_new(struct sw_device_plugin *p, const struct dp_resource *r)
{
    struct dp_endpoint *e = sw_zalloc(1, sizeof *e);
    e->p = p;
    e->r = r;
    e->again = sw_timer_new(p->loop, on_again, e);
    LIST_INIT(&e->watchers);
    dp_endpoint_refresh(e);
    return e;
}

void dp_endpoint_free(struct dp_endpoint *e)
{
    if (!e)
        return;
    sw_grpc_request_cancel(e->registration);
    sw_grpc_server_close(e->server);
    sw_timer_free(e->again);
    free(e->devices.bytes);
    free(e->trouble);
    free(e);
}
