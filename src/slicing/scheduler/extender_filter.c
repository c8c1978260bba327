/* The verb filter: which nodes have room for a pod, what is missing on the others, and where it
 * could go instead. */
#include "slicing/scheduler/extender.h"

#include <json-c/arraylist.h>
#include <json-c/linkhash.h>
#include <json-c/printbuf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/affinity_hint.h"
#include "slicing/scheduler/extender_internal.h"
#include "slicing/scheduler/placement.h"
#include "slicing/scheduler/victims.h"

/* kube-scheduler asks about so many nodes or more before it leaves out others that might do.
 * Source: kube-scheduler's minFeasibleNodesToFind */
enum { LEAST_SAMPLE = 100 };

/* So many hints a pod gets at once; further ones after a second, two, four, ... */
enum { HINTS_AT_ONCE = 8, HINT_LATER_MS = 1000, MAX_DOUBLED = 6 };

/* Few enough that each may be named in the pod's message; of more only the reasons are given, or
 * the message of one pod would grow with the cluster. */
enum { FEW_NODES = 8 };

enum { N_CODES = -SW_CANCELED + 1 };

/* The reasons in an answer: most nodes say the same, and thousands of copies take their time. */
struct reasons {
    struct array_list *texts; /* owned */
    const char *of_code[N_CODES];
};

static const char *reason(struct reasons *r, const struct extender *x, const struct pod *pod,
                          struct node *node, int code)
{
    const bool common = pod->pod_request.n <= 1 && !pod->claims && code != SW_UNAVAILABLE;
    if (common && r->of_code[-code])
        return r->of_code[-code];
    struct sw_err err = { 0 };
    const int again = decide_fit(x->cache, pod, node, NULL, &err);
    (void)again; /* the same code, now with a message */
    (void)array_list_add(r->texts, err.text);
    return r->of_code[-code] = err.text;
}

static void judge(struct extender *x, const struct pod *pod, struct reasons *r,
                  struct extender_outcome *outcome)
{
    struct decide_common common = { 0 };
    for (size_t i = 0; i < outcome->n_asked; i++) {
        struct node_fit *v = &x->node_fits[i];
        struct node *node = cache_find_node_n(x->cache, x->args.names[i].text,
                                              x->args.names[i].len);
        v->node = node;
        v->special = v->passed_over = false;
        v->code = decide_fit(x->cache, pod, node, &common, NULL);
        outcome->n_fit += v->code == 0;
        if (v->code)
            v->why = reason(r, x, pod, node, v->code);
        if (v->code && !outcome->why[0])
            (void)snprintf(outcome->why, sizeof outcome->why, "%s", v->why);
    }
}

/* Whether the pod prefers some nodes to others. */
static bool has_preferences(struct json_object *pod)
{
    static const char *const kinds[] = { "nodeAffinity", "podAffinity", "podAntiAffinity" };
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        if (sw_json_find(pod, "spec", "affinity", kinds[i],
                         "preferredDuringSchedulingIgnoredDuringExecution", NULL))
            return true;
    return sw_json_find_by(sw_json_find(pod, "spec", "topologySpreadConstraints", NULL),
                           "whenUnsatisfiable", "ScheduleAnyway") != NULL;
}

enum { MAX_NODE_SCORE = 100, N_RANKS = 2 * (MAX_NODE_SCORE + 1) };

/* Of the nodes that have room only the best are named: kube-scheduler's further work grows with
 * each node, and its scores know nothing of slices. They still count among the best, and a pod that
 * has preferences of its own gets all nodes. */
static void pass_over_others(struct extender *x, const struct pod *pod,
                             const struct extender_outcome *outcome)
{
    size_t n_of[N_RANKS] = { 0 }, left = x->nodes_to_score;
    struct decide_common common = { 0 };
    if (!left || outcome->n_fit <= left || !pod->pod_request.n ||
        has_preferences(extender_args_get(x->args.doc, "Pod", "pod")))
        return;
    for (size_t i = 0; i < outcome->n_asked; i++) {
        struct node_fit *v = &x->node_fits[i];
        if (v->code != 0)
            continue;
        v->rank = (uint8_t)(MAX_NODE_SCORE - decide_score(x->cache, pod, v->node, &common));
        if (v->node->avoided) /* after all others */
            v->rank = (uint8_t)(v->rank + MAX_NODE_SCORE + 1);
        n_of[v->rank]++;
    }
    unsigned last = 0; /* all ranks before it are named, of it so many as are left */
    for (; left > n_of[last]; last++)
        left -= n_of[last];
    for (size_t i = 0; i < outcome->n_asked; i++) {
        struct node_fit *v = &x->node_fits[i];
        v->passed_over = v->code == 0 && (v->rank > last || (v->rank == last && left == 0));
        left -= v->code == 0 && v->rank == last && left;
    }
}

static bool is_named(const struct node_fit *v)
{
    return !v->code && !v->passed_over;
}

/* How many from @i on are named and stand in the request as they will in the answer. */
static size_t run_length(const struct extender_args *q, const struct node_fit *node_fits, size_t i)
{
    size_t n = 1;
    for (; q->plain && i + n < q->n_names && is_named(&node_fits[i + n]); n++) {
        const struct name *last = &q->names[i + n - 1];
        const char *behind = last->text + last->len + 1;
        if (q->names[i + n].text != behind + 2 || *behind != ',')
            break;
    }
    return n;
}

static void put_fitting(struct printbuf *out, const struct extender *x)
{
    const struct extender_args *q = &x->args;
    bool first = true;
    extender_put(out, "{\"NodeNames\":[");
    for (size_t i = 0, n = 1; i < q->n_names; i += n, n = 1) {
        if (!is_named(&x->node_fits[i]))
            continue;
        extender_put(out, first ? "" : ",");
        first = false;
        n = run_length(q, x->node_fits, i);
        if (n == 1) {
            extender_put_name(out, q, i);
        } else { /* all of them with one copy */
            const struct name *last = &q->names[i + n - 1];
            const char *from = q->names[i].text - 1;
            extender_put_bytes(out, from, (size_t)(last->text + last->len + 1 - from));
        }
    }
    extender_put(out, "]");
}

/* @never: only nodes where no eviction helps. Older schedulers do not know that list, newer ones
 * prefer it: so its nodes are in the other list, too. */
static void put_failed(struct printbuf *out, const struct extender *x, bool named, bool never)
{
    const struct extender_args *q = &x->args;
    struct printbuf *why = printbuf_new(); /* the reason as it was written last */
    const char *last = NULL;
    bool first = true;
    extender_put(out, never ? ",\"FailedAndUnresolvableNodes\":{" : ",\"FailedNodes\":{");
    for (size_t i = 0; i < q->n_names; i++) {
        const struct node_fit *v = &x->node_fits[i];
        if (!v->code || (never && v->code == SW_PENDING))
            continue;
        if (!first)
            extender_put_bytes(out, ",", 1);
        extender_put_name(out, q, i);
        extender_put_bytes(out, ":", 1);
        first = false;
        if (named || v->special) {
            SW_AUTO_CHARS *text = sw_printf("%.*s: %s", (int)q->names[i].len, q->names[i].text,
                                            v->why);
            extender_put_string(out, text);
            continue;
        }
        if (v->why != last) {
            printbuf_reset(why);
            extender_put_string(why, v->why);
            last = v->why;
        }
        extender_put_bytes(out, why->buf, (size_t)why->bpos);
    }
    extender_put(out, "}");
    printbuf_free(why);
}

enum { MAX_SEARCHES = 8 };

/* The nodes with the most free slices, as numbers in the request. What a request may cost is
 * bounded: many nodes are checked in turns.
 * @return how many; 0 as well where all nodes together have less than is wanted */
static size_t find_emptiest(const struct extender *x, const struct pod *pod, size_t *which)
{
    enum { MAX_CHECKED = 512 };
    unsigned room[MAX_SEARCHES + 1], wanted = 0, free_slices, all = 0, least = UINT_MAX;
    const size_t n = x->args.n_names;
    size_t found = 0;
    for (size_t i = 0; i < n && i < MAX_CHECKED; i++) {
        const size_t at = (x->turn + i) % n;
        if (x->node_fits[at].code != SW_PENDING ||
            !advice_count(x->cache, x->node_fits[at].node, pod, &wanted, &free_slices))
            continue;
        all += free_slices;
        least = wanted < least ? wanted : least;
        size_t k = found;
        for (; k && room[k - 1] < free_slices; k--) {
            room[k] = room[k - 1];
            which[k] = which[k - 1];
        }
        room[k] = free_slices;
        which[k] = at;
        found += found < MAX_SEARCHES;
    }
    return all >= least ? found : 0;
}

/* Say of the node where the fewest slices of others are in the way that they could move. */
static void advise(struct extender *x, struct pod *pod, struct reasons *r,
                   struct extender_outcome *outcome)
{
    const size_t n = outcome->n_asked;
    size_t which[MAX_SEARCHES + 1], where = 0;
    struct advice best = { 0 }, a;
    free(SW_TAKE(pod->advice));
    const size_t n_which = outcome->n_fit || !n ? 0 : find_emptiest(x, pod, which);
    if (!n_which)
        return;
    struct node **others = sw_alloc(n * sizeof(struct node *));
    for (size_t i = 0; i < n; i++)
        others[i] = x->node_fits[(x->turn + i) % n].node;
    for (size_t i = 0; i < n_which; i++) {
        if (!advice_find(x->cache, x->node_fits[which[i]].node, pod, others, n, &a) ||
            (best.n && a.n >= best.n))
            continue;
        best = a;
        where = which[i];
    }
    free(others);
    if (!best.n)
        return;
    SW_AUTO_CHARS *text = advice_text(&best);
    char *why = sw_printf("%s; %s", x->node_fits[where].why, text);
    (void)array_list_add(r->texts, why);
    x->node_fits[where].why = why;
    x->node_fits[where].special = true;
    pod->advice = sw_printf("node %s: %s", best.node->name, text);
}

/* Nodes where pods could be evicted. What one request may cost is bounded: many nodes are checked
 * in turns. */
static void find_evictable(struct extender *x, const struct pod *pod,
                           struct extender_outcome *outcome)
{
    enum { MAX_CHECKED = 512 };
    size_t n_left = MAX_CHECKED;
    bool less = false;
    const struct extender_args *q = &x->args;
    if (!x->preempts || pod->never_preempts || pod->fault || outcome->n_fit)
        return;
    outcome->likely = x->likely;
    for (size_t i = 0; i < q->n_names && n_left && outcome->n_likely < MAX_LIKELY; i++) {
        const size_t at = (x->turn + i) % q->n_names;
        if (x->node_fits[at].code != SW_PENDING)
            continue;
        n_left--;
        if (n_left && victims_likely(x->node_fits[at].node, pod, &n_left, &less))
            x->likely[outcome->n_likely++] = x->node_fits[at].node;
    }
    if (!less)
        outcome->n_likely = 0;
}

/* In a big cluster kube-scheduler asks about a part of the nodes, another part each time. Where
 * none of them has room, another node may. Only kube-scheduler knows whether the pod may go there,
 * so a hint that led to nothing is repeated less and less often. */
static struct node *find_elsewhere(struct extender *x, struct pod *pod, int64_t now_ms,
                                   const struct extender_outcome *outcome)
{
    struct decide_common common = { 0 };
    if (outcome->n_fit)
        pod->n_hints = 0;
    if (outcome->n_fit || outcome->n_asked < LEAST_SAMPLE || pod->fault)
        return NULL;
    const unsigned later = pod->n_hints < HINTS_AT_ONCE ? 0 : pod->n_hints - HINTS_AT_ONCE;
    if (pod->n_hints >= HINTS_AT_ONCE &&
        now_ms - pod->hinted_ms < HINT_LATER_MS << (later < MAX_DOUBLED ? later : MAX_DOUBLED))
        return NULL;
    x->stamp++;
    for (size_t i = 0; i < outcome->n_asked; i++)
        if (x->node_fits[i].node)
            x->node_fits[i].node->asked = x->stamp;
    for (struct lh_entry *e = lh_table_head(x->cache->nodes); e; e = e->next) {
        struct node *node = lh_entry_v(e);
        if (node->asked == x->stamp || decide_fit(x->cache, pod, node, &common, NULL) != 0)
            continue;
        pod->n_hints++;
        pod->hinted_ms = now_ms;
        return node;
    }
    return NULL;
}

int extender_filter(struct extender *x, const char *body, size_t len_bytes, int64_t now_ms,
                    struct printbuf *out, struct extender_outcome *outcome, struct sw_err *err)
{
    struct pod *pod = NULL;
    const int rc = extender_read_args(x, body, len_bytes, now_ms, outcome, &pod, err);
    if (rc < 0)
        return rc;
    const size_t n = outcome->n_asked;
    struct reasons reasons = { .texts = array_list_new2(free, 8) };
    if (n > x->n_fits) {
        x->n_fits = n;
        x->node_fits = sw_realloc(x->node_fits, n, sizeof *x->node_fits);
    }
    judge(x, pod, &reasons, outcome);
    pass_over_others(x, pod, outcome);
    pod->refused = outcome->n_fit == 0 && n > 0;
    outcome->elsewhere = find_elsewhere(x, pod, now_ms, outcome);
    advise(x, pod, &reasons, outcome);
    if (!outcome->elsewhere)
        find_evictable(x, pod, outcome);
    x->turn += MAX_LIKELY;
    const bool named = n - outcome->n_fit <= FEW_NODES;
    put_fitting(out, x);
    put_failed(out, x, named, false);
    put_failed(out, x, named, true);
    extender_put(out, ",\"Error\":\"\"}");
    array_list_free(reasons.texts);
    extender_args_clear(&x->args);
    return 0;
}
