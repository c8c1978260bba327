/* The extender from bytes to bytes: who fits where, how well, who has to go. */
#include "scheduler_util.h"

static int setup(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    scene_open(s, SW_MIG_PACKED);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    scene_close(*state);
    free(*state);
    return 0;
}

static const char *text_at(struct json_object *doc, const char *a, const char *b)
{
    return sw_json_str(doc, "", a, b, NULL);
}

static void test_filter_names_what_is_missing_where(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a100", "A100-40GB", 1);
    scene_node(s, "a30", "A30-24GB", 1);
    scene_node(s, "full", "A100-40GB", 1);
    (void)scene_claim(s, "c1", "other", "full", 0, "7g.40gb", 0, 8, "inUse");
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":\"1\",\"cpu\":\"1\"", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"a100\",\"a30\",\"full\",\"unknown\"");
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNames")), 1);
    assert_string_equal(json_object_get_string(sw_json_at(sw_json_get(doc, "NodeNames"), 0)),
                        "a100");
    assert_string_equal(text_at(doc, "FailedNodes", "full"), "full: room for 0 of 1 x 3g.20gb");
    assert_string_equal(text_at(doc, "FailedNodes", "a30"),
                        "a30: no GPU here can be cut into 3g.20gb");
    /* sending pods away helps on one of them alone */
    assert_string_equal(text_at(doc, "FailedAndUnresolvableNodes", "full"), "");
    assert_string_not_equal(text_at(doc, "FailedAndUnresolvableNodes", "a30"), "");
    assert_string_equal(text_at(doc, "FailedAndUnresolvableNodes", "unknown"),
                        "unknown: no GPU here that can be cut");
    assert_string_equal(sw_json_str(doc, "x", "Error", NULL), "");
}

static void test_many_nodes_are_told_by_kind_alone(void **state)
{
    struct scene *s = *state;
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod,
                                     "\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"");
    assert_string_equal(text_at(doc, "FailedNodes", "9"), "no GPU here that can be cut");
}

static void test_node_without_the_label_takes_nothing(void **state)
{
    struct scene *s = *state;
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    scene_node(s, "a", "A100-40GB", 1);
    cache_observe_node(s->p, "a", false, false);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"a\"");
    assert_string_equal(text_at(doc, "FailedNodes", "a"), "a: not labelled as able to cut GPUs");
}

static void test_node_whose_gpus_are_not_ready(void **state)
{
    struct scene *s = *state;
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 1);
    json_object_array_add(sw_json_need_list(acc, "status", "conditions", NULL),
                          json("{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Gone\"}"));
    cache_observe_node(s->p, "a", true, false);
    assert_int_equal(cache_observe_accelerator(s->p, "a", acc, NULL), 0);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"a\"");
    assert_string_equal(text_at(doc, "FailedAndUnresolvableNodes", "a"),
                        "a: its GPUs are not ready (Gone)");
}

static void test_pod_without_slices_passes(void **state)
{
    struct scene *s = *state;
    SW_AUTO_CHARS *pod = pod_text("p1", "\"cpu\":\"2\"", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"anywhere\",\"else\"");
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNames")), 2);
}

static void test_profile_that_is_none_is_refused_by_name(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/large\":1", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"a\"");
    assert_non_null(strstr(text_at(doc, "FailedAndUnresolvableNodes", "a"),
                           "container 'main': mig.das.com/large"));
}

static void test_gangs_are_placed_all_or_none(void **state)
{
    struct scene *s = *state;
    scene_node(s, "one", "A100-40GB", 1);
    scene_node(s, "two", "A100-40GB", 2);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":3", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"one\",\"two\"");
    assert_string_equal(text_at(doc, "FailedNodes", "one"), "one: room for 2 of 3 x 3g.20gb");
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNames")), 1);
    struct pod *p = cache_find_pod(s->p, "p1");
    SW_ERR(err);
    assert_int_equal(cache_reserve(s->p, p, "one", 0, &err), SW_PENDING);
    assert_null(p->claims);
    assert_int_equal(s->p->n_reserved, 0);
    assert_int_equal(cache_reserve(s->p, p, "two", 0, &err), 0);
    assert_int_equal(s->p->n_reserved, 3);
}

static void test_init_and_ephemeral_containers_count(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A30-24GB", 1);
    SW_AUTO_JSON *doc = scene_filter(
        s,
        "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{"
        "\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"mig.das.com/2g.12gb\":1}}}],"
        "\"initContainers\":[{\"name\":\"b\",\"resources\":{\"requests\":"
        "{\"mig.das.com/1g.6gb\":\"1\"}}}],\"ephemeralContainers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"mig.das.com/1g.6gb-plus-me\":1}}}]}}",
        "\"a\"");
    assert_int_equal(s->outcome.n_fit, 1);
    const struct pod *p = cache_find_pod(s->p, "u");
    assert_int_equal(p->pod_request.n, 3);
    assert_string_equal(p->pod_request.names[p->pod_request.list[1].container], "b");
    SW_AUTO_CHARS *text = pod_request_text(&p->pod_request);
    assert_string_equal(text, "1 x 2g.12gb, 1 x 1g.6gb, 1 x 1g.6gb+me");
}

static void test_prioritize_prefers_by_policy(void **state)
{
    struct scene *s = *state;
    static const struct {
        enum sw_mig_policy policy;
        const char *best;
    } cases[] = { { SW_MIG_PACKED, "used" },
                  { SW_MIG_SPREAD, "empty" },
                  { SW_MIG_DENSE_NODE, "used" } };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        scene_close(s);
        scene_open(s, cases[i].policy);
        scene_node(s, "empty", "A100-40GB", 1);
        scene_node(s, "used", "A100-40GB", 1);
        (void)scene_claim(s, "c", "other", "used", 0, "3g.20gb", 4, 4, "inUse");
        SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
        SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNames\":[\"empty\",\"used\"]}", pod);
        SW_AUTO_JSON *doc = scene_ask(s, extender_prioritize, body);
        assert_int_equal(sw_json_len(doc), 1); /* the worst gets nothing and is left out */
        assert_string_equal(sw_json_str(sw_json_at(doc, 0), "", "Host", NULL), cases[i].best);
        assert_int_equal(sw_json_int(sw_json_at(doc, 0), -1, "Score", NULL), 10);
    }
}

static void test_prioritize_says_nothing_of_equals(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    scene_node(s, "b", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNames\":[\"a\",\"b\"]}", pod);
    SW_AUTO_JSON *doc = scene_ask(s, extender_prioritize, body);
    assert_true(json_object_is_type(doc, json_type_array));
    assert_int_equal(sw_json_len(doc), 0);
}

/* The names of @n full nodes, as the question has them. */
static char *full_nodes(struct scene *s, size_t n)
{
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *name = sw_printf("full-%zu", i);
        scene_node(s, name, "A100-40GB", 1);
        (void)scene_claim(s, name, "other", name, 0, "7g.40gb", 0, 8, "inUse");
        sprintbuf(out, "%s\"%s\"", i ? "," : "", name);
    }
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    return text;
}

static void test_room_where_a_big_cluster_was_not_asked_about_is_told_of(void **state)
{
    struct scene *s = *state;
    scene_node(s, "empty", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 1000, NULL);
    SW_AUTO_CHARS *nodes = full_nodes(s, 100);
    for (int i = 0; i < 8; i++) {
        SW_AUTO_JSON *doc = scene_filter(s, pod, nodes);
        assert_non_null(s->outcome.elsewhere);
        assert_string_equal(s->outcome.elsewhere->name, "empty");
        assert_int_equal(s->outcome.n_likely, 0); /* nobody is sent away for it */
    }
}

static bool is_sent_elsewhere(struct scene *s, const char *pod, const char *nodes)
{
    SW_AUTO_JSON *doc = scene_filter(s, pod, nodes);
    return s->outcome.elsewhere != NULL;
}

/* The scheduler may have its reasons not to ask about it. */
static void test_room_that_the_scheduler_does_not_take_is_told_of_less_and_less(void **state)
{
    struct scene *s = *state;
    scene_node(s, "empty", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 1000, NULL);
    SW_AUTO_CHARS *nodes = full_nodes(s, 100);
    for (int i = 0; i < 8; i++)
        assert_true(is_sent_elsewhere(s, pod, nodes));
    static const int waits_ms[] = { 1000, 2000, 4000, 8000, 16000, 32000, 64000, 64000, 64000 };
    for (size_t i = 0; i < SW_COUNT(waits_ms); i++) {
        s->later_ms += waits_ms[i] - 1;
        assert_false(is_sent_elsewhere(s, pod, nodes));
        s->later_ms += 1;
        assert_true(is_sent_elsewhere(s, pod, nodes));
    }
}

static void test_small_cluster_is_asked_about_as_a_whole(void **state)
{
    struct scene *s = *state;
    scene_node(s, "tainted", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 0, NULL);
    SW_AUTO_CHARS *nodes = full_nodes(s, 99);
    SW_AUTO_JSON *doc = scene_filter(s, pod, nodes);
    assert_int_equal(s->outcome.n_fit, 0);
    assert_null(s->outcome.elsewhere);
}

/* Three nodes of which two may be named, the fullest not first. */
static void open_with_choice(struct scene *s)
{
    scene_close(s);
    scene_open(s, SW_MIG_PACKED);
    extender_free(s->x);
    s->x = extender_new(s->p, true, 2);
    scene_node(s, "empty", "A100-40GB", 1);
    scene_node(s, "fuller", "A100-40GB", 1);
    scene_node(s, "used", "A100-40GB", 1);
    scene_node(s, "full", "A100-40GB", 1);
    (void)scene_claim(s, "c1", "other", "used", 0, "1g.5gb", 6, 1, "inUse");
    (void)scene_claim(s, "c2", "other", "fuller", 0, "4g.20gb", 0, 4, "inUse");
    (void)scene_claim(s, "c3", "other", "full", 0, "7g.40gb", 0, 8, "inUse");
}

#define CHOICE "\"empty\",\"fuller\",\"full\",\"used\",\"unknown\""

static void test_filter_names_the_best_of_many(void **state)
{
    struct scene *s = *state;
    open_with_choice(s);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, CHOICE);
    assert_string_equal(json_object_get_string(sw_json_get(doc, "NodeNames")),
                        "[ \"fuller\", \"used\" ]");
    assert_int_equal(s->outcome.n_fit, 3);
    /* what is passed over has not failed */
    assert_int_equal(sw_json_len(sw_json_get(doc, "FailedNodes")), 2);
    assert_string_equal(text_at(doc, "FailedNodes", "full"), "full: room for 0 of 1 x 1g.5gb");
}

static void test_nodes_with_a_taint_that_asks_pods_away_are_named_last(void **state)
{
    struct scene *s = *state;
    open_with_choice(s);
    cache_observe_node(s->p, "fuller", true, true);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, CHOICE);
    assert_string_equal(json_object_get_string(sw_json_get(doc, "NodeNames")),
                        "[ \"empty\", \"used\" ]");
}

static void test_pod_with_preferences_gets_all_nodes(void **state)
{
    struct scene *s = *state;
    static const char *const spec[] = {
        "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{}]}"
        "}",
        "\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{}]}}",
        "\"affinity\":{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
        "[{}]}}",
        "\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"},"
        "{\"whenUnsatisfiable\":\"ScheduleAnyway\"}]",
    };
    open_with_choice(s);
    for (size_t i = 0; i < SW_COUNT(spec); i++) {
        SW_AUTO_CHARS *pod = sw_printf(
            "{\"metadata\":{\"name\":\"p\",\"uid\":\"u%zu\"},\"spec\":{%s,\"containers\":[{"
            "\"resources\":{\"limits\":{\"mig.das.com/1g.5gb\":1}}}]}}",
            i, spec[i]);
        SW_AUTO_JSON *doc = scene_filter(s, pod, CHOICE);
        assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNames")), 3);
    }
}

static void test_hard_constraints_are_no_preferences(void **state)
{
    struct scene *s = *state;
    open_with_choice(s);
    SW_AUTO_JSON *doc = scene_filter(
        s,
        "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"affinity\":{\"podAntiAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":[{}]}},\"topologySpreadConstraints\":[{"
        "\"whenUnsatisfiable\":\"DoNotSchedule\"}],\"containers\":[{\"resources\":{\"limits\":{"
        "\"mig.das.com/1g.5gb\":1}}}]}}",
        CHOICE);
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNames")), 2);
}

static void test_lower_case_questions_are_understood(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"pod\":%s,\"nodenames\":[\"a\"]}", pod);
    SW_AUTO_JSON *doc = scene_ask(s, extender_filter, body);
    assert_int_equal(s->outcome.n_fit, 1);
}

static void test_bad_questions_are_refused(void **state)
{
    struct scene *s = *state;
    static const char *const bad[] = {
        "",
        "[]",
        "nonsense",
        "{}",
        "{\"Pod\":null,\"NodeNames\":[]}",
        "{\"Pod\":{\"metadata\":{\"name\":\"a\",\"uid\":\"b\"}}}",
        "{\"Pod\":{\"metadata\":{\"name\":\"a\",\"uid\":\"b\"}},\"Nodes\":{\"items\":[]}}",
        "{\"Pod\":{\"metadata\":{}},\"NodeNames\":[\"a\"]}",
        "{\"Pod\":{\"metadata\":{\"name\":\"a\",\"uid\":\"b\"}},\"NodeNames\":[\"a\"",
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++)
        assert_null(scene_ask(s, extender_filter, bad[i]));
    /* no names, but strings are expected: as if there were no such node */
    SW_AUTO_JSON *doc = scene_ask(s, extender_filter,
                                  "{\"Pod\":{\"metadata\":{\"name\":\"a\",\"uid\":\"b\"},"
                                  "\"spec\":{\"containers\":7}},\"NodeNames\":[1,null]}");
    assert_non_null(doc);
}

/* ---- preempt -----------------------------------------------------------------------------------
 */

static struct json_object *preempt(struct scene *s, const char *pod, const char *victims)
{
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{%s}}", pod, victims);
    return scene_ask(s, extender_preempt, body);
}

static void test_preempt_adds_whose_slices_are_needed(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    (void)scene_pod(s, "low", "", 1, "a");
    (void)scene_pod(s, "mid", "", 5, "a");
    (void)scene_pod(s, "high", "", 50, "a");
    (void)scene_claim(s, "c1", "low", "a", 0, "1g.5gb", 0, 1, "inUse");
    (void)scene_claim(s, "c2", "mid", "a", 0, "1g.5gb", 1, 1, "inUse");
    (void)scene_claim(s, "c3", "high", "a", 0, "3g.20gb", 4, 4, "inUse");
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/4g.20gb\":1", 10, NULL);
    SW_AUTO_JSON *doc = preempt(s, pod, "\"a\":{\"Pods\":[],\"NumPDBViolations\":2}");
    struct json_object *a = sw_json_find(doc, "NodeNameToMetaVictims", "a", NULL);
    struct json_object *pods = sw_json_get(a, "Pods");
    assert_int_equal(sw_json_len(pods), 2);
    assert_string_equal(sw_json_str(sw_json_at(pods, 0), "", "UID", NULL), "mid");
    assert_string_equal(sw_json_str(sw_json_at(pods, 1), "", "UID", NULL), "low");
    assert_int_equal(sw_json_int(a, 0, "NumPDBViolations", NULL), 2);
    /* what the more important one holds is not to be had */
    SW_AUTO_CHARS *whole = pod_text("p2", "\"mig.das.com/7g.40gb\":1", 10, NULL);
    SW_AUTO_JSON *none = preempt(s, whole, "\"a\":{\"Pods\":[]}");
    assert_int_equal(sw_json_len(sw_json_get(none, "NodeNameToMetaVictims")), 0);
}

static void test_preempt_spares_who_need_not_go(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    (void)scene_pod(s, "p-left", "", 1, "a");
    (void)scene_pod(s, "p-right", "", 2, "a");
    (void)scene_claim(s, "c1", "p-left", "a", 0, "3g.20gb", 0, 4, "inUse");
    (void)scene_claim(s, "c2", "p-right", "a", 0, "3g.20gb", 4, 4, "inUse");
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 10, NULL);
    SW_AUTO_JSON *doc = preempt(s, pod, "\"a\":{\"Pods\":[]},\"unknown\":{\"Pods\":[]}");
    struct json_object *pods = sw_json_find(doc, "NodeNameToMetaVictims", "a", "Pods", NULL);
    assert_int_equal(sw_json_len(pods), 1);
    assert_string_equal(sw_json_str(sw_json_at(pods, 0), "", "UID", NULL), "p-left");
    /* whom the scheduler chose itself stays chosen */
    SW_AUTO_JSON *given = preempt(
        s, pod, "\"a\":{\"Pods\":[{\"UID\":\"p-right\"},{\"UID\":\"without-slices\"}]}");
    pods = sw_json_find(given, "NodeNameToMetaVictims", "a", "Pods", NULL);
    assert_int_equal(sw_json_len(pods), 2);
    assert_string_equal(sw_json_str(sw_json_at(pods, 0), "", "UID", NULL), "p-right");
}

static void test_preempt_is_not_needed_where_there_is_room(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 10, NULL);
    SW_AUTO_JSON *doc = preempt(s, pod, "\"a\":{\"Pods\":[]}");
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNameToMetaVictims")), 0);
    /* but for somebody's CPU: then they go, and the slices fit anyway */
    SW_AUTO_JSON *cpu = preempt(s, pod, "\"a\":{\"Pods\":[{\"UID\":\"cpu-hog\"}]}");
    assert_int_equal(sw_json_len(sw_json_get(cpu, "NodeNameToMetaVictims")), 1);
}

/* Both forms of ExtenderPreemptionArgs as kube-scheduler encodes them (its types have no names for
 * JSON): the map that does not apply is null, and without nodeCacheCapable victims are whole pods.
 * Source: k8s.io/kube-scheduler/extender/v1, HTTPExtender.ProcessPreemption (1.22 to 1.35). */
static void test_preempt_in_both_forms_of_kube_scheduler(void **state)
{
    static const char meta[] = "{\"Pod\":%s,\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
                               "\"a\":{\"Pods\":[{\"UID\":\"cpu-hog\"}],\"NumPDBViolations\":1},"
                               "\"b\":{\"Pods\":null,\"NumPDBViolations\":0},\"gone\":null}}";
    static const char whole[] =
        "{\"Pod\":%s,\"NodeNameToVictims\":{"
        "\"a\":{\"Pods\":[{\"metadata\":{\"name\":\"hog\",\"namespace\":\"default\",\"uid\":"
        "\"cpu-hog\",\"creationTimestamp\":null},\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"resources\":{}}],\"nodeName\":\"a\"},\"status\":{}}],\"NumPDBViolations\":1},"
        "\"b\":{\"Pods\":null,\"NumPDBViolations\":0},\"gone\":null},"
        "\"NodeNameToMetaVictims\":null}";
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    scene_node(s, "b", "A100-40GB", 1);
    (void)scene_pod(s, "low", "", 1, "a");
    (void)scene_claim(s, "c1", "low", "a", 0, "7g.40gb", 0, 8, "inUse");
    SW_AUTO_CHARS *pod = pod_text("p1", "\"mig.das.com/3g.20gb\":1", 10, NULL);
    SW_AUTO_CHARS *cached = sw_printf(meta, pod);
    SW_AUTO_CHARS *uncached = sw_printf(whole, pod);
    const char *const forms[] = { cached, uncached };
    for (size_t i = 0; i < SW_COUNT(forms); i++) {
        SW_AUTO_JSON *doc = scene_ask(s, extender_preempt, forms[i]);
        /* word for word an ExtenderPreemptionResult: b has room without anybody's leaving */
        assert_string_equal(json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PLAIN),
                            "{\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"low\"},"
                            "{\"UID\":\"cpu-hog\"}],\"NumPDBViolations\":1}}}");
    }
}

static void test_bind_arguments(void **state)
{
    struct scene *s = *state;
    struct extender_bind b = { 0 };
    const char *good = "{\"PodName\":\"p\",\"PodNamespace\":\"n\",\"PodUID\":\"u\",\"Node\":\"x\"}";
    assert_int_equal(extender_read_bind(s->x, good, strlen(good), &b, NULL), 0);
    assert_string_equal(b.pod, "p");
    assert_string_equal(b.ns, "n");
    assert_string_equal(b.uid, "u");
    assert_string_equal(b.node, "x");
    extender_bind_done(&b);
    const char *bad = "{\"PodName\":\"p\",\"PodNamespace\":\"n\",\"PodUID\":7,\"Node\":\"x\"}";
    assert_int_equal(extender_read_bind(s->x, bad, strlen(bad), &b, NULL), SW_INVALID);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_filter_names_what_is_missing_where),
        T(test_many_nodes_are_told_by_kind_alone),
        T(test_node_without_the_label_takes_nothing),
        T(test_node_whose_gpus_are_not_ready),
        T(test_pod_without_slices_passes),
        T(test_profile_that_is_none_is_refused_by_name),
        T(test_gangs_are_placed_all_or_none),
        T(test_init_and_ephemeral_containers_count),
        T(test_prioritize_prefers_by_policy),
        T(test_prioritize_says_nothing_of_equals),
        T(test_room_where_a_big_cluster_was_not_asked_about_is_told_of),
        T(test_room_that_the_scheduler_does_not_take_is_told_of_less_and_less),
        T(test_small_cluster_is_asked_about_as_a_whole),
        T(test_filter_names_the_best_of_many),
        T(test_nodes_with_a_taint_that_asks_pods_away_are_named_last),
        T(test_pod_with_preferences_gets_all_nodes),
        T(test_hard_constraints_are_no_preferences),
        T(test_lower_case_questions_are_understood),
        T(test_bad_questions_are_refused),
        T(test_preempt_adds_whose_slices_are_needed),
        T(test_preempt_spares_who_need_not_go),
        T(test_preempt_is_not_needed_where_there_is_room),
        T(test_preempt_in_both_forms_of_kube_scheduler),
        T(test_bind_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
