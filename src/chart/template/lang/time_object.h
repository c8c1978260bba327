#pragma once
/* Points in time as values of templates: Go's time.Time with its methods. */
#include "chart/template/value/value.h"
#include "data/go/gotime.h"

struct call;

/** A time.Time, made in @arena; @t's zone is borrowed for the arena's life. */
struct sw_value sw_gotime_value(struct sw_arena *arena, struct sw_gotime t);
/** Whether @v is a time.Time. */
bool sw_value_is_time(struct sw_value v);
/** The time of a value for which sw_value_is_time() is true. */
struct sw_gotime sw_gotime_of(struct sw_value v);
/** Leave @t as the result of a call. */
int sw_return_time(struct call *c, struct sw_gotime t);
