#pragma once
/* fork: the sockets of a process that holds both ends of its connections, after fork(). Parent and
 * child share them then: what one reads, the other does not get. */

/** In the child, while the parent waits: every TCP socket gives its number to one of the child's
 * own. @listening listens at another port of its address; a connection that it accepted still holds
 * what had arrived and was not read, and then its end; the others have just ended. The parent's
 * sockets are as they were. Ends the process where the system gives it no sockets: it must not
 * touch those that it has. */
void sw_fork_sockets(int listening);
