#pragma once
/* cli: the commands of the one program. A command is a row of sw_commands; its options are a table
 * too, from which come the parser, --help and the shell completion, so that none can lag behind.
 * Rules for all: long options as GNU getopt_long has them, results on stdout, everything else on
 * stderr, exit codes enum sw_exit, colours only on a terminal and never with NO_COLOR set. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** What the process ends with. Pinned by test/emulator/cli/run_cli_test.c. */
enum sw_exit {
    SW_EXIT_OK = 0,
    SW_EXIT_FAILED = 1,  /* it was tried, and failed */
    SW_EXIT_USAGE = 2,   /* bad usage or bad input: nothing was tried */
    SW_EXIT_TIMEOUT = 3, /* --timeout passed */
};

enum sw_flag_kind {
    SW_FLAG_BOOL,     /* bool; no value */
    SW_FLAG_STRING,   /* const char *: borrowed from argv, the last one wins */
    SW_FLAG_LIST,     /* struct sw_list_arg: every occurrence, in order */
    SW_FLAG_NUMBER,   /* int64_t, not negative */
    SW_FLAG_COUNT,    /* int64_t, of 1 to INT_MAX: 0 stays "not given" */
    SW_FLAG_DURATION, /* int64_t, milliseconds: "90s", "1h30m", "250ms", plain numbers are seconds
                       */
};

/** One option. A table ends with a row whose name is NULL. */
struct sw_flag {
    const char *name; /* without the dashes */
    char letter;      /* 0: no short form */
    enum sw_flag_kind kind;
    size_t offset;       /* of the field in the command's options struct */
    const char *arg;     /* how --help calls the value: "FILE"; NULL for SW_FLAG_BOOL */
    const char *choices; /* "a|b|c": the only values that are allowed; NULL: any */
    const char *doc;     /* one sentence, no full stop; never NULL */
};

/** The values of an option that may be repeated; the strings are argv's. Zero-initialise; owned by
 * the options struct: sw_list_arg_done(). */
struct sw_list_arg {
    const char **items;
    size_t n, cap;
};
void sw_list_arg_done(struct sw_list_arg *list);

/** What every command understands besides its own options. */
extern const struct sw_flag sw_common_flags[];

/** The table of a command without options of its own. */
extern const struct sw_flag sw_no_flags[];

struct sw_call;

/** A command: one row, defined in the command's own file. */
struct sw_command {
    const char *name;
    const char *args;    /* what stands behind the options: "RECIPE", "[NAME]", "" */
    const char *summary; /* one line, for the list of commands */
    const char *details; /* the text of --help, between usage and options; may be NULL */
    const struct sw_flag *flags;
    int (*execute)(const struct sw_call *call); /* returns an enum sw_exit */
};

/** What a command is started with; all of it is borrowed. */
struct sw_call {
    const struct sw_command *command;    /* its own row */
    const struct sw_command *const *all; /* the program's commands, ends with NULL */
    int argc;
    char **argv; /* argv[0] is the command's name */
};

/** @return the command of @all (which ends with NULL) with this name, borrowed; NULL: there is
 * none.
 */
const struct sw_command *sw_command_find(const struct sw_command *const *all, const char *name);

/** What was not an option. @items is argv's memory. */
struct sw_operands {
    char **items;
    size_t n;
};

/** Parse the arguments of @call into @opts, which holds the defaults: by the command's table of
 * options, and by sw_common_flags. Bad usage and --help are reported here.
 * @max: how many operands are allowed
 * @return 0 to go on, else 1 + the enum sw_exit to return: `if (rc) return rc - 1;` */
int sw_cli_parse(const struct sw_call *call, void *opts, size_t max,
                 struct sw_operands *rest) SW_CHECKED;

/** Print "slipway <command>: <text>" and where help is, on stderr. @return SW_EXIT_USAGE. */
int sw_cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Print "slipway <command>: <what err says>" on stderr. @return SW_EXIT_USAGE for SW_INVALID,
 * SW_NOTFOUND; else SW_EXIT_FAILED. */
int sw_cli_fail(const char *command, const struct sw_err *err);

/** Go's duration syntax, and plain numbers as seconds. @return 0 | SW_INVALID */
int sw_cli_duration(const char *text, int64_t *ms, struct sw_err *err) SW_CHECKED;

/** How many letters must be added, left out or changed to make @b of @a; more than 2 is far, and
 * words of more than 64 letters always are.
 * @loosely: whatever their case, and two neighbours that changed places count once. */
int sw_cli_distance(const char *a, size_t n, const char *b, size_t m, bool loosely);
/** The nearest of @names (ends with NULL) to what somebody typed; NULL where none is near. */
const char *sw_cli_nearest(const char *typed, const char *const *names);

/** May output on @fd be coloured: a terminal, no NO_COLOR, TERM not "dumb". */
bool sw_cli_colours(int fd);

/** Whole text to stdout; a reader that went away is a failure. @return enum sw_exit. */
int sw_cli_print(const char *text, size_t len_bytes);

/** This very program, whatever became of its file: to start it again as a helper. */
#define SW_SELF "/proc/self/exe"

/** Set by main.c from the build. */
extern const char *sw_version;
