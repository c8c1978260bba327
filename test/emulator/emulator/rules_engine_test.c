/* The rules engine on the store: what each word of a rule does, and that a level is a level. */
#include "ctl_fixture.h"

/* Two ConfigMaps are enough of a world: what happens to them is seen in their data. */
static void map(struct cluster *c, const char *name, const char *more)
{
    SW_AUTO_CHARS *yaml = sw_printf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s%s}}",
                                    name, more);
    put(c, yaml);
}

static void see_map(struct cluster *c, const char *name, const char *path, const char *want)
{
    expect(c, "v1", "ConfigMap", "default", name, path, want);
}

static bool has_map(struct cluster *c, const char *name)
{
    return get(c, "v1", "ConfigMap", "default", name) != NULL;
}

static void open_with(struct cluster *c, const char *rules)
{
    struct sw_emulator_opts opts = { .platform = SW_EMU_KUBERNETES,
                                     .no_nodes = true,
                                     .delays = { .rule_percent = 100 } };
    cluster_open(c, &opts, rules);
    settle(c);
}

static void a_rule_is_for_what_matches(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\n"
                  "for: {apiVersion: v1, kind: ConfigMap, name: 'a*', namespace: default, labels: "
                  "'x in (1,2),!w', where: {.data.num: {atLeast: 2, atMost: 3}}}\n"
                  "do: [{patch: {data: {seen: 'yes'}}}]\n");
    map(&c, "a1", ", labels: {x: \"1\"}}, data: {num: \"2\"");
    map(&c, "a2", ", labels: {x: \"3\"}}, data: {num: \"2\"");
    map(&c, "a3", ", labels: {x: \"1\", w: \"\"}}, data: {num: \"2\"");
    map(&c, "a4", ", labels: {x: \"2\"}}, data: {num: \"1\"");
    map(&c, "b1", ", labels: {x: \"1\"}}, data: {num: \"2\"");
    settle(&c);
    see_map(&c, "a1", "{.data.seen}", "yes");
    see_map(&c, "a2", "{.data.seen}", "");
    see_map(&c, "a3", "{.data.seen}", "");
    see_map(&c, "a4", "{.data.seen}", "");
    see_map(&c, "b1", "{.data.seen}", "");
    patch(&c, "v1", "ConfigMap", "default", "a4", NULL, "{data: {num: \"3\"}}");
    settle(&c);
    see_map(&c, "a4", "{.data.seen}", "yes");
    cluster_close(&c);
}

static void objects_of_two_kinds_may_have_one_name(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\n"
                  "for: [{apiVersion: v1, kind: ConfigMap, name: a1}, {apiVersion: v1, kind: "
                  "Secret, name: a1}]\n"
                  "do: [{patch: {metadata: {labels: {kind: '{{ .object.kind }}'}}}}]\n");
    map(&c, "a1", "}, data: {x: one");
    put(&c, "{apiVersion: v1, kind: Secret, metadata: {name: a1}}");
    settle(&c);
    see_map(&c, "a1", "{.metadata.labels.kind}", "ConfigMap");
    expect(&c, "v1", "Secret", "default", "a1", "{.metadata.labels.kind}", "Secret");
    cluster_close(&c);
}

static void what_somebody_undoes_is_done_again(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "do: [{patch: {data: {seen: '{{ .object.metadata.name | upper }}'}}}]\n");
    map(&c, "a", "");
    settle(&c);
    see_map(&c, "a", "{.data.seen}", "A");
    patch(&c, "v1", "ConfigMap", "default", "a", NULL, "{data: {seen: other, kept: x}}");
    settle(&c);
    see_map(&c, "a", "{.data.seen} {.data.kept}", "A x");
    cluster_close(&c);
}

static void nothing_is_written_that_is_so_already(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "do:\n"
                  "- patch: {data: {seen: 'yes'}}\n"
                  "- apply: {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: "
                  "[{port: 80}]}}\n");
    map(&c, "a", "");
    settle(&c);
    uint64_t version = sw_store_version(c.store);
    patch(&c, "v1", "ConfigMap", "default", "a", NULL, "{metadata: {annotations: {x: z}}}");
    settle(&c);
    assert_int_equal(sw_store_version(c.store), version + 1);
    cluster_close(&c);
}

static void when_and_otherwise_follow_other_objects(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "when: [{apiVersion: v1, kind: ConfigMap, namespace: default,"
                  " name: '{{ .object.data.wants }}', where: {.data.go: 'true'}, as: other}]\n"
                  "do: [{patch: {data: {state: 'with {{ .other.data.word }}'}}}]\n"
                  "otherwise: [{patch: {data: {state: without}}}]\n");
    map(&c, "a", "}, data: {wants: b");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "without");
    map(&c, "b", "}, data: {go: \"true\", word: love");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "with love");
    patch(&c, "v1", "ConfigMap", "default", "b", NULL, "{data: {word: luck}}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "with luck");
    drop(&c, "v1", "ConfigMap", "default", "b");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "without");
    cluster_close(&c);
}

static void what_a_rule_does_not_read_does_not_concern_it(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "when: [{apiVersion: v1, kind: Secret, namespace: default, name: s, as: other,"
                  " fields: [.metadata.annotations], where: {.metadata.labels.go: 'true'}}]\n"
                  "do: [{patch: {data: {state: '{{ .other.metadata.labels.word }}'}}}]\n"
                  "otherwise: [{patch: {data: {state: without}}}]\n");
    put(&c,
        "{apiVersion: v1, kind: Secret, metadata: {name: s, labels: {go: \"true\", word: one}}}");
    map(&c, "a", "");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "one");
    patch(&c, "v1", "Secret", "default", "s", NULL, "{metadata: {labels: {word: two}}}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "one");
    patch(&c, "v1", "Secret", "default", "s", NULL, "{metadata: {annotations: {x: z}}}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "two");
    patch(&c, "v1", "Secret", "default", "s", NULL, "{metadata: {labels: {go: null}}}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "without");
    cluster_close(&c);
}

static void none_and_count_are_about_how_many(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: lonely\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "when: [{apiVersion: v1, kind: ConfigMap, labels: {app: x}, none: true}]\n"
                  "do: [{patch: {data: {state: lonely}}}]\n"
                  "---\n"
                  "rule: crowd\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "when: [{apiVersion: v1, kind: ConfigMap, labels: {app: x}, count: {min: 2, max: "
                  "3}, asList: all}]\n"
                  "do: [{patch: {data: {state: '{{ len .all }} of them'}}}]\n");
    map(&c, "a", "");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "lonely");
    map(&c, "x1", ", labels: {app: x}");
    map(&c, "x2", ", labels: {app: x}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "2 of them");
    map(&c, "x3", ", labels: {app: x}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "3 of them");
    map(&c, "x4", ", labels: {app: x}");
    settle(&c);
    see_map(&c, "a", "{.data.state}", "3 of them");
    cluster_close(&c);
}

static void a_delay_counts_from_when_it_became_true(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "when: [{apiVersion: v1, kind: ConfigMap, namespace: default, name: b}]\n"
                  "after: 10s\n"
                  "do: [{patch: {data: {seen: 'yes'}}}]\n");
    map(&c, "a", "");
    map(&c, "b", "");
    pass(&c, 8000);
    see_map(&c, "a", "{.data.seen}", "");
    drop(&c, "v1", "ConfigMap", "default", "b");
    pass(&c, 5000);
    map(&c, "b", "");
    pass(&c, 8000);
    see_map(&c, "a", "{.data.seen}", "");
    pass(&c, 4000);
    see_map(&c, "a", "{.data.seen}", "yes");
    cluster_close(&c);
}

static void delays_can_be_nothing(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .platform = SW_EMU_KUBERNETES, .no_nodes = true };
    cluster_open(&c, &opts,
                 "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\nafter: 1h\n"
                 "do: [{patch: {data: {seen: 'yes'}}}]\n");
    map(&c, "a", "");
    pass(&c, 10);
    see_map(&c, "a", "{.data.seen}", "yes");
    cluster_close(&c);
}

static void time_outs_are_as_long_as_the_object_says(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .platform = SW_EMU_KUBERNETES, .no_nodes = true };
    cluster_open(&c, &opts,
                 "rule: r\nfor: {apiVersion: v1, kind: ConfigMap}\n"
                 "timeoutSeconds: '{{ .object.data.seconds }}'\n"
                 "do: [{patch: {data: {seen: 'yes'}}}]\n");
    map(&c, "a", "}, data: {seconds: \"5\"");
    map(&c, "b", "}, data: {seconds: \"0\"");
    pass(&c, 4000);
    patch(&c, "v1", "ConfigMap", "default", "a", NULL, "{data: {other: x}}"); /* it goes on */
    pass(&c, 500);
    see_map(&c, "a", "{.data.seen}", ""); /* delays are nothing here, time-outs are not */
    pass(&c, 1000);
    see_map(&c, "a", "{.data.seen}", "yes");
    pass(&c, 3600000);
    see_map(&c, "b", "{.data.seen}", "");
    cluster_close(&c);
}

static void what_is_created_is_left_alone_and_owned(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "do:\n"
                  "- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: made}, data: {x: "
                  "'1'}}\n"
                  "  owned: true\n");
    map(&c, "a", "");
    settle(&c);
    see_map(&c, "made", "{.data.x} {.metadata.ownerReferences[0].name}", "1 a");
    patch(&c, "v1", "ConfigMap", "default", "made", NULL, "{data: {x: \"2\"}}");
    settle(&c);
    see_map(&c, "made", "{.data.x}", "2");
    drop(&c, "v1", "ConfigMap", "default", "made");
    settle(&c);
    see_map(&c, "made", "{.data.x}", "1");
    drop(&c, "v1", "ConfigMap", "default", "a");
    settle(&c);
    assert_false(has_map(&c, "made"));
    cluster_close(&c);
}

static void each_makes_one_of_each(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c,
              "rule: items\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
              "each: {items: [x, z]}\n"
              "do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: 'i-{{ .each "
              "}}-{{ .index }}'}}}]\n"
              "---\n"
              "rule: path\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
              "each: {in: '.metadata.finalizers'}\n"
              "do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: 'f-{{ base .each "
              "}}'}}}]\n"
              "---\n"
              "rule: objects\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
              "each: {apiVersion: v1, kind: ConfigMap, labels: {app: x}}\n"
              "do:\n"
              "- target: {apiVersion: v1, kind: ConfigMap, namespace: default, name: '{{ "
              ".each.metadata.name }}'}\n"
              "  patch: {data: {seen: 'yes'}}\n");
    map(&c, "one", ", labels: {app: x}");
    map(&c, "two", "");
    map(&c, "a", ", finalizers: [ex.io/p, ex.io/q]");
    settle(&c);
    assert_true(has_map(&c, "i-x-0"));
    assert_true(has_map(&c, "i-z-1"));
    assert_true(has_map(&c, "f-p"));
    assert_true(has_map(&c, "f-q"));
    see_map(&c, "one", "{.data.seen}", "yes");
    see_map(&c, "two", "{.data.seen}", "");
    patch(&c, "v1", "ConfigMap", "default", "two", NULL, "{metadata: {labels: {app: x}}}");
    settle(&c);
    see_map(&c, "two", "{.data.seen}", "yes");
    patch(&c, "v1", "ConfigMap", "default", "a", NULL, "{metadata: {finalizers: null}}");
    cluster_close(&c);
}

static void an_action_has_a_target_and_a_condition(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "do:\n"
                  "- if: '{{ eq .object.data.go \"yes\" }}'\n"
                  "  target: {apiVersion: v1, kind: ConfigMap, namespace: default, name: b}\n"
                  "  patch: {data: {seen: 'yes'}}\n"
                  "- if: '{{ eq .object.data.go \"yes\" }}'\n"
                  "  target: {apiVersion: v1, kind: ConfigMap, namespace: default, name: c}\n"
                  "  delete: true\n");
    map(&c, "a", "}, data: {go: \"no\"");
    map(&c, "c", "");
    settle(&c);
    patch(&c, "v1", "ConfigMap", "default", "a", NULL, "{data: {go: \"yes\"}}");
    settle(&c);
    assert_false(has_map(&c, "c"));
    map(&c, "b", ""); /* a target that comes later is not forgotten */
    settle(&c);
    see_map(&c, "b", "{.data.seen}", "yes");
    cluster_close(&c);
}

static void conditions_keep_their_times_and_their_neighbours(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c,
              "rule: r\nfor: {apiVersion: v1, kind: PersistentVolume}\n"
              "do: [{status: {conditions: [{type: Ready, status: '{{ .object.spec.storageClassName "
              "}}', reason: x}]}}]\n");
    put(&c, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: "
            "{storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, "
            "storageClassName: \"False\"}}");
    settle(&c);
    patch(&c, "v1", "PersistentVolume", NULL, "v", "status",
          "{status: {conditions: [{type: Other, status: Unknown}, {type: Ready, status: \"False\", "
          "reason: x, lastTransitionTime: \"2020-01-01T00:00:00Z\"}]}}");
    settle(&c);
    expect(&c, "v1", "PersistentVolume", NULL, "v",
           "{.status.conditions[*].type} "
           "{.status.conditions[?(@.type==\"Ready\")].lastTransitionTime}",
           "Other Ready 2020-01-01T00:00:00Z");
    patch(&c, "v1", "PersistentVolume", NULL, "v", NULL, "{spec: {storageClassName: \"True\"}}");
    settle(&c);
    SW_AUTO_CHARS *at = see(get(&c, "v1", "PersistentVolume", NULL, "v"),
                            "{.status.conditions[?(@.type==\"Ready\")].lastTransitionTime}");
    assert_string_not_equal(at, "2020-01-01T00:00:00Z");
    cluster_close(&c);
}

static const char crd[] = "apiVersion: apiextensions.k8s.io/v1\n"
                          "kind: CustomResourceDefinition\n"
                          "metadata: {name: things.example.com}\n"
                          "spec:\n"
                          "  group: example.com\n"
                          "  scope: Namespaced\n"
                          "  names: {kind: Thing, listKind: ThingList, plural: things, singular: "
                          "thing}\n"
                          "  versions:\n"
                          "  - name: v1\n"
                          "    served: true\n"
                          "    storage: true\n"
                          "    subresources: {status: {}}\n"
                          "    schema: {openAPIV3Schema: {type: object, "
                          "x-kubernetes-preserve-unknown-fields: true}}\n";

static void kinds_may_come_later(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c, "objects: [{apiVersion: example.com/v1, kind: Thing, metadata: {name: first, "
                  "namespace: default}}]\n"
                  "---\n"
                  "rule: make\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
                  "do: [{apply: {apiVersion: example.com/v1, kind: Thing, metadata: {name: "
                  "second}, status: {x: 'y'}}}]\n"
                  "---\n"
                  "rule: ready\nfor: {apiVersion: example.com/v1, kind: Thing}\n"
                  "do: [{status: {state: ready}}]\n");
    map(&c, "a", "");
    settle(&c);
    put(&c, crd);
    pass(&c, 2000);
    expect(&c, "example.com/v1", "Thing", "default", "first", "{.status.state}", "ready");
    expect(&c, "example.com/v1", "Thing", "default", "second", "{.status.state}{.status.x}",
           "readyy");
    cluster_close(&c);
}

static void a_rule_that_never_settles_is_stopped(void **state)
{
    (void)state;
    struct cluster c;
    open_with(&c,
              "rule: r\nfor: {apiVersion: v1, kind: ConfigMap, name: a}\n"
              "do: [{patch: {data: {num: '{{ add1 (default \"0\" (default dict .object.data).num) "
              "}}'}}}]\n");
    sw_log_set_level(SW_LOG_ERROR);
    map(&c, "a", "");
    pass(&c, 100);
    SW_AUTO_CHARS *n = see(get(&c, "v1", "ConfigMap", "default", "a"), "{.data.num}");
    assert_true(strtol(n, NULL, 10) > 100 && strtol(n, NULL, 10) < 400);
    sw_log_set_level(SW_LOG_INFO);
    cluster_close(&c);
}

static void a_file_of_the_users_replaces_a_built_in_one(void **state)
{
    (void)state;
    struct cluster c;
    SW_ERR(err);
    char folder[] = "/tmp/slipway-rules-XXXXXX";
    assert_non_null(mkdtemp(folder));
    SW_AUTO_CHARS *file = sw_printf("%s/namespaces.yaml", folder);
    const char *text = "# none of that here\n";
    assert_int_equal(sw_file_write(file, text, strlen(text), &err), 0);
    cluster_open(&c, &(struct sw_emulator_opts){ .rules_dir = folder }, NULL);
    put(&c, "{apiVersion: v1, kind: Namespace, metadata: {name: mine}}");
    settle(&c);
    assert_null(get(&c, "v1", "ServiceAccount", "mine", "builder"));
    cluster_close(&c);
    (void)unlink(file);
    (void)rmdir(folder);
}

static void a_bad_file_stops_the_start(void **state)
{
    (void)state;
    SW_ERR(err);
    char folder[] = "/tmp/slipway-rules-XXXXXX";
    struct sw_emulator *emu;
    struct sw_loop *loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    assert_non_null(mkdtemp(folder));
    SW_AUTO_CHARS *file = sw_printf("%s/bad.yaml", folder);
    SW_AUTO_CHARS *want = sw_printf("%s:2: do[0]: unknown key 'pach'", file);
    const char *text = "---\nrule: r\nfor: {apiVersion: v1, kind: Pod}\ndo: [{pach: {}}]\n";
    assert_int_equal(sw_file_write(file, text, strlen(text), &err), 0);
    struct sw_emulator_opts opts = { .rules_dir = folder };
    assert_int_equal(sw_emulator_open(loop, &opts, &emu, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), want);
    opts.rules_dir = "/no/such/folder";
    assert_int_equal(sw_emulator_open(loop, &opts, &emu, &err), SW_NOTFOUND);
    (void)unlink(file);
    (void)rmdir(folder);
    sw_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_for_what_matches),
        cmocka_unit_test(objects_of_two_kinds_may_have_one_name),
        cmocka_unit_test(what_somebody_undoes_is_done_again),
        cmocka_unit_test(nothing_is_written_that_is_so_already),
        cmocka_unit_test(when_and_otherwise_follow_other_objects),
        cmocka_unit_test(what_a_rule_does_not_read_does_not_concern_it),
        cmocka_unit_test(none_and_count_are_about_how_many),
        cmocka_unit_test(a_delay_counts_from_when_it_became_true),
        cmocka_unit_test(delays_can_be_nothing),
        cmocka_unit_test(time_outs_are_as_long_as_the_object_says),
        cmocka_unit_test(what_is_created_is_left_alone_and_owned),
        cmocka_unit_test(each_makes_one_of_each),
        cmocka_unit_test(an_action_has_a_target_and_a_condition),
        cmocka_unit_test(conditions_keep_their_times_and_their_neighbours),
        cmocka_unit_test(kinds_may_come_later),
        cmocka_unit_test(a_rule_that_never_settles_is_stopped),
        cmocka_unit_test(a_file_of_the_users_replaces_a_built_in_one),
        cmocka_unit_test(a_bad_file_stops_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
