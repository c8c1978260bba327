#pragma once
/* Patterns of .Files.Glob, as github.com/gobwas/glob reads them with '/' as separator. */
#include "base/base.h"

struct sw_glob;
/** @return NULL: not a pattern */
struct sw_glob *sw_glob_new(const char *pattern, size_t len);
/** @glob may be NULL. */
void sw_glob_free(struct sw_glob *glob);
SW_DEFINE_AUTO(sw_glob, sw_glob_free)
/** Whether the whole of @s matches. */
bool sw_glob_match(const struct sw_glob *glob, const char *s, size_t len);
