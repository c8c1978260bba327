#include "base/loglevel.h"
#include "cli/command/cli.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/time.h"

/* What every command understands; offset is unused. */
const struct sw_flag sw_common_flags[] = {
    { "log-level", 0, SW_FLAG_STRING, 0, "LEVEL", "error|warn|info|debug",
      "say this much on stderr (default info)" },
    { "help", 'h', SW_FLAG_BOOL, 0, NULL, NULL, "print this help" },
    { 0 },
};

const struct sw_flag sw_no_flags[] = { { 0 } };

const struct sw_command *sw_command_find(const struct sw_command *const *all, const char *name)
{
    while (*all && !sw_streq((*all)->name, name))
        all++;
    return *all;
}

enum { MAX_FLAGS = 64, FIRST_LONG = 256 };

/* One command's options as getopt wants them; value v is flags[v - FIRST_LONG]. */
struct parser {
    const struct sw_command *command;
    const struct sw_flag *flags[MAX_FLAGS];
    size_t n;
    struct option longs[MAX_FLAGS + 1];
    char shorts[2 * MAX_FLAGS + 3];
};

void sw_list_arg_done(struct sw_list_arg *list)
{
    free(list->items);
    *list = (struct sw_list_arg){ 0 };
}

static void add_flags(struct parser *p, const struct sw_flag *flags)
{
    for (const struct sw_flag *f = flags; f->name && p->n < MAX_FLAGS; f++) {
        p->longs[p->n] = (struct option){
            .name = f->name,
            .has_arg = f->kind == SW_FLAG_BOOL ? no_argument : required_argument,
            .val = FIRST_LONG + (int)p->n,
        };
        p->flags[p->n++] = f;
        size_t len = strlen(p->shorts);
        if (f->letter)
            (void)snprintf(p->shorts + len, sizeof p->shorts - len, "%c%s", f->letter,
                           f->kind == SW_FLAG_BOOL ? "" : ":");
    }
}

static const struct sw_flag *flag_of(const struct parser *p, int value)
{
    if (value >= FIRST_LONG)
        return p->flags[value - FIRST_LONG];
    for (size_t i = 0; i < p->n; i++)
        if (p->flags[i]->letter == value)
            return p->flags[i];
    return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *c = choices; *c; c += strcspn(c, "|"), c += *c == '|')
        if (strcspn(c, "|") == len && memcmp(c, value, len) == 0)
            return true;
    return false;
}

static int parse_number(const char *text, int64_t *out, struct sw_err *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 0)
        return sw_err_set(err, SW_INVALID, "'%s' is not a number of 0 or more", text);
    *out = value;
    return 0;
}

static int parse_count(const char *text, int64_t *out, struct sw_err *err)
{
    int64_t value;
    if (parse_number(text, &value, NULL) < 0 || value < 1 || value > INT_MAX)
        return sw_err_set(err, SW_INVALID, "'%s' is not a number of 1 to %d", text, INT_MAX);
    *out = value;
    return 0;
}

static int store(const struct sw_flag *f, char *value, void *opts, struct sw_err *err)
{
    void *field = (char *)opts + f->offset;
    if (f->choices && !is_choice(f->choices, value))
        return sw_err_set(err, SW_INVALID, "'%s' is not one of %s", value, f->choices);
    switch (f->kind) {
    case SW_FLAG_BOOL:
        *(bool *)field = true;
        return 0;
    case SW_FLAG_STRING:
        *(const char **)field = value;
        return 0;
    case SW_FLAG_LIST: {
        struct sw_list_arg *list = field;
        SW_GROW(list->items, list->n, list->cap);
        list->items[list->n++] = value;
        return 0;
    }
    case SW_FLAG_NUMBER:
        return parse_number(value, field, err);
    case SW_FLAG_COUNT:
        return parse_count(value, field, err);
    case SW_FLAG_DURATION:
        return sw_cli_duration(value, field, err);
    }
    return 0;
}

static void set_log_level(const char *name)
{
    enum sw_log_level level;
    if (sw_log_level_parse(name, &level))
        sw_log_set_level(level);
}

static void print_flag(const struct sw_flag *f)
{
    char head[64];
    (void)snprintf(head, sizeof head, "%c%c%s --%s%s%s", f->letter ? '-' : ' ',
                   f->letter ? f->letter : ' ', f->letter ? "," : " ", f->name, f->arg ? " " : "",
                   f->arg ? f->arg : "");
    (void)printf("  %-34s %s", head, f->doc);
    if (f->choices)
        (void)printf(" (%s)", f->choices);
    (void)printf("\n");
}

static void print_help(const struct parser *p)
{
    const struct sw_command *c = p->command;
    (void)printf("slipway %s: %s\n\nUsage: slipway %s [OPTION]...%s%s\n", c->name, c->summary,
                 c->name, *c->args ? " " : "", c->args);
    if (c->details)
        (void)printf("\n%s\n", c->details);
    (void)printf("\nOptions:\n");
    for (size_t i = 0; i < p->n; i++)
        print_flag(p->flags[i]);
}

int sw_cli_usage(const char *command, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "slipway %s: %s; see 'slipway %s --help'\n", command, text, command);
    return SW_EXIT_USAGE;
}

int sw_cli_fail(const char *command, const struct sw_err *err)
{
    (void)fprintf(stderr, "slipway %s: %s\n", command, sw_err_text(err));
    return err->code == SW_INVALID || err->code == SW_NOTFOUND ? SW_EXIT_USAGE : SW_EXIT_FAILED;
}

/* getopt said '?': an unknown option, one without its value, or an ambiguous abbreviation. */
static int bad_option(const struct parser *p, char **argv)
{
    const char *word = argv[optind - 1];
    if (optopt && optopt < FIRST_LONG && !flag_of(p, optopt))
        return sw_cli_usage(p->command->name, "unknown option '-%c'", optopt);
    if (optopt) {
        const struct sw_flag *f = flag_of(p, optopt);
        if (f && f->kind == SW_FLAG_BOOL)
            return sw_cli_usage(p->command->name, "option '--%s' takes no value", f->name);
        return sw_cli_usage(p->command->name, "option '--%s' needs a value", f ? f->name : "");
    }
    SW_AUTO_CHARS *name = sw_strndup(word, strcspn(word, "="));
    const char *names[MAX_FLAGS + 1] = { 0 };
    for (size_t i = 0; i < p->n; i++)
        names[i] = p->flags[i]->name;
    const char *near = sw_cli_nearest(name + strspn(name, "-"), names);
    return sw_cli_usage(p->command->name, "unknown option '%s'%s%s%s", name,
                        near ? ", did you mean '--" : "", near ? near : "", near ? "'" : "");
}

static int parse_one(const struct parser *p, int value, char **argv, void *opts)
{
    const struct sw_flag *f = value == '?' ? NULL : flag_of(p, value);
    if (!f)
        return 1 + bad_option(p, argv);
    if (sw_streq(f->name, "help")) {
        print_help(p);
        return 1 + SW_EXIT_OK;
    }
    const char *level = NULL;
    bool is_level = f == &sw_common_flags[0];
    SW_ERR(err);
    if (store(f, optarg, is_level ? &level : opts, &err) < 0)
        return 1 + sw_cli_usage(p->command->name, "--%s: %s", f->name, sw_err_text(&err));
    if (is_level)
        set_log_level(level);
    return 0;
}

int sw_cli_parse(const struct sw_call *call, void *opts, size_t max, struct sw_operands *rest)
{
    struct parser p = { .command = call->command };
    int argc = call->argc;
    char **argv = call->argv;
    add_flags(&p, p.command->flags);
    add_flags(&p, sw_common_flags);
    opterr = 0;
    optind = 0; /* GNU: start afresh; tests parse more than once */
    int value;
    while ((value = getopt_long(argc, argv, p.shorts, p.longs, NULL)) != -1) {
        int rc = parse_one(&p, value, argv, opts);
        if (rc)
            return rc;
    }
    *rest = (struct sw_operands){ argv + optind, (size_t)(argc - optind) };
    if (rest->n > max)
        return 1 +
               sw_cli_usage(call->command->name, "'%s' is one argument too many", rest->items[max]);
    return 0;
}

int sw_cli_duration(const char *text, int64_t *ms, struct sw_err *err)
{
    return sw_span_parse(text, ms, err);
}
