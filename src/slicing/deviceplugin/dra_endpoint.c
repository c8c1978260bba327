#include "slicing/deviceplugin/dra_endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/dra_calls.h"
#include "slicing/deviceplugin/dra_messages.h"
#include "slicing/deviceplugin/dra_node.h"

#define SERVICE "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/"
#define SERVICE_BETA "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/"

enum {
    CHECK_AGAIN_MS = 5000, /* kubelet's folders, its sockets */
    HEALTH_AGAIN_MS = 20 * 1000,
    HEALTH_TIMEOUT_S = 60,
    MAX_MESSAGE_BYTES = 1024 * 1024,
};

struct watcher { /* a NodeWatchResources under way */
    LIST_ENTRY(watcher) link;
    struct dp_dra_endpoint *e;
    struct sw_grpc_call *call;
};

struct dp_dra_endpoint {
    struct sw_device_plugin *p;
    char *folder, *socket; /* of the driver */
    char *registry;        /* the socket of its registration */
    struct sw_grpc_server *driver, *registration;
    struct sw_timer *check, *health;
    LIST_HEAD(watcher_list, watcher) watchers;
    char *told; /* which devices are healthy, as it was said last */
    bool registered;
    char *trouble; /* logged last */
};

/* ---- health ------------------------------------------------------------------------------------
 */

/* @told: which of them are healthy, as one text; the caller's. */
static struct dp_bytes health_message(const struct dp_dra_endpoint *e, char **told)
{
    struct sw_device_plugin *p = e->p;
    struct sw_dra_node node = dp_dra_node(p, NULL);
    struct sw_dra_gpu *gpus = (struct sw_dra_gpu *)(uintptr_t)node.gpus;
    for (size_t i = 0; i < node.n_gpus; i++) /* those that are not published are told of, too */
        gpus[i].barred = gpus[i].barred && !p->driver->gpus[i].xid;
    sw_dra_device *devices = NULL;
    const size_t n = sw_dra_devices(&node, &devices);
    struct dp_dra_health *health = sw_zalloc(n + 1, sizeof *health);
    *told = sw_strdup("");
    for (size_t i = 0; i < n; i++) {
        const uint64_t xid = p->driver->gpus[devices[i].gpu].xid;
        health[i].device = sw_dra_device_name(&devices[i]);
        health[i].healthy = !xid;
        if (xid)
            health[i].message = sw_printf("its GPU reported Xid %llu", (unsigned long long)xid);
        sw_append(told, "%s%s", xid ? "!" : "", health[i].device);
    }
    SW_AUTO_CHARS *pool = sw_dra_pool(p->opts.node);
    const struct dp_bytes m = dp_dra_health(health, n, pool, sw_loop_wall_ms(p->loop) / 1000,
                                            HEALTH_TIMEOUT_S);
    for (size_t i = 0; i < n; i++) {
        free(health[i].device);
        free(health[i].message);
    }
    free(health);
    free(devices);
    free(gpus);
    return m;
}

static void tell_health(struct dp_dra_endpoint *e)
{
    struct watcher *w;
    free(SW_TAKE(e->told));
    const struct dp_bytes m = health_message(e, &e->told);
    LIST_FOREACH(w, &e->watchers, link)
    sw_grpc_call_replace(w->call, m.bytes, m.len);
    free(m.bytes);
    sw_timer_set(e->health, HEALTH_AGAIN_MS);
}

/* kubelet takes what it has not heard for a while as not known. */
static void on_health(void *arg)
{
    struct dp_dra_endpoint *e = arg;
    if (!LIST_EMPTY(&e->watchers))
        tell_health(e);
}

void dp_dra_endpoint_refresh(struct dp_dra_endpoint *e)
{
    if (!e || LIST_EMPTY(&e->watchers))
        return;
    SW_AUTO_CHARS *now = NULL;
    const struct dp_bytes m = health_message(e, &now);
    free(m.bytes);
    if (!sw_streq(now, e->told))
        tell_health(e);
}

static void on_watcher_gone(struct sw_grpc_call *call SW_UNUSED, void *arg)
{
    struct watcher *w = arg;
    LIST_REMOVE(w, link);
    free(w);
}

static void watch_health(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                         size_t len SW_UNUSED, void *arg)
{
    struct dp_dra_endpoint *e = arg;
    struct watcher *w = sw_zalloc(1, sizeof *w);
    w->e = e;
    w->call = call;
    LIST_INSERT_HEAD(&e->watchers, w, link);
    sw_grpc_call_on_gone(call, on_watcher_gone, w);
    tell_health(e);
}

/* ---- DRAPlugin ---------------------------------------------------------------------------------
 */

static void prepare(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
    dp_dra_prepare(((struct dp_dra_endpoint *)arg)->p, call, message, len);
}

static void unprepare(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
    dp_dra_unprepare(((struct dp_dra_endpoint *)arg)->p, call, message, len);
}

static const struct sw_grpc_method driver_methods[] = {
    { SERVICE "NodePrepareResources", prepare },
    { SERVICE "NodeUnprepareResources", unprepare },
    { SERVICE_BETA "NodePrepareResources", prepare },
    { SERVICE_BETA "NodeUnprepareResources", unprepare },
    { DP_DRA_HEALTH, watch_health },
};

/* ---- registration ------------------------------------------------------------------------------
 */

static void get_info(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                     size_t len SW_UNUSED, void *arg)
{
    const struct dp_dra_endpoint *e = arg;
    const struct dp_bytes m = dp_dra_info(e->socket);
    sw_grpc_call_send(call, m.bytes, m.len);
    free(m.bytes);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

static void notify(struct sw_grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
    struct dp_dra_endpoint *e = arg;
    SW_AUTO_CHARS *trouble = NULL;
    SW_ERR(err);
    if (dp_dra_read_status(message, len, &trouble, &err) < 0) {
        sw_grpc_call_end(call, SW_GRPC_INVALID_ARGUMENT, sw_err_text(&err));
        return;
    }
    e->registered = !*trouble;
    e->p->n.registrations += e->registered;
    if (e->registered)
        sw_log(SW_LOG_INFO, "registered", "driver", SW_DRA_DRIVER, NULL);
    else
        sw_log(SW_LOG_WARN, "kubelet refuses the driver", "driver", SW_DRA_DRIVER, "error", trouble,
               NULL);
    sw_grpc_call_send(call, NULL, 0);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

static const struct sw_grpc_method registration_methods[] = {
    { "/pluginregistration.Registration/GetInfo", get_info },
    { "/pluginregistration.Registration/NotifyRegistrationStatus", notify },
};

bool dp_dra_endpoint_is_registered(const struct dp_dra_endpoint *e)
{
    return e->registered;
}

/* ---- sockets -----------------------------------------------------------------------------------
 */

static int listen_at(struct dp_dra_endpoint *e, const char *socket, struct sw_grpc_server **server,
                     const struct sw_grpc_method *methods, size_t n_methods, struct sw_err *err)
{
    if (*server && sw_grpc_server_is_there(*server))
        return 0;
    sw_grpc_server_close(SW_TAKE(*server));
    return sw_grpc_server_open(
        e->p->loop,
        &(struct sw_grpc_server_opts){ .socket = socket,
                                       .methods = methods,
                                       .n_methods = n_methods,
                                       .arg = e,
                                       .max_message_bytes = MAX_MESSAGE_BYTES },
        server, err);
}

static void leave(struct dp_dra_endpoint *e)
{
    sw_grpc_server_close(SW_TAKE(e->registration));
    sw_grpc_server_close(SW_TAKE(e->driver));
    e->registered = false;
    sw_timer_stop(e->check);
}

static void find_claim(struct dp_grant *g, void *arg)
{
    *(bool *)arg |= g->claim.uid != NULL;
}

void dp_dra_endpoint_check(struct dp_dra_endpoint *e)
{
    if (!e)
        return;
    struct sw_device_plugin *p = e->p;
    bool has_claims = false;
    dp_broker_each(p->broker, find_claim, &has_claims);
    if (!has_claims && (p->face != DP_FACE_DRA || !p->open || !p->driver)) {
        leave(e);
        return;
    }
    SW_ERR(err);
    int rc = dp_dir_make(e->folder, &err);
    if (rc == 0)
        rc = listen_at(e, e->socket, &e->driver, driver_methods, SW_COUNT(driver_methods), &err);
    if (rc == 0) /* kubelet calls as soon as this one is there */
        rc = listen_at(e, e->registry, &e->registration, registration_methods,
                       SW_COUNT(registration_methods), &err);
    if (rc < 0 && !sw_streq(e->trouble, sw_err_text(&err)))
        sw_log(SW_LOG_WARN, "kubelet's folders", "error", sw_err_text(&err), NULL);
    sw_text_set(&e->trouble, rc < 0 ? sw_err_text(&err) : NULL);
    sw_timer_set(e->check, CHECK_AGAIN_MS);
}

static void on_check(void *arg)
{
    dp_dra_endpoint_check(arg);
}

struct dp_dra_endpoint *dp_dra_endpoint_new(struct sw_device_plugin *p)
{
    struct dp_dra_endpoint *e = sw_zalloc(1, sizeof *e);
    e->p = p;
    e->folder = p->opts.driver_dir ? sw_printf("%s/" SW_DRA_DRIVER, p->opts.driver_dir)
                                   : sw_printf("%s/plugins/" SW_DRA_DRIVER, p->opts.kubelet_dir);
    e->socket = sw_printf("%s/dra.sock", e->folder);
    e->registry = sw_printf("%s/plugins_registry/" SW_DRA_DRIVER "-reg.sock", p->opts.kubelet_dir);
    e->check = sw_timer_new(p->loop, on_check, e);
    e->health = sw_timer_new(p->loop, on_health, e);
    LIST_INIT(&e->watchers);
    return e;
}

void dp_dra_endpoint_free(struct dp_dra_endpoint *e)
{
    if (!e)
        return;
    leave(e);
    sw_timer_free(e->check);
    sw_timer_free(e->health);
    free(e->folder);
    free(e->socket);
    free(e->registry);
    free(e->told);
    free(e->trouble);
    free(e);
}
