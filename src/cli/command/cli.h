#pragma once
/* cli: what a command is. A command is a row of sw_commands; its options are a table from which the
 * parser, --help, manual pages and shell completions are made. For all commands: long options as
 * GNU getopt_long has them, results on stdout, everything else on stderr, exit codes of enum
 * sw_exit, colours only on a terminal and never with NO_COLOR set. */
#include "data/flags/flags.h"

struct json_object;

/** What the process ends with. Pinned by test/emulator/cli/run_cli_test.c. */
enum sw_exit {
    SW_EXIT_OK = 0,
    SW_EXIT_FAILED = 1,  /* it was tried, and failed */
    SW_EXIT_USAGE = 2,   /* bad usage or bad input: nothing was tried */
    SW_EXIT_TIMEOUT = 3, /* --timeout passed */
    SW_EXIT_ERRORED = 4, /* the command has done its work: a resource that it shows is Errored */
};

/** The table of a command without options of its own. */
extern const struct sw_flag sw_no_flags[];

/** A row of a table of flags whose values are not limited to choices. @at: the field's offset. */
#define SW_FLAG_ROW(name, letter, kind, at, arg, doc)                                              \
    {                                                                                              \
        name, letter, kind, at, arg, NULL, doc                                                     \
    }

struct sw_call;

/** A command: one row, defined in the command's own file. */
struct sw_command {
    const char *name;
    const char *args;    /* the operands: "RECIPE", "[NAME]", "" */
    const char *missing; /* the message if there is no operand; NULL: none is needed */
    const char *summary; /* one line, for the list of commands */
    const char *details; /* the text of --help, between usage and options; may be NULL */
    const struct sw_flag *flags;
    int (*execute)(const struct sw_call *call); /* returns an enum sw_exit */
    /** Print what failed before anything was printed in @format, a choice of its flag other than
     * json and yaml; NULL: the command has no such document. */
    void (*print_failure)(const char *format, const char *message);
};

/** The arguments of a command; all of it is borrowed. */
struct sw_call {
    const struct sw_command *command;    /* its own row */
    const struct sw_command *const *all; /* the program's commands, ends with NULL */
    int argc;
    char **argv; /* argv[0] is the command's name */
};

/** Find a command of @all (which ends with NULL), borrowed; NULL: there is none. */
const struct sw_command *sw_command_find(const struct sw_command *const *all, const char *name);

/** Parse the arguments of @call into @opts, which holds the defaults: by the command's table of
 * options, and by sw_common_flags. Bad usage and --help are reported here.
 * @max: how many operands are allowed
 * @return 0 to go on, else 1 + the enum sw_exit to return: `if (rc) return rc - 1;` */
int sw_cli_parse(const struct sw_call *call, void *opts, size_t max,
                 struct sw_operands *rest) SW_CHECKED;

/** Execute @call's command. Where JSON or YAML is asked for and the command ends with an error
 * before it has printed anything, stdout gets {"message": ..., "exit": ...}, so that there is
 * always a document; of other formats it is the command's print_failure().
 * @return an enum sw_exit, or 128 + the signal that ended it */
int sw_cli_execute(const struct sw_call *call);

/** Print "slipway <command>: <text>" and where help is, on stderr. @return SW_EXIT_USAGE. */
int sw_cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Print "slipway <command>: <what err says>" on stderr. @return SW_EXIT_USAGE for SW_INVALID,
 * SW_NOTFOUND; else SW_EXIT_FAILED. */
int sw_cli_fail(const char *command, const struct sw_err *err);

/** Whether output on @fd may be coloured: a terminal, no NO_COLOR, TERM not "dumb". */
bool sw_cli_colours(int fd);

/** Print text on stdout and flush it. @return SW_EXIT_OK | SW_EXIT_FAILED: it could not be written.
 * Other output is flushed and checked by main(). */
int sw_cli_print(const char *text, size_t len_bytes);

/** Print @doc as indented JSON and a line end, like sw_cli_print(). */
int sw_cli_print_json(struct json_object *doc);

/** The namespace of the operator: $OPERATOR_NAMESPACE, else "slipway". Borrowed. */
const char *sw_cli_operator_namespace(void);

/** The running program, even if its file was replaced: to start it again as a helper. */
#define SW_SELF "/proc/self/exe"

/** What the program was built of, set by main.c from the build; "" where that is not known. */
struct sw_build {
    const char *commit;    /* of git, whole */
    const char *date;      /* of the commit, ISO 8601 */
    const char *libraries; /* "json-c=0.16 libcurl=7.88.1": as pkg-config knew them */
};
extern const struct sw_build sw_build;
/** The version, "0.1.0" or "0.1.0+g3a1f6b74". Set by main.c from the build. */
extern const char *sw_version;
