"""A program in a pseudo-terminal."""

import fcntl
import os
import pty
import struct
import termios


def run(words, folder, environment, rows, columns, on_output=None):
    """Exit code and all output of a program whose three streams are a terminal of this size.

    on_output, if given, is called with the process, the terminal's descriptor and all output so far.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(words[0], words, environment)
    output = ""
    while chunk := _read(terminal):
        output += chunk
        if on_output:
            on_output(pid, terminal, output)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output


def _read(terminal):
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:  # how a terminal whose last program has gone ends
        return ""
