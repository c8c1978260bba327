#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/yaml/yaml_quick.h"

/* That the events are right is compared with libyaml's by the fuzz target and its corpus. */
static bool is_taken(const char *text)
{
    struct sw_yaml_event *events;
    size_t n;
    char *bytes;
    if (!sw_yaml_quick(text, strlen(text), 1, &events, &n, &bytes))
        return false;
    assert_int_equal(events[n - 1].type, YAML_STREAM_END_EVENT);
    free(events);
    free(bytes);
    return true;
}

static void ordinary_text_is_taken(void **state SW_UNUSED)
{
    static const char *const texts[] = {
        "",
        "# nothing\n",
        "a: 1\nb:\n  c: [x, \"y\"]\n  d: {}\n",
        "apiVersion: v1\nkind: List\nitems:\n- a: 'b'\n  c: |-\n    text\n\n    more\n- d\n",
        "---\n# Source: x\na: b\n---\nc: d # why\n",
        "# \xe2\x80\x9cwide\xe2\x80\x9d\n\xc3\xa4: \xc3\xb6 # \xc3\xbc\n",
        "a: # why\n  # more\n  b: c\nd: ### no value\ne:\n- # an item\n  f\n- # none\n",
        "\"quoted key\": \"with \\\"escapes\\\" and\\n\"\n",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        if (!is_taken(texts[i]))
            fail_msg("not taken: %s", texts[i]);
}

static void what_is_out_of_the_ordinary_or_wrong_is_left(void **state SW_UNUSED)
{
    static const char *const texts[] = {
        "a: &x 1\nb: *x\n",   "<<: {a: b}\n",   "a: !!str 1\n",    "a: >-\n  folded\n",
        "a: one\n  two\n",    "? a\n: b\n",     "a:\tb\n",         "a: \xc2\x85\n",
        "a: b: c\n",          "a: [b,\n  c]\n", "a: \"b\n  c\"\n", "a: |2\n  b\n",
        "- a\nb: c\n",        "a: b\n c: d\n",  "a: {b:}\n",       "a: \"\\x41\"\n",
        "%YAML 1.1\n---\n",   "--- a\n",        "a: b\n...\n",     "a: [b, ?]\n",
        "a: |\n     \n  b\n",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        if (is_taken(texts[i]))
            fail_msg("taken: %s", texts[i]);
}

static void places_are_those_of_the_file(void **state SW_UNUSED)
{
    struct sw_yaml_event *events;
    size_t n;
    char *bytes;
    const char *text = "# a\na:\n  - b\n";
    assert_true(sw_yaml_quick(text, strlen(text), 10, &events, &n, &bytes));
    assert_string_equal(events[4].text, "b");
    assert_int_equal(events[4].place.line, 12);
    assert_int_equal(events[4].place.column, 5);
    free(events);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_text_is_taken),
        cmocka_unit_test(what_is_out_of_the_ordinary_or_wrong_is_left),
        cmocka_unit_test(places_are_those_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
