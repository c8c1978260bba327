#pragma once
/* releases: releases of their own that several resources use (slipway.dev/releases with a
 * namespace). Such a release is installed once, by its owner; the others have joined. Who they are
 * is kept in an annotation of the release's namespace, so that it survives whoever is killed, and
 * is written for one version of the namespace: of two who begin at the same moment one becomes the
 * owner.
 *
 *     slipway.dev/shared-releases: {"<release>": {
 *         "version": as it is installed,
 *         "users":   [{"name", "uid", "version": as it pins the release}, ...], the owner first,
 *         "from":    {"name", "uid"} of the last owner, who still hands it over,
 *         "leaving": true, its only user removes it,
 *         "former":  [names] of owners that are gone without having handed it over (who lost its
 *                    finalizer): what has their mark is the owner's, until that is Ready,
 *         "objects": [...], entries of an inventory: what the owner has not in its status yet}}
 *
 * Everything here works on such an entry, a document. No I/O. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;

/** Annotation and label of a namespace. */
#define SW_SHARED_NOTE "slipway.dev/shared-releases"
#define SW_SHARED_LABEL "slipway.dev/shared-releases"

/** Who uses a release, or wants to. Borrowed. */
struct sw_release_user {
    const char *name, *uid;
    const char *version; /* that it pins; NULL where that does not matter */
};

/** What a namespace says of its releases, {release: entry}: a copy, the caller's. What is no such
 * entry is left out. @ns NULL: there is none. */
struct json_object *sw_shared_releases_of(struct json_object *ns);
/** The merge patch that writes @releases into @ns, good for the version of it that was read; the
 * caller's. */
struct json_object *sw_shared_releases_patch(struct json_object *ns, struct json_object *releases);
/** The release's name in @release, "<namespace>/<release>". Borrowed. */
const char *sw_shared_name(const char *release);
/** The namespace of it; heap. */
char *sw_shared_namespace(const char *release);

/** Who owns it: the last owner until all is handed over. {"name", "uid"}, borrowed. */
struct json_object *sw_shared_owner(struct json_object *entry);
/** Does the resource of @uid own it, with all of its objects? */
bool sw_shared_is_owned_by(struct json_object *entry, const char *uid);
/** Has it joined, or does it own it? */
bool sw_shared_is_used_by(struct json_object *entry, const char *uid);
/** Who gets what the resource of @uid has of it; borrowed. NULL: nobody does, it is its own or is
 * removed. */
struct json_object *sw_shared_heir(struct json_object *entry, const char *uid);
/** Is it being removed by another one than the resource of @uid? */
bool sw_shared_is_leaving(struct json_object *entry, const char *uid);
/** The names of its users but @uid, "a, b"; heap. NULL: there is no other. */
char *sw_shared_others(struct json_object *entry, const char *uid);
/** Why @user cannot use it: it pins another version than is installed, and another user does not
 * want that version. Heap; NULL: it can. */
char *sw_shared_conflict(struct json_object *entry, const struct sw_release_user *user,
                         const char *release);

/** Did neither slipway nor @release make @object, of a kind that the release defines? What has an
 * owner in the release's namespace goes with that. */
bool sw_shared_is_foreign(struct json_object *object, const char *release);

/** A new release, which @user owns; the caller's. */
struct json_object *sw_shared_new(const struct sw_release_user *user);
/** @user joins it, or pins another version. @return whether that changes anything */
bool sw_shared_join(struct json_object *entry, const struct sw_release_user *user);
/** What of a resource's @inventory is of the release @name, for who gets it: without uids
 * and without what belongs to its status. The caller's. */
struct json_object *sw_shared_objects(struct json_object *inventory, const char *name);
/** The resource of @uid leaves it. Where it is the owner the next user becomes the owner, to whom
 * it hands over the @objects that it has, an inventory, or else it begins to remove it.
 * @return whether that changes anything */
bool sw_shared_leave(struct json_object *entry, const char *uid, struct json_object *objects);
/** Must it wait to leave, until another one has handed it over? */
bool sw_shared_must_wait(struct json_object *entry, const char *uid);
/** A user, @uid, does not exist any more; where it has owned the release it is a former owner now.
 * @return whether that changes anything */
bool sw_shared_forget(struct json_object *entry, const char *uid);
/** Who still hands it over does not exist any more. */
void sw_shared_forget_from(struct json_object *entry);
/** The namespace of @release is among the objects that the owner of @entry has not in its status.
 */
void sw_shared_add_namespace(struct json_object *entry, const char *release);
/** The same, where @ns, that namespace as it is, is slipway's and has the mark of a former owner:
 * who is deleted before it has walked the release takes the namespace with it, too. */
void sw_shared_inherit_namespace(struct json_object *entry, const char *release,
                                 struct json_object *ns);
/** A new release, which @user owns, in the place of @entry, whose users do not exist any more; the
 * caller's. */
struct json_object *sw_shared_renew(struct json_object *entry, const struct sw_release_user *user);
/** The resource of @uid has no object of it any more: it is handed over, or removed. *@gone: there
 * is no release any more.
 * @return whether that changes anything */
bool sw_shared_done(struct json_object *entry, const char *uid, bool *gone);
