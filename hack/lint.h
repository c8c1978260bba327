/* lint.h: read before every source by `make lint`. What clang's analyzer cannot know of functions
 * that it sees no body of: that they return their code, and so fail where that is negative. */
#include "base/base.h"

#define sw_err_set(err, code, ...) (sw_err_set(err, code, __VA_ARGS__), (code))
#define sw_err_wrap(err, code, ...) (sw_err_wrap(err, code, __VA_ARGS__), (code))
