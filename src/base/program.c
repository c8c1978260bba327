#include "base/base.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void sw_program_start(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            /* gets the lowest free number; the wrong way round, so that using it still fails */
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    sw_output_guard();
}
