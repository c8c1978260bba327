#pragma once
/* trim: memory that only the start needed. Internal to deviceplugin. */

/** Give freed heap back, and let go of code and constants that lie in the page cache anyway: what
 * is called again comes back by itself. Linking and starting touch several MiB of libraries. */
void dp_trim(void);
