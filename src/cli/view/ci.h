#pragma once
/* ci: the report of a walk as systems for continuous integration read it. Pure: text in buffers. */
#include "cli/view/report.h"

/** As JUnit's XML: a suite named for the resource, a case a state: passed where it is Ready, a
 * failure with its message where it failed or is what the walk ended for, else skipped. A walk that
 * did not come to its states is one case, named "walk", in error.
 * @failure: why the walk ended, one line or more; NULL: it is Ready. Heap.
 * Source: the schema of Jenkins' xunit plugin (junit-10.xsd), which GitLab, Jenkins and others
 * read. Pinned by test/unit/cli/cli_ci_test.c. */
char *sw_report_junit(const struct sw_report *report, const char *failure);

/** The results of the resource's checks (slipway.dev/check), those that were not begun skipped, in
 * the Common Test Report Format; the caller's. @failure: as above; where no check has failed, it is
 * a test "walk" that has.
 * Source: ctrf.io; NVIDIA/aicr, pkg/validator/ctrf. */
struct json_object *sw_report_ctrf(const struct sw_report *report, const char *failure);

/** A workflow command of GitHub Actions that shows @failure as an error: one line; heap.
 * Source: "Workflow commands for GitHub Actions", how data and properties are escaped. */
char *sw_report_github(const char *command, const char *name, const char *failure);
