#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Edits (insert, drop, replace) from @a to @b; words over 31 letters are taken as unlike. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[32];
    if (n > 31 || m > 31)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t dropped = row[j] + 1, inserted = row[j - 1] + 1;
            row[j] = dropped < inserted ? dropped : inserted;
            if (replaced < row[j])
                row[j] = replaced;
        }
    }
    return row[m];
}

const char *sw_cli_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t least = strlen(typed) < 4 ? 2 : 3; /* from here on it is another word */
    for (; *names; names++) {
        size_t d = distance(typed, *names);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}

bool sw_cli_colours(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no && *no) && term && *term && !sw_streq(term, "dumb");
}

int sw_cli_print(const char *text, size_t len_bytes)
{
    bool ok = fwrite(text, 1, len_bytes, stdout) == len_bytes && fflush(stdout) == 0;
    return ok ? SW_EXIT_OK : SW_EXIT_FAILED;
}
