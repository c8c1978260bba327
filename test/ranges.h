#pragma once
/* assert_between(): that LOW <= VALUE <= HIGH, as whole numbers. It is here since cmocka 2 has
 * another name for it than cmocka 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_between(value, low, high)                                                           \
    assert_is_between((int64_t)(value), (int64_t)(low), (int64_t)(high), __FILE__, __LINE__)

static inline void assert_is_between(int64_t value, int64_t low, int64_t high, const char *file,
                                     int line)
{
    if (value >= low && value <= high)
        return;
    print_error("%lld is not within %lld and %lld\n", (long long)value, (long long)low,
                (long long)high);
    _fail(file, line);
}
