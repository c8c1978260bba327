#pragma once
/* flags: command lines. A program, or one command of a program, has a table of flags; from it come
 * the parser, --help, manual pages and shell completions. The program acts on the flags. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** The type of a flag's field, and the values that it takes. */
enum sw_flag_kind {
    SW_FLAG_BOOL,   /* bool: no value, or "=true", "=false" */
    SW_FLAG_STRING, /* const char *: borrowed from argv, the last one wins */
    SW_FLAG_CHOICE, /* the same; a value stands behind "=", without one it is the row's @arg */
    SW_FLAG_LIST,   /* struct sw_list_arg: every occurrence, in order */
    SW_FLAG_INT,    /* int, from 0 to 65535 */
    SW_FLAG_NUMBER, /* int64_t, not negative */
    SW_FLAG_COUNT,  /* int64_t, from 1 to INT_MAX: 0 stays "not given" */
    /* int64_t, milliseconds: "90s", "1h30m", "250ms"; a plain number is seconds */
    SW_FLAG_DURATION,
};

/** One flag. A table ends with a row whose name is NULL. */
struct sw_flag {
    const char *name; /* without the dashes */
    char letter;      /* of the short form; 0: none */
    enum sw_flag_kind kind;
    size_t offset;       /* of the field in the options struct */
    const char *arg;     /* the value's name in --help: "FILE"; NULL: none, or VALUE */
    const char *choices; /* "a|b|c": the only values that are allowed; NULL: any */
    const char *doc;     /* one sentence, no full stop; never NULL */
};

/** What one command line may hold; borrowed for the call. */
struct sw_flag_set {
    const char *program; /* "slipway run": stands before every message */
    const char *summary; /* one line */
    const char *args;    /* what stands behind the flags: "RECIPE", "[NAME]"; "": nothing */
    const char *details; /* the text of --help between usage and flags; NULL: none */
    const char *version; /* printed by --version; NULL: there is no such flag */
    const struct sw_flag *flags;
    bool go_style;       /* as Go's flag package: "-name" is "--name" */
    const char *command; /* a word that may stand behind the flags, and says nothing; NULL: none */
    size_t max_operands; /* without @command */
};

/** The values of a flag that may be repeated; the strings are argv's. Zero-initialise; owned by
 * the options struct: sw_list_arg_done(). */
struct sw_list_arg {
    const char **items;
    size_t n, cap;
};

/** Free the list, not the strings; it is empty then. */
void sw_list_arg_done(struct sw_list_arg *list);

/** What was not a flag. @items is argv's memory. */
struct sw_operands {
    char **items;
    size_t n;
};

/** What every command line understands besides its own flags: --help and --log-level. Ends with a
 * NULL name. */
extern const struct sw_flag sw_common_flags[];

/** Exit status for bad usage and bad input. */
enum { SW_EXIT_BAD_OPTION = 2 };

/** Parse @argv (@argv[0] is skipped) into @opts, which holds the defaults. As GNU getopt_long()
 * does: flags and operands in any order, unique abbreviations, "--" ends the flags. --log-level is
 * set at once. Bad usage goes to stderr, --help and --version to stdout. @rest may be NULL where no
 * operand is allowed.
 * @return 0 to go on, else 1 + the exit status: `if (rc) return rc - 1;`
 * Pinned by test/unit/cli/cli_options_test.c, test/unit/slicing/webhook_program_test.sh. */
int sw_flags_parse(const struct sw_flag_set *set, int argc, char **argv, void *opts,
                   struct sw_operands *rest) SW_CHECKED;

/** Print "<program>: <text>; see '<program> --help'" on stderr. @return SW_EXIT_BAD_OPTION */
int sw_flags_usage(const char *program, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Print "<program>: <message>" on stderr. @return SW_EXIT_BAD_OPTION for SW_INVALID, else
 * EXIT_FAILURE */
int sw_flags_fail(const char *program, const struct sw_err *err);

/** A row for a table of flags, given the offset of a const char * for sw_log_file_open(). */
#define SW_FLAG_LOG_FILE(offset)                                                                   \
    {                                                                                              \
        "log-level-file", 0, SW_FLAG_STRING, offset, "FILE", NULL,                                 \
            "follow the level in this file, while there is one"                                    \
    }
