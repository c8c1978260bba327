#include "emulator/faults/faults.h"

#include <fnmatch.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/store/store.h"

/* One entry of the plan. Documents in it are borrowed from the plan. */
struct rule {
    struct json_object *verbs, *kinds, *subresources, *names, *user_agents;
    struct sw_emu_fault fault;
    double probability; /* with neither of the next two */
    int64_t nth, every;
    int64_t times; /* at most; 0: any number */
    int64_t from_ms, until_ms;
    int64_t down_ms;  /* the server is away for so long */
    int64_t clock_ms; /* the wall clock is set by so much */
    int64_t n_matched, n_done;
    struct sw_timer *timer; /* of down and clock */
    struct sw_faults *faults;
};

struct sw_faults {
    struct json_object *plan;
    struct rule *rules;
    size_t n_rules;
    uint64_t rng, n_changed;
    struct sw_loop *loop;
    struct sw_store *store;
    void (*drop)(void *arg);
    void *drop_arg;
    int64_t began_ms;
};

/* ---- reading -----------------------------------------------------------------------------------
 */

struct place {
    const char *file, *key;
    size_t index;
};

static int fail(const struct place *p, struct sw_err *err, const char *what)
{
    return sw_err_set(err, SW_INVALID, "%s: faults[%zu].%s: expected %s", p->file, p->index, p->key,
                      what);
}

typedef int read_fn(struct rule *r, struct json_object *v, const struct place *p,
                    struct sw_err *err);

static int read_texts(struct json_object **into, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    bool list = json_object_is_type(v, json_type_array);
    for (size_t i = 0; list && i < sw_json_len(v); i++)
        if (!json_object_is_type(sw_json_at(v, i), json_type_string))
            return fail(p, err, "a word or a list of words");
    if (!list && !json_object_is_type(v, json_type_string))
        return fail(p, err, "a word or a list of words");
    *into = v;
    return 0;
}

#define WORDS(name, member)                                                                        \
    static int name(struct rule *r, struct json_object *v, const struct place *p,                  \
                    struct sw_err *err)                                                            \
    {                                                                                              \
        return read_texts(&r->member, v, p, err);                                                  \
    }
WORDS(read_kinds, kinds)
WORDS(read_subresources, subresources)
WORDS(read_names, names)
WORDS(read_user_agents, user_agents)

static bool is_verb(const char *word)
{
    static const char *const verbs[] = { "get",    "list",  "watch",  "create",
                                         "update", "patch", "delete", "deletecollection",
                                         "post",   "put",   "head" };
    for (size_t i = 0; i < SW_COUNT(verbs); i++)
        if (sw_streq(verbs[i], word))
            return true;
    return strpbrk(word, "*?") != NULL; /* a pattern */
}

/* One that is none would strike nothing, and nobody would know. */
static int read_verbs(struct rule *r, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    int rc = read_texts(&r->verbs, v, p, err);
    bool list = json_object_is_type(v, json_type_array), ok = true;
    for (size_t i = 0; rc == 0 && list && i < sw_json_len(v); i++)
        ok = ok && is_verb(json_object_get_string(sw_json_at(v, i)));
    if (rc == 0 && !list)
        ok = is_verb(json_object_get_string(v));
    return ok ? rc
              : fail(p, err,
                     "get, list, watch, create, update, patch, delete, "
                     "deletecollection, or post, put, head");
}

static int read_number(int64_t *into, struct json_object *v, int64_t least, int64_t most,
                       const struct place *p, struct sw_err *err)
{
    int64_t n = json_object_get_int64(v);
    if (!json_object_is_type(v, json_type_int) || n < least || n > most) {
        SW_AUTO_CHARS *what = sw_printf("a number from %lld to %lld", (long long)least,
                                        (long long)most);
        return fail(p, err, what);
    }
    *into = n;
    return 0;
}

#define NUMBER(name, member, least, most)                                                          \
    static int name(struct rule *r, struct json_object *v, const struct place *p,                  \
                    struct sw_err *err)                                                            \
    {                                                                                              \
        return read_number(&r->member, v, least, most, p, err);                                    \
    }
NUMBER(read_nth, nth, 1, 1000000000)
NUMBER(read_every, every, 1, 1000000000)
NUMBER(read_times, times, 1, 1000000000)

static int read_event(struct rule *r, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    int64_t n = 0;
    int rc = read_number(&n, v, 1, 1000000, p, err);
    r->fault.after = (int)n;
    return rc;
}

static int read_probability(struct rule *r, struct json_object *v, const struct place *p,
                            struct sw_err *err)
{
    bool number = json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
    r->probability = json_object_get_double(v);
    if (!number || !(r->probability > 0) || r->probability > 1)
        return fail(p, err, "a number over 0, 1 at most");
    return 0;
}

/* "200ms", "-2s", "1m", "1h". */
static int read_time(int64_t *into, struct json_object *v, bool negative, const struct place *p,
                     struct sw_err *err)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
    const char *text = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
    char *end;
    long n = strtol(text, &end, 10);
    for (size_t i = 0; end != text && n > -1000000 && n < 1000000 && i < SW_COUNT(units); i++) {
        if (sw_streq(end, units[i].unit) && (negative || n >= 0)) {
            *into = n * units[i].ms;
            return 0;
        }
    }
    return fail(p, err, "a time such as 200ms, 2s or 1m");
}

#define TIME(name, member, negative)                                                               \
    static int name(struct rule *r, struct json_object *v, const struct place *p,                  \
                    struct sw_err *err)                                                            \
    {                                                                                              \
        return read_time(&r->member, v, negative, p, err);                                         \
    }
TIME(read_from, from_ms, false)
TIME(read_until, until_ms, false)
TIME(read_down, down_ms, false)
TIME(read_clock, clock_ms, true)

static int read_delay(struct rule *r, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    int64_t ms = 0;
    int rc = read_time(&ms, v, false, p, err);
    r->fault.delay_ms = (int)ms;
    return rc;
}

static int read_retry_after(struct rule *r, struct json_object *v, const struct place *p,
                            struct sw_err *err)
{
    int64_t ms = 0;
    int rc = read_time(&ms, v, false, p, err);
    r->fault.retry_after_s = (int)((ms + 999) / 1000);
    return rc;
}

static int read_answer(struct rule *r, struct json_object *v, const struct place *p,
                       struct sw_err *err)
{
    int64_t code = 0;
    int rc = read_number(&code, v, 400, 599, p, err);
    r->fault.type = SW_FAULT_ERROR;
    r->fault.code = (int)code;
    return rc;
}

static const struct {
    const char *name;
    enum sw_emu_fault_type type;
} deeds[] = {
    { "lost", SW_FAULT_LOST },        { "reset", SW_FAULT_RESET },
    { "hang", SW_FAULT_HANG },        { "truncate", SW_FAULT_TRUNCATE },
    { "garble", SW_FAULT_GARBLE },    { "expire", SW_FAULT_EXPIRE },
    { "duplicate", SW_FAULT_DOUBLE }, { "reorder", SW_FAULT_REORDER },
    { "stale", SW_FAULT_STALE },
};

static int read_do(struct rule *r, struct json_object *v, const struct place *p, struct sw_err *err)
{
    const char *name = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
    for (size_t i = 0; i < SW_COUNT(deeds); i++) {
        if (sw_streq(deeds[i].name, name)) {
            r->fault.type = deeds[i].type;
            return 0;
        }
    }
    return fail(p, err, "lost, reset, hang, truncate, garble, expire, duplicate, reorder or stale");
}

static const struct {
    const char *key;
    read_fn *read;
} keys[] = {
    { "verb", read_verbs },
    { "kind", read_kinds },
    { "subresource", read_subresources },
    { "name", read_names },
    { "userAgent", read_user_agents },
    { "answer", read_answer },
    { "retryAfter", read_retry_after },
    { "do", read_do },
    { "delay", read_delay },
    { "event", read_event },
    { "probability", read_probability },
    { "nth", read_nth },
    { "every", read_every },
    { "times", read_times },
    { "from", read_from },
    { "until", read_until },
    { "down", read_down },
    { "clock", read_clock },
};

static int read_key(struct rule *r, const char *key, struct json_object *v, struct place *p,
                    struct sw_err *err)
{
    p->key = key;
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        if (sw_streq(keys[i].key, key))
            return keys[i].read(r, v, p, err);
    return sw_err_set(err, SW_INVALID, "%s: faults[%zu].%s: no such key", p->file, p->index, key);
}

static int read_rule(struct rule *r, struct json_object *doc, struct place *p, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: faults[%zu]: expected a mapping", p->file,
                          p->index);
    *r = (struct rule){ .probability = 1, .until_ms = INT64_MAX };
    json_object_object_foreach(doc, key, v)
    {
        int rc = read_key(r, key, v, p, err);
        if (rc < 0)
            return rc;
    }
    if (r->fault.type == SW_FAULT_NONE && !r->fault.delay_ms && !r->down_ms && !r->clock_ms)
        return sw_err_set(err, SW_INVALID,
                          "%s: faults[%zu]: one of answer, do, delay, down and clock must be there",
                          p->file, p->index);
    return 0;
}

static int read_plan(struct sw_faults *f, const char *name, struct sw_err *err)
{
    struct json_object *list = sw_json_get(f->plan, "faults");
    struct place p = { .file = name };
    json_object_object_foreach(f->plan, key, v)
    {
        (void)v;
        if (!sw_streq(key, "seed") && !sw_streq(key, "faults"))
            return sw_err_set(err, SW_INVALID, "%s: %s: no such key", name, key);
    }
    if (list && !json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "%s: faults: expected a list", name);
    f->rng = (uint64_t)sw_json_int(f->plan, 1, "seed", NULL) * 0x9e3779b97f4a7c15u | 1;
    f->rules = sw_zalloc(sw_json_len(list) + 1, sizeof *f->rules);
    for (p.index = 0; p.index < sw_json_len(list); p.index++) {
        int rc = read_rule(&f->rules[p.index], sw_json_at(list, p.index), &p, err);
        if (rc < 0)
            return rc;
        f->rules[p.index].faults = f;
        f->n_rules++;
    }
    return 0;
}

int sw_faults_new(struct json_object *plan, const char *name, struct sw_faults **out,
                  struct sw_err *err)
{
    if (!json_object_is_type(plan, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected a mapping with the key 'faults'", name);
    SW_AUTO(sw_faults) *f = sw_zalloc(1, sizeof *f);
    f->plan = json_object_get(plan);
    int rc = read_plan(f, name, err);
    if (rc == 0)
        *out = SW_TAKE(f);
    return rc;
}

int sw_faults_load(const char *path, struct sw_faults **out, struct sw_err *err)
{
    SW_AUTO_JSON *plan = NULL;
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, 1 << 20, &text, &len, err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &plan, err);
    return rc < 0 ? rc : sw_faults_new(plan, path, out, err);
}

void sw_faults_free(struct sw_faults *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_rules; i++)
        sw_timer_free(f->rules[i].timer);
    free(f->rules);
    json_object_put(f->plan);
    free(f);
}

/* ---- carrying out ------------------------------------------------------------------------------
 */

/* xorshift64*: between 0 and 1. */
static double chance(struct sw_faults *f)
{
    f->rng ^= f->rng >> 12;
    f->rng ^= f->rng << 25;
    f->rng ^= f->rng >> 27;
    return (double)(f->rng * 0x2545f4914f6cdd1du >> 11) / (double)(UINT64_C(1) << 53);
}

static bool is_among(struct json_object *words, const char *word, int flags)
{
    if (!words)
        return true;
    if (!word)
        return false;
    if (json_object_is_type(words, json_type_string))
        return fnmatch(json_object_get_string(words), word, flags) == 0;
    for (size_t i = 0; i < sw_json_len(words); i++)
        if (fnmatch(json_object_get_string(sw_json_at(words, i)), word, flags) == 0)
            return true;
    return false;
}

static const char *kind_of(const struct sw_faults *f, const struct sw_emu_request *req)
{
    if (!req->resource)
        return NULL;
    const struct sw_emu_kind *kind = sw_store_find_resource(f->store, req->group, req->version,
                                                            req->resource);
    return kind ? kind->kind : req->resource;
}

static bool matches(const struct sw_faults *f, const struct rule *r,
                    const struct sw_emu_request *req, int64_t at_ms)
{
    if (r->down_ms || r->clock_ms || at_ms < r->from_ms || at_ms >= r->until_ms)
        return false;
    return is_among(r->verbs, req->verb, 0) && is_among(r->kinds, kind_of(f, req), FNM_CASEFOLD) &&
           is_among(r->subresources, req->subresource ? req->subresource : "", 0) &&
           is_among(r->names, req->name, 0) && is_among(r->user_agents, req->user_agent, 0);
}

static bool strikes(struct sw_faults *f, struct rule *r)
{
    r->n_matched++;
    if (r->times && r->n_done >= r->times)
        return false;
    if (r->nth)
        return r->n_matched == r->nth;
    if (r->every)
        return r->n_matched % r->every == 0;
    return r->probability >= 1 || chance(f) < r->probability;
}

static bool is_down(const struct sw_faults *f, int64_t at_ms)
{
    for (size_t i = 0; i < f->n_rules; i++)
        if (f->rules[i].down_ms && at_ms >= f->rules[i].from_ms &&
            at_ms < f->rules[i].from_ms + f->rules[i].down_ms)
            return true;
    return false;
}

void sw_faults_on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg)
{
    struct sw_faults *f = arg;
    if (!f->loop)
        return;
    int64_t at_ms = sw_loop_now_ms(f->loop) - f->began_ms;
    if (is_down(f, at_ms)) {
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_RESET };
        f->n_changed++;
        return;
    }
    for (size_t i = 0; i < f->n_rules; i++) {
        struct rule *r = &f->rules[i];
        if (!matches(f, r, req, at_ms) || !strikes(f, r))
            continue;
        r->n_done++;
        f->n_changed++;
        *fault = r->fault;
        return;
    }
}

static void on_time(void *arg)
{
    struct rule *r = arg;
    if (r->down_ms)
        r->faults->drop(r->faults->drop_arg);
    if (r->clock_ms)
        sw_loop_set_wall(r->faults->loop, r->clock_ms);
}

void sw_faults_start(struct sw_faults *f, struct sw_store *store, void (*drop)(void *arg),
                     void *arg)
{
    struct sw_loop *loop = f->loop = sw_store_loop(store);
    f->store = store;
    f->drop = drop;
    f->drop_arg = arg;
    f->began_ms = sw_loop_now_ms(loop);
    for (size_t i = 0; i < f->n_rules; i++) {
        struct rule *r = &f->rules[i];
        if (!r->down_ms && !r->clock_ms)
            continue;
        r->timer = sw_timer_new(loop, on_time, r);
        sw_timer_set(r->timer, r->from_ms);
    }
}

int64_t sw_faults_end_ms(const struct sw_faults *f)
{
    int64_t last_ms = 0;
    for (size_t i = 0; i < f->n_rules; i++) {
        const struct rule *r = &f->rules[i];
        int64_t end_ms = r->until_ms == INT64_MAX ? r->from_ms + r->down_ms : r->until_ms;
        last_ms = end_ms > last_ms ? end_ms : last_ms;
    }
    return last_ms;
}

uint64_t sw_faults_count(const struct sw_faults *f)
{
    return f->n_changed;
}
