#include "cli/command/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sw_cli_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int sw_cli_ask(const char *question, const char *fallback,
               int (*check)(void *arg, const char *answer, struct sw_err *err), void *arg,
               char **answer, struct sw_err *err)
{
    char *line = NULL;
    size_t size = 0;
    for (;;) {
        SW_ERR(why);
        (void)fprintf(stderr, fallback ? "%s [%s]: " : "%s: ", question, fallback);
        (void)fflush(stderr);
        if (getline(&line, &size, stdin) < 0) {
            free(line);
            (void)fputc('\n', stderr);
            return sw_err_set(err, SW_INVALID, "the answers have ended; nothing was written");
        }
        const char *text = line + strspn(line, " \t");
        for (char *end = line + strlen(line); end > text && strchr(" \t\r\n", end[-1]);)
            *--end = '\0';
        if (!*text && !fallback)
            continue;
        text = *text ? text : fallback;
        if (!check || check(arg, text, &why) == 0) {
            *answer = sw_strdup(text);
            free(line);
            return 0;
        }
        (void)fprintf(stderr, "  %s\n", sw_err_text(&why));
        sw_err_done(&why);
    }
}
