#include "cli/view/ci.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <json-c/printbuf.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"

/* ---- JUnit -------------------------------------------------------------------------------------
 */

/* Append @text as XML: what XML 1.0 has no characters for becomes U+FFFD. */
static void put_xml(struct printbuf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        const char *as = *p == '&'               ? "&amp;"
                         : *p == '<'             ? "&lt;"
                         : *p == '>'             ? "&gt;"
                         : *p == '"'             ? "&quot;"
                         : *p == '\n'            ? "&#10;"
                         : *p == '\t'            ? "&#9;"
                         : *p < ' ' || *p == 127 ? "\xef\xbf\xbd"
                                                 : NULL;
        if (as)
            printbuf_memappend(out, as, (int)strlen(as));
        else
            printbuf_memappend(out, (const char *)p, 1);
    }
}

static void put_attribute(struct printbuf *out, const char *name, const char *value)
{
    sprintbuf(out, " %s=\"", name);
    put_xml(out, value);
    printbuf_strappend(out, "\"");
}

static void put_seconds(struct printbuf *out, int64_t ms)
{
    ms = ms > 0 ? ms : 0;
    sprintbuf(out, " time=\"%" PRId64 ".%03d\"", ms / 1000, (int)(ms % 1000));
}

static int64_t time_of(struct json_object *state, const char *key, int64_t otherwise_ms)
{
    int64_t ms = otherwise_ms;
    SW_ERR(err);
    const char *text = sw_json_str(state, NULL, key, NULL);
    if (!text || sw_time_parse(text, &ms, &err) < 0)
        ms = otherwise_ms;
    sw_err_done(&err);
    return ms;
}

/* Has its check found that it does not apply? */
static bool is_skipped(struct json_object *state)
{
    return sw_streq(sw_json_str(state, "", "check", "result", NULL), "skipped");
}

/* What the walk has ended for: a state that failed, or one that has begun and is not ready. */
static bool has_failed(struct json_object *state, bool walk_failed)
{
    const char *phase = sw_json_str(state, "", "phase", NULL);
    bool is_waiting = !sw_streq(phase, "Ready") && sw_json_get(state, "startedAt");
    return sw_streq(phase, "Failed") || (walk_failed && is_waiting);
}

static void put_case(struct printbuf *out, const struct sw_report *report,
                     struct json_object *state, bool walk_failed)
{
    const char *phase = sw_json_str(state, "", "phase", NULL),
               *message = sw_json_str(state, "", "message", NULL);
    int64_t started_ms = time_of(state, "startedAt", report->now_ms);
    printbuf_strappend(out, "    <testcase");
    put_attribute(out, "classname", report->name);
    put_attribute(out, "name", sw_json_str(state, "", "name", NULL));
    put_seconds(out, time_of(state, "readyAt", report->now_ms) - started_ms);
    if (sw_streq(phase, "Ready") && is_skipped(state))
        message = sw_json_str(state, "it does not apply here", "check", "message", NULL);
    else if (sw_streq(phase, "Ready")) {
        printbuf_strappend(out, "/>\n");
        return;
    }
    sprintbuf(out, ">\n      <%s", has_failed(state, walk_failed) ? "failure" : "skipped");
    put_attribute(out, "message", *message ? message : phase);
    printbuf_strappend(out, "/>\n    </testcase>\n");
}

char *sw_report_junit(const struct sw_report *report, const char *failure)
{
    struct json_object *states = sw_json_get(report->status, "states");
    size_t n = sw_json_len(states), n_failed = 0, n_skipped = 0;
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < n; i++) {
        struct json_object *state = sw_json_at(states, i);
        bool failed = has_failed(state, failure);
        n_failed += failed;
        n_skipped += !failed && (is_skipped(state) ||
                                 !sw_streq(sw_json_str(state, "", "phase", NULL), "Ready"));
    }
    bool is_error = failure && !n_failed; /* it did not come to a state */
    printbuf_strappend(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                            "  <testsuite");
    put_attribute(out, "name", report->name);
    sprintbuf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\"", n + is_error,
              n_failed, is_error, n_skipped);
    int64_t started_ms = report->started_ms; /* a state may have begun in an earlier run */
    for (size_t i = 0; i < n; i++) {
        const int64_t began_ms = time_of(sw_json_at(states, i), "startedAt", started_ms);
        started_ms = began_ms < started_ms ? began_ms : started_ms;
    }
    put_seconds(out, report->now_ms - started_ms);
    printbuf_strappend(out, ">\n");
    for (size_t i = 0; i < n; i++)
        put_case(out, report, sw_json_at(states, i), failure);
    if (is_error) {
        printbuf_strappend(out, "    <testcase");
        put_attribute(out, "classname", report->name);
        printbuf_strappend(out, " name=\"walk\">\n      <error");
        put_attribute(out, "message", failure);
        printbuf_strappend(out, "/>\n    </testcase>\n");
    }
    printbuf_strappend(out, "  </testsuite>\n</testsuites>\n");
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    return text;
}

/* ---- CTRF --------------------------------------------------------------------------------------
 */

/* What the state's check has come to, as a test. */
static struct json_object *ctrf_test(const struct sw_report *report, struct json_object *state)
{
    static const char prefix[] = "validate-";
    struct json_object *check = sw_json_get(state, "check"), *test = json_object_new_object();
    const char *name = sw_json_str(state, "", "name", NULL),
               *result = sw_json_str(check, "", "result", NULL),
               *message = sw_json_str(check, "", "message", NULL);
    const int64_t started_ms = time_of(state, "startedAt", report->now_ms),
                  ended_ms = time_of(state, "readyAt", report->now_ms);
    if (sw_streq(result, "pending") && !sw_json_get(state, "startedAt")) {
        result = "skipped";
        message = sw_json_str(state, "", "message", NULL);
    }
    sw_json_set_str(test, name + (sw_starts_with(name, prefix) ? sizeof prefix - 1 : 0), "name",
                    NULL);
    sw_json_set_str(test, result, "status", NULL);
    sw_json_set(test, json_object_new_int64(ended_ms > started_ms ? ended_ms - started_ms : 0),
                "duration", NULL);
    (void)json_object_array_add(sw_json_need_list(test, "suite", NULL),
                                json_object_new_string(sw_json_str(check, "", "phase", NULL)));
    if (*message)
        sw_json_set_str(test, message, "message", NULL);
    return test;
}

struct json_object *sw_report_ctrf(const struct sw_report *report, const char *failure)
{
    enum { FAILED = 1 };
    static const char *const results[] = { "passed", "failed", "skipped", "pending", "other" };
    struct json_object *doc = json_object_new_object(), *tests = json_object_new_array(),
                       *states = sw_json_get(report->status, "states");
    int64_t counts[SW_COUNT(results)] = { 0 };
    char at[21];
    const int64_t now_ms = report->now_ms ? report->now_ms : sw_now_ms(),
                  started_ms = report->started_ms ? report->started_ms : now_ms;
    for (size_t i = 0; i < sw_json_len(states); i++) {
        if (!sw_json_get(sw_json_at(states, i), "check"))
            continue;
        struct json_object *test = ctrf_test(report, sw_json_at(states, i));
        for (size_t k = 0; k < SW_COUNT(results); k++)
            counts[k] += sw_streq(results[k], sw_json_str(test, "", "status", NULL));
        (void)json_object_array_add(tests, test);
    }
    if (failure && !counts[FAILED]) { /* it did not come to a check */
        struct json_object *test = json_object_new_object();
        sw_json_set_str(test, "walk", "name", NULL);
        sw_json_set_str(test, results[FAILED], "status", NULL);
        sw_json_set(test, json_object_new_int64(now_ms - started_ms), "duration", NULL);
        sw_json_set_str(test, failure, "message", NULL);
        (void)json_object_array_add(tests, test);
        counts[FAILED]++;
    }
    sw_json_set_str(doc, "CTRF", "reportFormat", NULL);
    sw_json_set_str(doc, "0.0.1", "specVersion", NULL);
    sw_json_set_str(doc, sw_time_rfc3339(now_ms, at), "timestamp", NULL);
    sw_json_set_str(doc, "slipway", "generatedBy", NULL);
    sw_json_set_str(doc, "slipway", "results", "tool", "name", NULL);
    sw_json_set(doc, json_object_new_int64((int64_t)sw_json_len(tests)), "results", "summary",
                "tests", NULL);
    for (size_t k = 0; k < SW_COUNT(results); k++)
        sw_json_set(doc, json_object_new_int64(counts[k]), "results", "summary", results[k], NULL);
    sw_json_set(doc, json_object_new_int64(started_ms), "results", "summary", "start", NULL);
    sw_json_set(doc, json_object_new_int64(now_ms), "results", "summary", "stop", NULL);
    sw_json_set(doc, tests, "results", "tests", NULL);
    sw_json_set_str(doc, report->name, "results", "environment", "testEnvironment", NULL);
    return doc;
}

/* ---- GitHub ------------------------------------------------------------------------------------
 */

/* Append @text; of a property ':' and ',' are escaped as well. */
static void put_github(char **out, const char *text, bool is_property)
{
    for (const char *p = text; *p; p++) {
        bool is_special = *p == '%' || *p == '\r' || *p == '\n' ||
                          (is_property && (*p == ':' || *p == ','));
        if (is_special)
            sw_append(out, "%%%02X", (unsigned char)*p);
        else
            sw_append(out, "%c", *p);
    }
}

char *sw_report_github(const char *command, const char *name, const char *failure)
{
    SW_AUTO_CHARS *title = sw_printf("slipway %s %s", command, name);
    char *line = sw_strdup("::error title=");
    put_github(&line, title, true);
    sw_append(&line, "::");
    put_github(&line, failure, false);
    sw_append(&line, "\n");
    return line;
}
