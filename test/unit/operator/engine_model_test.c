/* Small random recipes on small random clusters, with everything that can go wrong on the way:
 * events late, doubled and lost, requests failing, the process killed, objects deleted and changed,
 * nodes coming and going, the recipe edited. Whatever happens, it ends where it should, and on the
 * way no state is applied before what it needs and no label lies.
 *
 *     MODEL_SEED=n    play one seed          MODEL_RUNS=n    play that many
 *     SIM_TRACE=1     print every event and action */
#include "engine_sim.h"
#include "sample.h"

#include <inttypes.h>

struct truth {
    struct json_object *ready; /* "state" and "pod/name" that have been ready, ever */
    uint64_t seed;
    bool removing;
};

static void die(struct sim *sim, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));
static void die(struct sim *sim, const char *fmt, ...)
{
    const struct truth *t = sim->arg;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    fail_msg("MODEL_SEED=%" PRIu64 ": %s\n%s", t->seed, text, sim->log ? sim->log : "");
    abort();
}

/* ---- random recipes ----------------------------------------------------------------------------
 */

static size_t pick(struct sim *sim, size_t n)
{
    return sim_random(sim) % n;
}

static struct sim_object random_object(struct sim *sim, const struct sim_state *s,
                                       const struct sim_recipe *recipe, size_t i)
{
    static const char *const kinds[] = { "ConfigMap", "Deployment",  "DaemonSet", "Pod",
                                         "Job",       "BuildConfig", "DaemonSet", "Secret" };
    struct sim_object o = { .kind = kinds[pick(sim, SW_COUNT(kinds))], .content = 1 };
    bool by_variant = s->affine && (strcmp(o.kind, "DaemonSet") == 0 || sim_chance(sim, 50));
    o.name = sw_arena_printf(sim->arena, "%s-%zu%s", s->name, i, by_variant ? "-%s" : "");
    o.awaited = sim_chance(sim, 70);
    o.stage = sim_chance(sim, 20) ? (int)pick(sim, 3) - 1 : 0;
    o.again = o.stage < 0 && sim_chance(sim, 50) ? 1 : 0;
    if (s->n_needs && strcmp(o.kind, "DaemonSet") == 0 && sim_chance(sim, 50))
        o.needs_label = sw_arena_printf(sim->arena, SIM_LABEL "%s",
                                        recipe->states[s->needs[pick(sim, s->n_needs)]].name);
    return o;
}

static void random_recipe(struct sim *sim, struct sim_recipe *recipe)
{
    static const char *const names[] = { "s0", "s1", "s2", "s3", "s4", "s5" };
    recipe->n_states = 1 + pick(sim, SW_COUNT(names));
    for (size_t i = 0; i < recipe->n_states; i++) {
        struct sim_state *s = &recipe->states[i];
        *s = (struct sim_state){ .name = names[i], .affine = sim_chance(sim, 30) };
        for (size_t k = 0; k < i && s->n_needs < 3; k++)
            if (sim_chance(sim, 40))
                s->needs[s->n_needs++] = k;
        s->n_objects = 1 + pick(sim, 4);
        for (size_t k = 0; k < s->n_objects; k++)
            s->objects[k] = random_object(sim, s, recipe, k);
    }
}

/* ---- what is true ------------------------------------------------------------------------------
 */

static bool is_awaited_daemon(const struct sim_object *o)
{
    return o->awaited && strcmp(o->kind, "DaemonSet") == 0;
}

/* Call @each for every object that the state should have now. */
static void each_expected(struct sim *sim, const struct sim_state *s,
                          void (*each)(struct sim *sim, const struct sim_object *o,
                                       const char *name, const char *kernel, void *arg),
                          void *arg)
{
    SW_AUTO_JSON *kernels = json_object_new_object();
    json_object_object_foreach(sim->nodes, node, labels)
    {
        (void)node;
        json_object_object_add(kernels, sw_json_str(labels, "", "kernel", NULL), NULL);
    }
    for (size_t i = 0; i < s->n_objects; i++) {
        if (!strchr(s->objects[i].name, '%')) {
            if (!s->affine || json_object_object_length(kernels) > 0)
                each(sim, &s->objects[i], s->objects[i].name, NULL, arg);
            continue;
        }
        json_object_object_foreach(kernels, kernel, none)
        {
            (void)none;
            char name[64];
            snprintf(name, sizeof name, s->objects[i].name, kernel);
            each(sim, &s->objects[i], name, kernel, arg);
        }
    }
}

static bool object_is_truly_ready(struct sim *sim, const struct sim_object *o, const char *name)
{
    struct json_object *doc = sim_find(sim, o->kind, name);
    if (!doc || sw_json_int(doc, 0, "spec", "content", NULL) != o->content)
        return false;
    if (!o->awaited)
        return true;
    if (strcmp(o->kind, "BuildConfig") == 0) {
        SW_AUTO_CHARS *build = sw_printf("%s-1", name);
        doc = sim_find(sim, "Build", build);
        return sw_streq(sw_json_str(doc, "", "status", "phase", NULL), "Complete");
    }
    SW_READINESS(verdict);
    sw_kstatus(doc, &verdict);
    return verdict.kind == SW_READINESS_READY;
}

struct all {
    bool ready;
    const char *kernel; /* NULL: of all */
    bool daemons_too;
};

static void check_ready(struct sim *sim, const struct sim_object *o, const char *name,
                        const char *kernel, void *arg)
{
    struct all *all = arg;
    if (all->kernel && kernel && strcmp(kernel, all->kernel) != 0)
        return;
    if (is_awaited_daemon(o) && !all->daemons_too)
        return;
    SW_AUTO_CHARS *mark = sw_printf("object/%s", name);
    struct truth *t = sim->arg;
    if (object_is_truly_ready(sim, o, name))
        json_object_object_add(t->ready, mark, json_object_new_int(o->content));
    bool was = sw_json_int(t->ready, 0, mark, NULL) == o->content;
    if (!was && sim->trace)
        fprintf(sim->trace, "    not ready yet: %s\n", name);
    all->ready = all->ready && was;
}

static bool was_ready(struct sim *sim, const struct sim_state *s, const char *kernel,
                      bool daemons_too)
{
    struct all all = { true, kernel, daemons_too };
    each_expected(sim, s, check_ready, &all);
    return all.ready;
}

static int64_t content_of(const struct sim_state *s)
{
    int64_t all = (int64_t)s->n_objects;
    for (size_t i = 0; i < s->n_objects; i++)
        all = all * 31 + s->objects[i].content * 7 + (int64_t)strlen(s->objects[i].name);
    return all;
}

/* All of it at once, ever, with the content it has now: a kernel that came later does not take that
 * back. */
static bool was_whole(struct sim *sim, const struct sim_state *s)
{
    struct truth *t = sim->arg;
    SW_AUTO_CHARS *mark = sw_printf("state/%s", s->name);
    if (was_ready(sim, s, NULL, true))
        json_object_object_add(t->ready, mark, json_object_new_int64(content_of(s)));
    return sw_json_int(t->ready, 0, mark, NULL) == content_of(s);
}

/* Remember what has been ready: the engine hears of it later. */
static void take_note(struct sim *sim)
{
    struct truth *t = sim->arg;
    for (size_t i = 0; i < sim->recipe.n_states; i++)
        (void)was_whole(sim, &sim->recipe.states[i]);
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        SW_READINESS(verdict);
        sw_kstatus(doc, &verdict);
        if (strcmp(sw_obj_kind(doc), "Pod") != 0 || verdict.kind != SW_READINESS_READY)
            continue;
        SW_AUTO_CHARS *mark = sw_printf("pod/%s", sw_obj_name(doc));
        json_object_object_add(t->ready, mark, json_object_new_int(1));
    }
}

/* Has a pod of @daemon (its name, or the pattern of its names) been ready on a node? */
static bool pod_was_ready(struct sim *sim, const struct sim_object *daemon, const char *node)
{
    const struct truth *t = sim->arg;
    SW_AUTO_CHARS *base = sw_strdup(daemon->name);
    char *percent = strchr(base, '%');
    if (percent)
        *percent = '\0';
    SW_AUTO_CHARS *prefix = sw_printf("pod/%s", base);
    json_object_object_foreach(t->ready, mark, yes)
    {
        (void)yes;
        if (sw_starts_with(mark, prefix) && (!node || sw_ends_with(mark, node)))
            return true;
    }
    return false;
}

/* ---- what must never happen --------------------------------------------------------------------
 */

static const struct sim_state *state_of(struct sim *sim, const char *object)
{
    for (size_t i = 0; i < sim->recipe.n_states; i++)
        if (sw_starts_with(object, sim->recipe.states[i].name))
            return &sim->recipe.states[i];
    return NULL;
}

/* Its pods run only where @need has finished, and it has somewhere. */
static bool follows_by_node(struct sim *sim, const struct sim_state *s,
                            const struct sim_state *need)
{
    SW_AUTO_CHARS *label = sw_printf(SIM_LABEL "%s", need->name);
    bool any = false;
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct sim_object *o = &s->objects[i];
        bool workload = strcmp(o->kind, "ConfigMap") != 0 && strcmp(o->kind, "Secret") != 0 &&
                        strcmp(o->kind, "BuildConfig") != 0;
        if (workload && (strcmp(o->kind, "DaemonSet") != 0 || !sw_streq(o->needs_label, label)))
            return false;
        any = any || workload;
    }
    for (size_t i = 0; any && i < need->n_objects; i++)
        if (is_awaited_daemon(&need->objects[i]) && pod_was_ready(sim, &need->objects[i], NULL))
            return true;
    return false;
}

static void check_apply(struct sim *sim, const struct sw_action *a)
{
    const struct sim_state *s = state_of(sim, a->key.name);
    if (!s)
        die(sim, "%s is applied, of no state", a->key.name);
    for (size_t i = 0; i < s->n_needs; i++) {
        const struct sim_state *need = &sim->recipe.states[s->needs[i]];
        if (!was_whole(sim, need) && !follows_by_node(sim, s, need))
            die(sim, "%s is applied before %s, which it needs", a->key.name, need->name);
    }
}

static void check_label(struct sim *sim, const struct sw_action *a)
{
    json_object_object_foreach(a->doc, key, value)
    {
        if (!value)
            continue;
        const struct sim_state *s = sim_state(sim, key + strlen(SIM_LABEL));
        const char *kernel = sw_json_str(sim->nodes, "", a->key.name, "kernel", NULL);
        if (!s || !was_ready(sim, s, kernel, false))
            die(sim, "%s is labelled %s, which has not finished", a->key.name, key);
        for (size_t i = 0; i < s->n_objects; i++)
            if (is_awaited_daemon(&s->objects[i]) && !strchr(s->objects[i].name, '%') &&
                !s->objects[i].needs_label && !pod_was_ready(sim, &s->objects[i], a->key.name))
                die(sim, "%s is labelled %s without a pod of %s", a->key.name, key,
                    s->objects[i].name);
    }
}

static void check_delete(struct sim *sim, const struct sw_action *a)
{
    const struct truth *t = sim->arg;
    const struct sim_state *s = state_of(sim, a->key.name);
    for (size_t i = 0; t->removing && s && i < sim->recipe.n_states; i++)
        for (size_t k = 0; k < sim->recipe.states[i].n_needs; k++) {
            if (&sim->recipe.states[sim->recipe.states[i].needs[k]] != s)
                continue;
            json_object_object_foreach(sim->store, id, doc)
            {
                (void)id;
                bool made = sw_streq(sw_obj_kind(doc), "Pod") ||
                            sw_streq(sw_obj_kind(doc), "Build");
                if (!made && state_of(sim, sw_obj_name(doc)) == &sim->recipe.states[i])
                    die(sim, "%s is deleted before %s, which needs it", a->key.name,
                        sw_obj_name(doc));
            }
        }
}

static void check(struct sim *sim, const struct sw_action *a)
{
    take_note(sim);
    if (a->kind == SW_ACT_APPLY)
        check_apply(sim, a);
    else if (a->kind == SW_ACT_LABEL)
        check_label(sim, a);
    else if (a->kind == SW_ACT_DELETE)
        check_delete(sim, a);
}

/* ---- what goes wrong ---------------------------------------------------------------------------
 */

static struct json_object *random_applied(struct sim *sim)
{
    size_t n = (size_t)json_object_object_length(sim->store), i = 0, from = n ? pick(sim, n) : 0;
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        if (i++ >= from && sw_obj_annotation(doc, "slipway.dev/resource"))
            return doc;
    }
    return NULL;
}

static void somebody_deletes(struct sim *sim)
{
    struct json_object *doc = random_applied(sim);
    if (doc)
        sim_remove(sim, doc);
}

static void somebody_edits(struct sim *sim)
{
    struct json_object *doc = random_applied(sim);
    if (!doc)
        return;
    struct json_object *other = sw_json_copy(doc);
    sw_json_set(other, json_object_new_int((int)pick(sim, 5) + 100), "spec", "content", NULL);
    (void)sim_put(sim, other);
}

static void a_node_comes(struct sim *sim)
{
    const char *name = sw_arena_printf(sim->arena, "n%zu", pick(sim, 5));
    if (!sw_json_get(sim->nodes, name))
        sim_node(sim, name, sim_chance(sim, 50) ? "{'kernel':'k1'}" : "{'kernel':'k2'}");
}

static void a_node_goes(struct sim *sim)
{
    const char *name = sw_arena_printf(sim->arena, "n%zu", pick(sim, 5));
    if (sw_json_get(sim->nodes, name) && json_object_object_length(sim->nodes) > 1)
        sim_node_gone(sim, name);
}

static void a_pod_breaks(struct sim *sim)
{
    struct json_object *doc = NULL;
    json_object_object_foreach(sim->store, id, found)
    {
        (void)id;
        if (sw_streq(sw_obj_kind(found), "Pod") && sw_json_find(found, "spec", "nodeName", NULL))
            doc = found;
    }
    if (doc)
        (void)sim_set_status(sim, doc,
                             sim_json("{'phase':'Running','containerStatuses':[{'name':'c',"
                                      "'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}"));
}

static void the_recipe_changes(struct sim *sim)
{
    struct sim_state *s = &sim->recipe.states[pick(sim, sim->recipe.n_states)];
    size_t way = pick(sim, 3);
    if (way == 0 && s->n_objects > 1)
        s->n_objects--;
    else if (way == 1 && s->n_objects < SW_COUNT(s->objects)) {
        s->objects[s->n_objects] = random_object(sim, s, &sim->recipe,
                                                 10 + (size_t)sim->generation);
        s->n_objects++;
    } else
        s->objects[pick(sim, s->n_objects)].content++;
    sim->generation++;
    sim->revision = sw_arena_printf(sim->arena, "%" PRId64, sim->generation);
    sim_spec(sim);
}

static void time_passes(struct sim *sim)
{
    sim->now_ms += (int64_t)pick(sim, 20000);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_TIMER });
}

static void facts_change(struct sim *sim)
{
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
}

static void (*const disturbances[])(struct sim *sim) = {
    somebody_deletes,   somebody_edits, a_node_comes, a_node_goes,  a_pod_breaks,
    the_recipe_changes, sim_restart,    time_passes,  facts_change, sim_resync,
};

/* ---- one seed ----------------------------------------------------------------------------------
 */

static void check_in_store(struct sim *sim, const struct sim_object *o, const char *name,
                           const char *kernel, void *arg)
{
    (void)kernel;
    size_t *n = arg;
    struct json_object *doc = sim_find(sim, o->kind, name);
    bool ends = strcmp(o->kind, "Pod") == 0 || strcmp(o->kind, "Job") == 0;
    if (!doc && !ends)
        die(sim, "at the end %s %s is missing", o->kind, name);
    if (doc && !ends && sw_json_int(doc, 0, "spec", "content", NULL) != o->content)
        die(sim, "at the end %s %s is not as rendered", o->kind, name);
    *n += doc != NULL;
}

static bool is_of_sim(struct json_object *doc)
{
    return sw_obj_annotation(doc, "slipway.dev/resource") != NULL;
}

static void check_end(struct sim *sim)
{
    size_t expected = 0, found = 0;
    for (size_t i = 0; i < sim->recipe.n_states; i++) {
        const struct sim_state *s = &sim->recipe.states[i];
        each_expected(sim, s, check_in_store, &expected);
        if (strcmp(sim_phase(sim, s->name), "Ready") != 0)
            die(sim, "at the end %s is %s: %s", s->name, sim_phase(sim, s->name),
                sim_message(sim, s->name));
    }
    json_object_object_foreach(sim->store, id, doc)
    {
        (void)id;
        found += is_of_sim(doc);
    }
    if (found != expected)
        die(sim, "at the end there are %zu objects, not %zu", found, expected);
    if (!sw_starts_with(sw_json_str(sim->status, "", "state", NULL), "Ready"))
        die(sim, "at the end the resource says %s", sw_json_str(sim->status, "", "state", NULL));
}

/* Where a state with DaemonSets has no pod it has no label; every other has. */
static void check_labels(struct sim *sim)
{
    json_object_object_foreach(sim->nodes, node, labels)
    {
        (void)labels;
        for (size_t i = 0; i < sim->recipe.n_states; i++) {
            const struct sim_state *s = &sim->recipe.states[i];
            bool daemons = false, pods = false;
            for (size_t k = 0; k < s->n_objects; k++) {
                const struct sim_object *o = &s->objects[k];
                daemons = daemons || is_awaited_daemon(o);
                char name[64];
                snprintf(name, sizeof name, o->name,
                         sw_json_str(sim->nodes, "", node, "kernel", NULL));
                SW_AUTO_CHARS *pod = sw_printf("%s-%s", name, node);
                pods = pods || (is_awaited_daemon(o) && sim_find(sim, "Pod", pod));
            }
            bool want = !daemons || pods;
            if (want != (sim_label(sim, node, s->name) != NULL))
                die(sim, "at the end node %s %s label of %s", node, want ? "has no" : "has a",
                    s->name);
        }
    }
}

static void check_rest(struct sim *sim, const char *when)
{
    size_t before = sim->n_applies + sim->n_deletes + sim->n_labels + sim->n_statuses;
    sim_run(sim, 3600 * 1000);
    size_t after = sim->n_applies + sim->n_deletes + sim->n_labels + sim->n_statuses;
    if (before != after)
        die(sim, "%s there were %zu writes", when, after - before);
}

static void remove_it(struct sim *sim)
{
    struct truth *t = sim->arg;
    t->removing = true;
    sim->deleting = true;
    sim->fail = sim_chance(sim, 50) ? 5 : 0;
    sim_spec(sim);
    for (size_t i = 0; i < 50 && !sim->finalized; i++) {
        (void)sim_turn(sim);
        if (sim_chance(sim, 5) && !sim->finalized)
            sim_restart(sim);
    }
    sim->fail = 0;
    sim_run(sim, 3600 * 1000);
    if (!sim->finalized)
        die(sim, "it is not finalized: %s",
            json_object_to_json_string(sw_engine_status(sim->engine, sim->now_ms)));
    json_object_object_foreach(sim->store, id, doc)
    {
        if (is_of_sim(doc))
            die(sim, "%s is left behind", id);
    }
    json_object_object_foreach(sim->nodes, node, labels)
    {
        json_object_object_foreach(labels, key, value)
        {
            (void)value;
            if (sw_starts_with(key, SIM_LABEL))
                die(sim, "label %s is left on %s", key, node);
        }
    }
}

static void play(uint64_t seed)
{
    struct sim_recipe none = { 0 };
    struct sim *sim = sim_new(&none, seed);
    struct truth truth = { .seed = seed, .ready = json_object_new_object() };
    sim->arg = &truth;
    sim->check = check;
    random_recipe(sim, &sim->recipe);
    a_node_comes(sim);
    a_node_comes(sim);
    bool wild = sim_chance(sim, 80);
    if (wild) {
        sim->shuffle = (int)pick(sim, 60);
        sim->lose = (int)pick(sim, 10);
        sim->repeat = (int)pick(sim, 20);
        sim->fail = (int)pick(sim, 10);
    }
    sim_start(sim);
    for (size_t i = 0; wild && i < 300; i++) {
        (void)sim_turn(sim);
        take_note(sim);
        if (sim_chance(sim, 4))
            disturbances[pick(sim, SW_COUNT(disturbances))](sim);
        if (sim->timer_ms && sim_chance(sim, 10) && sim->timer_ms < sim->now_ms + 5000) {
            sim->now_ms = sim->timer_ms > sim->now_ms ? sim->timer_ms : sim->now_ms;
            sim_step(sim, &(struct sw_event){ .kind = SW_EV_TIMER });
        }
    }
    sim->lose = sim->fail = 0;
    sim_run(sim, 1000);
    sim_resync(sim);
    sim_run(sim, 3600 * 1000);
    check_end(sim);
    check_labels(sim);
    if (!wild && sim->n_useless)
        die(sim, "%zu objects were applied that were as they should be", sim->n_useless);
    sim_resync(sim);
    check_rest(sim, "at rest");
    sim_restart(sim);
    check_rest(sim, "after a restart at rest");
    check_end(sim);
    remove_it(sim);
    json_object_put(truth.ready);
    sim_free(sim);
}

static void whatever_happens_it_converges(void **state)
{
    (void)state;
    const char *seed = getenv("MODEL_SEED"), *runs = getenv("MODEL_RUNS");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    uint64_t n = seed ? 1 : runs ? strtoull(runs, NULL, 10) : 400;
    struct sample sample = seed || runs ? (struct sample){ 0 } : sample_of(12);
    for (uint64_t i = first; i < first + n; i++)
        if (sample_has(&sample, i))
            play(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_it_converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
