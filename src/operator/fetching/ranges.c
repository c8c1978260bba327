#include "operator/fetching/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "chart/fetch/reach/reach.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"

enum { FRESH_MS = 600000, AGAIN_MS = 200, RETRIES = 4, V6_SERVICE_BITS = 108 };

struct reading {
    struct ranges *r;
    struct sw_kube_request *req;
};

struct ranges {
    struct sw_loop *loop;
    struct sw_kube *kube;
    void (*known)(void *arg);
    void *arg;
    struct sw_timer *timer;
    struct sw_ranges nodes; /* of all that were ever there */
    struct sw_ranges read;  /* of services and pods, by the last reading */
    char *kubernetes;       /* the address of default/kubernetes; NULL: not known */
    struct sw_ranges next;  /* of the reading that is under way */
    struct reading readings[3];
    size_t n_due;    /* readings under way, or not begun */
    int64_t read_ms; /* when it was read; 0: never */
    bool told;       /* of one that cannot be read */
};

/* ---- what objects say --------------------------------------------------------------------------
 */

static void add(struct sw_ranges *set, const char *cidr)
{
    struct sw_range range;
    if (sw_range_parse(cidr, &range))
        sw_ranges_add(set, range);
}

/* A list of "10.0.0.0/14", or of {"cidr": "10.0.0.0/14"}. */
static void add_list(struct sw_ranges *set, struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        bool is_object = json_object_is_type(item, json_type_object);
        add(set, is_object ? sw_json_str(item, "", "cidr", NULL) : sw_json_str(item, "", NULL));
    }
}

void ranges_add_node(struct ranges *r, struct json_object *node)
{
    add(&r->nodes, sw_json_str(node, "", "spec", "podCIDR", NULL));
    add_list(&r->nodes, sw_json_find(node, "spec", "podCIDRs", NULL));
}

static void take_network(struct ranges *r, const struct sw_kube_answer *a)
{
    static const char *const parts[] = { "status", "spec" };
    for (size_t i = 0; i < SW_COUNT(parts); i++) {
        add_list(&r->next, sw_json_find(a->object, parts[i], "clusterNetwork", NULL));
        add_list(&r->next, sw_json_find(a->object, parts[i], "serviceNetwork", NULL));
    }
}

static void take_service_cidrs(struct ranges *r, const struct sw_kube_answer *a)
{
    for (size_t i = 0; i < sw_json_len(a->items); i++)
        add_list(&r->next, sw_json_find(sw_json_at(a->items, i), "spec", "cidrs", NULL));
}

static void take_kubernetes(struct ranges *r, const struct sw_kube_answer *a)
{
    const char *address = sw_json_str(a->object, NULL, "spec", "clusterIP", NULL);
    sw_text_set(&r->kubernetes, address);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static const struct {
    const char *api_version, *kind, *ns, *name; /* @name NULL: all */
    void (*take)(struct ranges *r, const struct sw_kube_answer *a);
} rows[] = {
    { "networking.k8s.io/v1", "ServiceCIDR", NULL, NULL, take_service_cidrs },
    { "config.openshift.io/v1", "Network", NULL, "cluster", take_network },
    { "v1", "Service", "default", "kubernetes", take_kubernetes },
};
_Static_assert(SW_COUNT(rows) == SW_COUNT(((struct ranges *)NULL)->readings), "one for each");

/* The range that the first address of all services lies in: kubeadm's default, or as large as is
 * common. */
static void guess_services(struct ranges *r)
{
    struct sw_range address, usual;
    if (!r->kubernetes || !sw_range_parse(r->kubernetes, &address))
        return;
    bool v4 = IN6_IS_ADDR_V4MAPPED(&address.base);
    SW_AUTO_CHARS *around = sw_printf("%s/%d", r->kubernetes, v4 ? 16 : V6_SERVICE_BITS);
    (void)sw_range_parse("10.96.0.0/12", &usual);
    bool is_usual = sw_range_has(&usual, &address.base);
    add(&r->read, is_usual ? "10.96.0.0/12" : around);
}

static void end_reading(struct ranges *r)
{
    const char *server = getenv("KUBERNETES_SERVICE_HOST");
    sw_ranges_done(&r->read);
    r->read = r->next;
    r->next = (struct sw_ranges){ 0 };
    struct sw_range address;
    bool has_services = r->kubernetes && sw_range_parse(r->kubernetes, &address) &&
                        sw_ranges_have(&r->read, &address.base);
    if (!has_services)
        guess_services(r);
    add(&r->read, server ? server : "");
    r->read_ms = sw_loop_now_ms(r->loop);
    r->known(r->arg);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct reading *one = arg;
    struct ranges *r = one->r;
    size_t i = (size_t)(one - r->readings);
    if (a->code == 0)
        rows[i].take(r, a);
    else if (a->code != SW_NOTFOUND && !r->told) {
        r->told = true;
        sw_log(SW_LOG_WARN, "ranges of services and pods cannot be read", "kind", rows[i].kind,
               "error", sw_err_text(a->err), NULL);
    }
    if (a->more)
        return;
    one->req = NULL;
    if (--r->n_due == 0)
        end_reading(r);
}

static bool kinds_are_known(const struct ranges *r)
{
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (!sw_kube_kind_find(r->kube, rows[i].api_version, rows[i].kind) &&
            !sw_kube_kinds_known(r->kube, rows[i].api_version))
            return false;
    return true;
}

static void begin(void *arg)
{
    struct ranges *r = arg;
    if (!kinds_are_known(r)) { /* discovery goes on */
        sw_timer_set(r->timer, AGAIN_MS);
        return;
    }
    r->n_due = 1;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const struct sw_kind *kind = sw_kube_kind_find(r->kube, rows[i].api_version, rows[i].kind);
        const struct sw_request_opts *opts = REQUEST_OWN(FACTS, .retries = RETRIES);
        struct reading *one = &r->readings[i];
        *one = (struct reading){ .r = r };
        if (!kind)
            continue;
        r->n_due++;
        one->req = rows[i].name
                       ? sw_kube_get(r->kube, kind, rows[i].ns, rows[i].name, opts, on_answer, one)
                       : sw_kube_list(r->kube, kind, rows[i].ns, opts, on_answer, one);
    }
    if (--r->n_due == 0)
        end_reading(r);
}

bool ranges_are_known(struct ranges *r)
{
    if (r->read_ms && sw_loop_now_ms(r->loop) - r->read_ms < FRESH_MS)
        return true;
    if (!r->n_due && !sw_timer_is_set(r->timer))
        sw_timer_set(r->timer, 0);
    return false;
}

struct json_object *ranges_to_json(const struct ranges *r)
{
    const struct sw_ranges *const sets[] = { &r->read, &r->nodes };
    struct json_object *list = json_object_new_array();
    for (size_t s = 0; s < SW_COUNT(sets); s++)
        for (size_t i = 0; i < sets[s]->n; i++) {
            SW_AUTO_CHARS *text = sw_range_text(&sets[s]->items[i]);
            (void)json_object_array_add(list, json_object_new_string(text));
        }
    return list;
}

struct ranges *ranges_new(struct sw_loop *loop, struct sw_kube *kube, void (*known)(void *arg),
                          void *arg)
{
    struct ranges *r = sw_zalloc(1, sizeof *r);
    *r = (struct ranges){ .loop = loop, .kube = kube, .known = known, .arg = arg };
    r->timer = sw_timer_new(loop, begin, r);
    return r;
}

void ranges_free(struct ranges *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < SW_COUNT(r->readings); i++)
        sw_kube_cancel(r->readings[i].req);
    sw_timer_free(r->timer);
    sw_ranges_done(&r->nodes);
    sw_ranges_done(&r->read);
    sw_ranges_done(&r->next);
    free(r->kubernetes);
    free(r);
}
