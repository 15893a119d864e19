"""A terminal for a program: `terminal.py COLUMNS LINES PROGRAM ARGUMENTS…`.

What the program writes goes to standard output as it is. Orders come as lines of JSON on standard input: {"keys": "q"},
{"size": [80, 24]}, {"signal": 15}, {"hangup": true}. When the program has ended, a line of JSON on descriptor 3 says how, and
in which state it left the terminal; null when that was closed.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios


def set_size(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def copy_output(master):
    """False when there is no more."""
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    os.write(1, data)
    return data != b""


def obey(order, master, pid):
    if "keys" in order:
        os.write(master, order["keys"].encode())
    if "size" in order:
        set_size(master, *order["size"])
    if "signal" in order:
        os.kill(pid, order["signal"])
    if "hangup" in order:
        os.close(master)
        return None
    return master


columns, lines, *command = sys.argv[1:]
pid, master = pty.fork()
if pid == 0:
    os.close(3)
    set_size(0, int(columns), int(lines))
    os.execvp(command[0], command)
pending = b""
while master is not None:
    ready, _, _ = select.select([master, 0], [], [])
    if master in ready and not copy_output(master):
        break
    if 0 in ready:
        data = os.read(0, 4096)
        if not data:
            os.kill(pid, 9)
            break
        *orders, pending = (pending + data).split(b"\n")
        for order in orders:
            master = obey(json.loads(order), master, pid)
_, status = os.waitpid(pid, 0)
left = None if master is None else termios.tcgetattr(master)[3]
end = {
    "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
    "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
    "echo": None if left is None else bool(left & termios.ECHO),
    "lineMode": None if left is None else bool(left & termios.ICANON),
}
os.write(3, json.dumps(end).encode())
