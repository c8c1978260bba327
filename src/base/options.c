#include "base/options.h"
#include "base/loglevel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

int sw_options_fault(const char *program, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "%s: %s; --help lists the flags\n", program, what);
    return SW_EXIT_BAD_OPTION;
}

void sw_options_help(const char *program, const char *what, const struct sw_option *table, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) > width)
            width = strlen(table[i].name);
    (void)printf("Usage: %s [FLAG]...\n\n%s\n\nFlags:\n", program, what);
    for (size_t i = 0; i < n; i++)
        (void)printf("  --%-*s %s\n", (int)width, table[i].name, table[i].help);
}

static int set_switch(const char *program, const struct sw_option *o, const char *value,
                      bool *field)
{
    const bool on = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!on && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0)
        return sw_options_fault(program, "--%s: '%s' is neither true nor false", o->name, value);
    *field = on;
    return 0;
}

static int set_number(const char *program, const struct sw_option *o, const char *value, int *field)
{
    char *end;
    const long n = strtol(value, &end, 10);
    if (!*value || *end || n < 0 || n > 65535)
        return sw_options_fault(program, "--%s: '%s' is no number from 0 to 65535", o->name, value);
    *field = (int)n;
    return 0;
}

static int set(const char *program, const struct sw_option *o, const char *value, char *settings)
{
    void *field = settings + o->offset;
    switch (o->kind) {
    case SW_OPTION_TEXT:
        memcpy(field, &value, sizeof value);
        return 0;
    case SW_OPTION_NUMBER:
        return set_number(program, o, value, field);
    case SW_OPTION_SWITCH:
        return set_switch(program, o, value, field);
    }
    return SW_EXIT_BAD_OPTION;
}

static const struct sw_option *find(const struct sw_option *table, size_t n, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return &table[i];
    return NULL;
}

int sw_options_parse(const char *program, const struct sw_option *table, size_t n, int argc,
                     char **argv, void *settings)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (name[0] != '-' || !name[1])
            return sw_options_fault(program, "'%s' is no flag", name);
        name += name[1] == '-' ? 2 : 1;
        const char *eq = strchr(name, '=');
        if (strcmp(argv[i], "-h") == 0)
            name = "help";
        const struct sw_option *o = find(table, n, name, eq ? (size_t)(eq - name) : strlen(name));
        if (!o)
            return sw_options_fault(program, "there is no flag '%s'", argv[i]);
        const char *value = eq ? eq + 1 : o->kind == SW_OPTION_SWITCH ? "true" : argv[++i];
        if (!value)
            return sw_options_fault(program, "--%s needs a value", o->name);
        const int rc = set(program, o, value, settings);
        if (rc)
            return rc;
    }
    return 0;
}

int sw_options_log_level(const char *program, const char *name)
{
    enum sw_log_level level;
    if (sw_log_level_parse(name, &level)) {
        sw_log_set_level(level);
        return 0;
    }
    return sw_options_fault(program, "--log-level: '%s' is none of error, warn, info, debug", name);
}
