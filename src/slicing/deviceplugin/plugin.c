/* The plugin: its start and end, the GPUs, and the actions that the broker queues. */
#include "slicing/deviceplugin/deviceplugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slicing/deviceplugin/accelerator.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/broker/journal.h"
#include "slicing/deviceplugin/claim_views.h"
#include "slicing/deviceplugin/claims_check.h"
#include "slicing/deviceplugin/cluster.h"
#include "slicing/deviceplugin/dra_calls.h"
#include "slicing/deviceplugin/dra_endpoint.h"
#include "slicing/deviceplugin/endpoint.h"
#include "slicing/deviceplugin/face.h"
#include "slicing/deviceplugin/gate.h"
#include "slicing/deviceplugin/kubelet.h"
#include "slicing/deviceplugin/leftover_claims.h"
#include "slicing/deviceplugin/mps_claims.h"
#include "slicing/deviceplugin/nvidia_slices.h"
#include "slicing/deviceplugin/other_instances.h"
#include "slicing/deviceplugin/pod_resources.h"
#include "slicing/deviceplugin/resource_slices.h"
#include "slicing/deviceplugin/steps.h"
#include "slicing/deviceplugin/tickets.h"

enum { FIND_GPUS_MS = 30 * 1000, CHECK_HEALTH_MS = 1000, SETTLED_MS = 5000 };

/* ---- actions -----------------------------------------------------------------------------------
 */

static void perform(struct sw_device_plugin *p);

/* NULL: they are made up. */
static const struct dp_host *host_of(const struct sw_device_plugin *p)
{
    return p->driver && !p->opts.emulated ? &p->host : NULL;
}

static int minor_of(const char *gpu, void *arg)
{
    const struct sw_device_plugin *p = arg;
    const struct dp_gpu *found = p->driver ? dp_driver_gpu(p->driver, gpu) : NULL;
    return found ? found->minor : -1;
}

static void do_commit(struct sw_device_plugin *p, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(p->broker, a->grant_id);
    SW_ERR(err);
    int rc = dp_journal_write(p->opts.journal_dir, g, &err);
    if (rc == 0)
        rc = dp_cdi_write(p->opts.cdi_dir, g, host_of(p), &err);
    if (rc < 0)
        dp_journal_failed(p, "slices not committed", &err);
    dp_broker_on_commit(p->broker, a->grant_id, rc, sw_err_text(&err), dp_now_ms(p));
}

static void do_record(struct sw_device_plugin *p, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(p->broker, a->grant_id);
    SW_ERR(err);
    if (!g)
        return;
    /* a claim's has device nodes, which are known when the GPUs are */
    const bool writes = g->state == DP_READY && (p->driver || !g->claim.uid);
    if (dp_journal_write(p->opts.journal_dir, g, &err) < 0 ||
        (writes && dp_cdi_write(p->opts.cdi_dir, g, host_of(p), &err) < 0)) {
        dp_journal_failed(p, "record not written", &err);
        return;
    }
    dp_mps_claims_keep(p, g);
    if (p->worker) {
        SW_AUTO_CHARS *name = dp_journal_file(g);
        dp_worker_sync(p->worker, p->opts.journal_dir, name);
    }
}

static void do_uncdi(struct sw_device_plugin *p, const struct dp_action *a)
{
    SW_ERR(err);
    if (dp_file_remove(p->opts.cdi_dir, a->message, &err) < 0)
        dp_journal_failed(p, "CDI file not removed", &err);
}

static void do_forget(struct sw_device_plugin *p, const struct dp_action *a)
{
    SW_ERR(err);
    if (dp_journal_remove(p->opts.journal_dir, a->grant_id, &err) < 0)
        dp_journal_failed(p, "record not removed", &err);
}

static void do_log(struct sw_device_plugin *p, const struct dp_action *a)
{
    if (a->code < 0 && a->ref.uid)
        dp_cluster_event(p, &a->ref, "SliceFailed", a->message);
    sw_log(a->code < 0 ? SW_LOG_WARN : SW_LOG_INFO, "slices", "what", a->message, NULL);
}

static void do_list_held(struct sw_device_plugin *p, const struct dp_action *a SW_UNUSED)
{
    dp_held_request(p);
}

static void (*const actions[])(struct sw_device_plugin *p, const struct dp_action *a) = {
    [DP_ACT_STEP] = dp_step_do,
    [DP_ACT_SET] = dp_setting_do,
    [DP_ACT_COMMIT] = do_commit,
    [DP_ACT_RECORD] = do_record,
    [DP_ACT_UNCDI] = do_uncdi,
    [DP_ACT_FORGET] = do_forget,
    [DP_ACT_ALLOCATED] = dp_ticket_answer,
    [DP_ACT_STARTED] = dp_ticket_answer,
    [DP_ACT_PREPARED] = dp_dra_answer,
    [DP_ACT_UNPREPARED] = dp_dra_answer,
    [DP_ACT_CLAIM_STATE] = dp_cluster_write,
    [DP_ACT_CLAIM_POD] = dp_cluster_write,
    [DP_ACT_CLAIM_DELETE] = dp_cluster_write,
    [DP_ACT_LIST_HELD] = do_list_held,
    [DP_ACT_EVICT] = dp_cluster_write,
    [DP_ACT_LOG] = do_log,
};

static void perform(struct sw_device_plugin *p)
{
    if (p->performing) /* the outer one goes on */
        return;
    p->performing = true;
    struct dp_action *a;
    while ((a = dp_broker_next(p->broker))) {
#ifdef SW_TEST
        static long n = 0;
        const char *at = getenv("SLIPWAY_TEST_DIE_AT"); /* the crash test: before the n-th action */
        if (at && ++n == strtol(at, NULL, 10))
            _exit(99);
#endif
        actions[a->act](p, a);
        dp_action_free(a);
    }
    p->performing = false;
    const int64_t next_ms = dp_broker_next_ms(p->broker);
    if (next_ms < 0)
        sw_timer_stop(p->tick);
    else
        sw_timer_set(p->tick, next_ms > dp_now_ms(p) ? next_ms - dp_now_ms(p) : 0);
    for (size_t i = 0; i < p->n_resources; i++)
        dp_endpoint_refresh(p->endpoints[i]);
    dp_slices_refresh(p->slices);
    dp_accelerator_refresh(p->accelerator);
}

static void on_settled(void *arg SW_UNUSED)
{
    sw_memory_settle();
}

static void on_tick(void *arg)
{
    struct sw_device_plugin *p = arg;
    dp_broker_tick(p->broker, dp_now_ms(p));
    perform(p);
}

/* ---- GPUs --------------------------------------------------------------------------------------
 */

static void changed(struct sw_device_plugin *p)
{
    for (size_t i = 0; i < p->n_resources; i++)
        dp_endpoint_refresh(p->endpoints[i]);
    dp_kubelet_check(p->kubelet);
    dp_dra_endpoint_check(p->dra_endpoint);
    dp_dra_endpoint_refresh(p->dra_endpoint);
    dp_nvidia_slices_refresh(p->nvidia_slices);
    dp_other_instances_refresh(p->other_instances);
    dp_slices_refresh(p->slices);
    dp_accelerator_publish(p->accelerator);
}

static void say_no_gpu(struct sw_device_plugin *p, const char *reason, const char *message)
{
    if (!sw_streq(p->no_gpu, message))
        sw_log(SW_LOG_WARN, "no GPU to slice", "reason", message, NULL);
    sw_text_set(&p->no_gpu, message);
    p->no_gpu_reason = reason;
}

static int find_gpus(struct sw_device_plugin *p, struct sw_err *err)
{
    struct dp_driver *d = NULL;
    const int rc = p->opts.emulated
                       ? dp_driver_emulate(p->opts.emulated_model, (size_t)p->opts.emulated_count,
                                           p->opts.node, &d, err)
                       : dp_driver_nvml(p->opts.nvml_library, p->opts.host_root, &d, err);
    if (rc < 0)
        return rc;
    size_t n = 0;
    for (size_t i = 0; i < d->n_gpus; i++)
        n += d->gpus[i].geometry != NULL;
    if (!n && !p->opts.whole_gpus) {
        say_no_gpu(p, "NoMIG", "no GPU is in MIG mode");
        dp_driver_free(d);
    } else {
        p->driver = d;
        p->host.driver_version = d->driver_version;
        p->resources = dp_inventory_resources(d, &p->n_resources);
        p->endpoints = sw_zalloc(p->n_resources + 1, sizeof *p->endpoints);
        for (size_t i = 0; i < p->n_resources; i++)
            p->endpoints[i] = dp_endpoint_new(p, &p->resources[i]);
        p->worker = dp_worker_new(p->loop, d, dp_step_done, p);
        dp_broker_on_gpus(p->broker, dp_now_ms(p));
        char count[24], profiles[24];
        (void)snprintf(count, sizeof count, "%zu", d->n_gpus);
        (void)snprintf(profiles, sizeof profiles, "%zu", p->n_resources);
        sw_log(SW_LOG_INFO, "GPUs found", "gpus", count, "profiles", profiles, "emulated",
               p->opts.emulated ? "true" : "false", NULL);
    }
    return 0;
}

static void check_health(struct sw_device_plugin *p)
{
    size_t gpu;
    uint64_t xid;
    bool failed = false;
    while (p->driver->ops->next_xid(p->driver, &gpu, &xid) == 0) {
        char number[24];
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)xid);
        const bool ill = !dp_xid_is_application(xid);
        sw_log(ill ? SW_LOG_ERROR : SW_LOG_INFO, "GPU reports an error", "gpu",
               gpu < p->driver->n_gpus ? p->driver->gpus[gpu].uuid : "(all)", "xid", number, NULL);
        for (size_t i = 0; ill && i < p->driver->n_gpus; i++)
            if (i == gpu || gpu == SIZE_MAX) {
                failed |= !p->driver->gpus[i].xid;
                p->driver->gpus[i].xid = xid;
            }
    }
    if (failed)
        changed(p);
}

static void on_check(void *arg)
{
    struct sw_device_plugin *p = arg;
    if (p->driver) {
        check_health(p);
    } else {
        SW_ERR(err);
        const int rc = find_gpus(p, &err);
        if (rc < 0)
            say_no_gpu(p, rc == SW_NOTFOUND ? "NoGPU" : "NVMLFailed", sw_err_text(&err));
        changed(p);
        perform(p);
    }
    /* a driver may be installed later, MIG mode may be set later */
    if (!p->driver || p->driver->blocks)
        sw_timer_set(p->check, p->driver ? CHECK_HEALTH_MS : FIND_GPUS_MS);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

int sw_device_list_parse(const char *text, unsigned *out, struct sw_err *err)
{
    static const char *const names[] = { "envvar", "cdi-annotations", "cdi-cri" };
    unsigned list = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t len = strcspn(at, ",");
        unsigned bit = 0;
        for (size_t i = 0; i < SW_COUNT(names); i++)
            if (strlen(names[i]) == len && memcmp(names[i], at, len) == 0)
                bit = 1u << i;
        if (!bit)
            return sw_err_set(err, SW_INVALID, "'%.*s' is none of envvar, cdi-annotations, cdi-cri",
                              (int)len, at);
        list |= bit;
    }
    *out = list;
    return 0;
}

static void on_record(struct dp_grant *grant, void *arg)
{
    struct sw_device_plugin *p = arg;
    const struct dp_ref *holder = grant->claim.uid ? &grant->claim : &grant->pod;
    sw_log(SW_LOG_INFO, "record of an earlier process", grant->claim.uid ? "claim" : "pod",
           holder->name, "namespace", holder->ns, NULL);
    dp_broker_adopt(p->broker, grant);
}

static void on_bad_record(const char *path, const struct sw_err *err, void *arg)
{
    ((struct sw_device_plugin *)arg)->n.journal_errors++;
    sw_log(SW_LOG_ERROR, "record cannot be read; its slices are left alone", "path", path, "error",
           sw_err_text(err), NULL);
}

struct known {
    const char *device;
    bool found;
};

static void match_device(struct dp_grant *g, void *arg)
{
    struct known *k = arg;
    SW_AUTO_CHARS *device = dp_cdi_device(g);
    k->found |= strcmp(device, k->device) == 0;
}

static bool is_known(const char *device, void *arg)
{
    struct known k = { .device = device };
    dp_broker_each(((struct sw_device_plugin *)arg)->broker, match_device, &k);
    return k.found;
}

/* Of DAS, whose place this plugin takes: recorded before anything is done with it. */
static void on_inherited(struct dp_grant *grant, void *arg)
{
    struct sw_device_plugin *p = arg;
    SW_AUTO_CHARS *device = dp_cdi_device(grant);
    SW_ERR(err);
    if (is_known(device, p)) {
        dp_grant_free(grant);
        return;
    }
    sw_log(SW_LOG_INFO, "slices that DAS made", "pod", grant->pod.name, "namespace", grant->pod.ns,
           "device", device, NULL);
    if (dp_journal_write(p->opts.journal_dir, grant, &err) < 0)
        dp_journal_failed(p, "record not written", &err);
    dp_broker_inherit(p->broker, grant);
}

/* Make the broker, and give it the records of an earlier process. */
static int open_records(struct sw_device_plugin *p, struct sw_err *err)
{
    SW_AUTO_CHARS *boot_id = NULL;
    size_t len;
    int rc = sw_file_read(p->opts.boot_id_file, 4096, &boot_id, &len, err);
    if (rc < 0)
        return rc;
    boot_id[strcspn(boot_id, " \n")] = '\0';
    p->broker = dp_broker_new(&(struct dp_opts){
        .boot_id = boot_id, .wait_ms = p->opts.claim_wait_ms, .check_start = true });
    /* After a forced deletion of its pod an earlier process may still run: two of them would
     * replace each other's sockets, and create and destroy slices at the same places. */
    rc = dp_dir_lock(p->opts.journal_dir, false, &p->lock, NULL);
    if (rc == SW_CONFLICT)
        sw_log(SW_LOG_WARN, "another plugin is at work on this node: waiting for its end",
               "records", p->opts.journal_dir, NULL);
    if (rc < 0)
        rc = dp_dir_lock(p->opts.journal_dir, true, &p->lock, err);
    if (rc == 0)
        rc = dp_journal_load(p->opts.journal_dir, on_record, on_bad_record, p, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "journal");
    rc = dp_cdi_load(p->opts.cdi_dir, boot_id, on_inherited, on_bad_record, p, err);
    if (rc == 0)
        rc = dp_cdi_sweep(p->opts.cdi_dir, is_known, p, err);
    return rc < 0 ? sw_err_wrap(err, rc, "CDI files") : 0;
}

int sw_device_plugin_open(struct sw_loop *loop, struct sw_kube *kube,
                          const struct sw_device_plugin_opts *opts, struct sw_device_plugin **out,
                          struct sw_err *err)
{
    struct sw_device_plugin *p = sw_zalloc(1, sizeof *p);
    p->perform = perform;
    p->changed = changed;
    p->lock = -1;
    p->loop = loop;
    p->kube = kube;
    p->opts = *opts;
    struct sw_device_plugin_opts *o = &p->opts;
    o->kubelet_dir = sw_text_or(o->kubelet_dir, "/var/lib/kubelet");
    o->cdi_dir = sw_text_or(o->cdi_dir, "/var/run/cdi");
    o->journal_dir = sw_text_or(o->journal_dir, "/var/lib/slipway/device-plugin");
    o->dev_dir = sw_text_or(o->dev_dir, "/dev");
    o->host_root = sw_text_or(o->host_root, "/");
    o->proc_dir = sw_text_or(o->proc_dir, "/proc");
    p->host = (struct dp_host){ .dev_dir = o->dev_dir,
                                .proc_dir = o->proc_dir,
                                .cdi_dir = o->cdi_dir,
                                .toolkit_dir = o->toolkit_cdi_dir,
                                .minor_of = minor_of,
                                .arg = p };
    if (!o->device_list)
        o->device_list = SW_DEVICES_ENVVAR | SW_DEVICES_CDI_ANNOTATIONS;
    o->emulated_model = sw_text_or(o->emulated_model, "A100-40GB");
    o->emulated_count = o->emulated_count ? o->emulated_count : 2;
    o->gate_condition = sw_text_or(o->gate_condition, SW_DEVICE_PLUGIN_GATE_CONDITION);
    o->boot_id_file = sw_text_or(o->boot_id_file, "/proc/sys/kernel/random/boot_id");
    p->plugins_dir = sw_printf("%s/device-plugins", p->opts.kubelet_dir);
    p->held_socket = sw_printf("%s/pod-resources/kubelet.sock", p->opts.kubelet_dir);
    p->tick = sw_timer_new(loop, on_tick, p);
    p->check = sw_timer_new(loop, on_check, p);
    p->settled = sw_timer_new(loop, on_settled, p);
    sw_timer_set(p->settled, SETTLED_MS);
    int rc = open_records(p, err);
    if (rc == 0 && p->opts.emulated) /* a model that does not exist is an error at once */
        rc = find_gpus(p, err);
    if (rc == 0)
        rc = dp_gate_new(p, &p->gate, err);
    if (rc < 0) {
        sw_device_plugin_close(p);
        return rc;
    }
    p->kubelet = dp_kubelet_new(p);
    p->dra_endpoint = dp_dra_endpoint_new(p);
    p->nvidia_slices = dp_nvidia_slices_new(p);
    p->other_instances = dp_other_instances_new(p);
    p->slices = dp_slices_new(p);
    p->claims_check = dp_claims_check_new(p);
    p->leftover_claims = dp_leftover_claims_new(p);
    p->views = dp_views_new(p);
    p->mps_claims = dp_mps_claims_new(p);
    p->face_choice = dp_face_choice_new(p);
    p->accelerator = dp_accelerator_new(p);
    dp_cluster_open(p);
    sw_timer_set(p->check, 0);
    changed(p);
    perform(p);
    *out = p;
    return 0;
}

void sw_device_plugin_close(struct sw_device_plugin *p)
{
    if (!p)
        return;
    dp_worker_free(p->worker);
    dp_kubelet_free(p->kubelet);
    dp_face_choice_free(p->face_choice);
    dp_slices_free(p->slices);
    dp_nvidia_slices_free(p->nvidia_slices);
    dp_other_instances_free(p->other_instances);
    dp_leftover_claims_free(p->leftover_claims);
    dp_claims_check_free(p->claims_check);
    dp_views_free(p->views);
    dp_mps_claims_free(p->mps_claims);
    dp_dra_endpoint_free(p->dra_endpoint);
    dp_dra_calls_free(p);
    for (size_t i = 0; i < p->n_resources; i++)
        dp_endpoint_free(p->endpoints[i]);
    free(p->endpoints);
    dp_tickets_free(p);
    dp_cluster_close(p);
    dp_accelerator_free(p->accelerator);
    dp_gate_free(p->gate);
    dp_inventory_resources_free(p->resources, p->n_resources);
    dp_driver_free(p->driver);
    dp_broker_free(p->broker);
    sw_timer_free(p->tick);
    sw_timer_free(p->check);
    sw_timer_free(p->settled);
    if (p->lock >= 0)
        (void)close(p->lock);
    free(p->plugins_dir);
    free(p->held_socket);
    free(p->no_gpu);
    free(p->face_reason);
    free(p);
}

const char *sw_device_plugin_waits_for(const struct sw_device_plugin *p)
{
    if (!p->driver)
        return NULL; /* ready: this node has nothing to serve */
    if (!p->open)
        return dp_gate_text(p->gate);
    if (p->face == DP_FACE_UNKNOWN)
        return "whether the API server serves Dynamic Resource Allocation is not known yet";
    if (p->face == DP_FACE_DRA && !dp_dra_endpoint_is_registered(p->dra_endpoint))
        return "kubelet has not taken the driver's registration yet";
    if (p->face == DP_FACE_DRA && !dp_slices_are_published(p->slices))
        return sw_text_or(dp_slices_trouble(p->slices), "the ResourceSlices are not written yet");
    for (size_t i = 0; p->face == DP_FACE_DEVICE_PLUGIN && i < p->n_resources; i++)
        if (!dp_endpoint_is_registered(p->endpoints[i]))
            return "kubelet has not taken the registration yet";
    return NULL;
}
