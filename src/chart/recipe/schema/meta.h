#pragma once
/* meta: the schemas of schemas, by which a malformed one is found; internal to the folder. */

/** The schema of the schemas of a draft (4, 6, 7, 2019, 2020) as JSON. */
const char *sw_meta_text(int draft);
/** Its URL, as messages name it. */
const char *sw_meta_url(int draft);
