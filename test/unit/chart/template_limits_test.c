/* Template sets: definitions, roots, lookup; and the limits that end every execution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chart/template/template.h"

static const char name[] = "c/templates/t.yaml";

static int render_with(const char *text, const struct sw_template_opts *opts,
                       struct sw_template_out *out, struct sw_err *err)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_value root = sw_value_map(sw_map_new(arena));
    int rc = sw_template_add(set, name, text, strlen(text), err);
    return rc < 0 ? rc : sw_template_exec(set, name, root, arena, opts, out, err);
}

static void expect_text(const char *text, const struct sw_template_opts *opts, const char *want)
{
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    if (render_with(text, opts, &out, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_string_equal(out.text ? out.text : "", want);
    sw_template_out_done(&out);
}

static void expect_error(const char *text, const struct sw_template_opts *opts, const char *words)
{
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    assert_int_equal(render_with(text, opts, &out, &err), SW_INVALID);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
    assert_int_equal(out.len, 0);
    sw_template_out_done(&out);
}

/* ---- sets and output ---- */

static void last_definition_wins(void **state)
{
    (void)state;
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    const char *texts[] = { "{{ define \"n\" }}first{{ end }}", "{{ define \"n\" }}second{{ end }}",
                            "{{ define \"n\" }} {{ end }}", "{{ template \"n\" }}" };
    const char *names[] = { "a", "b", "c", "main" };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        assert_int_equal(sw_template_add(set, names[i], texts[i], strlen(texts[i]), &err), 0);
    assert_int_equal(sw_template_exec(set, "main", sw_value_nil(), arena, NULL, &out, &err), 0);
    assert_string_equal(out.text, "second"); /* an empty template replaces no other */
    sw_template_out_done(&out);
}

static void output_is_appended(void **state)
{
    (void)state;
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_template_out out = { 0 };
    const char failing[] = "two{{ fail \"no\" }}";
    SW_ERR(err);
    assert_int_equal(sw_template_add(set, "a", "one ", 4, &err), 0);
    assert_int_equal(sw_template_add(set, "b", failing, strlen(failing), &err), 0);
    assert_int_equal(sw_template_exec(set, "a", sw_value_nil(), arena, NULL, &out, &err), 0);
    assert_int_equal(sw_template_exec(set, "b", sw_value_nil(), arena, NULL, &out, &err),
                     SW_INVALID);
    assert_int_equal(sw_template_exec(set, "a", sw_value_nil(), arena, NULL, &out, &err), 0);
    assert_string_equal(out.text, "one one ");
    sw_template_out_done(&out);
    assert_int_equal(sw_template_exec(set, "none", sw_value_nil(), arena, NULL, &out, &err),
                     SW_NOTFOUND);
    sw_template_out_done(&out);
}

static void order_is_helms(void **state)
{
    (void)state;
    assert_true(sw_template_order("c/charts/s/templates/a", "c/templates/z") < 0);
    assert_true(sw_template_order("c/templates/b", "c/templates/a") < 0);
    assert_true(sw_template_is_partial("c/templates/_h.tpl"));
    assert_false(sw_template_is_partial("c/templates_x/h.tpl"));
}

static void errors_have_helms_words(void **state)
{
    (void)state;
    expect_error("a\n{{ .x.y.z }}", NULL,
                 "template: c/templates/t.yaml:2:5: executing \"c/templates/t.yaml\" at <.x.y.z>: "
                 "nil pointer evaluating interface {}.y");
    expect_error("{{ fail \"stop here\" }}", NULL,
                 "execution error at (c/templates/t.yaml:1:3): stop here");
    expect_error("{{ required \"need x\" .x }}", NULL,
                 "execution error at (c/templates/t.yaml:1:3): need x");
    expect_error("{{ nosuch }}", NULL,
                 "parse error at (c/templates/t.yaml:1): function \"nosuch\" not defined");
}

static void missing_keys(void **state)
{
    (void)state;
    const struct sw_template_opts strict = { .strict = true };
    expect_text("[{{ .none }}]", NULL, "[]");
    expect_error("[{{ .none }}]", &strict, "map has no entry for key \"none\"");
}

/* ---- lookup ---- */

static int find_pod(void *arg, const char *api_version, const char *kind, const char *namespace,
                    const char *pod, struct sw_arena *arena, struct sw_value *out,
                    struct sw_err *err)
{
    struct sw_map *map = sw_map_new(arena);
    if (strcmp(pod, "later") == 0)
        return sw_err_set(err, SW_PENDING, "not there yet");
    if (strcmp(pod, "none") == 0)
        return 0;
    SW_AUTO_CHARS *all = sw_printf("%s %s %s %s", api_version, kind, namespace, pod);
    sw_map_set_cstr(map, "got", sw_value_str(arena, all, strlen(all)));
    *out = sw_value_map(map);
    ++*(int *)arg;
    return 0;
}

static void lookup_asks_the_caller(void **state)
{
    (void)state;
    int calls = 0;
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    const struct sw_template_opts opts = { .lookup = find_pod, .lookup_arg = &calls };
    expect_text("{{ (lookup \"v1\" \"Pod\" \"ns\" \"p\").got }}", &opts, "v1 Pod ns p");
    expect_text("{{ lookup \"v1\" \"Pod\" \"ns\" \"none\" }}", &opts, "map[]");
    expect_text("{{ lookup \"v1\" \"Pod\" \"ns\" \"none\" }}", NULL, "map[]");
    assert_int_equal(calls, 1);
    assert_int_equal(render_with("{{ define \"l\" }}{{ lookup \"v1\" \"Pod\" \"ns\" \"later\" }}{{ "
                                 "end }}a{{ include \"l\" . }}",
                                 &opts, &out, &err),
                     SW_PENDING);
    sw_template_out_done(&out);
}

/* ---- limits ---- */

#define CYCLE "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}"
/* thirty lists, each twice in the next: 2^30 values in 60 elements */
#define WIDE "{{ $d := list 1 }}{{ range until 30 }}{{ $d = list $d $d }}{{ end }}"

static void time_is_limited(void **state)
{
    (void)state;
    const struct sw_template_opts few = { .fuel = 1000 };
    expect_error("{{ range until 100000 }}x{{ end }}", &few, "steps");
    expect_error("{{ $l := until 10000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}", NULL,
                 "steps");
    expect_error("{{ range 1000000000 }}{{ end }}", NULL, "steps");
    expect_text("{{ range until 10 }}x{{ end }}", &few, "xxxxxxxxxx");
}

static void recursion_is_limited(void **state)
{
    (void)state;
    expect_error("{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}", NULL,
                 "exceeded maximum template depth");
    expect_error("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}", NULL,
                 "nested reference");
    expect_error("{{ $_ := set . \"t\" \"{{ tpl .t . }}\" }}{{ tpl .t . }}", NULL,
                 "more than 1000 deep");
}

static void nesting_of_texts_is_limited(void **state)
{
    (void)state;
    enum { N = 200000 };
    SW_AUTO_CHARS *text = sw_zalloc(1, 2 * N + 16);
    memcpy(text, "{{ ", 3);
    memset(text + 3, '(', N);
    expect_error(text, NULL, "c/templates/t.yaml:1");
    SW_AUTO_CHARS *ifs = sw_zalloc(N, 16);
    for (size_t i = 0; i < N; i++)
        memcpy(ifs + i * 11, "{{if true}}", 11);
    expect_error(ifs, NULL, "c/templates/t.yaml");
}

static void output_is_limited(void **state)
{
    (void)state;
    const struct sw_template_opts opts = { .max_output_bytes = 1000 };
    expect_error("{{ range until 2000 }}x{{ end }}", &opts, "larger than 1000 bytes");
    expect_error("{{ repeat 1000000000 \"x\" }}", NULL, "larger than");
    expect_error("{{ until 2147483647 }}", NULL, "c/templates/t.yaml:1");
    expect_error("{{ printf \"%1000000000d\" 1 | len }}{{ indent 2147483647 \"a\\nb\" }}", NULL,
                 "c/templates/t.yaml:1");
}

static void memory_is_limited(void **state)
{
    (void)state;
    const struct sw_template_opts opts = { .max_memory_bytes = 1 << 20 };
    expect_error("{{ $s := \"x\" }}{{ range until 64 }}{{ $s = print $s $s }}{{ end }}", NULL,
                 "c/templates/t.yaml:1");
    expect_error("{{ $l := list }}{{ range until 5000 }}{{ $l = append $l . }}{{ end }}", &opts,
                 "took more than its 1 MiB of memory");
}

/* Each names its file and line before it has taken the memory. */
static void memory_is_counted_before_it_is_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ range until 100000000 }}{{ end }}",
        "{{ seq 100000000 }}",
        "{{ $l := list 1 2 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}",
        "{{ $l := list 1 2 }}{{ range until 40 }}{{ $l = chunk 1 (concat $l $l) }}{{ end }}",
        "{{ splitList \",\" (repeat 7000000 \"a,\") }}",
        "{{ split \",\" (repeat 7000000 \"a,\") }}",
        "{{ regexSplit \",\" (repeat 7000000 \"a,\") -1 }}",
        "{{ fromYamlArray (repeat 2000000 \"- a\\n\") }}",
        "{{ fromJsonArray (printf \"[%s1]\" (repeat 2000000 \"[],\")) }}",
        "{{ fromToml (repeat 500000 \"[[a]]\\n\") }}",
        "{{ tpl (repeat 400000 \"{{.a}}\") . }}",
        "{{ regexMatch (repeat 10000 \"(a)\") \"a\" }}",
        "{{ shuffle (repeat 7000000 \"a\") }}",
        "{{ randBytes 8000000 }}",
        "{{ $d := dict }}{{ range until 100000 }}{{ $_ := set $d (toString .) . }}"
        "{{ $d = deepCopy $d }}{{ end }}",
    };
    const struct sw_template_opts opts = { .max_memory_bytes = 6 << 20 };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_AUTO_CHARS *text = sw_printf("{{ $_ := set . \"Template\" (dict \"Name\" \"n\" "
                                        "\"BasePath\" \"b\") }}%s",
                                        texts[i]);
        SW_AUTO(sw_template_set) *set = sw_template_set_new();
        SW_AUTO(sw_arena) *arena = sw_arena_new();
        struct sw_template_out out = { 0 };
        SW_ERR(err);
        assert_int_equal(sw_template_add(set, name, text, strlen(text), &err), 0);
        int rc = sw_template_exec(set, name, sw_value_map(sw_map_new(arena)), arena, &opts, &out,
                                  &err);
        sw_template_out_done(&out);
        if (rc != SW_INVALID || !strstr(sw_err_text(&err), "c/templates/t.yaml:1:") ||
            !strstr(sw_err_text(&err), "took more than its 6 MiB of memory"))
            fail_msg("%s: %d %s", texts[i], rc, sw_err_text(&err));
        if (sw_arena_used(arena) > opts.max_memory_bytes + (1 << 20))
            fail_msg("%s: took %zu bytes", texts[i], sw_arena_used(arena));
    }
    expect_error("{{ splitList \",\" (repeat 30000000 \"a,\") }}", NULL, "larger than");
}

/* What was in the arena before counts as its owner has it. */
static void memory_of_the_arena_counts(void **state)
{
    (void)state;
    static const char text[] = "a{{ print 1 }}";
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    assert_int_equal(sw_template_add(set, name, text, strlen(text), &err), 0);
    (void)sw_arena_alloc(arena, 1 << 20);
    assert_int_equal(sw_template_exec(set, name, sw_value_nil(), arena, NULL, &out, &err), 0);
    sw_arena_limit(arena, 1 << 20);
    assert_int_equal(sw_template_exec(set, name, sw_value_nil(), arena, NULL, &out, &err),
                     SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "of memory"));
    sw_template_out_done(&out);
}

static void values_from_outside_are_limited(void **state)
{
    (void)state;
    enum { N = 2 << 20 };
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    SW_AUTO_CHARS *text = sw_zalloc(4, N);
    struct sw_value v;
    SW_ERR(err);
    for (size_t i = 0; i < N; i++)
        memcpy(text + 4 * i, "- 1\n", 4);
    assert_int_equal(sw_value_from_yaml(arena, "values.yaml", text, (size_t)4 * N, &v, &err),
                     SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "values.yaml:"));
    assert_non_null(strstr(sw_err_text(&err), "more memory than they may"));
    assert_true(sw_arena_used(arena) <= SW_VALUES_BYTES);
}

/* Work that one call does is paid in steps, before it is done. */
static void work_of_functions_takes_steps(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ genPrivateKey \"rsa\" }}",
        "{{ genPrivateKey \"dsa\" }}",
        "{{ genCA \"a\" 1 }}",
        "{{ genSelfSignedCert \"a\" nil nil 1 }}",
        "{{ bcrypt \"a\" }}",
        "{{ htpasswd \"a\" \"b\" }}",
        "{{ derivePassword 1 \"long\" \"a\" \"b\" \"c\" }}",
        "{{ regexFindAll \"[ab]*c|a\" (repeat 2000 \"a\") -1 | len }}",
        "{{ fromYaml (repeat 80000 \"{\") | len }}",
        "{{ fromJson (repeat 80000 \"[\") | len }}",
        "{{ $l := list 1 2 }}{{ range until 14 }}{{ $l = concat $l $l }}{{ end }}"
        "{{ range until 10 }}{{ $_ := has 3 $l }}{{ end }}",
        "{{ $l := list 1 2 }}{{ range until 14 }}{{ $l = concat $l $l }}{{ end }}{{ uniq $l | len "
        "}}"
        "{{ range until 10 }}{{ $_ := deepEqual $l (concat $l list) }}{{ end }}",
        "{{ range until 200 }}{{ $_ := repeat 10000 \"a\" | len }}{{ end }}",
        WIDE "{{ toString $d | len }}",
    };
    const struct sw_template_opts opts = { .fuel = 20000, .max_output_bytes = 4 << 20 };
    for (size_t i = 0; i + 1 < SW_COUNT(texts); i++)
        expect_error(texts[i], &opts, "took more than its 20000 steps");
    expect_error(texts[SW_COUNT(texts) - 1], &opts, "c/templates/t.yaml:1:");
}

/* Each template calls the next one twice: 2^30 calls. */
static void calls_of_templates_take_steps(void **state)
{
    (void)state;
    const struct sw_template_opts opts = { .fuel = 20000 };
    SW_AUTO_CHARS *text = sw_strdup("{{ define \"0\" }}{{ end }}{{ template \"30\" }}");
    for (int i = 1; i <= 30; i++) {
        char *more = sw_printf("{{ define \"%d\" }}{{ template \"%d\" }}{{ template \"%d\" }}"
                               "{{ end }}%s",
                               i, i - 1, i - 1, text);
        free(text);
        text = more;
    }
    expect_error(text, &opts, "took more than its 20000 steps");
}

static void steps_are_shared(void **state)
{
    (void)state;
    uint64_t left = 1000;
    const struct sw_template_opts opts = { .fuel = 1000, .fuel_left = &left };
    expect_text("{{ range until 100 }}{{ end }}", &opts, "");
    assert_true(left > 0 && left < 900);
    expect_error("{{ range until 900 }}{{ end }}", &opts, "took more than its 1000 steps");
    assert_int_equal(left, 0);
    expect_error("{{ print 1 }}", &opts, "took more than its 1000 steps");
}

static void nesting_of_yaml_is_limited(void **state)
{
    (void)state;
    expect_text("{{ (fromYaml (repeat 80000 \"{\")).Error }}", NULL,
                "error converting YAML to JSON: yaml: exceeded max depth of 1000");
    expect_text("{{ (fromYaml (repeat 80000 \"[\")).Error }}", NULL,
                "error converting YAML to JSON: yaml: exceeded max depth of 1000");
}

static void values_within_themselves(void **state)
{
    (void)state;
    const struct sw_template_opts opts = { .max_output_bytes = 1 << 20,
                                           .max_memory_bytes = 4 << 20 };
    static const char *const failing[] = {
        CYCLE "{{ $d }}",
        CYCLE "{{ deepCopy $d | len }}",
        CYCLE "{{ printf \"%v\" $d }}",
        CYCLE "{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ merge $d $e | len }}",
        WIDE "{{ $d }}",
        WIDE "{{ deepCopy $d | len }}",
        WIDE "{{ toString $d | len }}",
    };
    for (size_t i = 0; i < SW_COUNT(failing); i++)
        expect_error(failing[i], &opts, "c/templates/t.yaml:1");
    static const char *const ending[] = {
        CYCLE "{{ toYaml $d | trunc 0 }}",
        CYCLE "{{ toJson $d | trunc 0 }}",
        CYCLE "{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ if deepEqual $d $e }}{{ end }}",
        CYCLE "{{ if has $d (list $d) }}{{ end }}",
    };
    for (size_t i = 0; i < SW_COUNT(ending); i++) {
        struct sw_template_out out = { 0 };
        SW_ERR(err);
        (void)render_with(ending[i], &opts, &out, &err); /* success or failure: it ends */
        sw_template_out_done(&out);
    }
}

static void expressions_do_not_explode(void **state)
{
    (void)state;
    expect_text("{{ regexMatch \"^(a+)+$\" (print (repeat 5000 \"a\") \"b\") }}", NULL, "false");
    expect_text("{{ regexMatch \"(x+x+)+y\" (repeat 3000 \"x\") }}", NULL, "false");
    expect_text("{{ regexMatch \"((a{0,100}){0,100}){0,100}\" \"a\" }}", NULL, "false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_definition_wins),
        cmocka_unit_test(output_is_appended),
        cmocka_unit_test(order_is_helms),
        cmocka_unit_test(errors_have_helms_words),
        cmocka_unit_test(missing_keys),
        cmocka_unit_test(lookup_asks_the_caller),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(recursion_is_limited),
        cmocka_unit_test(nesting_of_texts_is_limited),
        cmocka_unit_test(output_is_limited),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(memory_is_counted_before_it_is_taken),
        cmocka_unit_test(memory_of_the_arena_counts),
        cmocka_unit_test(values_from_outside_are_limited),
        cmocka_unit_test(work_of_functions_takes_steps),
        cmocka_unit_test(calls_of_templates_take_steps),
        cmocka_unit_test(steps_are_shared),
        cmocka_unit_test(nesting_of_yaml_is_limited),
        cmocka_unit_test(values_within_themselves),
        cmocka_unit_test(expressions_do_not_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
