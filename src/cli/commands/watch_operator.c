/* The walk of an operator that leads, watched by its SpecialResource's status. */
#include "cli/commands/watch_operator.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/follow.h"
#include "cli/view/report.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"

enum { SETTLE_MS = 5000 }; /* of Errored */

/* Print what is waited for, when that changes. @return the phase, static; NULL: the operator has
 * not come to @generation, which is what was changed */
static const char *observe(const char *name, struct json_object *doc, int64_t generation,
                           char **last)
{
    const struct sw_report report = { .name = name, .status = sw_json_get(doc, "status") };
    (void)sw_inventory_of(report.status);
    if (sw_json_int(report.status, 0, "observedGeneration", NULL) < generation)
        return NULL;
    SW_AUTO_CHARS *trouble = sw_report_trouble(&report);
    trouble[strcspn(trouble, "\n")] = '\0';
    if (*trouble && !sw_streq(trouble, *last))
        (void)printf("%s: %s\n", name, trouble);
    (void)fflush(stdout);
    sw_text_set(last, trouble);
    return sw_report_phase(&report);
}

int sw_watch_operator(struct sw_connection *conn, struct json_object *resource, int64_t timeout_ms)
{
    const char *name = sw_obj_name(resource), *phase = NULL;
    int64_t generation = sw_json_int(resource, 0, "metadata", "generation", NULL),
            end_ms = timeout_ms ? sw_loop_now_ms(conn->loop) + timeout_ms : 0;
    struct sw_follow follow = { 0 };
    SW_AUTO_CHARS *last = NULL;
    int rc = -1;
    SW_ERR(err);
    conn->until_ms = end_ms;
    conn->patient = true;
    const int opened = sw_follow_open(&follow, conn, name, &err);
    if (opened < 0 && opened != SW_UNAVAILABLE)
        return sw_cli_fail(conn->command, &err);
    while (opened == 0 && rc < 0 && sw_follow_next(&follow)) {
        struct json_object *doc = sw_json_get(follow.resources, name);
        phase = !follow.code && doc ? observe(name, doc, generation, &last) : NULL;
        int64_t settled_ms = sw_loop_now_ms(conn->loop) + SETTLE_MS;
        bool may_settle = sw_streq(phase, "Errored") && (!end_ms || settled_ms < end_ms);
        conn->until_ms = may_settle ? settled_ms : end_ms;
        if (follow.code == SW_FORBIDDEN)
            rc = sw_cli_fail(conn->command, &follow.err);
        else if (sw_streq(phase, "Ready"))
            rc = SW_EXIT_OK;
        else if (!follow.code && !doc)
            rc = SW_EXIT_FAILED; /* deleted meanwhile */
    }
    sw_follow_done(&follow);
    if (rc >= 0 || conn->signal)
        rc = rc >= 0 ? rc : 128 + conn->signal;
    else
        rc = sw_streq(phase, "Errored") ? SW_EXIT_ERRORED : SW_EXIT_TIMEOUT;
    (void)printf("%s: %s\n", name, sw_text_or(phase, "not walked yet"));
    return rc;
}
