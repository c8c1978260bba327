#pragma once
/* wrap: texts for people in lines of a bearable length. */
#include <stddef.h>
#include <stdio.h>

enum { SW_WRAP_COLUMNS = 80 }; /* of the terminals that help is for */

/** Print @text, its words in lines of at most SW_WRAP_COLUMNS where they fit; @column is where the
 * first begins, the others begin at @indent. Ends the last line. */
void sw_text_wrap(FILE *out, const char *text, size_t column, size_t indent);
/** The same for several paragraphs: lines that begin with a letter are one text up to an empty
 * line; those that begin with a space, or are short and followed by such, stay as they are. */
void sw_text_wrap_all(FILE *out, const char *text);
