#pragma once
/* Regular expressions between regex_parse.c and regex.c. */
#include "base/base.h"
#include "data/text/unicode.h"

/** A set of runes: sorted ranges that do not touch. */
struct sw_runes {
    struct sw_rune_range *ranges;
    size_t n, cap;
};

/** What a node of an expression is. */
enum regex_kind {
    RE_EMPTY,
    RE_CLASS,
    RE_BEGIN_LINE,
    RE_END_LINE,
    RE_BEGIN_TEXT,
    RE_END_TEXT,
    RE_WORD,
    RE_NO_WORD,
    RE_CONCAT,
    RE_ALTERNATE,
    RE_REPEAT,
    RE_GROUP,
};

/** A part of an expression, in the arena of its parser. */
struct regex_node {
    enum regex_kind kind;
    struct sw_runes runes;    /* CLASS; in the arena */
    struct regex_node *first; /* CONCAT, ALTERNATE: the first of several; REPEAT, GROUP: the one */
    struct regex_node *last;  /* of several */
    struct regex_node *next;  /* after this one in its parent */
    int min, max;             /* REPEAT; max -1: any number */
    bool lazy;                /* REPEAT */
    size_t group;             /* GROUP: its number */
};

/** The names of groups; the caller of the parser frees them. */
struct regex_names {
    char **names; /* by group; NULL where it has none */
    size_t n, cap;
};

/** Parse @expr into a tree in @arena. @names gets the names of its groups.
 * @return 0 | SW_INVALID, as sw_regex_compile() */
int sw_regex_parse(struct sw_arena *arena, const char *expr, size_t len, struct regex_node **out,
                   struct regex_names *names, struct sw_err *err);

/* runes.c: sets of runes, in an arena */
void sw_runes_add(struct sw_runes *set, struct sw_arena *arena, uint32_t lo, uint32_t hi);
/** Add the runes of a class. */
void sw_runes_add_class(struct sw_runes *set, struct sw_arena *arena,
                        const struct sw_rune_class *class);
/** Sort the ranges and join those that touch. */
void sw_runes_normalize(struct sw_runes *set);
/** All runes that are not in the set, which is normalized. */
void sw_runes_negate(struct sw_runes *set, struct sw_arena *arena);
/** Add what differs from a member only in case. */
void sw_runes_fold(struct sw_runes *set, struct sw_arena *arena);
/** Whether @rune is in the set, which is normalized. */
bool sw_runes_has(const struct sw_runes *set, uint32_t rune);
