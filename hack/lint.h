/* lint.h: read before every source by `make lint`: what clang's analyzer cannot know. */
#include "base/base.h"

/* They return their code, and so fail where that is negative: it does not read their bodies. */
#define sw_err_set(err, code, ...) (sw_err_set(err, code, __VA_ARGS__), (code))
#define sw_err_wrap(err, code, ...) (sw_err_wrap(err, code, __VA_ARGS__), (code))

/* Freeing @p changes the list that it is in: it does not know that what points to @p, which @p
 * knows, is the head from which @p was read, and takes the head for freed memory. */
void *sw_lint_linked(const void *p);
#undef SW_LINKED
#define SW_LINKED(p) ((__typeof__(p))sw_lint_linked(p))
