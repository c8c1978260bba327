#pragma once
/* schema_format: the forms of text that schemas name. */
#include <stdbool.h>

/** Whether @text has the form that JSON Schema calls @format; an unknown one fits all. */
bool sw_schema_format(const char *format, const char *text);
