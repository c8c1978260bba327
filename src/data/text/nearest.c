#include "data/text/nearest.h"

#include <stddef.h>
#include <string.h>

int sw_text_distance(const char *a, size_t n, const char *b, size_t m, bool loosely)
{
    enum { FAR = 3, LONGEST = 64 };
    const int case_bit = loosely ? 0x20 : 0;
    int rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST || n > m + 2 || m > n + 2)
        return FAR;
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = (int)k;
    for (size_t i = 1; i <= n; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t k = 1; k <= m; k++) {
            int d = above[k - 1] + ((a[i - 1] | case_bit) != (b[k - 1] | case_bit));
            d = above[k] + 1 < d ? above[k] + 1 : d;
            d = row[k - 1] + 1 < d ? row[k - 1] + 1 : d;
            if (loosely && i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                two_above[k - 2] + 1 < d)
                d = two_above[k - 2] + 1;
            row[k] = d;
        }
    }
    return rows[n % 3][m];
}

const char *sw_text_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    int least = strlen(typed) < 4 ? 2 : 3; /* from here on it is another word */
    for (; *names; names++) {
        int d = sw_text_distance(typed, strlen(typed), *names, strlen(*names), false);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}

const char *sw_text_nearest_only(const char *typed, const char *const *names)
{
    const char *best = NULL;
    int least = strlen(typed) < 4 ? 2 : 3;
    for (; *names; names++) {
        int d = sw_text_distance(typed, strlen(typed), *names, strlen(*names), true);
        if (best && d == least)
            best = NULL; /* so far: one that is nearer may come */
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}
