#pragma once
/* Trials by the dozen: the crash sweep (the controller is killed after its n-th request, for every
 * n) and chaos (random faults and kills by seed). Each must end as an undisturbed walk does. There
 * is one walk only: a trial is a child of it, forked where the two part, so that what they have in
 * common is walked once. One that finds something writes a file for `slipway replay`. */
#include "cli/simulate/simulation.h"
#include "cli/simulate/snapshot.h"
#include "data/data.h"
#include "sample.h"

#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHAOS_MAX_JOBS = 16, CHAOS_TOLD = 3 /* exit code: failed, and said so */ };

struct chaos {
    const char *recipe, *platform; /* platform: NULL for OpenShift */
    const char *dir;               /* where files for replay go */
    int nodes;                     /* 0: the usual five */
    struct sample sample;          /* which numbers are tried; all of them where it is {0} */
    struct json_object *want;      /* the undisturbed end */
    uint64_t n_requests;           /* of the undisturbed walk */
    unsigned passed, failed;       /* of the last round */
};

/** What is tried: a number makes a trial. */
struct chaos_kind {
    const char *name;
    bool by_request; /* the number is a request, after which the trial parts from the walk */
    struct json_object *(*doc)(const struct chaos *c, uint64_t i);
};

struct chaos_round {
    struct chaos *c;
    const struct chaos_kind *kind;
    uint64_t next, last; /* numbers */
    struct {
        pid_t pid;
        uint64_t i;
    } children[CHAOS_MAX_JOBS];
    int n_children, jobs;
    size_t n_bytes; /* allocated before the walk */
    uint64_t me;    /* in a child: its number */
    struct json_object *doc;
    struct sw_simulation trial;
    uint64_t *kills;
};

/* ---- one trial ---------------------------------------------------------------------------------
 */

/* @doc: taken */
static inline struct json_object *chaos_doc(const struct chaos *c, struct json_object *doc)
{
    json_object_object_add(doc, "recipe", json_object_new_string(c->recipe));
    if (c->platform)
        json_object_object_add(doc, "platform", json_object_new_string(c->platform));
    if (c->nodes)
        json_object_object_add(doc, "nodes", json_object_new_int(c->nodes));
    return doc;
}

static inline void chaos_tell(const struct chaos *c, const char *name, struct json_object *doc,
                              const char *words)
{
    SW_ERR(err);
    (void)mkdir(c->dir, 0777);
    SW_AUTO_CHARS *path = sw_printf("%s/%s.json", c->dir, name);
    const char *text = json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
                                                               JSON_C_TO_STRING_NOSLASHESCAPE);
    if (sw_file_write(path, text, strlen(text), &err) < 0)
        path[0] = '\0';
    (void)printf("# %s fails; slipway replay %s\n", name, path);
    int lines = 0; /* the beginning tells enough */
    for (const char *at = words; *at && lines < 40; lines++) {
        size_t len = strcspn(at, "\n");
        (void)printf("#   %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    (void)fflush(stdout);
}

/* ---- many ---------------------------------------------------------------------------------------
 */

static inline char *chaos_name(const struct chaos_round *r, uint64_t i)
{
    return i ? sw_printf("%s-%llu", r->kind->name, (unsigned long long)i) : sw_strdup("nothing");
}

static inline struct json_object *chaos_doc_of(const struct chaos_round *r, uint64_t i)
{
    return chaos_doc(r->c, i ? r->kind->doc(r->c, i) : json_object_new_object());
}

static inline void chaos_reap(struct chaos_round *r)
{
    int status, at = 0;
    pid_t pid = wait(&status);
    while (at < r->n_children && r->children[at].pid != pid)
        at++;
    if (at == r->n_children)
        return; /* none of ours */
    uint64_t i = r->children[at].i;
    r->children[at] = r->children[--r->n_children];
    if (status == 0) {
        r->c->passed++;
        return;
    }
    r->c->failed++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHAOS_TOLD)
        return;
    SW_AUTO_CHARS *name = chaos_name(r, i), *words = sw_printf("its process died: %d", status);
    SW_AUTO_JSON *doc = chaos_doc_of(r, i);
    chaos_tell(r->c, name, doc, words);
}

/* @return whether this is the child */
static inline bool chaos_fork(struct chaos_round *r, struct sw_walk *walk, uint64_t i)
{
    SW_ERR(err);
    while (r->n_children >= r->jobs)
        chaos_reap(r);
    (void)fflush(NULL);
    pid_t pid = sw_simulation_fork(walk);
    if (pid != 0) {
        r->children[r->n_children].pid = pid;
        r->children[r->n_children].i = i;
        r->n_children += pid > 0;
        r->c->failed += pid < 0;
        return false;
    }
    r->me = i;
    r->doc = chaos_doc_of(r, i);
    if (sw_simulation_read(r->doc, "trial", &r->trial, &r->kills, &err) < 0)
        abort();
    return true;
}

static inline const struct sw_simulation *chaos_part(struct sw_walk *walk, uint64_t n_requests,
                                                     void *arg)
{
    struct chaos_round *r = arg;
    uint64_t last = r->kind->by_request && n_requests < r->last ? n_requests : r->last;
    while (r->next <= last) {
        uint64_t i = r->next++;
        if (sample_has(&r->c->sample, i) && chaos_fork(r, walk, i))
            return &r->trial;
    }
    return NULL;
}

/* @r: whose trials part from this one; may be NULL */
static inline bool chaos_run(struct json_object *doc, struct chaos_round *r,
                             struct sw_simulation_end *end)
{
    SW_ERR(err);
    struct sw_simulation trial;
    uint64_t *kills = NULL;
    *end = (struct sw_simulation_end){ 0 };
    int rc = sw_simulation_read(doc, "trial", &trial, &kills, &err);
    trial.branch = r ? chaos_part : NULL;
    trial.arg = r;
    if (rc == 0)
        rc = sw_simulation_run(&trial, end, &err);
    if (rc < 0)
        end->message = sw_strdup(sw_err_text(&err));
    free(kills);
    return rc == 0 && end->ready;
}

/* @return what is wrong with how it ended; NULL: nothing */
static inline char *chaos_wrong(const struct chaos *c, bool ready,
                                const struct sw_simulation_end *end)
{
    return ready ? sw_snapshot_diff(c->want, end->snapshot) : sw_strdup(end->message);
}

/* What a child found must be found again by who replays it. */
static inline void chaos_again(const struct chaos *c, struct json_object *doc)
{
    struct sw_simulation_end end;
    bool ready = chaos_run(doc, NULL, &end);
    SW_AUTO_CHARS *wrong = chaos_wrong(c, ready, &end);
    if (!wrong)
        (void)printf("#   walked by itself from the beginning, it does not fail\n");
    sw_simulation_end_done(&end);
}

/* The walk that trials part from, or in a child what became of it. @return whether it failed */
static inline bool chaos_walk(struct chaos_round *r)
{
    struct sw_simulation_end end;
    SW_AUTO_JSON *calm = chaos_doc_of(r, 0);
    bool ready = chaos_run(calm, r, &end);
    SW_AUTO_CHARS *name = chaos_name(r, r->me), *wrong = chaos_wrong(r->c, ready, &end);
    if (wrong)
        chaos_tell(r->c, name, r->me ? r->doc : calm, wrong);
    sw_simulation_end_done(&end);
    return wrong != NULL;
}

/* The sanitizer's, where there is one. To look for leaks takes as long as half a trial: only where
 * more is allocated than was before the walk. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static inline size_t chaos_n_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

static inline _Noreturn void chaos_end_child(struct chaos_round *r, bool failed)
{
    if (failed)
        chaos_again(r->c, r->doc);
    json_object_put(r->doc);
    free(r->kills);
    if (!failed && chaos_n_bytes() > r->n_bytes && __lsan_do_recoverable_leak_check() != 0)
        abort();
    (void)fflush(NULL);
    _exit(failed ? CHAOS_TOLD : 0);
}

/** Try @kind's numbers from @from, those of @n that are in the sample, as many at a time as there
 * are processors. */
static inline void chaos_all(struct chaos *c, const struct chaos_kind *kind, uint64_t from,
                             uint64_t n)
{
    long jobs = sysconf(_SC_NPROCESSORS_ONLN);
    struct chaos_round r = { .c = c, .kind = kind, .next = from, .last = from + n - 1 };
    r.jobs = (int)(jobs < 1 ? 1 : jobs > CHAOS_MAX_JOBS ? CHAOS_MAX_JOBS : jobs);
    r.n_bytes = chaos_n_bytes();
    c->passed = c->failed = 0;
    bool failed = chaos_walk(&r);
    if (r.me)
        chaos_end_child(&r, failed);
    while (r.n_children > 0)
        chaos_reap(&r);
    c->failed += failed;
    while (r.next <= r.last && !sample_has(&c->sample, r.next))
        r.next++;
    if (r.next > r.last)
        return;
    (void)printf("# this walk had fewer requests: from %llu on nothing was tried\n",
                 (unsigned long long)r.next);
    c->failed++;
}

static inline int chaos_init(struct chaos *c)
{
    struct sw_simulation_end end;
    SW_AUTO_JSON *doc = chaos_doc(c, json_object_new_object());
    sw_log_set_level(SW_LOG_ERROR);
    (void)signal(SIGPIPE, SIG_IGN);
    bool ready = chaos_run(doc, NULL, &end);
    if (!ready)
        (void)printf("# %s: the undisturbed walk does not end: %s\n", c->recipe, end.message);
    c->want = json_object_get(end.snapshot);
    c->n_requests = end.n_requests;
    sw_simulation_end_done(&end);
    return ready ? 0 : -1;
}

static inline void chaos_done(struct chaos *c)
{
    json_object_put(SW_TAKE(c->want));
}

/* ---- what is tried -----------------------------------------------------------------------------
 */

static inline struct json_object *chaos_kill_doc(const struct chaos *c SW_UNUSED, uint64_t n)
{
    struct json_object *doc = json_object_new_object(), *kills = json_object_new_array();
    json_object_array_add(kills, json_object_new_uint64(n));
    json_object_object_add(doc, "kills", kills);
    return doc;
}

static inline struct json_object *chaos_seed_doc(const struct chaos *c, uint64_t seed)
{
    return sw_simulation_random(seed, c->n_requests);
}

static inline struct json_object *chaos_delay_doc(const struct chaos *c SW_UNUSED, uint64_t seed)
{
    SW_AUTO_CHARS *text = sw_printf("{\"plan\":{\"seed\":%llu,\"faults\":["
                                    "{\"probability\":0.1,\"delay\":\"%llums\"},"
                                    "{\"probability\":0.3,\"delay\":\"%llums\"},"
                                    "{\"probability\":0.5,\"delay\":\"%llums\"}]}}",
                                    (unsigned long long)seed,
                                    (unsigned long long)(seed * 7919 % 3001 + 1),
                                    (unsigned long long)(seed * 104729 % 307 + 1),
                                    (unsigned long long)(seed * 1299709 % 29 + 1));
    return json_tokener_parse(text);
}

/** The controller is killed after that request. */
static const struct chaos_kind chaos_kills = { "kill", true, chaos_kill_doc };
/** Random faults and kills. */
static const struct chaos_kind chaos_seeds = { "seed", false, chaos_seed_doc };
/** Nothing fails, but answers overtake each other. */
static const struct chaos_kind chaos_delays = { "delay", false, chaos_delay_doc };
