"""Takes from this process, for good, what reading a file never needs: the network, other processes, and writing to
files.

A seccomp filter does it (Linux on x86_64 and aarch64): the kernel answers a forbidden call with EPERM. It needs no
privileges, holds for every thread and cannot be taken off again. Elsewhere nothing is blocked, and `block` says why.
Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import signal
import sys


# Numbers of system calls on x86_64 and on aarch64, from the kernel's unistd.h of either; 0 where a machine has no such
# call. io_uring opens sockets and files without these calls; the three that follow it reach into processes that have
# sockets of their own.
def _calls(table: str) -> dict[str, tuple[int, int]]:
    return {name: (int(intel), int(arm)) for name, intel, arm in (row.split() for row in table.split(","))}


NETWORK = _calls(
    "socket 41 198, connect 42 203, bind 49 200, listen 50 201, "
    "io_uring_setup 425 425, ptrace 101 117, process_vm_writev 311 271, pidfd_getfd 438 438"
)
FILES = _calls(
    "execve 59 221, execveat 322 281, openat2 437 437, creat 85 0, truncate 76 45, unlink 87 0, unlinkat 263 35, "
    "rename 82 0, renameat 264 38, renameat2 316 276, mkdir 83 0, mkdirat 258 34, rmdir 84 0, mknod 133 0, "
    "mknodat 259 33, link 86 0, linkat 265 37, symlink 88 0, symlinkat 266 36, chmod 90 0, fchmod 91 52, "
    "fchmodat 268 53, fchmodat2 452 452, chown 92 0, lchown 94 0, fchown 93 55, fchownat 260 54"
)
OPEN = {"open": (2, 0, 1), "openat": (257, 56, 2)}  # and which argument holds the flags
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# column above, AUDIT_ARCH_*, number of seccomp(2)
MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}
X32 = 0x40000000  # calls of the x32 interface have numbers from here on, and would pass the table by

# operations of the kernel's packet filter (linux/bpf_common.h)
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# results of a filter, and options of prctl and seccomp (linux/seccomp.h, linux/prctl.h)
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
# bytes into struct seccomp_data; the lower half of an argument comes first on both machines
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16
PR_SET_NO_NEW_PRIVS, SET_MODE_FILTER, ALL_THREADS = 38, 1, 1  # linux/prctl.h, linux/seccomp.h

Instruction = tuple[int, int, int, int]  # operation, steps where true, steps where false, value


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def block(*, files: bool) -> str:
    """Refuse this process, and whatever it starts, the network; with `files` also writing to files and starting
    programs.

    Returns "" when it is in force, tried out; else why it is not, as a sentence.
    """
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in MACHINES or sys.maxsize < 2**32:
        return f"There is no filter of system calls for this system ({sys.platform}, {machine})."
    column, arch, seccomp = MACHINES[machine]
    rows = _program(column, arch, files)
    program = _Program(len(rows), (_Instruction * len(rows))(*(_Instruction(*row) for row in rows)))
    libc = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_ulong(0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), none, none, none):
        return f"The kernel refused it: {os.strerror(ctypes.get_errno())}."
    status = libc.syscall(
        ctypes.c_long(seccomp), ctypes.c_ulong(SET_MODE_FILTER), ctypes.c_ulong(ALL_THREADS), ctypes.byref(program)
    )
    if status:
        return f"The kernel refused it: {os.strerror(ctypes.get_errno())}."
    return "" if _has_no_socket(libc) else "The kernel took the filter, and a socket could be opened all the same."


def end_with_parent(alive: int) -> None:
    """Let the kernel end this process when whoever holds the other end of the pipe `alive` is gone, whatever it does
    then.

    A signal from a pipe, not from the parent's death: that one comes when the thread ends that started this process.
    Nothing may be written into the pipe: the kernel may tell of it after it was read. Elsewhere than on Linux this
    process ends with its next word to the parent.
    """
    if sys.platform != "linux":
        return
    # by default it ends the process at once, in the midst of native code too
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alive, fcntl.F_SETFL, fcntl.fcntl(alive, fcntl.F_GETFL) | os.O_ASYNC)
    gone = select.poll()
    gone.register(alive, 0)
    if gone.poll(0):  # it went before the kernel was asked to tell
        os._exit(1)


def _program(column: int, arch: int, files: bool) -> list[Instruction]:
    """The filter: another machine's calls end the process, forbidden ones are refused, all others go on."""
    numbers = [row[column] for row in (NETWORK | FILES if files else NETWORK).values() if row[column]]
    opens = [(row[column], row[2]) for row in OPEN.values() if row[column]] if files else []
    rows: list[Instruction] = [
        (LOAD, 0, 0, ARCH_AT),
        (EQUAL, 1, 0, arch),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
    ]
    for number in numbers:
        rows += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    for number, argument in opens:
        flags = (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument)
        rows += [(EQUAL, 0, 4, number), flags, (ANY_BIT, 0, 1, WRITING), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    return [*rows, (RETURN, 0, 0, ALLOW)]


def _has_no_socket(libc: ctypes.CDLL) -> bool:
    opened = libc.socket(2, 1, 0)  # AF_INET, SOCK_STREAM
    if opened >= 0:
        os.close(opened)
    return bool(opened < 0 and ctypes.get_errno() == errno.EPERM)
