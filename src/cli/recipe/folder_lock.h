#pragma once
/* folder_lock: commands that write the files of one chart do so one after another. */

/** Let no other process of slipway that takes this lock write to @folder until it is closed, which
 * the end of the process does, too: nothing is left in the folder. Waits for the one that has it,
 * and says so on stderr in the name of @command after a second.
 * @return to be closed; -1: the folder cannot be opened, or its file system knows no locks */
int sw_folder_lock(const char *folder, const char *command);

/** Give it back; -1 is accepted. */
void sw_folder_unlock(int fd);
