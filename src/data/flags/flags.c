#include "data/flags/flags.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/loglevel.h"
#include "data/text/nearest.h"
#include "data/text/time.h"
#include "data/text/wrap.h"

/* Their offset is unused. */
const struct sw_flag sw_common_flags[] = {
    { "log-level", 0, SW_FLAG_STRING, 0, "LEVEL", "error|warn|info|debug",
      "say this much on stderr (default info)" },
    { "help", 'h', SW_FLAG_BOOL, 0, NULL, NULL, "print this help" },
    { 0 },
};

static const struct sw_flag version_flag[] = {
    { "version", 0, SW_FLAG_BOOL, 0, NULL, NULL, "print the version" },
    { 0 },
};

enum { MAX_FLAGS = 64, FIRST_LONG = 256, MAX_INT = 65535 };

/* The flags in getopt_long()'s form; its value v stands for flags[v - FIRST_LONG]. */
struct parser {
    const struct sw_flag_set *set;
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

static bool needs_value(const struct sw_flag *f)
{
    return f->kind != SW_FLAG_BOOL && f->kind != SW_FLAG_CHOICE;
}

static void add_flags(struct parser *p, const struct sw_flag *flags)
{
    for (const struct sw_flag *f = flags; f->name && p->n < MAX_FLAGS; f++) {
        p->longs[p->n] = (struct option){
            .name = f->name,
            .has_arg = needs_value(f) ? required_argument : optional_argument,
            .val = FIRST_LONG + (int)p->n,
        };
        p->flags[p->n++] = f;
        size_t len = strlen(p->shorts);
        if (f->letter)
            (void)snprintf(p->shorts + len, sizeof p->shorts - len, "%c%s", f->letter,
                           needs_value(f) ? ":" : "");
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

/* @max 0: no upper bound */
static int parse_number(const char *text, int64_t min, int64_t max, int64_t *out,
                        struct sw_err *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!errno && end != text && !*end && value >= min && (!max || value <= max)) {
        *out = value;
        return 0;
    }
    if (max)
        return sw_err_set(err, SW_INVALID, "'%s' is not a number of %d to %d", text, (int)min,
                          (int)max);
    return sw_err_set(err, SW_INVALID, "'%s' is not a number of %d or more", text, (int)min);
}

static int store(const struct sw_flag *f, char *value, void *opts, struct sw_err *err)
{
    void *field = (char *)opts + f->offset;
    if (f->kind == SW_FLAG_CHOICE && !value) {
        *(const char **)field = f->arg;
        return 0;
    }
    if (f->choices && !is_choice(f->choices, value))
        return sw_err_set(err, SW_INVALID, "'%s' is not one of %s", value, f->choices);
    switch (f->kind) {
    case SW_FLAG_BOOL: {
        bool on = !value || strcasecmp(value, "true") == 0 || sw_streq(value, "1");
        if (!on && strcasecmp(value, "false") != 0 && !sw_streq(value, "0"))
            return sw_err_set(err, SW_INVALID, "'%s' is neither true nor false", value);
        *(bool *)field = on;
        return 0;
    }
    case SW_FLAG_STRING:
    case SW_FLAG_CHOICE:
        *(const char **)field = value;
        return 0;
    case SW_FLAG_LIST: {
        struct sw_list_arg *list = field;
        SW_GROW(list->items, list->n, list->cap);
        list->items[list->n++] = value;
        return 0;
    }
    case SW_FLAG_INT: {
        int64_t number;
        int rc = parse_number(value, 0, MAX_INT, &number, err);
        if (rc == 0)
            *(int *)field = (int)number;
        return rc;
    }
    case SW_FLAG_NUMBER:
        return parse_number(value, 0, 0, field, err);
    case SW_FLAG_COUNT:
        return parse_number(value, 1, INT_MAX, field, err);
    case SW_FLAG_DURATION:
        return sw_span_parse(value, field, err);
    }
    return 0;
}

static void print_flag(const struct sw_flag *f)
{
    enum { COLUMN = 31 };
    const char *arg = f->arg ? f->arg : f->kind == SW_FLAG_BOOL ? "" : "VALUE";
    SW_AUTO_CHARS *doc = f->choices ? sw_printf("%s (%s)", f->doc, f->choices) : sw_strdup(f->doc);
    bool may_lack = f->kind == SW_FLAG_CHOICE;
    int n = printf("  %c%c%s --%s%s%s%s", f->letter ? '-' : ' ', f->letter ? f->letter : ' ',
                   f->letter ? "," : " ", f->name,
                   may_lack ? "[="
                   : *arg   ? " "
                            : "",
                   arg, may_lack ? "]" : "");
    if (n > COLUMN - 2)
        (void)printf("\n%*s", COLUMN, "");
    else
        (void)printf("%*s", COLUMN - n, "");
    sw_text_wrap(stdout, doc, COLUMN, COLUMN);
}

static void print_help(const struct parser *p)
{
    const struct sw_flag_set *s = p->set;
    SW_AUTO_CHARS *title = sw_printf("%s: %s", s->program, s->summary);
    SW_AUTO_CHARS *usage = sw_printf("Usage: %s [OPTION]...%s%s", s->program, *s->args ? " " : "",
                                     s->args);
    sw_text_wrap(stdout, title, 0, 4);
    (void)printf("\n");
    sw_text_wrap(stdout, usage, 0, 4);
    if (s->details) {
        (void)printf("\n");
        sw_text_wrap_all(stdout, s->details);
    }
    (void)printf("\nOptions:\n");
    for (size_t i = 0; i < p->n; i++)
        print_flag(p->flags[i]);
}

int sw_flags_usage(const char *program, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "%s: %s; see '%s --help'\n", program, text, program);
    return SW_EXIT_BAD_OPTION;
}

int sw_flags_fail(const char *program, const struct sw_err *err)
{
    (void)fprintf(stderr, "%s: %s\n", program, sw_err_text(err));
    return err->code == SW_INVALID ? SW_EXIT_BAD_OPTION : EXIT_FAILURE;
}

/* For getopt's '?': an unknown flag, one without its value, or an ambiguous abbreviation. */
static int bad_option(const struct parser *p, char **argv)
{
    if (optopt && optopt < FIRST_LONG && !flag_of(p, optopt))
        return sw_flags_usage(p->set->program, "unknown option '-%c'", optopt);
    if (optopt) {
        const struct sw_flag *f = flag_of(p, optopt);
        return sw_flags_usage(p->set->program, "option '--%s' needs a value", f ? f->name : "");
    }
    SW_AUTO_CHARS *name = sw_strndup(argv[optind - 1], strcspn(argv[optind - 1], "="));
    const char *names[MAX_FLAGS + 1] = { 0 };
    for (size_t i = 0; i < p->n; i++)
        names[i] = p->flags[i]->name;
    const char *near = sw_text_nearest(name + strspn(name, "-"), names);
    return sw_flags_usage(p->set->program, "unknown option '%s'%s%s%s", name,
                          near ? ", did you mean '--" : "", near ? near : "", near ? "'" : "");
}

static int parse_one(const struct parser *p, int value, char **argv, void *opts)
{
    const struct sw_flag *f = value == '?' ? NULL : flag_of(p, value);
    if (!f)
        return 1 + bad_option(p, argv);
    if (sw_streq(f->name, "help")) {
        print_help(p);
        return 1 + EXIT_SUCCESS;
    }
    if (f == version_flag) {
        (void)printf("%s %s\n", p->set->program, p->set->version);
        return 1 + EXIT_SUCCESS;
    }
    SW_ERR(err);
    if (f == &sw_common_flags[0]) {
        enum sw_log_level level;
        if (!sw_log_level_parse(optarg, &level))
            return 1 + sw_flags_usage(p->set->program, "--%s: '%s' is not one of %s", f->name,
                                      optarg, f->choices);
        sw_log_set_level(level);
    } else if (store(f, optarg, opts, &err) < 0)
        return 1 + sw_flags_usage(p->set->program, "--%s: %s", f->name, sw_err_text(&err));
    return 0;
}

int sw_flags_parse(const struct sw_flag_set *set, int argc, char **argv, void *opts,
                   struct sw_operands *rest)
{
    struct parser p = { .set = set };
    add_flags(&p, set->flags);
    if (set->version)
        add_flags(&p, version_flag);
    add_flags(&p, sw_common_flags);
    opterr = 0;
    optind = 0; /* GNU: start afresh; tests parse more than once */
    int value;
    while ((value = (set->go_style ? getopt_long_only : getopt_long)(argc, argv, p.shorts, p.longs,
                                                                     NULL)) != -1) {
        int rc = parse_one(&p, value, argv, opts);
        if (rc)
            return rc;
    }
    struct sw_operands operands = { argv + optind, (size_t)(argc - optind) };
    if (set->command && operands.n) {
        if (!sw_streq(operands.items[0], set->command))
            return 1 + sw_flags_usage(set->program, "'%s' is no command; expected %s",
                                      operands.items[0], set->command);
        operands.items++;
        operands.n--;
    }
    if (operands.n > set->max_operands)
        return 1 + sw_flags_usage(set->program, "'%s' is one argument too many",
                                  operands.items[set->max_operands]);
    if (rest)
        *rest = operands;
    return 0;
}
