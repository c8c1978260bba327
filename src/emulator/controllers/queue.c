#include "emulator/controllers/core.h"

#include "data/json/table.h"

#include <stdlib.h>
#include <string.h>

/* Keys of a queue that are handled in one turn of the loop. Between turns the store notifies its
 * subscribers and frees the events. */
enum { KEYS_A_TURN = 64 };

/* The keys of one queue, in order: "ns/name", or "/name". */
struct keys {
    char **items; /* each owned, and in @waiting too */
    size_t n, cap;
    struct lh_table *waiting;
};

/* A key that is added to its queue at a later time. */
struct later {
    struct sw_alarm alarm;
    enum sw_queue queue;
    char *key; /* in the table of its queue */
};

struct sw_ctl_queues {
    struct keys keys[SW_N_QUEUES];
    struct lh_table *later[SW_N_QUEUES];
    struct lh_table *rests; /* key of a wide queue -> until when it rests, in ms; see rests_for() */
    struct sw_timer *turn;
};

/* Of the keys of these queues all nodes are looked at: in a large cluster a key that has been
 * handled rests, the longer the more nodes there are, since each of them changes. */
enum { MANY_NODES = 200, NODES_A_MS = 10, ENDPOINTS_NODES_A_MS = 2 };

static bool is_wide(enum sw_queue queue)
{
    return queue == SW_Q_SERVICE || queue == SW_Q_DAEMONSET;
}

static char *rest_key(enum sw_queue queue, const char *key)
{
    return sw_printf("%d %s", (int)queue, key);
}

/* How long the key still rests, in ms; 0: it does not. */
static int64_t rests_for(struct sw_ctl *ctl, enum sw_queue queue, const char *key)
{
    if (!is_wide(queue) || !lh_table_length(ctl->queues->rests))
        return 0;
    SW_AUTO_CHARS *own = rest_key(queue, key);
    const int64_t *until = sw_table_find(ctl->queues->rests, own);
    const int64_t left = until ? *until - sw_ctl_now(ctl) : 0;
    return left > 0 ? left : 0;
}

static void rest(struct sw_ctl *ctl, enum sw_queue queue, const char *key)
{
    size_t n;
    (void)sw_ctl_nodes(ctl, &n);
    if (!is_wide(queue) || n <= MANY_NODES)
        return;
    SW_AUTO_CHARS *own = rest_key(queue, key);
    int64_t *until = sw_table_find(ctl->queues->rests, own);
    if (!until) {
        until = sw_zalloc(1, sizeof *until);
        (void)lh_table_insert(ctl->queues->rests, SW_TAKE(own), until);
    }
    /* endpoints are written whole; a cluster's controller gathers changes, too */
    const size_t a_ms = queue == SW_Q_SERVICE ? ENDPOINTS_NODES_A_MS : NODES_A_MS;
    *until = sw_ctl_now(ctl) + (int64_t)(n / a_ms);
}

static void add(struct sw_ctl *ctl, enum sw_queue queue, const char *key)
{
    struct sw_ctl_queues *q = ctl->queues;
    struct keys *keys = &q->keys[queue];
    if (lh_table_lookup_entry(keys->waiting, key))
        return;
    char *own = sw_strdup(key);
    (void)lh_table_insert(keys->waiting, own, NULL);
    SW_GROW(keys->items, keys->n, keys->cap);
    keys->items[keys->n++] = own;
    if (!sw_timer_is_set(q->turn))
        sw_timer_set(q->turn, 0);
}

static char *key_of(const char *ns, const char *name)
{
    return sw_printf("%s/%s", ns ? ns : "", name);
}

void sw_ctl_enqueue(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name)
{
    SW_AUTO_CHARS *key = key_of(ns, name);
    const int64_t left = rests_for(ctl, queue, key);
    if (left)
        sw_ctl_enqueue_in(ctl, queue, ns, name, left);
    else
        add(ctl, queue, key);
}

void sw_ctl_enqueue_owner(struct sw_ctl *ctl, enum sw_queue queue, json_object *object)
{
    json_object *ref = sw_doc_controller(object);
    if (ref && sw_streq(sw_json_str(ref, "", "kind", NULL), sw_controllers[queue]->kind))
        sw_ctl_enqueue(ctl, queue, sw_obj_namespace(object), sw_json_str(ref, "", "name", NULL));
}

static void free_later(struct sw_ctl *ctl, struct later *later)
{
    sw_alarm_stop(ctl, &later->alarm);
    (void)lh_table_delete(ctl->queues->later[later->queue], later->key);
    free(later->key);
    free(later);
}

static void on_later(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    struct later *later = (struct later *)alarm; /* its first member */
    add(ctl, later->queue, later->key);
    free_later(ctl, later);
}

void sw_ctl_enqueue_in(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name,
                       int64_t in_ms)
{
    SW_AUTO_CHARS *key = key_of(ns, name);
    struct lh_table *table = ctl->queues->later[queue];
    struct later *later = sw_table_find(table, key);
    if (later && later->alarm.due_ms <= sw_ctl_now(ctl) + in_ms)
        return;
    if (!later) {
        later = sw_zalloc(1, sizeof *later);
        later->alarm.fire = on_later;
        later->queue = queue;
        later->key = SW_TAKE(key);
        (void)lh_table_insert(table, later->key, later);
    }
    sw_alarm_set(ctl, &later->alarm, in_ms);
}

/* Handle the first keys of a queue. */
static void work_some(struct sw_ctl *ctl, enum sw_queue queue)
{
    struct keys *keys = &ctl->queues->keys[queue];
    char *now[KEYS_A_TURN];
    size_t n = keys->n < KEYS_A_TURN ? keys->n : KEYS_A_TURN;
    for (size_t i = 0; i < n; i++) {
        now[i] = keys->items[i];
        (void)lh_table_delete(keys->waiting, now[i]);
    }
    keys->n -= n;
    memmove(keys->items, keys->items + n, keys->n * sizeof *keys->items);
    for (size_t i = 0; i < n; i++) {
        const char *slash = strchr(now[i], '/');
        SW_AUTO_CHARS *ns = sw_strndup(now[i], (size_t)(slash - now[i]));
        sw_controllers[queue]->work(ctl, ns, slash + 1);
        rest(ctl, queue, now[i]);
        free(now[i]);
    }
    if (keys->n && !sw_timer_is_set(ctl->queues->turn))
        sw_timer_set(ctl->queues->turn, 0);
}

static void on_turn(void *arg)
{
    struct sw_ctl *ctl = arg;
    for (int i = 0; i < SW_N_QUEUES; i++)
        if (ctl->queues->keys[i].n)
            work_some(ctl, (enum sw_queue)i);
}

void sw_ctl_queues_open(struct sw_ctl *ctl)
{
    ctl->queues = sw_zalloc(1, sizeof *ctl->queues);
    ctl->queues->turn = sw_timer_new(ctl->loop, on_turn, ctl);
    ctl->queues->rests = lh_kchar_table_new(8, sw_table_free_key_and_value);
    for (int i = 0; i < SW_N_QUEUES; i++) {
        ctl->queues->keys[i].waiting = lh_kchar_table_new(32, NULL);
        ctl->queues->later[i] = lh_kchar_table_new(8, NULL);
    }
}

void sw_ctl_queues_close(struct sw_ctl *ctl)
{
    if (!ctl->queues)
        return;
    sw_timer_free(ctl->queues->turn);
    lh_table_free(ctl->queues->rests);
    for (int i = 0; i < SW_N_QUEUES; i++) {
        struct lh_entry *entry, *next;
        lh_foreach_safe(ctl->queues->later[i], entry, next)
        {
            free_later(ctl, lh_entry_v(entry));
        }
        lh_table_free(ctl->queues->later[i]);
        for (size_t k = 0; k < ctl->queues->keys[i].n; k++)
            free(ctl->queues->keys[i].items[k]);
        free(ctl->queues->keys[i].items);
        lh_table_free(ctl->queues->keys[i].waiting);
    }
    free(SW_TAKE(ctl->queues));
}
