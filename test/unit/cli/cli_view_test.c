/* What run and status show, in the widths and styles of terminals and of files. */
#include "cli/view/explain.h"
#include "cli/view/report.h"
#include "cli/view/text.h"

#include "data/data.h"
#include "unit/data/data_util.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATUS                                                                                     \
    "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":\"Progressing\","        \
    "\"status\":\"True\",\"message\":\"Working on: nfd\"}],\"states\":["                           \
    "{\"name\":\"cert-manager\",\"phase\":\"Ready\",\"needs\":[],\"objects\":{\"ready\":3,"        \
    "\"total\":3},\"nodes\":{\"labelled\":4,\"total\":4},\"startedAt\":\"1970-01-01T00:00:01Z\","  \
    "\"readyAt\":\"1970-01-01T00:00:03Z\"},"                                                       \
    "{\"name\":\"nfd\",\"phase\":\"Waiting\",\"class\":\"Waiting\",\"needs\":[],\"objects\":{"     \
    "\"ready\":1,\"total\":2},\"nodes\":{\"labelled\":0,\"total\":4},\"startedAt\":"               \
    "\"1970-01-01T00:00:01Z\",\"message\":\"DaemonSet nfd/worker: 1 of 4 pods ready\"},"           \
    "{\"name\":\"gpu-operator\",\"phase\":\"Pending\",\"needs\":[\"nfd\"],\"objects\":{"           \
    "\"ready\":0,\"total\":5},\"message\":\"needs nfd\"}]}"
#define NODES                                                                                      \
    "[{\"name\":\"cpu-1\",\"labels\":{\"a\":\"b\"}},{\"name\":\"gpu-1\",\"labels\":{"              \
    "\"specialresource.openshift.io/state-mig-cert-manager\":\"Ready\","                           \
    "\"specialresource.openshift.io/state-mig-other-nfd\":\"Ready\"}}]"

static struct sw_report report(const char *status)
{
    return (struct sw_report){ .name = "mig",
                               .status = parse(status),
                               .nodes = parse(NODES),
                               .started_ms = 1000,
                               .now_ms = 6500 };
}

static void done(struct sw_report *r)
{
    json_object_put(r->status);
    json_object_put(r->nodes);
}

static void assert_line(const char *text, const char *want)
{
    if (!strstr(text, want))
        fail_msg("no '%s' in:\n%s", want, text);
}

static void frame_has_one_line_a_state(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    SW_AUTO_CHARS *text = sw_report_frame(&r, &(struct sw_style){ 0 });
    assert_string_equal(
        text,
        "mig  Progressing  ######..............  1/3 states  5.5s\n"
        "+ cert-manager  Ready    objects 3/3    nodes 4/4      2s\n"
        "> nfd           Waiting  objects 1/2    nodes 0/4      5s      DaemonSet nfd/worker: 1 of "
        "4 pods ready\n"
        "  gpu-operator  Pending  objects 0/5    nodes -        -\n");
    done(&r);
}

/* It was Ready for 2 s, and is not since one. */
static void what_is_not_ready_any_more_shows_since_when(void **state)
{
    (void)state;
    struct sw_report r = report(
        "{\"states\":[{\"name\":\"nfd\",\"phase\":\"Waiting\",\"needs\":[],\"objects\":{"
        "\"ready\":1,\"total\":2},\"startedAt\":\"1970-01-01T00:00:01Z\",\"readyAt\":"
        "\"1970-01-01T00:00:03Z\",\"since\":\"1970-01-01T00:00:05Z\"}]}");
    r.now_ms = 65000;
    SW_AUTO_CHARS *text = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(text, "nfd    Waiting  1/2      0/0      1m00s\n");
    done(&r);
}

static int width_of(const char *line, size_t len)
{
    int width = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '\033')
            while (line[i] != 'm')
                i++;
        else if (((unsigned char)line[i] & 0xc0) != 0x80)
            width++;
    }
    return width;
}

static void lines_never_exceed_the_width(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    for (int width = 1; width < 130; width++) {
        struct sw_style style = { .width = width, .colour = width % 2, .utf8 = width % 3 };
        SW_AUTO_CHARS *frame = sw_report_frame(&r, &style);
        SW_AUTO_CHARS *tables = sw_report_tables(&r, &style);
        const char *texts[] = { frame, tables };
        for (size_t t = 0; t < 2; t++)
            for (const char *at = texts[t]; *at; at += strcspn(at, "\n") + 1)
                assert_true(width_of(at, strcspn(at, "\n")) <= width);
    }
    done(&r);
}

/* On 80 columns the cause goes below the state that has it, whole; as far as there is room. */
static void a_long_message_has_lines_of_its_own(void **state)
{
    (void)state;
    struct sw_report r = report(
        "{\"states\":[{\"name\":\"nfd\",\"phase\":\"Waiting\",\"startedAt\":\"1970-01-01T00:00:"
        "01Z\",\"message\":"
        "\"DaemonSet nfd/worker 0 of 4 pods are ready; pod worker-1 on node gpu-0: container main: "
        "ImagePullBackOff: Back-off pulling image registry.invalid/nfd:1\"},"
        "{\"name\":\"driver\",\"phase\":\"Failed\",\"class\":\"Failed\",\"startedAt\":\"1970-01-"
        "01T00:00:01Z\","
        "\"message\":\"Job driver/build BackoffLimitExceeded; the end of its log: Unable to find a "
        "match: kernel-devel\"}]}");
    SW_AUTO_CHARS *text = sw_report_frame(&r, &(struct sw_style){ .width = 80, .height = 24 });
    assert_line(text,
                "> nfd     Waiting  objects 0/0    nodes 0/0      5s\n"
                "    DaemonSet nfd/worker 0 of 4 pods are ready; pod worker-1 on node gpu-0:\n"
                "      container main: ImagePullBackOff: Back-off pulling image\n"
                "      registry.invalid/nfd:1\n"
                "x driver  Failed   objects 0/0    nodes 0/0      5s\n"
                "    Job driver/build BackoffLimitExceeded; the end of its log: Unable to find a\n"
                "      match: kernel-devel\n");
    SW_AUTO_CHARS *small = sw_report_frame(&r, &(struct sw_style){ .width = 80, .height = 6 });
    assert_line(small, "      match: kernel-devel\n"); /* what has failed first */
    assert_line(small,
                "    DaemonSet nfd/worker 0 of 4 pods are ready; pod worker-1 on node gpu-0: "
                "con~\n");
    SW_AUTO_CHARS *none = sw_report_frame(&r, &(struct sw_style){ .width = 80, .height = 3 });
    assert_line(none, "5s      Job driver/b");
    done(&r);
}

static void small_screen_hides_what_is_ready_first(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    SW_AUTO_CHARS *text = sw_report_frame(&r, &(struct sw_style){ .height = 3 });
    assert_null(strstr(text, "cert-manager"));
    assert_line(text, "nfd");
    assert_line(text, "gpu-operator");
    SW_AUTO_CHARS *two = sw_report_frame(&r, &(struct sw_style){ .height = 2 });
    assert_null(strstr(two, "gpu-operator"));
    done(&r);
}

static void colours_come_only_when_asked_for(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    SW_AUTO_CHARS *plain = sw_report_tables(&r, &(struct sw_style){ .utf8 = true });
    SW_AUTO_CHARS *coloured = sw_report_tables(&r, &(struct sw_style){ .colour = true });
    assert_null(strchr(plain, '\033'));
    assert_line(coloured, "\033[32mReady\033[0m");
    done(&r);
}

static void control_characters_of_others_do_not_reach_the_terminal(void **state)
{
    (void)state;
    struct sw_report r = report("{\"states\":[{\"name\":\"a\\u001b[2Jb\",\"phase\":\"Waiting\","
                                "\"startedAt\":\"1970-01-01T00:00:01Z\",\"message\":\"x\\ny\"}]}");
    SW_AUTO_CHARS *text = sw_report_frame(&r, &(struct sw_style){ 0 });
    assert_null(strchr(text, '\033'));
    assert_line(text, "x y\n");
    done(&r);
}

static void tables_tell_nodes_and_their_states(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    SW_AUTO_CHARS *text = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(text, "STATE         PHASE    OBJECTS  NODES    TIME\n");
    assert_line(text, "cert-manager  Ready    3/3      4/4      2s\n");
    assert_line(text,
                "\nNODES  READY STATES  label specialresource.openshift.io/state-mig-<state>\n");
    assert_line(text, "\n1      -             cpu-1\n");
    assert_line(text, "\n1      cert-manager  gpu-1\n");
    done(&r);
}

/* A recipe has a dozen states, and most nodes have nearly all. */
static void a_node_that_has_nearly_all_states_says_what_it_lacks(void **state)
{
    (void)state;
    static const char label[] = "specialresource.openshift.io/state-mig-";
    SW_AUTO_CHARS *status = sw_strdup("{\"states\":[");
    for (int i = 0; i < 10; i++)
        sw_append(&status, "%s{\"name\":\"s%d\"%s}", i ? "," : "", i,
                  i == 9 ? ",\"label\":\"short-1234\"" : "");
    sw_append(&status, "]}");
    struct sw_report r = report(status);
    json_object_put(r.nodes);
    r.nodes = json_object_new_array();
    static const int first_ready[] = { 0, 2, 3 };
    for (size_t k = 0; k < SW_COUNT(first_ready); k++) {
        SW_AUTO_CHARS *node = sw_printf("{\"name\":\"n%zu\",\"labels\":{", k);
        for (int i = first_ready[k]; i < 9; i++)
            sw_append(&node, "\"%ss%d\":\"Ready\",", label, i);
        sw_append(&node, "\"short-1234\":\"Ready\"}}");
        (void)json_object_array_add(r.nodes, parse(node));
    }
    SW_AUTO_CHARS *text = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(text, "\n1      all ");
    assert_line(text, "\n1      all but s0 s1 ");
    assert_line(text, "\n1      s3 s4 s5 s6 s7 s8 short-1234 ");
    done(&r);
}

/* However many nodes there are. */
static void nodes_that_are_equally_far_are_one_row(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    json_object_put(r.nodes);
    r.nodes = json_object_new_array();
    for (int i = 0; i < 5000; i++) {
        SW_AUTO_CHARS *node = sw_printf(
            "{\"name\":\"n%04d\",\"labels\":{%s}}", i,
            i % 2 ? "\"specialresource.openshift.io/state-mig-nfd\":\"Ready\"" : "");
        (void)json_object_array_add(r.nodes, parse(node));
    }
    SW_AUTO_CHARS *text = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(text, "\n2500   -             n0000, n0002, n0004 and 2497 more\n");
    assert_line(text, "\n2500   nfd           n0001, n0003, n0005 and 2497 more\n");
    done(&r);
}

/* In a pipe, that is: where no width is known. */
static void overview_cuts_no_message_in_a_pipe(void **state)
{
    (void)state;
    struct sw_report r = report(
        "{\"states\":[{\"name\":\"a\",\"phase\":\"Failed\",\"class\":\"Failed\",\"message\":"
        "\"one\"},"
        "{\"name\":\"b\",\"phase\":\"Failed\",\"class\":\"Failed\",\"message\":\"two\"}]}");
    SW_AUTO_CHARS *text = sw_report_overview(&r, 1, &(struct sw_style){ 0 }, false);
    assert_line(text, "state 'a': one state 'b': two\n");
    SW_AUTO_CHARS *narrow = sw_report_overview(&r, 1, &(struct sw_style){ .width = 120 }, false);
    assert_line(narrow, "state 'a': one\n");
    done(&r);
}

static void overview_has_one_line_a_resource(void **state)
{
    (void)state;
    struct sw_report r[] = { report(STATUS), { .name = "fresh", .now_ms = 5500 } };
    r[0].created_ms = r[0].now_ms - 5000;
    SW_AUTO_CHARS *text = sw_report_overview(r, 2, &(struct sw_style){ 0 }, false);
    assert_string_equal(text,
                        "NAME   STATUS       STATES  NODES    AGE    MESSAGE\n"
                        "mig    Progressing  1/3     0/4      5s     state 'nfd': DaemonSet "
                        "nfd/worker: 1 of 4 pods ready\n"
                        "fresh  Progressing  0/0     -        -      no operator has looked at it "
                        "yet; does one run?\n");
    SW_AUTO_CHARS *narrow = sw_report_overview(r, 2, &(struct sw_style){ .width = 60 }, false);
    for (const char *at = narrow; *at; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") <= 60);
    done(&r[0]);
}

static void what_does_not_get_better_by_itself_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *state;
        int64_t patience_ms; /* 0: it may get better */
    } rows[] = {
        { "{'phase':'Waiting','startedAt':'x','reason':'ImagePullBackOff','message':'m'}", 30000 },
        { "{'phase':'Waiting','startedAt':'x','reason':'ErrImagePull','message':'m'}", 0 },
        { "{'phase':'Waiting','reason':'NoMatchingNodes','message':'m'}", 60000 },
        { "{'phase':'Retrying','startedAt':'x','reason':'NamespaceMissing','message':'m'}", 60000 },
        { "{'phase':'Retrying','startedAt':'x','reason':'NotApplied','message':'namespaces `n` not "
          "found (state 1 makes it)'}",
          0 },
        { "{'phase':'Retrying','startedAt':'x','reason':'NotApplied','message':'u cannot patch "
          "resource'}",
          30000 },
        { "{'phase':'Waiting','startedAt':'x','reason':'CrashLoopBackOff','message':'it cannot "
          "open "
          "f'}",
          0 },
        { "{'phase':'Waiting','startedAt':'x','message':'pods is forbidden: violates PodSecurity'}",
          30000 },
        { "{'phase':'Pending','message':'a is forbidden'}", 0 }, /* another state's */
        { "{'phase':'Ready','startedAt':'x','reason':'ImagePullBackOff','message':'m'}", 0 },
        { "{'phase':'Applying','startedAt':'x','reason':'NotServed','message':'kind is not in "
          "`apps/v1` as'}",
          30000 },
        { "{'phase':'Applying','startedAt':'x','reason':'NotServed','message':'kind is not in "
          "`x.io/v1`; did you mean `Thing`?'}",
          120000 },
        { "{'phase':'Applying','startedAt':'x','reason':'NotServed','message':'kind of `x.io/v1`: "
          "API group'}",
          300000 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = sw_printf("{'states':[%s]}", rows[i].state);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c == '`' ? '\'' : *c;
        SW_AUTO_JSON *status = parse(text);
        const struct sw_report r = { .name = "r", .status = status };
        int64_t patience_ms = 0;
        struct json_object *found = sw_report_hopeless(&r, &patience_ms);
        if (!found != !rows[i].patience_ms || patience_ms != rows[i].patience_ms)
            fail_msg("row %zu", i);
    }
}

/* A chain of a DaemonSet with six Events, of which two are the sentence's of the state. */
static void events_that_differ_by_names_are_told_once(void **state)
{
    (void)state;
    static const char events[] =
        "{'what':'Event FailedCreate','is':'Waiting','why':'Error: pods `ds-w6xn9` is forbidden'},"
        "{'what':'Event FailedCreate (3 times)','is':'Waiting','why':'Error: pods `ds-s4vtr` is "
        "forbidden'},"
        "{'what':'Event BackOff','is':'Waiting','why':'pod ds-77c5c of it'},"
        "{'what':'Event BackOff (2 times)','is':'Waiting','why':'pod ds-ppn57 of it'},"
        "{'what':'Event BackOff','is':'Waiting','why':'pod ds-ready of it'},"
        "{'what':'Event Failed','is':'Waiting','why':'the text of a message that is long enough to "
        "be cut, and goes on'}";
    SW_AUTO_CHARS *text = sw_printf(
        "{'what':'SpecialResource r','is':'Waiting','because':[{'what':'state 0','is':'Waiting',"
        "'why':'DaemonSet r/ds 0 of 4: Error: pods `ds-bbbbb` is forbidden, the text of a message "
        "that is long enough to be c...','because':[{'what':"
        "'DaemonSet r/ds','is':'Waiting','because':[%s]}]}]}",
        events);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c == '`' ? '\'' : *c;
    SW_AUTO_JSON *chain = parse(text);
    const struct sw_style style = { 0 };
    SW_AUTO_CHARS *said = sw_explain_text(chain, &style, 0);
    assert_string_equal(said,
                        "SpecialResource r  Waiting\n"
                        "  state 0  Waiting: DaemonSet r/ds 0 of 4: Error: pods 'ds-bbbbb' is "
                        "forbidden, the text of a message that is long enough to be c...\n"
                        "    DaemonSet r/ds\n"
                        "      Event BackOff: pod ds-77c5c of it\n"
                        "      and 1 more like it\n"
                        "      Event BackOff: pod ds-ready of it\n"
                        "      Event Failed: ...ut, and goes on\n");
}

static void ages_are_in_one_unit(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *want;
    } cases[] = { { -1, "0s" },         { 119999, "119s" },  { 120000, "2m" },   { 3600000, "1h" },
                  { 172799999, "47h" }, { 172800000, "2d" }, { INT64_MAX, NULL } };
    char buf[16];
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        sw_report_age(cases[i].ms, buf);
        if (cases[i].want)
            assert_string_equal(buf, cases[i].want);
    }
}

static void tables_tell_whose_driver_is_being_replaced(void **state)
{
    (void)state;
    struct json_object *status = parse(
        "{\"upgrade\":{\"total\":3,\"upToDate\":1,\"nodes\":[{\"name\":\"n1\",\"step\":\"drain\","
        "\"message\":\"2 pods are still there\"},{\"name\":\"n2\",\"step\":\"waiting\"}]}}");
    struct sw_report r = { .name = "r", .status = status };
    SW_AUTO_CHARS *text = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(text, "UPGRADE  1 of 3 nodes have the new driver");
    assert_non_null(strstr(text, "n1"));
    assert_non_null(strstr(text, "2 pods are still there"));
    struct json_object *doc = sw_report_json(&r);
    assert_int_equal(sw_json_int(doc, 0, "upgrade", "total", NULL), 3);
    json_object_put(doc);
    done(&r);
}

static void document_has_the_promised_shape(void **state)
{
    (void)state;
    struct sw_report r = report(STATUS);
    struct json_object *doc = sw_report_json(&r);
    struct json_object *want = parse(
        "{\"name\":\"mig\",\"phase\":\"Progressing\",\"states\":["
        "{\"name\":\"cert-manager\",\"phase\":\"Ready\",\"needs\":[],\"objects\":{\"ready\":3,"
        "\"total\":3},\"startedAt\":\"1970-01-01T00:00:01Z\",\"readyAt\":\"1970-01-01T00:00:03Z\"},"
        "{\"name\":\"nfd\",\"phase\":\"Waiting\",\"needs\":[],\"objects\":{\"ready\":1,\"total\":2}"
        ","
        "\"startedAt\":\"1970-01-01T00:00:01Z\",\"message\":\"DaemonSet nfd/worker: 1 of 4 pods "
        "ready\"},"
        "{\"name\":\"gpu-operator\",\"phase\":\"Pending\",\"needs\":[\"nfd\"],\"objects\":{"
        "\"ready\":0,\"total\":5},\"message\":\"needs nfd\"}],"
        "\"nodes\":[{\"name\":\"cpu-1\",\"labels\":{}},{\"name\":\"gpu-1\",\"labels\":{"
        "\"specialresource.openshift.io/state-mig-cert-manager\":\"Ready\"}}],"
        "\"message\":\"state 'nfd': DaemonSet nfd/worker: 1 of 4 pods ready\"}");
    assert_true(sw_json_equal(doc, want));
    json_object_put(doc);
    json_object_put(want);
    done(&r);
}

static void trouble_is_the_condition_where_no_state_says_more(void **state)
{
    (void)state;
    struct sw_report r = report("{\"conditions\":[{\"type\":\"Errored\",\"status\":\"True\","
                                "\"message\":\"chart not found\"}]}");
    SW_AUTO_CHARS *text = sw_report_trouble(&r);
    assert_string_equal(text, "chart not found");
    assert_string_equal(sw_report_phase(&r), "Errored");
    done(&r);
    r = report("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
    SW_AUTO_CHARS *none = sw_report_trouble(&r);
    assert_string_equal(none, "");
    assert_string_equal(sw_report_phase(&r), "Ready");
    done(&r);
}

/* Its states were begun by an earlier run, and are not looked at. */
#define AT_FAULT(phase)                                                                            \
    "{\"conditions\":[{\"type\":\"Errored\",\"status\":\"True\",\"message\":\"chart not "          \
    "found\"}],"                                                                                   \
    "\"states\":[{\"name\":\"a\",\"phase\":\"" phase "\",\"startedAt\":\"1970-01-01T00:00:01Z\","  \
    "\"message\":\"is being prepared\"}]}"

static void the_fault_of_the_recipe_goes_before_states_that_are_not_walked(void **state SW_UNUSED)
{
    struct sw_report r = report(AT_FAULT("Pending"));
    SW_AUTO_CHARS *text = sw_report_trouble(&r);
    assert_string_equal(text, "chart not found");
    done(&r);
    r = report(AT_FAULT("Failed"));
    SW_AUTO_CHARS *of_state = sw_report_trouble(&r);
    assert_string_equal(of_state, "state 'a': is being prepared");
    done(&r);
}

static void nothing_known_is_shown_too(void **state)
{
    (void)state;
    struct sw_report r = { .name = "mig", .now_ms = 1 };
    SW_AUTO_CHARS *frame = sw_report_frame(&r, &(struct sw_style){ .width = 40 });
    SW_AUTO_CHARS *tables = sw_report_tables(&r, &(struct sw_style){ 0 });
    assert_line(frame, "mig  Progressing");
    assert_line(tables, "mig  Progressing");
    assert_null(strstr(tables, "STATE")); /* a table of nothing says nothing */
    struct json_object *doc = sw_report_json(&r);
    assert_int_equal(sw_json_len(sw_json_get(doc, "states")), 0);
    json_object_put(doc);
}

static void durations_are_short(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *want;
    } cases[] = { { -5, "0ms" },       { 80, "80ms" },       { 999, "999ms" },   { 3250, "3.2s" },
                  { 245000, "4m05s" }, { 7800000, "2h10m" }, { INT64_MAX, NULL } };
    char buf[16];
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        sw_report_duration(cases[i].ms, buf);
        if (cases[i].want)
            assert_string_equal(buf, cases[i].want);
    }
}

static void long_sentences_are_broken_with_a_hanging_indent(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int width;
        const char *want;
    } cases[] = {
        { "one two three four five six\n", 0, "one two three four five six\n" },
        { "one two three four five six seven\n", 24, "one two three four five\n  six seven\n" },
        { "one two three four fives six", 24,
          "one two three four fives\n  six" }, /* it just fits */
        { "  at: one two three four five\n  b\n", 26, "  at: one two three four\n    five\n  b\n" },
        { "see https://example.com/that/is/long here\n", 24,
          "see\n  https://example.com/that/is/long\n  here\n" },
        { "\033[31mred one\033[0m two three four five\n", 25,
          "\033[31mred one\033[0m two three four\n  five\n" },
        { "ä ö ü ä ö ü ä ö ü ä ö ü ä ö\n", 23, "ä ö ü ä ö ü ä ö ü ä ö ü\n  ä ö\n" },
        { "                 far in and narrow\n", 24, "                 far in and narrow\n" },
        { "\n\n", 24, "\n\n" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *text = sw_text_break(cases[i].text, cases[i].width);
        assert_string_equal(text, cases[i].want);
    }
}

/* How long a state that waits with @message is waited for with --fail-fast; 0: on. */
static int64_t patience_with(const char *message)
{
    SW_AUTO_JSON *status = json_object_new_object();
    struct json_object *state = json_object_new_object();
    int64_t ms = 0;
    sw_json_set_str(state, "Waiting", "phase", NULL);
    sw_json_set_str(state, "NotApplied", "reason", NULL);
    sw_json_set_str(state, "2026-01-01T00:00:00Z", "startedAt", NULL);
    sw_json_set_str(state, message, "message", NULL);
    (void)json_object_array_add(sw_json_need_list(status, "states", NULL), state);
    const struct sw_report report = { .name = "r", .status = status };
    return sw_report_hopeless(&report, &ms) ? ms : 0;
}

static void a_webhook_that_does_not_answer_is_waited_for_one_that_denies_is_not(void **state)
{
    (void)state;
    assert_int_equal(patience_with("failed calling webhook \"w\": https://a: cannot connect"), 0);
    assert_int_equal(patience_with("admission webhook \"w\" denied the request: no"), 30000);
}

static void assert_shorter(const char *message, int room, const char *want)
{
    SW_AUTO_CHARS *got = sw_text_shorter(message, room);
    assert_string_equal(got, want);
}

static void what_repeats_goes_before_the_reason_is_cut(void **state SW_UNUSED)
{
    static const char text[] =
        "state '1000': Deployment b-cm/web: pod web-7 on node n-1: container c: no image\nhint: x";
    assert_shorter(
        text, 0, "state '1000': Deployment b-cm/web: pod web-7 on node n-1: container c: no image");
    assert_shorter(text, 70, "Deployment b-cm/web: pod web-7 on node n-1: container c: no image");
    assert_shorter(text, 50, "web: pod web-7 on node n-1: container c: no image");
    assert_shorter(text, 45, "pod web-7 on node n-1: container c: no image");
    assert_shorter(text, 30, "container c: no image");
    assert_shorter(text, 5, "container c: no image"); /* which is cut by the line */
    assert_shorter("timed out: nothing answers", 5, "timed out: nothing answers");
    assert_shorter("state '1000': not ready", 5, "not ready");
    assert_shorter("Namespace b", 5, "Namespace b");
    assert_shorter("Operation cannot be fulfilled: again", 5,
                   "Operation cannot be fulfilled: again");
    assert_shorter(
        "state '1': not ready within 2s: Deployment b/d 0 of 1 pods are ready; pod d-7: no node",
        10, "no node");
    assert_shorter("state '1': PriorityClass s: apply priorityclasses.scheduling.k8s.io 's': "
                   "PriorityClass.scheduling.k8s.io \"s\" is invalid: value: Forbidden",
                   20, "value: Forbidden");
    assert_shorter("state '1': CronJob s is not served yet: kind 'CronJob'", 20, "kind 'CronJob'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_webhook_that_does_not_answer_is_waited_for_one_that_denies_is_not),
        cmocka_unit_test(frame_has_one_line_a_state),
        cmocka_unit_test(a_long_message_has_lines_of_its_own),
        cmocka_unit_test(what_is_not_ready_any_more_shows_since_when),
        cmocka_unit_test(lines_never_exceed_the_width),
        cmocka_unit_test(small_screen_hides_what_is_ready_first),
        cmocka_unit_test(colours_come_only_when_asked_for),
        cmocka_unit_test(control_characters_of_others_do_not_reach_the_terminal),
        cmocka_unit_test(tables_tell_nodes_and_their_states),
        cmocka_unit_test(nodes_that_are_equally_far_are_one_row),
        cmocka_unit_test(a_node_that_has_nearly_all_states_says_what_it_lacks),
        cmocka_unit_test(overview_has_one_line_a_resource),
        cmocka_unit_test(overview_cuts_no_message_in_a_pipe),
        cmocka_unit_test(what_does_not_get_better_by_itself_is_known),
        cmocka_unit_test(events_that_differ_by_names_are_told_once),
        cmocka_unit_test(ages_are_in_one_unit),
        cmocka_unit_test(tables_tell_whose_driver_is_being_replaced),
        cmocka_unit_test(document_has_the_promised_shape),
        cmocka_unit_test(trouble_is_the_condition_where_no_state_says_more),
        cmocka_unit_test(the_fault_of_the_recipe_goes_before_states_that_are_not_walked),
        cmocka_unit_test(nothing_known_is_shown_too),
        cmocka_unit_test(durations_are_short),
        cmocka_unit_test(long_sentences_are_broken_with_a_hanging_indent),
        cmocka_unit_test(what_repeats_goes_before_the_reason_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
