#pragma once
/* Shared by the files that implement schema.h. */
#include "data/cel/pattern.h"
#include "emulator/schema/schema.h"

/** The boolean @name of @schema; false where it is missing. */
bool sw_structural_flag(json_object *schema, const char *name);
