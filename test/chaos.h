#pragma once
/* Trials by the dozen: the crash sweep (the controller is killed after its n-th request, for every
 * n) and chaos (random faults and kills by seed). Each must end as an undisturbed walk does. Work
 * is shared among processes; one that finds something writes a file for `slipway replay`. */
#include "cli/picture.h"
#include "cli/trial.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct chaos {
    const char *recipe, *platform; /* platform: NULL for OpenShift */
    const char *dir;               /* where files for replay go */
    int jobs;
    int nodes;                /* 0: the usual five */
    struct json_object *want; /* the undisturbed end */
    uint64_t n_requests;      /* of the undisturbed walk */
    struct counts {
        unsigned next, passed, failed;
    } * counts; /* shared by the processes */
};

static inline struct json_object *chaos_doc(const struct chaos *c, struct json_object *doc)
{
    json_object_object_add(doc, "recipe", json_object_new_string(c->recipe));
    if (c->platform)
        json_object_object_add(doc, "platform", json_object_new_string(c->platform));
    if (c->nodes)
        json_object_object_add(doc, "nodes", json_object_new_int(c->nodes));
    return doc;
}

static inline bool chaos_run(struct json_object *doc, struct sw_trial_end *end)
{
    SW_ERR(err);
    struct sw_trial trial;
    uint64_t *kills = NULL;
    *end = (struct sw_trial_end){ 0 };
    int rc = sw_trial_read(doc, "trial", &trial, &kills, &err);
    if (rc == 0)
        rc = sw_trial_run(&trial, end, &err);
    if (rc < 0)
        end->words = sw_strdup(sw_err_text(&err));
    free(kills);
    return rc == 0 && end->ready;
}

static inline int chaos_init(struct chaos *c)
{
    struct sw_trial_end end;
    SW_AUTO_JSON *doc = chaos_doc(c, json_object_new_object());
    sw_log_set_level(SW_LOG_ERROR);
    c->counts = mmap(NULL, sizeof *c->counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    if (c->counts == MAP_FAILED || !chaos_run(doc, &end)) {
        (void)printf("# %s: the undisturbed walk does not end: %s\n", c->recipe, end.words);
        return -1;
    }
    c->want = json_object_get(end.picture);
    c->n_requests = end.n_requests;
    sw_trial_end_done(&end);
    return 0;
}

static inline void chaos_done(struct chaos *c)
{
    json_object_put(c->want);
    (void)munmap(c->counts, sizeof *c->counts);
}

static inline void chaos_tell(const struct chaos *c, const char *name, struct json_object *doc,
                              const char *words)
{
    SW_ERR(err);
    (void)mkdir(c->dir, 0777);
    SW_AUTO_CHARS *path = sw_printf("%s/%s.json", c->dir, name);
    const char *text = json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
                                                               JSON_C_TO_STRING_NOSLASHESCAPE);
    if (sw_file_write(path, text, strlen(text), 0644, &err) < 0)
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

/* @doc: taken */
static inline void chaos_one(const struct chaos *c, const char *name, struct json_object *doc)
{
    struct sw_trial_end end;
    bool ready = chaos_run(chaos_doc(c, doc), &end);
    SW_AUTO_CHARS *diff = ready ? sw_picture_diff(c->want, end.picture) : NULL;
    if (!ready || diff)
        chaos_tell(c, name, doc, diff ? diff : end.words);
    (void)__atomic_add_fetch(ready && !diff ? &c->counts->passed : &c->counts->failed, 1,
                             __ATOMIC_SEQ_CST);
    sw_trial_end_done(&end);
    json_object_put(doc);
}

static inline void chaos_kill_at(const struct chaos *c, uint64_t n)
{
    SW_AUTO_CHARS *name = sw_printf("kill-%llu", (unsigned long long)n);
    struct json_object *doc = json_object_new_object(), *kills = json_object_new_array();
    json_object_array_add(kills, json_object_new_uint64(n));
    json_object_object_add(doc, "kills", kills);
    chaos_one(c, name, doc);
}

static inline void chaos_seed(const struct chaos *c, uint64_t seed)
{
    SW_AUTO_CHARS *name = sw_printf("seed-%llu", (unsigned long long)seed);
    chaos_one(c, name, sw_trial_random(seed, c->n_requests));
}

/* Nothing fails, but answers overtake each other. */
static inline void chaos_delay(const struct chaos *c, uint64_t seed)
{
    SW_AUTO_CHARS *name = sw_printf("delay-%llu", (unsigned long long)seed);
    SW_AUTO_CHARS *text = sw_printf("{\"plan\":{\"seed\":%llu,\"faults\":["
                                    "{\"probability\":0.1,\"delay\":\"%llums\"},"
                                    "{\"probability\":0.3,\"delay\":\"%llums\"},"
                                    "{\"probability\":0.5,\"delay\":\"%llums\"}]}}",
                                    (unsigned long long)seed,
                                    (unsigned long long)(seed * 7919 % 3001 + 1),
                                    (unsigned long long)(seed * 104729 % 307 + 1),
                                    (unsigned long long)(seed * 1299709 % 29 + 1));
    chaos_one(c, name, json_tokener_parse(text));
}

/* Run @one for each number from @from, @n of them, in c->jobs processes. A process that dies counts
 * as a failure. */
static inline void chaos_all(const struct chaos *c, uint64_t from, uint64_t n,
                             void (*one)(const struct chaos *c, uint64_t i))
{
    *c->counts = (struct counts){ 0 };
    (void)fflush(NULL);
    for (int j = 0; j < c->jobs; j++) {
        if (fork() != 0)
            continue;
        for (uint64_t i; (i = __atomic_fetch_add(&c->counts->next, 1, __ATOMIC_SEQ_CST)) < n;)
            one(c, from + i);
        (void)fflush(NULL);
        _exit(0);
    }
    for (int status; wait(&status) > 0;) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        (void)printf("# a process died: status %d\n", status);
        (void)__atomic_add_fetch(&c->counts->failed, 1, __ATOMIC_SEQ_CST);
    }
}
