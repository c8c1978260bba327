/* kubelet's calls that wait for the broker: one ticket for each container of a request. */
#include "slicing/deviceplugin/tickets.h"

#include <stdlib.h>
#include <string.h>

#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/messages.h"

enum { MAX_CONTAINERS = 64, MAX_IDS = 256 };

/* A call; its containers have the numbers first ... first + n - 1. */
struct dp_ticket {
    LIST_ENTRY(dp_ticket) link;
    struct sw_device_plugin *p;
    struct sw_grpc_call *call;
    uint64_t first;
    size_t n, n_open;
    char **grant_ids;
    char text[SW_MIG_NAME_LEN]; /* of the profile, as in resources */
    double began;
};

static void free_ticket(struct dp_ticket *t)
{
    LIST_REMOVE(t, link);
    for (size_t i = 0; i < t->n; i++)
        free(t->grant_ids[i]);
    free(t->grant_ids);
    free(t);
}

static void on_gone(struct sw_grpc_call *call SW_UNUSED, void *arg)
{
    struct dp_ticket *t = arg;
    for (size_t i = 0; i < t->n; i++)
        dp_broker_cancel(t->p->broker, t->first + i);
    free_ticket(t);
}

static struct dp_ticket *new_ticket(struct sw_device_plugin *p, struct sw_grpc_call *call,
                                    const char *profile, size_t n)
{
    struct dp_ticket *t = sw_zalloc(1, sizeof *t);
    struct sw_mig_profile parsed = { 0 };
    t->p = p;
    t->call = call;
    t->first = p->last_ticket + 1;
    t->n = t->n_open = n;
    t->grant_ids = sw_zalloc(n + 1, sizeof *t->grant_ids);
    t->began = sw_monotonic_s();
    p->last_ticket += n;
    (void)!sw_mig_profile_parse(profile, strlen(profile), &parsed, NULL); /* it is a resource's */
    (void)sw_mig_resource_text(&parsed, t->text);
    LIST_INSERT_HEAD(&p->tickets, t, link);
    sw_grpc_call_on_gone(call, on_gone, t);
    return t;
}

static void refuse(struct sw_grpc_call *call, const struct sw_err *err)
{
    sw_grpc_call_end(call, SW_GRPC_INVALID_ARGUMENT, sw_err_text(err));
}

void dp_ticket_allocate(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                        const uint8_t *message, size_t len)
{
    SW_ERR(err);
    struct dp_id_list *lists = NULL;
    size_t n = 0;
    int rc = dp_message_read_ids(message, len, &lists, &n, &err);
    if (rc == 0 && (n == 0 || n > MAX_CONTAINERS))
        rc = sw_err_set(&err, SW_INVALID, "%zu containers, expected 1 to %d", n, MAX_CONTAINERS);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (lists[i].n == 0 || lists[i].n > MAX_IDS)
            rc = sw_err_set(&err, SW_INVALID, "container %zu: %zu devices, expected 1 to %d", i,
                            lists[i].n, MAX_IDS);
    if (rc < 0) {
        refuse(call, &err);
    } else {
        const uint64_t first = new_ticket(p, call, profile, n)->first;
        for (size_t i = 0; i < n; i++)
            dp_broker_allocate(p->broker, first + i, profile, (const char *const *)lists[i].ids,
                               lists[i].n, dp_now_ms(p));
    }
    dp_id_lists_free(lists, n);
    p->perform(p);
}

void dp_ticket_start(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                     const uint8_t *message, size_t len)
{
    SW_ERR(err);
    struct dp_id_list *list = sw_zalloc(1, sizeof *list);
    if (dp_message_read_start(message, len, list, &err) < 0 || list->n == 0) {
        refuse(call, &err);
    } else {
        const uint64_t number = new_ticket(p, call, profile, 1)->first;
        dp_broker_start(p->broker, number, profile, (const char *const *)list->ids, list->n,
                        dp_now_ms(p));
    }
    dp_id_lists_free(list, 1);
    p->perform(p);
}

/* All containers of the request have their slices. */
static void finish_allocate(struct sw_device_plugin *p, struct dp_ticket *t)
{
    struct dp_grant *grants[MAX_CONTAINERS];
    for (size_t i = 0; i < t->n; i++) {
        grants[i] = dp_broker_grant(p->broker, t->grant_ids[i]);
        if (!grants[i] || grants[i]->state != DP_READY) {
            sw_grpc_call_end(t->call, SW_GRPC_ABORTED, "the slices were taken down meanwhile");
            return;
        }
    }
    struct dp_bytes m = dp_message_allocated(grants, t->text, t->n, p->opts.device_list);
    sw_grpc_call_send(t->call, m.bytes, m.len);
    free(m.bytes);
    sw_grpc_call_end(t->call, SW_GRPC_OK, NULL);
    p->n.allocated++;
    p->n.allocate_s += sw_monotonic_s() - t->began;
}

void dp_ticket_answer(struct sw_device_plugin *p, const struct dp_action *a)
{
    struct dp_ticket *t;
    LIST_FOREACH(t, &p->tickets, link)
    if (a->ticket >= t->first && a->ticket < t->first + t->n)
        break;
    if (!t) /* kubelet has given it up */
        return;
    if (a->code < 0) {
        const char *message = a->message ? a->message : "";
        sw_log(SW_LOG_WARN,
               a->act == DP_ACT_STARTED ? "container not started" : "allocation refused", "profile",
               t->text, "reason", message, NULL);
        p->n.refused++;
        sw_grpc_call_end(t->call,
                         a->code == SW_NOTFOUND ? SW_GRPC_FAILED_PRECONDITION : SW_GRPC_UNAVAILABLE,
                         message);
        for (size_t i = 0; i < t->n; i++)
            dp_broker_cancel(p->broker, t->first + i);
        free_ticket(t);
        return;
    }
    if (a->act == DP_ACT_STARTED) {
        sw_grpc_call_send(t->call, NULL, 0);
        sw_grpc_call_end(t->call, SW_GRPC_OK, NULL);
        free_ticket(t);
        return;
    }
    t->grant_ids[a->ticket - t->first] = sw_strdup(a->grant_id);
    if (--t->n_open == 0) {
        finish_allocate(p, t);
        free_ticket(t);
    }
}

void dp_tickets_free(struct sw_device_plugin *p)
{
    while (!LIST_EMPTY(&p->tickets)) /* their calls have gone with the sockets */
        free_ticket(SW_LINKED(LIST_FIRST(&p->tickets)));
}
