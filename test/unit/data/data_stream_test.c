/* Lists, watches and objects read as their bytes arrive, by projections. */
#include "data/json/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/buffer.h"

static struct sw_projection *compile(const char *path, ...)
{
    const char *paths[16] = { path };
    size_t n = 1;
    va_list ap;
    va_start(ap, path);
    while ((paths[n] = va_arg(ap, const char *)))
        n++;
    va_end(ap);
    struct sw_projection *p = NULL;
    SW_ERR(err);
    if (sw_projection_compile(paths, n, &p, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return p;
}

/* Each item's type and text, one a line. */
static int collect(void *arg, const char *type, struct json_object *object, struct sw_err *err)
{
    (void)err;
    struct sw_buffer *out = arg;
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(object, SW_JSON_PLAIN, &len);
    if (type) {
        sw_buffer_put(out, type, strlen(type));
        sw_buffer_char(out, ' ');
    }
    sw_buffer_put(out, text, len);
    sw_buffer_char(out, '\n');
    return 0;
}

/* Feed @text in pieces of @step bytes. @return what came out; the caller's */
static char *run_steps(const struct sw_stream_opts *opts, const char *text, size_t step,
                       struct sw_stream **keep, int *code, struct sw_err *err)
{
    struct sw_buffer out = { 0 };
    struct sw_stream *s = sw_stream_new(opts, collect, &out);
    size_t len = strlen(text);
    int rc = 0;
    for (size_t at = 0; at < len && rc == 0; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *exact = malloc(n);
        memcpy(exact, text + at, n);
        rc = sw_stream_feed(s, exact, n, err);
        free(exact);
    }
    if (rc == 0)
        rc = sw_stream_end(s, err);
    *code = rc;
    if (keep)
        *keep = s;
    else
        sw_stream_free(s);
    return sw_buffer_take(&out, NULL);
}

static void check(const struct sw_stream_opts *opts, const char *text, const char *want)
{
    static const size_t steps[] = { 1, 2, 3, 7, 64, 100000 };
    for (size_t i = 0; i < SW_COUNT(steps); i++) {
        SW_ERR(err);
        int rc;
        SW_AUTO_CHARS *got = run_steps(opts, text, steps[i], NULL, &rc, &err);
        if (rc < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(got, want);
    }
}

static const char node_list[] =
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"42\","
    "\"continue\":"
    "\"tok\"},\"items\":[{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a/b\":\"c\",\"d\":\"e\"},"
    "\"managedFields\":[{\"f\":{\"x\":[1,2,{\"y\":null}]}}]},\"spec\":{\"taints\":[{\"key\":\"k\","
    "\"effect\":"
    "\"NoSchedule\"},{\"key\":\"l\"}]},\"status\":{\"nodeInfo\":{\"kernelVersion\":\"4.18\","
    "\"osImage\":"
    "\"\\u00e9\\n\"},\"n\":1.50,\"images\":[{\"names\":[\"x\"]}]}},{\"metadata\":{\"name\":\"n2\"}}"
    "]}";

static void keeps_the_wanted_fields_of_each_item(void **state)
{
    (void)state;
    SW_AUTO(sw_projection) *p = compile("metadata.name", "metadata.labels", "spec.taints[*].key",
                                        "status.nodeInfo.kernelVersion", "status.n", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .projection = p };
    check(&opts, node_list,
          "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a/"
          "b\":\"c\",\"d\":\"e\"}},\"spec\":{\"taints\":[{"
          "\"key\":\"k\"},{\"key\":\"l\"}]},\"status\":{\"nodeInfo\":{\"kernelVersion\":\"4.18\"},"
          "\"n\":"
          "1.50}}\n{\"metadata\":{\"name\":\"n2\"}}\n");
}

static void leaves_out_what_is_not_wanted(void **state)
{
    (void)state;
    SW_AUTO(sw_projection) *p = compile("!metadata.managedFields", "!status", "!spec", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .projection = p };
    check(&opts, node_list,
          "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a/b\":\"c\",\"d\":\"e\"}}}\n"
          "{\"metadata\":{\"name\":\"n2\"}}\n");
    SW_AUTO(sw_projection) *q = compile("metadata", "!metadata.labels", "!metadata.managedFields",
                                        NULL);
    const struct sw_stream_opts both = { .kind = SW_STREAM_LIST, .projection = q };
    check(&both, node_list, "{\"metadata\":{\"name\":\"n1\"}}\n{\"metadata\":{\"name\":\"n2\"}}\n");
}

static void without_a_projection_items_are_whole(void **state)
{
    (void)state;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST };
    check(&opts, "{\"items\":[{\"a\":[1,{\"b\":[]}],\"c\":{}},{}],\"kind\":\"XList\"}",
          "{\"a\":[1,{\"b\":[]}],\"c\":{}}\n{}\n");
    check(&opts, "{\"items\":null,\"kind\":\"XList\"}", "");
    check(&opts, "{\"items\":[]}", "");
}

static void keys_may_be_quoted_or_escaped(void **state)
{
    (void)state;
    static const char text[] = "{\"items\":[{\"metadata\":{\"annotations\":{\"a.b/"
                               "c\":\"1\",\"d.e\":\"2\",\"f\":\"3\"}}}]}";
    SW_AUTO(sw_projection) *p = compile("metadata.annotations['a.b/c']",
                                        "metadata.annotations.d\\.e", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .projection = p };
    check(&opts, text, "{\"metadata\":{\"annotations\":{\"a.b/c\":\"1\",\"d.e\":\"2\"}}}\n");
}

static void fields_of_another_shape_are_left_out(void **state)
{
    (void)state;
    SW_AUTO(sw_projection) *p = compile("a.b", "c.d.e", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .projection = p };
    check(&opts,
          "{\"items\":[{\"a\":1,\"c\":{\"d\":{\"x\":1}}},{\"a\":[1,{\"b\":2},[{\"b\":3}]]}]}",
          "{}\n{\"a\":[{\"b\":2},[{\"b\":3}]]}\n");
}

static void gives_the_lists_metadata(void **state)
{
    (void)state;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST };
    struct sw_stream *s;
    SW_ERR(err);
    int rc;
    SW_AUTO_CHARS *got = run_steps(&opts, node_list, 5, &s, &rc, &err);
    assert_int_equal(rc, 0);
    assert_string_equal(sw_stream_resource_version(s), "42");
    assert_string_equal(sw_stream_continue(s), "tok");
    sw_stream_free(s);
}

static void reads_the_events_of_a_watch(void **state)
{
    (void)state;
    SW_AUTO(sw_projection) *p = compile("metadata.name", "metadata.resourceVersion", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_WATCH, .projection = p };
    check(&opts,
          "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"uid\":\"x\"},\"spec\":{"
          "\"a\":1}}}\n"
          "{\"object\":{\"metadata\":{\"name\":\"b\"}},\"type\":\"DELETED\"}\n\n"
          "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}"
          "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"details\":{\"x\":[]}}"
          "}\n",
          "ADDED {\"metadata\":{\"name\":\"a\"}}\n"
          "DELETED {\"metadata\":{\"name\":\"b\"}}\n"
          "BOOKMARK {\"metadata\":{\"resourceVersion\":\"9\"}}\n"
          "ERROR {\"kind\":\"Status\",\"code\":410,\"details\":{\"x\":[]}}\n");
    check(&opts, "", "");
    check(&opts, "{\"type\":\"ADDED\",\"object\":null}", "ADDED null\n");
}

static void reads_one_object(void **state)
{
    (void)state;
    SW_AUTO(sw_projection) *p = compile("kind", "data.a", NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_OBJECT, .projection = p };
    check(&opts, "{\"kind\":\"X\",\"data\":{\"a\":{\"b\":[1]},\"c\":2},\"items\":[{}]}\n",
          "{\"kind\":\"X\",\"data\":{\"a\":{\"b\":[1]}}}\n");
    const struct sw_stream_opts whole = { .kind = SW_STREAM_OBJECT };
    check(&whole, "{\"type\":1,\"object\":[],\"items\":[{}]}",
          "{\"type\":1,\"object\":[],\"items\":[{}]}\n");
}

static void check_error(enum sw_stream_kind kind, const char *text, int code, const char *want)
{
    static const size_t steps[] = { 1, 100000 };
    for (size_t i = 0; i < SW_COUNT(steps); i++) {
        const struct sw_stream_opts opts = { .kind = kind, .max_item_bytes = 4096 };
        SW_ERR(err);
        int rc;
        SW_AUTO_CHARS *got = run_steps(&opts, text, steps[i], NULL, &rc, &err);
        assert_int_equal(rc, code);
        if (!strstr(sw_err_text(&err), want))
            fail_msg("%s: want %s, got %s", text, want, sw_err_text(&err));
    }
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    check_error(SW_STREAM_LIST, "", SW_UNAVAILABLE, "cut off after 0 bytes");
    check_error(SW_STREAM_LIST, "{\"items\":[{\"a\":1},", SW_UNAVAILABLE, "cut off after 18 bytes");
    check_error(SW_STREAM_LIST, "[]", SW_INVALID, "at byte 1: an object was expected, not a list");
    check_error(SW_STREAM_LIST, "null", SW_INVALID, "an object was expected");
    check_error(SW_STREAM_LIST, "{\"items\":{}}", SW_INVALID, "items: a list was expected");
    check_error(SW_STREAM_LIST, "{\"items\":3}", SW_INVALID, "items: a list was expected");
    check_error(SW_STREAM_LIST, "{\"items\":[3]}", SW_INVALID, "items: an object was expected");
    check_error(SW_STREAM_LIST, "{\"items\":[[]]}", SW_INVALID, "items: an object was expected");
    check_error(SW_STREAM_LIST, "{\"items\":[]} x", SW_INVALID,
                "at byte 14: expected nothing more, not 'x'");
    check_error(SW_STREAM_LIST, "<html>", SW_INVALID, "at byte 1: expected a value, not '<'");
    check_error(SW_STREAM_WATCH, "{\"object\":{}}", SW_INVALID, "an event without a type");
    check_error(SW_STREAM_WATCH, "{\"type\":\"A\",\"object\":3}", SW_INVALID,
                "object: a map was expected");
    check_error(SW_STREAM_WATCH, "{\"type\":\"A\",\"object\":{", SW_UNAVAILABLE, "cut off");
    check_error(SW_STREAM_OBJECT, "", SW_UNAVAILABLE, "cut off");
}

static void depth_and_size_are_bounded(void **state)
{
    (void)state;
    char text[8000];
    int n = sprintf(text, "{\"items\":[{\"a\":");
    memset(text + n, '[', 600);
    text[n + 600] = '\0';
    check_error(SW_STREAM_LIST, text, SW_INVALID, "nested more than 512 levels deep");
    n = sprintf(text, "{\"items\":[{\"a\":\"");
    memset(text + n, 'x', 6000);
    text[n + 6000] = '\0';
    check_error(SW_STREAM_LIST, text, SW_INVALID, "an object of more than 4096 bytes");
}

static void many_small_items_are_not_too_long(void **state)
{
    (void)state;
    struct sw_buffer list = { 0 };
    sw_buffer_put(&list, "{\"items\":[{}", 12);
    for (int i = 0; i < 3000; i++)
        sw_buffer_put(&list, ",{\"a\":1}", 8);
    sw_buffer_put(&list, "]}", 2);
    SW_AUTO_CHARS *text = sw_buffer_take(&list, NULL);
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .max_item_bytes = 100 };
    SW_ERR(err);
    int rc;
    SW_AUTO_CHARS *got = run_steps(&opts, text, 50, NULL, &rc, &err);
    assert_int_equal(rc, 0);
}

static int refuse(void *arg, const char *type, struct json_object *object, struct sw_err *err)
{
    (void)type;
    (void)object;
    ++*(int *)arg;
    return sw_err_set(err, SW_CANCELED, "enough");
}

static void an_error_of_the_callback_ends_it(void **state)
{
    (void)state;
    int n = 0;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST };
    SW_AUTO(sw_stream) *s = sw_stream_new(&opts, refuse, &n);
    static const char text[] = "{\"items\":[{},{}]}";
    for (int i = 0; i < 2; i++) {
        SW_ERR(err);
        assert_int_equal(sw_stream_feed(s, text, strlen(text), &err), SW_CANCELED);
        assert_string_equal(sw_err_text(&err), "enough");
    }
    SW_ERR(err);
    assert_int_equal(sw_stream_end(s, &err), SW_CANCELED);
    assert_int_equal(n, 1);
}

static int keep(void *arg, const char *type, struct json_object *object, struct sw_err *err)
{
    (void)type;
    (void)err;
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

static void items_may_be_kept(void **state)
{
    (void)state;
    SW_AUTO_JSON *kept = NULL;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST };
    struct sw_stream *s = sw_stream_new(&opts, keep, &kept);
    SW_ERR(err);
    assert_int_equal(sw_stream_feed(s, "{\"items\":[{\"a\":1}]}", 19, &err), 0);
    sw_stream_free(s);
    assert_int_equal(sw_json_int(kept, 0, "a", NULL), 1);
}

static void projects_documents_the_same_way(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *list = NULL;
    assert_int_equal(sw_json_parse(node_list, strlen(node_list), NULL, &list, &err), 0);
    SW_AUTO(sw_projection) *some = compile("metadata.name", "spec.taints.key",
                                           "status.nodeInfo.kernelVersion", NULL);
    SW_AUTO(sw_projection) *without = compile("!metadata.managedFields", "!status.images", NULL);
    SW_AUTO(sw_projection) *other = compile("metadata.name.x", "spec.taints.key.y", NULL);
    struct sw_projection *const all[] = { some, without, other };
    for (size_t i = 0; i < SW_COUNT(all); i++) {
        const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .projection = all[i] };
        struct sw_buffer want = { 0 };
        for (size_t k = 0; k < 2; k++) {
            SW_AUTO_JSON *part = sw_projection_of(all[i],
                                                  sw_json_at(sw_json_get(list, "items"), k));
            (void)collect(&want, NULL, part, NULL);
        }
        SW_AUTO_CHARS *text = sw_buffer_take(&want, NULL);
        check(&opts, node_list, text);
    }
}

static void refuses_what_is_no_path(void **state)
{
    (void)state;
    static const char *const paths[] = { "",     ".",    "!",     "a..b", "a.",     "a[",
                                         "a['b", "a[0]", "a['']", "[*]",  "a['b']c" };
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        SW_ERR(err);
        struct sw_projection *p = NULL;
        if (sw_projection_compile(&paths[i], 1, &p, &err) != SW_INVALID)
            fail_msg("'%s' was accepted", paths[i]);
        assert_null(p);
    }
}

static void reads_an_object_in_pieces(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    struct json_object *none = NULL;
    const struct sw_piece pieces[] = { { "{\"a\":[", 6 }, { "1],\"b\":2}", 9 } };
    assert_int_equal(sw_stream_read_object(NULL, pieces, 2, &doc, &err), 0);
    assert_string_equal(json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PLAIN),
                        "{\"a\":[1],\"b\":2}");
    assert_int_equal(sw_stream_read_object(NULL, pieces, 1, &none, &err), SW_INVALID);
    assert_null(none);
}

/* A text of 1 MiB may be a tree of 200: what is left says which object it was. */
static void strips_an_object_that_takes_too_much(void **state)
{
    (void)state;
    static const char head[] = "{\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{"
                               "\"finalizers\":[",
                      tail[] =
                          "\"x\"],\"name\":\"n\",\"uid\":\"u\",\"labels\":{\"name\":\"no\"},"
                          "\"resourceVersion\":\"7\"},\"spec\":{\"name\":\"no\"}},{\"metadata\":"
                          "{\"name\":\"m\"},\"spec\":{}}]}";
    const struct sw_stream_opts opts = { .kind = SW_STREAM_LIST, .max_tree_bytes = 20000 };
    struct sw_buffer text = { 0 };
    sw_buffer_put(&text, head, strlen(head));
    for (int i = 0; i < 400; i++)
        sw_buffer_put(&text, "\"a/b\",", 6);
    sw_buffer_put(&text, tail, strlen(tail));
    SW_AUTO_CHARS *all = sw_buffer_take(&text, NULL);
    check(&opts, all,
          "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\","
          "\"resourceVersion\":\"7\"},\"\\u0001stripped\":true}\n"
          "{\"metadata\":{\"name\":\"m\"},\"spec\":{}}\n");
    const struct sw_stream_opts any = { .kind = SW_STREAM_LIST };
    SW_ERR(err);
    int rc;
    SW_AUTO_CHARS *whole = run_steps(&any, all, 100000, NULL, &rc, &err);
    assert_int_equal(rc, 0);
    assert_true(strlen(whole) > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_wanted_fields_of_each_item),
        cmocka_unit_test(leaves_out_what_is_not_wanted),
        cmocka_unit_test(without_a_projection_items_are_whole),
        cmocka_unit_test(keys_may_be_quoted_or_escaped),
        cmocka_unit_test(fields_of_another_shape_are_left_out),
        cmocka_unit_test(gives_the_lists_metadata),
        cmocka_unit_test(reads_the_events_of_a_watch),
        cmocka_unit_test(reads_one_object),
        cmocka_unit_test(reads_an_object_in_pieces),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(many_small_items_are_not_too_long),
        cmocka_unit_test(an_error_of_the_callback_ends_it),
        cmocka_unit_test(items_may_be_kept),
        cmocka_unit_test(projects_documents_the_same_way),
        cmocka_unit_test(refuses_what_is_no_path),
        cmocka_unit_test(strips_an_object_that_takes_too_much),
    };
    return cmocka_run_group_tests_name("data_stream", tests, NULL, NULL);
}
