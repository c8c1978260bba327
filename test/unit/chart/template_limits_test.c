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
    expect_error("{{ range until 10000 }}{{ range until 10000 }}{{ end }}{{ end }}", NULL, "steps");
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
                 "bytes of memory");
}

static void values_within_themselves(void **state)
{
    (void)state;
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
        expect_error(failing[i], NULL, "c/templates/t.yaml:1");
    static const char *const ending[] = {
        CYCLE "{{ toYaml $d | trunc 0 }}",
        CYCLE "{{ toJson $d | trunc 0 }}",
        CYCLE "{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ if deepEqual $d $e }}{{ end }}",
        CYCLE "{{ if has $d (list $d) }}{{ end }}",
    };
    for (size_t i = 0; i < SW_COUNT(ending); i++) {
        struct sw_template_out out = { 0 };
        SW_ERR(err);
        (void)render_with(ending[i], NULL, &out, &err); /* success or failure: it ends */
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
        cmocka_unit_test(values_within_themselves),
        cmocka_unit_test(expressions_do_not_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
