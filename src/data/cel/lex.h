#pragma once
/* lex: the tokens of an expression. Internal to cel. */
#include "data/cel/ast.h"

/** The kinds of tokens. */
enum cel_token_kind {
    CEL_T_END,
    CEL_T_OP,
    CEL_T_IDENT,
    CEL_T_QUOTED,
    CEL_T_INT,
    CEL_T_UINT,
    CEL_T_DOUBLE,
    CEL_T_STRING,
    CEL_T_BYTES
};

/** A token. */
struct cel_token {
    enum cel_token_kind kind;
    size_t at, len;         /* in the source */
    struct cel_value value; /* of a string or bytes */
};

/** The next token of @cel's source from @*at on, which moves behind it. What is no token is noted
 * and skipped. */
struct cel_token sw_cel_lex(struct sw_cel *cel, size_t *at);
