/* The pattern of a recipe for the end of a log, and a log: the first line is the pattern. */
#include <string.h>

#include "operator/engine/readiness/log_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    char *log = strchr(text, '\n');
    regex_t pattern;
    SW_ERR(err);
    if (log)
        *log++ = '\0';
    if (pattern_compile(text, &pattern, &err) < 0)
        return 0;
    (void)regexec(&pattern, log ? log : "", 0, NULL, 0);
    regfree(&pattern);
    return 0;
}
