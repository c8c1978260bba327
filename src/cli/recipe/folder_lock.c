#include "cli/recipe/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 20, TRY_MS = 50 };

static int lock(int fd, int how)
{
    int rc;
    while ((rc = flock(fd, how)) < 0 && errno == EINTR)
        ;
    return rc;
}

int sw_folder_lock(const char *folder, const char *command)
{
    const struct timespec pause = { .tv_nsec = TRY_MS * 1000000L };
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = fd < 0 ? -1 : 0;
    for (int i = 0; fd >= 0 && i < TRIES; i++) {
        rc = lock(fd, LOCK_EX | LOCK_NB);
        if (rc == 0 || errno != EWOULDBLOCK)
            break;
        (void)nanosleep(&pause, NULL);
    }
    if (fd >= 0 && rc < 0 && errno == EWOULDBLOCK) {
        (void)fprintf(stderr, "slipway %s: waiting for another slipway that writes to %s\n",
                      command, folder);
        rc = lock(fd, LOCK_EX);
    }
    if (fd >= 0 && rc < 0)
        sw_folder_unlock(fd);
    return rc < 0 ? -1 : fd;
}

void sw_folder_unlock(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* nothing was written to it */
}
