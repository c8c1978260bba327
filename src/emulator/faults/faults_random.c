/* Random fault plans: documents as a user would write them, so that a plan that found a defect can
 * be kept and reduced. */
#include <json-c/json.h>
#include <stdlib.h>

#include "data/data.h"
#include "emulator/faults/faults.h"

enum { MOST_RULES = 8 };

/* splitmix64: neighbouring seeds give different plans. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int64_t between(uint64_t *state, int64_t least, int64_t most)
{
    return least + (int64_t)(next(state) % (uint64_t)(most - least + 1));
}

#define PICK(state, list) (list)[next(state) % SW_COUNT(list)]

static void set_time(struct json_object *rule, const char *key, int64_t ms)
{
    SW_AUTO_CHARS *text = sw_printf("%lldms", (long long)ms);
    sw_json_set_str(rule, text, key, NULL);
}

static void set_number(struct json_object *rule, const char *key, int64_t n)
{
    sw_json_set(rule, json_object_new_int64(n), key, NULL);
}

/* ---- sorts -------------------------------------------------------------------------------------
 */

static void answer(struct json_object *rule, uint64_t *state)
{
    static const int codes[] = { 409, 429, 429, 500, 503, 504 };
    static const char *const verbs[] = { "get",   "list",   "watch", "create",
                                         "patch", "update", "delete" };
    int code = PICK(state, codes);
    set_number(rule, "answer", code);
    if (code == 409)
        sw_json_set_str(rule, "patch", "verb", NULL);
    else if (next(state) % 3)
        sw_json_set_str(rule, PICK(state, verbs), "verb", NULL);
    if (code == 429 && next(state) % 2)
        set_time(rule, "retryAfter", between(state, 1, 30) * 1000);
}

static void gone(struct json_object *rule, uint64_t *state)
{
    static const char *const verbs[] = { "list", "watch" };
    sw_json_set_str(rule, PICK(state, verbs), "verb", NULL);
    set_number(rule, "answer", 410);
}

static void broken(struct json_object *rule, uint64_t *state)
{
    static const char *const deeds[] = { "lost", "reset", "hang" };
    static const char *const verbs[] = { "get", "list", "watch", "create", "patch", "delete" };
    sw_json_set_str(rule, PICK(state, deeds), "do", NULL);
    if (next(state) % 2)
        sw_json_set_str(rule, PICK(state, verbs), "verb", NULL);
}

static void watched(struct json_object *rule, uint64_t *state)
{
    static const char *const deeds[] = { "truncate", "garble", "expire", "duplicate", "reorder" };
    sw_json_set_str(rule, "watch", "verb", NULL);
    sw_json_set_str(rule, PICK(state, deeds), "do", NULL);
    set_number(rule, "event", between(state, 1, 6));
}

static void stale(struct json_object *rule, uint64_t *state)
{
    (void)state;
    sw_json_set_str(rule, "list", "verb", NULL);
    sw_json_set_str(rule, "stale", "do", NULL);
}

static void slow(struct json_object *rule, uint64_t *state)
{
    set_time(rule, "delay", between(state, 1, 20000));
}

static void (*const sorts[])(struct json_object *rule, uint64_t *state) = {
    answer, answer, answer, gone, broken, broken, watched, watched, watched, stale, slow,
};

/* ---- plans -------------------------------------------------------------------------------------
 */

/* Restrict a rule to a kind, to some of the requests, and to a time. */
static void restrict_rule(struct json_object *rule, uint64_t *state, int64_t horizon_ms)
{
    static const char *const kinds[] = {
        "Node",      "DaemonSet", "Deployment",      "Pod",
        "Lease",     "ConfigMap", "SpecialResource", "Event",
        "Namespace", "Job",       "ClusterPolicy",   "CustomResourceDefinition"
    };
    if (next(state) % 2)
        sw_json_set_str(rule, PICK(state, kinds), "kind", NULL);
    switch (next(state) % 3) {
    case 0:
        set_number(rule, "nth", between(state, 1, 40));
        break;
    case 1:
        set_number(rule, "every", between(state, 2, 9));
        break;
    default:
        sw_json_set(rule, json_object_new_double((double)between(state, 1, 50) / 100),
                    "probability", NULL);
    }
    int64_t from_ms = next(state) % 2 ? 0 : between(state, 0, horizon_ms / 2);
    set_time(rule, "from", from_ms);
    set_time(rule, "until", between(state, from_ms + 1, horizon_ms));
}

static struct json_object *random_rule(uint64_t *state, int64_t horizon_ms)
{
    struct json_object *rule = json_object_new_object();
    switch (next(state) % 10) {
    case 0:
        set_time(rule, "down", between(state, 100, 60000));
        set_time(rule, "from", between(state, 0, horizon_ms / 2));
        break;
    case 1:
        set_time(rule, "clock", between(state, -600000, 600000) | 1);
        set_time(rule, "from", between(state, 0, horizon_ms / 2));
        break;
    default:
        PICK(state, sorts)(rule, state);
        restrict_rule(rule, state, horizon_ms);
    }
    return rule;
}

struct json_object *sw_faults_random(uint64_t seed, int64_t horizon_ms)
{
    uint64_t state = seed;
    struct json_object *plan = json_object_new_object(), *rules = json_object_new_array();
    for (int64_t i = between(&state, 1, MOST_RULES); i > 0; i--)
        json_object_array_add(rules, random_rule(&state, horizon_ms));
    set_number(plan, "seed", (int64_t)(seed & INT32_MAX));
    json_object_object_add(plan, "faults", rules);
    return plan;
}
