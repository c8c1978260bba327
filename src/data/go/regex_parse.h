#pragma once
/* Between regex_parse_class.c and regex_parse.c: Go's regexp/syntax with its Perl flags. A function
 * that fails returns NULL, false or -1 and has set p->err; messages quote the part of the
 * expression that Go quotes. */
#include "data/go/regex_ast.h"

/** Limits of an expression. */
enum {
    DEEPEST = 1000,
    MAX_REPEAT = 1000, /* all repetitions within each other multiplied */
};

/** The flags of "(?imsU)". */
enum flags {
    FOLD = 1,      /* i */
    MULTILINE = 2, /* m */
    DOT_ALL = 4,   /* s */
    SWAP_LAZY = 8, /* U */
};

/** The state of parsing one expression. */
struct regex_parser {
    struct sw_arena *arena;
    const char *start, *at, *end;
    unsigned flags;
    unsigned depth;
    struct regex_names *names;
    struct sw_err *err;
};

/** Set the error @code, which quotes the expression from @from to @to. @return NULL */
void *sw_regex_fail(struct regex_parser *p, const char *code, const char *from, const char *to);
/** An empty node, in the arena. */
struct regex_node *sw_regex_new_node(struct regex_parser *p, enum regex_kind kind);
/** Whether @text comes next. */
bool sw_regex_is_at(const struct regex_parser *p, const char *text);
/** The next rune, which is passed. */
uint32_t sw_regex_next_rune(struct regex_parser *p);

/** A backslash and what stands for one rune. */
bool sw_regex_escape(struct regex_parser *p, uint32_t *rune);
/** "\d" and its like. @return whether it was one */
bool sw_regex_perl_class(struct regex_parser *p, struct sw_runes *set);
/** "\pN", "\p{Greek}". @return 1: it was one, 0: it was not, -1: failed */
int sw_regex_unicode_class(struct regex_parser *p, struct sw_runes *set);
/** "[...]" */
struct regex_node *sw_regex_class_node(struct regex_parser *p);
