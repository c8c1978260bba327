/* The allocator of devices decides as a stock kube-scheduler does. The cases were made at random
 * and answered by kube-scheduler 1.36.2 (hack/device-cases.py); here they are answered again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "data/data.h"
#include "kube/allocator/allocator.h"

#define CASES "test/emulator/emulator/device-cases.jsonl.gz"
enum { MOST_LINE = 1 << 20, LEAST_CASES = 1000 };

/* A case as it is replayed. */
struct replay {
    json_object *doc;
    json_object *claims; /* with what was allocated so far */
    size_t n_pods, n_allocated;
};

static json_object *named(json_object *list, const char *name)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "metadata", "name", NULL), name))
            return sw_json_at(list, i);
    return NULL;
}

static json_object *class_of(void *arg, const char *name)
{
    return named(sw_json_get(arg, "classes"), name);
}

static json_object *node_of(const char *name)
{
    json_object *node = json_object_new_object();
    sw_json_set_str(node, name, "metadata", "name", NULL);
    sw_json_set_str(node, name, "metadata", "labels", "kubernetes.io/hostname", NULL);
    sw_json_set_str(node, sw_streq(name, "n2") ? "b" : "a", "metadata", "labels", "zone", NULL);
    return node;
}

static size_t items_of(json_object *list, json_object **items)
{
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        items[n++] = sw_json_at(list, i);
    return n;
}

/* What the pod's claims get, in their order, or the words why they get nothing; new. */
static json_object *answer(struct replay *r, json_object *pod, struct sw_err *err)
{
    json_object *slices[64], *all[64], *mine[8], *results = NULL;
    json_object *names = sw_json_get(pod, "claims"), *own = sw_json_get(r->doc, "slices");
    assert_true(sw_json_len(own) <= SW_COUNT(slices) && sw_json_len(r->claims) <= SW_COUNT(all));
    struct sw_allocator_input in = { .slices = slices,
                                     .n_slices = items_of(own, slices),
                                     .claims = all,
                                     .n_claims = items_of(r->claims, all),
                                     .class_of = class_of,
                                     .arg = r->doc };
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(names); i++) {
        json_object *c = named(r->claims, json_object_get_string(sw_json_at(names, i)));
        if (!sw_json_find(c, "status", "allocation", NULL))
            mine[n++] = c;
    }
    SW_AUTO_JSON *node = node_of(sw_json_str(pod, "", "node", NULL));
    SW_AUTO(sw_allocator) *a = sw_allocator_new(&in);
    if (n && sw_allocator_run(a, node, mine, n, &results, err) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        sw_json_set(mine[i], json_object_get(sw_json_at(results, i)), "status", "allocation", NULL);
    json_object_put(results);
    results = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(names); i++) {
        json_object *c = named(r->claims, json_object_get_string(sw_json_at(names, i)));
        json_object_array_add(results, sw_json_copy(sw_json_find(c, "status", "allocation", NULL)));
    }
    return results;
}

/* The ids of shares are random. */
static void drop_ids(json_object *allocations)
{
    for (size_t i = 0; i < sw_json_len(allocations); i++) {
        json_object *results = sw_json_find(sw_json_at(allocations, i), "devices", "results", NULL);
        for (size_t k = 0; k < sw_json_len(results); k++)
            json_object_object_del(sw_json_at(results, k), "shareID");
    }
}

/* What is not the allocator's answer: the claim that another pod allocated is tied to another node,
 * or ten seconds were not enough for the search. */
static bool is_other(const char *message)
{
    return strstr(message, "resourceclaim not available on the node") ||
           strstr(message, "timed out trying to allocate devices");
}

static void replay_pod(struct replay *r, json_object *pod, size_t line)
{
    json_object *want = sw_json_find(pod, "answer", "allocations", NULL);
    const char *message = sw_json_str(pod, "", "answer", "message", NULL);
    SW_ERR(err);
    if (is_other(message))
        return;
    SW_AUTO_JSON *got = answer(r, pod, &err);
    drop_ids(got);
    r->n_pods++;
    r->n_allocated += want != NULL;
    if (want ? got && sw_json_equal(want, got) : !got && strstr(message, sw_err_text(&err)))
        return;
    fail_msg("case %zu, pod %s:\nkube-scheduler: %s\nallocator: %s", line,
             sw_json_str(pod, "", "name", NULL), want ? json_object_to_json_string(want) : message,
             got ? json_object_to_json_string(got) : sw_err_text(&err));
}

static void kube_scheduler_agrees(void **state)
{
    (void)state;
    gzFile file = gzopen(CASES, "rb");
    char *text = sw_alloc(MOST_LINE);
    size_t n = 0;
    struct replay r = { 0 };
    assert_non_null(file);
    while (gzgets(file, text, MOST_LINE)) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = NULL;
        assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, &err), 0);
        SW_AUTO_JSON *claims = sw_json_copy(sw_json_get(doc, "claims"));
        json_object *pods = sw_json_get(doc, "pods");
        r.doc = doc;
        r.claims = claims;
        n++;
        for (size_t i = 0; i < sw_json_len(pods); i++)
            replay_pod(&r, sw_json_at(pods, i), n);
    }
    (void)gzclose(file);
    free(text);
    assert_true(n >= LEAST_CASES);
    assert_true(r.n_allocated > n && r.n_pods - r.n_allocated > n);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kube_scheduler_agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
