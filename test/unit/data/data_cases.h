#pragma once
/* Test cases in files of one JSON object a line. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/json/json.h"

/** Call @row for each line of a file; false if it cannot be read. @return the number of rows */
static inline int each_case(const char *path, void (*row)(struct json_object *, void *), void *arg)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (sw_file_read(path, 16 << 20, &text, &len, &err) < 0)
        return -1;
    int n = 0;
    for (char *line = text, *end; line < text + len; line = end + 1, n++) {
        end = strchr(line, '\n');
        if (!end)
            end = text + len;
        SW_AUTO_JSON *c = NULL;
        if (sw_json_parse(line, (size_t)(end - line), NULL, &c, &err) < 0)
            return -1;
        row(c, arg);
    }
    return n;
}
