#pragma once
/* number: floating point numbers as Go's strconv prints them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room for any output of the functions below with the shortest precision, NUL included. */
#define SW_FLOAT_LEN 352

/** strconv.FormatFloat(@value, @verb, -1, @bits): the shortest text that reads back the same.
 * @verb: 'e', 'f' or 'g'; @bits: 32 or 64. NaN, +Inf and -Inf are written so.
 * @return the length. Pinned by test/unit/data/data_number_test.c. */
size_t sw_float_go(double value, char verb, int bits, char buf[static SW_FLOAT_LEN]);

/** As encoding/json writes a float64: plain from 1e-6 up to 1e21, else with an exponent. Finite
 * only. @return the length. */
size_t sw_float_json(double value, char buf[static SW_FLOAT_LEN]);

/** The type that holds a JSON number exactly. */
enum sw_number_kind { SW_NUMBER_INT, SW_NUMBER_UINT, SW_NUMBER_REAL, SW_NUMBER_RANGE };
/** The value of a JSON number. */
struct sw_number {
    enum sw_number_kind kind; /* UINT: larger than INT64_MAX; RANGE: too large for a double */
    int64_t i;
    uint64_t u;
    double d; /* set for REAL */
};
/** Read the text of a JSON number, which must be well-formed. Does not depend on the locale. */
struct sw_number sw_number_classify(const char *text, size_t len_bytes);

/** Read a decimal floating point number, whatever the locale. @return false: too large */
bool sw_number_read(const char *text, size_t len_bytes, double *out);
