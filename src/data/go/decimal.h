#pragma once
/* Decimal arithmetic as github.com/shopspring/decimal does it for sprig's float functions: floats
 * go in by their shortest text, results come out as the nearest float. */
#include "base/base.h"

/** The operation of sw_decimal_fold(). */
enum sw_decimal_op { SW_DECIMAL_ADD, SW_DECIMAL_SUB, SW_DECIMAL_MUL, SW_DECIMAL_DIV };

/** @*a op= @b, in turn for all @n of @b. Quotients have 16 places, halves away from zero.
 * @return 0 | SW_INVALID: not a number, division by zero */
int sw_decimal_fold(enum sw_decimal_op op, double *a, const double *b, size_t n,
                    struct sw_err *err);
