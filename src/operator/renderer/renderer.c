/* Renderers and the queue of their work. One child at a time serves a renderer; there are only so
 * many, and one without work makes room for another. */
#include "operator/renderer/renderer.h"

#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "base/loop.h"
#include "operator/renderer/child.h"
#include "operator/renderer/frame.h"

enum {
    RETRIES = 3,
    RETRY_MS = 100,
    OVER_MS = 1000,
    OVER_MAX_MS = 5 * 60 * 1000,
    PATIENCE_MS = 2000,        /* then work makes room for itself */
    SMALL_BYTES = 1 << 20,     /* the tree of an answer that is no plan, recipe or manifest */
    VIEW_BYTES = 16 << 20,     /* of one of these */
    RENDERED_BYTES = 64 << 20, /* of all manifests of a render */
};

/* One request, from the first time that it is asked for until its wait ends. */
struct job {
    struct job *next; /* in the queue */
    struct job *next_of_wait;
    struct sw_renderers *all;
    struct sw_renderer *r;       /* NULL: it is gone */
    struct sw_render_wait *wait; /* NULL: nobody waits for it any more */
    char type;                   /* of its message */
    char *request;
    size_t len;
    sw_recipe_lookup_fn *lookup; /* of the wait; with its argument */
    void *lookup_arg;
    enum { QUEUED, RUNNING, PARKED, DONE } phase; /* PARKED: a lookup is not answered yet */
    bool is_due;                                  /* its wait is to be told in the next turn */
    bool looked_up;                               /* it saw more than its request and the recipe */
    struct json_object *question;
    int64_t asked_ms;
    unsigned n_tries;
    uint64_t plan_serial; /* of the plan that was made, or that it was rendered with */
    int code;             /* of the result */
    char *message;
    struct json_object *answer;
    struct sw_rendered *rendered;
    size_t rendered_bytes;
};

struct sw_render_wait {
    void (*answered)(void *arg);
    void *arg;
    struct job *jobs;
};

struct sw_renderer {
    struct sw_renderer *next;
    struct sw_renderers *all;
    char *origin;
    struct sw_kept *bundle; /* NULL: it was read in this process */
    bool is_loaded;
    struct sw_recipe_view view;
    struct sw_plan_view *plan;
    char *plan_request; /* of @plan; NULL: none */
    bool plan_is_pure;  /* the same request has the same plan again */
    uint64_t plan_serial, n_plans;
    unsigned n_over;       /* it went over its limits so often in succession */
    int64_t not_before_ms; /* when it may be tried again */
    /* without a child */
    struct sw_recipe *recipe;
    struct sw_plan *made;
    /* its child */
    struct child *child; /* NULL: none */
    enum { STEP_NONE, STEP_LOAD, STEP_PLAN, STEP_JOB } step;
    struct job *job; /* that it works on, or NULL */
    bool child_loaded;
    uint64_t child_plan; /* plan_serial of what it has planned; 0: nothing */
    int64_t used_ms;
};

struct sw_renderers {
    struct sw_loop *loop;
    struct sw_renderers_opts opts;
    char *program;
    struct sw_renderer *first;
    struct job *queue;
    struct sw_timer *timer; /* runs the queue */
    struct sw_renderers_stats stats;
    bool told_unfiltered;
    bool is_lent; /* the place of one child */
};

/* ---- life --------------------------------------------------------------------------------------
 */

static void run_queue(void *arg);

struct sw_renderers *sw_renderers_new(struct sw_loop *loop, const struct sw_renderers_opts *opts)
{
    struct sw_renderers *all = sw_zalloc(1, sizeof *all);
    *all = (struct sw_renderers){ .loop = loop, .opts = *opts };
    struct sw_renderers_opts *o = &all->opts;
    all->program = sw_strdup(o->program);
    o->program = all->program;
    o->child_bytes = o->child_bytes ? o->child_bytes : SW_RENDERER_BYTES;
    o->wall_ms = o->wall_ms ? o->wall_ms : 30000;
    o->cpu_s = o->cpu_s ? o->cpu_s : 20;
    o->n_children = o->n_children ? o->n_children : 2;
    o->idle_ms = o->idle_ms ? o->idle_ms : 10000;
    all->timer = sw_timer_new(loop, run_queue, all);
    return all;
}

void sw_renderers_free(struct sw_renderers *all)
{
    if (!all)
        return;
    sw_timer_free(all->timer);
    free(all->program);
    free(all);
}

struct sw_renderers_stats sw_renderers_stats(const struct sw_renderers *all)
{
    struct sw_renderers_stats stats = all->stats;
    for (const struct job *j = all->queue; j; j = j->next)
        stats.n_waiting += j->phase == QUEUED;
    return stats;
}

struct sw_renderer *sw_renderer_new(struct sw_renderers *all, const char *origin,
                                    struct sw_kept *bundle)
{
    struct sw_renderer *r = sw_zalloc(1, sizeof *r);
    *r = (struct sw_renderer){
        .next = all->first, .all = all, .origin = sw_strdup(origin), .bundle = bundle
    };
    all->first = r;
    return r;
}

struct sw_renderer *sw_renderer_of(struct sw_renderers *all, struct sw_recipe *recipe)
{
    SW_AUTO_CHARS *bundle = NULL;
    size_t len = 0;
    SW_ERR(err);
    if (!all->program) {
        struct sw_renderer *here = sw_renderer_new(all, sw_recipe_origin(recipe), NULL);
        here->recipe = recipe;
        return here;
    }
    if (sw_recipe_to_bundle(recipe, &bundle, &len, &err) < 0) /* the child will say so */
        sw_log(SW_LOG_WARN, "a recipe is too large", "error", sw_err_text(&err), NULL);
    struct sw_renderer *r = sw_renderer_new(all, sw_recipe_origin(recipe),
                                            sw_kept_new(bundle, len));
    sw_recipe_free(recipe);
    return r;
}

static void drop_child(struct sw_renderer *r)
{
    if (!r->child)
        return;
    child_free(SW_TAKE(r->child));
    r->all->stats.n_children--;
    r->step = STEP_NONE;
    r->child_loaded = false;
    r->child_plan = 0;
    r->job = NULL;
}

static void job_free(struct job *j)
{
    struct job **at = &j->all->queue;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    json_object_put(j->question);
    json_object_put(j->answer);
    sw_rendered_free(j->rendered);
    free(j->message);
    free(j->request);
    free(j);
}

void sw_renderer_free(struct sw_renderer *r)
{
    if (!r)
        return;
    drop_child(r);
    for (struct job *j = r->all->queue, *next; j; j = next) {
        next = j->next;
        if (j->r != r)
            continue;
        if (!j->wait) {
            job_free(j);
            continue;
        }
        j->r = NULL; /* its wait is told in the next turn */
        j->is_due = j->phase != DONE;
        j->phase = DONE;
        sw_timer_set(r->all->timer, 0);
    }
    struct sw_renderer **at = &r->all->first;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    if (r->view.loaded)
        r->view.loaded = NULL;
    recipe_view_done(&r->view);
    plan_view_free(r->plan);
    sw_plan_free(r->made);
    sw_recipe_free(r->recipe);
    sw_kept_free(r->bundle);
    free(r->plan_request);
    free(r->origin);
    free(r);
}

const struct sw_recipe_view *sw_renderer_recipe(const struct sw_renderer *r)
{
    return r->is_loaded ? &r->view : NULL;
}

const struct sw_plan_view *sw_renderer_plan_view(const struct sw_renderer *r)
{
    return r->plan;
}

/* ---- waits -------------------------------------------------------------------------------------
 */

struct sw_render_wait *sw_render_wait_new(void (*answered)(void *arg), void *arg)
{
    struct sw_render_wait *w = sw_zalloc(1, sizeof *w);
    *w = (struct sw_render_wait){ answered, arg, NULL };
    return w;
}

static void send_lookup(struct job *j, int code, const char *message, struct json_object *object);

/* Nobody waits for @j any more. What runs is left to end. */
static void abandon(struct job *j)
{
    j->wait = NULL;
    if (j->phase == PARKED)
        send_lookup(j, SW_CANCELED, "nobody waits for it", NULL);
    else if (j->phase != RUNNING)
        job_free(j);
}

void sw_render_wait_free(struct sw_render_wait *w)
{
    if (!w)
        return;
    for (struct job *j = w->jobs, *next; j; j = next) {
        next = j->next_of_wait;
        abandon(j);
    }
    free(w);
}

/* ---- the end of a job --------------------------------------------------------------------------
 */

static void finish(struct job *j, int code, const char *message)
{
    struct sw_render_wait *w = j->wait;
    sw_timer_set(j->r->all->timer, 0);
    if (j->r->job == j)
        j->r->job = NULL;
    j->phase = DONE;
    if (!j->plan_serial)
        j->plan_serial = j->r->plan_serial;
    j->code = code;
    j->message = code < 0 ? sw_strdup(message) : NULL;
    if (!w)
        job_free(j);
    else
        w->answered(w->arg); /* may free all of them */
}

/* The child is gone, or to be given up. @over: for a limit. */
static void fail_child(struct sw_renderer *r, const char *why, bool over)
{
    struct sw_renderers *all = r->all;
    struct job *j = r->job;
    int64_t now = sw_loop_now_ms(all->loop);
    all->stats.n_killed += over;
    all->stats.n_lost += !over;
    drop_child(r);
    sw_timer_set(all->timer, 0);
    if (over) {
        unsigned n = r->n_over < 9 ? r->n_over++ : r->n_over;
        int64_t delay = (int64_t)OVER_MS << n;
        r->not_before_ms = now + (delay < OVER_MAX_MS ? delay : OVER_MAX_MS);
    }
    sw_log(SW_LOG_WARN, "a renderer was ended", "recipe", r->origin, "why", why, NULL);
    if (!j)
        return;
    if (!over && j->wait && j->n_tries++ < RETRIES) {
        r->not_before_ms = now + (RETRY_MS << j->n_tries);
        sw_rendered_free(SW_TAKE(j->rendered));
        j->rendered_bytes = 0;
        json_object_put(SW_TAKE(j->question));
        j->phase = QUEUED;
        return;
    }
    SW_AUTO_CHARS *text = sw_printf("%s%s%s", over ? "" : r->origin, over ? "" : ": ", why);
    finish(j, over ? SW_INVALID : SW_UNAVAILABLE, text);
}

static void on_ended(const char *why, bool over, void *arg)
{
    fail_child(arg, why, over);
}

static void on_idle(void *arg)
{
    drop_child(arg);
}

/* ---- the work of a child -----------------------------------------------------------------------
 */

static void send_load(struct sw_renderer *r, const char *file)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    struct json_object *words = sw_json_need_list(doc, "words", NULL);
    for (const char *const *w = r->all->opts.words; w && *w; w++)
        (void)json_object_array_add(words, json_object_new_string(*w));
    sw_json_set_str(doc, r->origin, "origin", NULL);
    if (*file)
        sw_json_set_str(doc, file, "file", NULL);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    SW_AUTO_CHARS *line = sw_printf("%s\n", text);
    r->step = STEP_LOAD;
    child_send(r->child, 'L', line, strlen(line), r->bundle);
}

/* The next message of r->job: a new child has to load and plan first. */
static void go_on(struct sw_renderer *r)
{
    struct job *j = r->job;
    bool needs_plan = j->type == 'R' || j->type == 'C';
    if (!r->child_loaded && j->type != 'S') {
        send_load(r, j->type == 'L' ? j->request : "");
    } else if (needs_plan && r->child_plan != r->plan_serial) {
        r->step = STEP_PLAN;
        child_send(r->child, 'P', r->plan_request, strlen(r->plan_request), NULL);
    } else {
        r->step = STEP_JOB;
        child_send(r->child, j->type, j->request, j->len, NULL);
    }
}

static void send_lookup(struct job *j, int code, const char *message, struct json_object *object)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int(code), "code", NULL);
    if (code < 0)
        sw_json_set_str(doc, message, "error", NULL);
    if (object)
        sw_json_set(doc, json_object_get(object), "object", NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(SW_TAKE(j->question));
    j->phase = RUNNING;
    child_send(j->r->child, 'O', text, len, NULL);
}

/* Answer j->question, if that is known by now. */
static void answer_lookup(struct job *j)
{
    struct json_object *q = j->question;
    SW_AUTO_JSON *object = NULL;
    SW_ERR(err);
    int rc = 0;
    if (j->wait && j->lookup)
        rc = j->lookup(j->lookup_arg, sw_json_str(q, "", "apiVersion", NULL),
                       sw_json_str(q, "", "kind", NULL), sw_json_str(q, "", "namespace", NULL),
                       sw_json_str(q, "", "name", NULL), &object, &err);
    if (rc == SW_PENDING) {
        j->phase = PARKED;
        child_rests(j->r->child, false);
        return;
    }
    send_lookup(j, rc, rc < 0 ? sw_err_text(&err) : NULL, object);
}

/* What a child answered to the load or plan that came before the job. */
static void take_step(struct sw_renderer *r, int code)
{
    if (code < 0) {
        child_rests(r->child, true);
        r->used_ms = sw_loop_now_ms(r->all->loop);
        if (r->step == STEP_LOAD)
            drop_child(r);
        r->step = STEP_NONE;
        return;
    }
    if (r->step == STEP_LOAD)
        r->child_loaded = true;
    else
        r->child_plan = r->plan_serial;
    go_on(r);
}

static void take_answer(struct sw_renderer *r, struct json_object *answer)
{
    struct job *j = r->job;
    struct sw_renderers *all = r->all;
    SW_ERR(err);
    int code = answer_code(answer, &err);
    if (sw_json_bool(answer, false, "limit", NULL)) {
        fail_child(r, sw_err_text(&err), true);
        return;
    }
    if (r->step == STEP_LOAD && code == 0) {
        if (!sw_json_bool(answer, false, "filtered", NULL) && !all->told_unfiltered) {
            all->told_unfiltered = true;
            sw_log(SW_LOG_WARN,
                   "renderers run without a filter of system calls: the kernel has no "
                   "seccomp",
                   NULL);
        }
    }
    bool is_own = r->step == STEP_JOB || (r->step == STEP_LOAD && j->type == 'L');
    if (!is_own) {
        take_step(r, code);
        if (code < 0)
            finish(j, code, sw_err_text(&err));
        return;
    }
    r->child_loaded |= r->step == STEP_LOAD && code == 0;
    r->step = STEP_NONE;
    r->used_ms = sw_loop_now_ms(all->loop);
    if (code == 0)
        r->n_over = 0;
    if (code == 0 && j->type == 'P') { /* the child has forgotten the plan before */
        j->plan_serial = r->child_plan = ++r->n_plans;
    }
    if (j->type == 'L' && code < 0)
        drop_child(r);
    else
        child_rests(r->child, true);
    if (j->type == 'R' || j->type == 'C')
        j->plan_serial = r->child_plan;
    j->answer = json_object_get(answer);
    r->job = NULL;
    finish(j, code, sw_err_text(&err));
}

static int take_manifest(struct sw_renderer *r, struct job *j, const char *text, size_t len,
                         struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    if (r->step != STEP_JOB || j->type != 'R' || !r->plan)
        return sw_err_set(err, SW_INVALID, "a renderer answers what nobody asked");
    j->rendered_bytes += len * 3;
    if (j->rendered_bytes > RENDERED_BYTES)
        return sw_err_set(err, SW_INVALID, "what is rendered takes more than %d MiB",
                          RENDERED_BYTES >> 20);
    int rc = frame_parse(text, len, VIEW_BYTES, &doc, err);
    if (!j->rendered)
        j->rendered = sw_rendered_new();
    return rc < 0 ? rc : manifest_take(doc, r->plan, j->rendered, err);
}

static void on_message(char type, const char *text, size_t len, void *arg)
{
    struct sw_renderer *r = arg;
    struct job *j = r->job;
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    int rc = 0;
    if (!j || j->phase != RUNNING)
        rc = sw_err_set(&err, SW_INVALID, "a renderer answers what nobody asked");
    else if (type == 'M')
        rc = take_manifest(r, j, text, len, &err);
    else
        rc = frame_parse(text, len, type == 'A' ? VIEW_BYTES : SMALL_BYTES, &doc, &err);
    if (rc < 0) {
        fail_child(r, sw_err_text(&err), true);
    } else if (type == 'Q') {
        json_object_put(j->question);
        j->question = SW_TAKE(doc);
        j->looked_up = true;
        answer_lookup(j);
    } else if (type == 'A') {
        take_answer(r, doc);
    }
}

/* ---- the queue ---------------------------------------------------------------------------------
 */

/* The child without work that was used the longest time ago; NULL: there is none. */
static struct sw_renderer *find_idle(struct sw_renderers *all)
{
    struct sw_renderer *found = NULL;
    for (struct sw_renderer *r = all->first; r; r = r->next)
        if (r->child && !r->job && (!found || r->used_ms < found->used_ms))
            found = r;
    return found;
}

static size_t places(const struct sw_renderers *all)
{
    return all->is_lent && all->opts.n_children > 1 ? all->opts.n_children - 1
                                                    : all->opts.n_children;
}

bool sw_renderers_lend(struct sw_renderers *all, bool lend)
{
    if (all->is_lent != lend)
        sw_timer_set(all->timer, 0);
    all->is_lent = lend;
    for (struct sw_renderer *r; all->stats.n_children > places(all) && (r = find_idle(all));)
        drop_child(r);
    return all->stats.n_children <= places(all);
}

/* Start a child for @r, in the place of one without work if need be. @return whether it has one */
static bool make_room(struct sw_renderer *r)
{
    struct sw_renderers *all = r->all;
    struct sw_renderer *idle = all->stats.n_children >= places(all) ? find_idle(all) : r;
    if (!idle)
        return false;
    drop_child(idle);
    if (all->stats.n_children >= places(all))
        return false;
    const struct child_events events = {
        .message = on_message, .ended = on_ended, .idle = on_idle, .arg = r
    };
    r->child = child_start(all->loop, &all->opts, &events);
    all->stats.n_started += r->child != NULL;
    all->stats.n_children += r->child != NULL;
    return r->child;
}

static bool may_begin(const struct job *j, int64_t now)
{
    return j->phase == QUEUED && !j->r->job && j->r->not_before_ms <= now;
}

static void begin(struct job *j)
{
    j->phase = RUNNING;
    j->r->job = j;
    j->r->used_ms = sw_loop_now_ms(j->r->all->loop);
    go_on(j->r);
}

/* First what a child is there for; then the others, of whom the oldest has waited the longest. */
static void tell_waits(struct sw_renderers *all)
{
    for (struct job *j = all->queue; j;) {
        if (!j->is_due) {
            j = j->next;
            continue;
        }
        j->is_due = false;
        j->wait->answered(j->wait->arg);
        j = all->queue; /* jobs may have gone, and come */
    }
}

static void run_queue(void *arg)
{
    struct sw_renderers *all = arg;
    tell_waits(all);
    int64_t now = sw_loop_now_ms(all->loop), next_ms = -1;
    for (struct job *j = all->queue; j; j = j->next)
        if (may_begin(j, now) && !j->r->child && now - j->asked_ms > PATIENCE_MS && make_room(j->r))
            begin(j);
    for (struct job *j = all->queue; j; j = j->next)
        if (may_begin(j, now) && j->r->child)
            begin(j);
    for (struct job *j = all->queue; j; j = j->next) {
        if (may_begin(j, now) && make_room(j->r))
            begin(j);
        int64_t wait_ms = j->phase == QUEUED ? j->r->not_before_ms - now : 0;
        if (wait_ms > 0 && (next_ms < 0 || wait_ms < next_ms))
            next_ms = wait_ms;
        else if (may_begin(j, now) && next_ms < 0 && !all->stats.n_children)
            next_ms = RETRY_MS; /* none can be started */
    }
    if (next_ms >= 0)
        sw_timer_set(all->timer, next_ms);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static struct job *find_job(const struct sw_render_wait *w, const struct sw_renderer *r, char type,
                            const char *request)
{
    struct job *j = w->jobs;
    bool of_plan = type == 'R' || type == 'C';
    while (j && !(j->r == r && j->type == type && sw_streq(j->request, request) &&
                  !(of_plan && j->phase == DONE && j->plan_serial != r->plan_serial)))
        j = j->next_of_wait;
    return j;
}

/* What was asked for before and has not been answered is not needed any more. */
static void forget_unanswered(struct sw_render_wait *w)
{
    for (struct job **at = &w->jobs; *at;) {
        struct job *j = *at;
        if (j->phase == DONE) {
            at = &j->next_of_wait;
            continue;
        }
        *at = j->next_of_wait;
        abandon(j);
    }
}

/* The job of @request, which is taken. @return 0 | SW_PENDING | its failure */
static int ask(struct sw_renderer *r, struct sw_render_wait *w, char type, char *request,
               const struct sw_render_env *env, struct job **out, struct sw_err *err)
{
    struct job *j = *out = find_job(w, r, type, request);
    if (!j) {
        forget_unanswered(w);
        j = *out = sw_zalloc(1, sizeof *j);
        *j = (struct job){ .all = r->all,
                           .r = r,
                           .wait = w,
                           .next_of_wait = w->jobs,
                           .type = type,
                           .request = request,
                           .len = strlen(request),
                           .asked_ms = sw_loop_now_ms(r->all->loop) };
        w->jobs = j;
        struct job **end = &r->all->queue;
        while (*end)
            end = &(*end)->next;
        *end = j;
        sw_timer_set(r->all->timer, 0);
    } else {
        free(request);
    }
    j->lookup = env ? env->lookup : NULL;
    j->lookup_arg = env ? env->lookup_arg : NULL;
    if (j->phase == PARKED)
        answer_lookup(j);
    if (j->phase != DONE)
        return sw_err_set(err, SW_PENDING, "%s: a renderer works on it", r->origin);
    return j->code < 0 ? sw_err_set(err, j->code, "%s", j->message) : 0;
}

static char *request_text(struct json_object *doc)
{
    char *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    json_object_put(doc);
    return text;
}

static bool is_here(const struct sw_renderer *r)
{
    return r->recipe || !r->all->program;
}

/* ---- in this process ---------------------------------------------------------------------------
 */

static int load_here(struct sw_renderer *r, const char *file, struct sw_err *err)
{
    int rc = r->recipe ? 0
                       : sw_recipe_from_bundle(r->origin, sw_kept_bytes(r->bundle),
                                               sw_kept_len(r->bundle), NULL, &r->recipe, err);
    sw_kept_free(SW_TAKE(r->bundle));
    if (rc < 0)
        return rc;
    struct json_object *base = NULL;
    rc = *file ? recipe_base(r->recipe, file, &base, err) : 0;
    if (rc < 0)
        return rc;
    r->view = (struct sw_recipe_view){
        .name = sw_strdup(sw_recipe_name(r->recipe)),
        .version = sw_strdup(sw_recipe_version(r->recipe)),
        .metadata = json_object_get((struct json_object *)sw_recipe_metadata(r->recipe)),
        .base = base,
        .loaded = r->recipe,
        .sees_all_versions = sw_recipe_sees_all_versions(r->recipe),
    };
    recipe_digest(r->recipe, r->view.digest);
    return 0;
}

static int plan_here(struct sw_renderer *r, struct json_object *set,
                     const struct sw_render_env *env, const char *label, bool want_values,
                     struct sw_err *err)
{
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_AUTO(sw_plan) *plan = NULL;
    int rc = set ? sw_values_add_json(values, set, err) : 0;
    if (rc < 0)
        return sw_err_wrap(err, rc, "spec.set");
    rc = sw_recipe_plan(r->recipe, values, env, &plan, err);
    if (rc == 0 && label)
        rc = plan_check(r->recipe, plan, label, err);
    if (rc < 0)
        return rc;
    plan_view_free(r->plan);
    sw_plan_free(r->made);
    r->made = SW_TAKE(plan);
    r->plan = plan_view_of(r->made);
    r->plan->values = want_values ? sw_plan_values(r->made) : NULL;
    return 0;
}

/* ---- load, plan, render, record ----------------------------------------------------------------
 */

int sw_renderer_load(struct sw_renderer *r, struct sw_render_wait *wait, const char *file,
                     const struct sw_recipe_view **out, struct sw_err *err)
{
    struct job *j;
    int rc = 0;
    if (!r->is_loaded && is_here(r))
        rc = load_here(r, file ? file : "", err);
    else if (!r->is_loaded &&
             (rc = ask(r, wait, 'L', sw_strdup(file ? file : ""), NULL, &j, err)) == 0)
        rc = recipe_view_read(j->answer, &r->view, err);
    if (rc < 0)
        return rc;
    r->is_loaded = true;
    *out = &r->view;
    return 0;
}

int sw_renderer_plan(struct sw_renderer *r, struct sw_render_wait *wait, struct json_object *set,
                     const struct sw_render_env *env, const char *label, bool want_values,
                     const struct sw_plan_view **out, struct sw_err *err)
{
    if (is_here(r)) {
        int rc = plan_here(r, set, env, label, want_values, err);
        *out = r->plan;
        return rc;
    }
    struct json_object *request = json_object_new_object();
    sw_json_set(request, env_to_json(env), "env", NULL);
    if (set)
        sw_json_set(request, json_object_get(set), "set", NULL);
    if (label)
        sw_json_set_str(request, label, "label", NULL);
    sw_json_set(request, json_object_new_boolean(want_values), "wantValues", NULL);
    struct job *j;
    struct sw_plan_view *plan = NULL;
    char *text = request_text(request);
    if (r->plan_is_pure && sw_streq(text, r->plan_request)) { /* nothing starts a child for it */
        free(text);
        *out = r->plan;
        return 0;
    }
    int rc = ask(r, wait, 'P', text, env, &j, err);
    if (rc == 0)
        rc = plan_view_read(j->answer, &plan, err);
    if (rc < 0)
        return rc;
    plan_view_free(r->plan);
    free(r->plan_request);
    *out = r->plan = plan;
    r->plan_request = sw_strdup(j->request);
    r->plan_is_pure = !j->looked_up;
    r->plan_serial = j->plan_serial;
    return 0;
}

static int check_planned(const struct sw_renderer *r, struct sw_err *err)
{
    if (r->plan && (is_here(r) || r->plan_request))
        return 0;
    return sw_err_set(err, SW_INVALID, "%s: there is no plan", r->origin);
}

int sw_renderer_render(struct sw_renderer *r, struct sw_render_wait *wait,
                       const struct sw_render_env *env, size_t state, struct sw_rendered **out,
                       struct sw_err *err)
{
    struct job *j;
    int rc = check_planned(r, err);
    if (rc < 0)
        return rc;
    if (is_here(r))
        return sw_recipe_render(r->made, env, state, out, err);
    struct json_object *request = json_object_new_object();
    sw_json_set(request, env_to_json(env), "env", NULL);
    if (state != SW_ALL_STATES)
        sw_json_set_str(request, r->plan->states[state].name, "state", NULL);
    rc = ask(r, wait, 'R', request_text(request), env, &j, err);
    if (rc == 0)
        *out = j->rendered ? sw_rendered_ref(j->rendered) : sw_rendered_new();
    return rc;
}

int sw_renderer_resolve(struct sw_renderer *r, struct sw_render_wait *wait,
                        struct json_object *request, struct json_object **out, struct sw_err *err)
{
    struct job *j;
    if (!r->all->program)
        return spec_resolve(sw_json_get(request, "spec"), sw_json_get(request, "values"), out, err);
    if (!wait)
        return sw_err_set(err, SW_PENDING, "%s: the spec is not rendered yet", r->origin);
    int rc = ask(r, wait, 'S', sw_json_text(request, SW_JSON_PLAIN, NULL), NULL, &j, err);
    struct json_object *spec = rc == 0 ? sw_json_get(j->answer, "spec") : NULL;
    if (rc == 0 && !json_object_is_type(spec, json_type_object))
        rc = sw_err_set(err, SW_INVALID, "a renderer answers without a spec");
    if (rc == 0)
        *out = json_object_get(spec);
    return rc;
}

int sw_renderer_record(struct sw_renderer *r, struct sw_render_wait *wait,
                       const struct sw_render_env *env, const char *chart,
                       struct json_object *release, struct json_object *runs, char **packed,
                       char content[static SW_SHA256_HEX], struct sw_err *err)
{
    struct job *j;
    int rc = check_planned(r, err);
    if (rc < 0)
        return rc;
    if (is_here(r))
        return record_make(r->recipe, r->made, env, chart, release, runs, packed, content, err);
    struct json_object *request = json_object_new_object();
    sw_json_set(request, env_to_json(env), "env", NULL);
    sw_json_set(request, json_object_get(release), "release", NULL);
    if (chart)
        sw_json_set_str(request, chart, "chart", NULL);
    if (runs)
        sw_json_set(request, json_object_get(runs), "runs", NULL);
    rc = ask(r, wait, 'C', request_text(request), env, &j, err);
    if (rc < 0)
        return rc;
    const char *digest = sw_json_str(j->answer, "", "content", NULL);
    if (strlen(digest) != SW_SHA256_HEX - 1)
        return sw_err_set(err, SW_INVALID, "a renderer answers without a record");
    memcpy(content, digest, SW_SHA256_HEX);
    *packed = sw_strdup(sw_json_str(j->answer, "", "packed", NULL));
    return 0;
}
