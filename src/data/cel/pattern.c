#include "data/cel/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/go/regex.h"

bool sw_pattern_matches(const char *pattern, const char *text)
{
    SW_AUTO(sw_regex) *regex = NULL;
    if (sw_regex_compile(pattern, strlen(pattern), &regex, NULL) < 0)
        return true;
    long *spans = sw_zalloc(sw_regex_n_groups(regex) * 2, sizeof *spans);
    const bool matches = sw_regex_find(regex, text, strlen(text), 0, spans);
    free(spans);
    return matches;
}
