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
    int64_t delay_ms, retry_after_ms, event; /* of the fault, as they were read */
    double probability;                      /* with neither of the next two */
    int64_t nth, every;
    int64_t times; /* at most; 0: any number */
    int64_t from_ms, until_ms;
    int64_t down_ms;  /* the server is unreachable for this time */
    int64_t clock_ms; /* the wall clock is changed by this time */
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

struct key;

/* Where the reader is in the plan, for messages. */
struct place {
    const char *file;
    size_t index;
    const struct key *key;
};

/* A key of a fault. @read reads the value into the member of struct rule at offset @member. */
struct key {
    const char *name;
    int (*read)(struct rule *r, void *member, struct json_object *v, const struct place *p,
                struct sw_err *err);
    size_t member;
    int64_t least, most; /* of a number */
};

static int fail(const struct place *p, struct sw_err *err, const char *what)
{
    return sw_err_set(err, SW_INVALID, "%s: faults[%zu].%s: expected %s", p->file, p->index,
                      p->key->name, what);
}

static int read_texts(struct rule *r, void *member, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    (void)r;
    bool ok = json_object_is_type(v, json_type_string) || json_object_is_type(v, json_type_array);
    for (size_t i = 0; i < (json_object_is_type(v, json_type_array) ? sw_json_len(v) : 0); i++)
        ok &= json_object_is_type(sw_json_at(v, i), json_type_string);
    if (!ok)
        return fail(p, err, "a word or a list of words");
    *(struct json_object **)member = v;
    return 0;
}

static bool is_verb(struct json_object *text)
{
    static const char *const verbs[] = { "get",    "list",  "watch",  "create",
                                         "update", "patch", "delete", "deletecollection",
                                         "post",   "put",   "head" };
    for (size_t i = 0; i < SW_COUNT(verbs); i++)
        if (sw_streq(verbs[i], json_object_get_string(text)))
            return true;
    return strpbrk(json_object_get_string(text), "*?") != NULL; /* a pattern */
}

/* An unknown verb is an error, since it would match no request. */
static int read_verbs(struct rule *r, void *member, struct json_object *v, const struct place *p,
                      struct sw_err *err)
{
    int rc = read_texts(r, member, v, p, err);
    bool ok = json_object_is_type(v, json_type_array) || rc < 0 || is_verb(v);
    for (size_t i = 0; rc == 0 && i < sw_json_len(v); i++)
        ok &= is_verb(sw_json_at(v, i));
    return ok ? rc
              : fail(p, err,
                     "get, list, watch, create, update, patch, delete, "
                     "deletecollection, or post, put, head");
}

static int read_number(struct rule *r, void *member, struct json_object *v, const struct place *p,
                       struct sw_err *err)
{
    (void)r;
    int64_t n = json_object_get_int64(v);
    if (!json_object_is_type(v, json_type_int) || n < p->key->least || n > p->key->most) {
        SW_AUTO_CHARS *what = sw_printf("a number from %lld to %lld", (long long)p->key->least,
                                        (long long)p->key->most);
        return fail(p, err, what);
    }
    *(int64_t *)member = n;
    return 0;
}

static int read_probability(struct rule *r, void *member, struct json_object *v,
                            const struct place *p, struct sw_err *err)
{
    (void)member;
    bool number = json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
    r->probability = json_object_get_double(v);
    if (!number || !(r->probability > 0) || r->probability > 1)
        return fail(p, err, "a number over 0, 1 at most");
    return 0;
}

/* "200ms", "1m"; "-2s" where the key's least number is negative. */
static int read_time(struct rule *r, void *member, struct json_object *v, const struct place *p,
                     struct sw_err *err)
{
    (void)r;
    const char *text = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
    bool negative = p->key->least < 0 && *text == '-';
    int64_t ms;
    if (sw_span_parse(text + negative, &ms, NULL) < 0)
        return fail(p, err, "a time such as 200ms, 2s or 1m");
    *(int64_t *)member = negative ? -ms : ms;
    return 0;
}

static int read_answer(struct rule *r, void *member, struct json_object *v, const struct place *p,
                       struct sw_err *err)
{
    (void)member;
    int64_t code = 0;
    int rc = read_number(r, &code, v, p, err);
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

static int read_do(struct rule *r, void *member, struct json_object *v, const struct place *p,
                   struct sw_err *err)
{
    (void)member;
    const char *name = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
    for (size_t i = 0; i < SW_COUNT(deeds); i++) {
        if (sw_streq(deeds[i].name, name)) {
            r->fault.type = deeds[i].type;
            return 0;
        }
    }
    return fail(p, err, "lost, reset, hang, truncate, garble, expire, duplicate, reorder or stale");
}

static const struct key keys[] = {
    { "verb", read_verbs, offsetof(struct rule, verbs), 0, 0 },
    { "kind", read_texts, offsetof(struct rule, kinds), 0, 0 },
    { "subresource", read_texts, offsetof(struct rule, subresources), 0, 0 },
    { "name", read_texts, offsetof(struct rule, names), 0, 0 },
    { "userAgent", read_texts, offsetof(struct rule, user_agents), 0, 0 },
    { "answer", read_answer, 0, 400, 599 },
    { "retryAfter", read_time, offsetof(struct rule, retry_after_ms), 0, 0 },
    { "do", read_do, 0, 0, 0 },
    { "delay", read_time, offsetof(struct rule, delay_ms), 0, 0 },
    { "event", read_number, offsetof(struct rule, event), 1, 1000000 },
    { "probability", read_probability, 0, 0, 0 },
    { "nth", read_number, offsetof(struct rule, nth), 1, 1000000000 },
    { "every", read_number, offsetof(struct rule, every), 1, 1000000000 },
    { "times", read_number, offsetof(struct rule, times), 1, 1000000000 },
    { "from", read_time, offsetof(struct rule, from_ms), 0, 0 },
    { "until", read_time, offsetof(struct rule, until_ms), 0, 0 },
    { "down", read_time, offsetof(struct rule, down_ms), 0, 0 },
    { "clock", read_time, offsetof(struct rule, clock_ms), -1, 0 },
};

static int read_rule(struct rule *r, struct json_object *doc, struct place *p, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: faults[%zu]: expected a mapping", p->file,
                          p->index);
    *r = (struct rule){ .probability = 1, .until_ms = INT64_MAX };
    json_object_object_foreach(doc, name, v)
    {
        p->key = keys;
        while (p->key < keys + SW_COUNT(keys) && !sw_streq(p->key->name, name))
            p->key++;
        if (p->key == keys + SW_COUNT(keys))
            return sw_err_set(err, SW_INVALID, "%s: faults[%zu].%s: no such key", p->file, p->index,
                              name);
        int rc = p->key->read(r, (char *)r + p->key->member, v, p, err);
        if (rc < 0)
            return rc;
    }
    r->fault.delay_ms = (int)r->delay_ms;
    r->fault.retry_after_s = (int)((r->retry_after_ms + 999) / 1000);
    r->fault.after = (int)r->event;
    if (r->fault.type == SW_FAULT_NONE && !r->delay_ms && !r->down_ms && !r->clock_ms)
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

/* Whether @text matches one of the patterns, a string or a list; NULL: any text does. */
static bool is_among(struct json_object *patterns, const char *text, int flags)
{
    if (!patterns || !text)
        return !patterns;
    if (json_object_is_type(patterns, json_type_string))
        return fnmatch(json_object_get_string(patterns), text, flags) == 0;
    for (size_t i = 0; i < sw_json_len(patterns); i++)
        if (fnmatch(json_object_get_string(sw_json_at(patterns, i)), text, flags) == 0)
            return true;
    return false;
}

static bool matches(const struct sw_faults *f, const struct rule *r,
                    const struct sw_emu_request *req, int64_t at_ms)
{
    if (r->down_ms || r->clock_ms || at_ms < r->from_ms || at_ms >= r->until_ms)
        return false;
    const struct sw_emu_kind *kind = req->resource
                                         ? sw_store_find_resource(f->store, req->group,
                                                                  req->version, req->resource)
                                         : NULL;
    return is_among(r->verbs, req->verb, 0) &&
           is_among(r->kinds, kind ? kind->kind : req->resource, FNM_CASEFOLD) &&
           is_among(r->subresources, req->subresource ? req->subresource : "", 0) &&
           is_among(r->names, req->name, 0) && is_among(r->user_agents, req->user_agent, 0);
}

/* Count a request that matches. @return whether it has the fault */
static bool strikes(struct sw_faults *f, struct rule *r)
{
    r->n_matched++;
    if (r->times && r->n_done >= r->times)
        return false;
    if (r->nth)
        return r->n_matched == r->nth;
    if (r->every)
        return r->n_matched % r->every == 0;
    if (r->probability >= 1)
        return true;
    /* xorshift64* */
    f->rng ^= f->rng >> 12;
    f->rng ^= f->rng << 25;
    f->rng ^= f->rng >> 27;
    uint64_t bits = f->rng * 0x2545f4914f6cdd1du >> 11;
    return (double)bits / (double)(UINT64_C(1) << 53) < r->probability;
}

void sw_faults_on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg)
{
    struct sw_faults *f = arg;
    if (!f->loop)
        return;
    int64_t at_ms = sw_loop_now_ms(f->loop) - f->began_ms;
    for (size_t i = 0; i < f->n_rules; i++) {
        const struct rule *r = &f->rules[i];
        if (r->down_ms && at_ms >= r->from_ms && at_ms < r->from_ms + r->down_ms) {
            *fault = (struct sw_emu_fault){ .type = SW_FAULT_RESET };
            f->n_changed++;
            return;
        }
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
