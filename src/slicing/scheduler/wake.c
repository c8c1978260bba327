/* Which of the waiting pods would get the room on a node, and how kube-scheduler is told to try
 * them. It moves a pod that waits as unschedulable into its queue when the pod itself is updated;
 * an update of the node would move all that wait, and each that is tried in vain has to wait before
 * it is tried again. Source: kube-scheduler's PriorityQueue.Update(), isPodUpdated(), and
 * PrioritySort. */
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/internal.h"
#include "slicing/scheduler/placement.h"

enum { MAX_WAITING = 256, MAX_WOKEN = 32 };

static bool waits(const struct pod *pod)
{
    return pod->known && !pod->node && !pod->ended && !pod->leaving && pod->refused &&
           !pod->binding && !pod->fault && pod->pod_request.n;
}

/* kube-scheduler's order, but for how long each is in its queue, which it alone knows. */
static int by_priority(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    return (x->created_ms > y->created_ms) - (x->created_ms < y->created_ms);
}

static size_t find_waiting(const struct cache *p, struct node *n, struct pod **out)
{
    size_t n_out = 0;
    for (struct lh_entry *e = lh_table_head(p->pods); e && n_out < MAX_WAITING; e = e->next) {
        struct pod *pod = lh_entry_v(e);
        if (waits(pod) && decide_fit(p, pod, n, NULL, NULL) == 0)
            out[n_out++] = pod;
    }
    qsort(out, n_out, sizeof *out, by_priority);
    return n_out;
}

/* Take @pod's slices from @gpus, what is left of @n's room. @return false: there is not enough left
 */
static bool take_room(const struct cache *p, const struct node *n, const struct pod *pod,
                      struct sw_mig_gpu *gpus)
{
    struct sw_mig_profile profiles[SW_MIG_MAX_REQUESTS];
    struct sw_mig_choice choices[SW_MIG_MAX_REQUESTS];
    for (size_t i = 0; i < pod->pod_request.n; i++)
        profiles[i] = pod->pod_request.list[i].profile;
    cache_bar_held(n, pod, gpus);
    if (sw_mig_place(gpus, n->n_gpus, profiles, pod->pod_request.n, p->policy, choices, NULL) < 0)
        return false;
    for (size_t i = 0; i < pod->pod_request.n; i++)
        sw_mig_take(&gpus[choices[i].gpu].use, choices[i].kind, choices[i].place);
    return true;
}

void sched_on_written(const struct sw_kube_answer *a, void *what)
{
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        sw_log(SW_LOG_WARN, what, "error", sw_err_text(a->err), NULL);
}

void sched_wake_write(struct sw_scheduler *s, const struct pod *pod)
{
    SW_AUTO_CHARS *epoch = sw_printf("%lld", (long long)sw_loop_now_ms(s->loop));
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, epoch, "metadata", "annotations", SW_SCHEDULER_EPOCH, NULL);
    sw_json_set_str(body, pod->uid, "metadata", "uid", NULL); /* no other one of its name */
    (void)sw_kube_patch(s->kube, s->informers[INFORMER_PODS].kind, pod->ns, pod->name,
                        SW_PATCH_MERGE, body, NULL, sched_on_written, "pod not woken");
}

void sched_wake_pods(struct sw_scheduler *s, struct node *n)
{
    struct pod *waiting[MAX_WAITING] = { 0 };
    const size_t n_waiting = find_waiting(s->cache, n, waiting);
    struct sw_mig_gpu *gpus = decide_room_for_gpus(n);
    cache_without(n, NULL, 0, gpus);
    for (size_t i = 0, n_woken = 0; i < n_waiting && n_woken < MAX_WOKEN; i++) {
        if (!take_room(s->cache, n, waiting[i], gpus))
            continue;
        sched_wake_write(s, waiting[i]);
        s->metrics.woken++;
        n_woken++;
    }
    free(gpus);
}
