#pragma once
/* related_images: the images of a recipe's parts that the operator's environment names. */
struct json_object;

/** {part: image} as RELATED_IMAGES and RELATED_IMAGE_<PART>_IMAGE of the environment say, the
 * caller's; NULL: they say nothing. */
struct json_object *sw_related_images(void);
