/* template-cases FILE...: run the cases of jsonl files through the template engine. Prints each
 * failing id with what it wants and what it got, then "N passed, N failed". Exits 1 if any failed.
 * The cases' format and the chart that they are rendered in: test/golden/template/README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "template_cases.h"

static void report(const struct template_case *c, const char *got, size_t got_len, void *arg)
{
    (void)arg;
    printf("%s: want %s%s\n%s: got  %.*s\n", c->id, c->error ? "error " : "",
           c->error ? c->error : c->want, c->id, (int)got_len, got);
}

int main(int argc, char **argv)
{
    struct template_tally tally = { 0 };
    if (argc < 2) {
        fprintf(stderr, "usage: template-cases FILE...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        SW_ERR(err);
        if (template_cases_run(argv[i], report, NULL, &tally, &err) < 0) {
            fprintf(stderr, "template-cases: %s\n", sw_err_text(&err));
            return 2;
        }
    }
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return tally.failed ? 1 : 0;
}
