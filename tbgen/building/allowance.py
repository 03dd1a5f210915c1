"""Memory limits of this process: free memory, and limits set by the system or a container.

    asked for         `--memory`, in place of what is free
    free memory       what the machine can give without swapping
    control groups    of both versions: containers, services, jobs of batch systems. Who passes the
                      limit of the own group, or of one around it, is killed
    RLIMIT_DATA       `ulimit -d`: memory of the process's own, not the pages of files
    RLIMIT_AS         `ulimit -v`: addresses, which arrays on disk take, too

What a table needs is in `tbgen.retrograde.memory`. Linux tells all of this; elsewhere the machine's
memory and the limits of the process are known.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tbgen.indexing import InputError

ROOT = Path("/")

_GROUP_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")
_GROUP_USAGES = ("memory.current", "memory.usage_in_bytes")
_GROUP_FILES = ("total_inactive_file", "total_active_file"), ("inactive_file", "active_file")
"""Entries of `memory.stat` that count the pages of files: the totals of version one of control
groups, which include the groups below; else those of version two."""


class Allowance(NamedTuple):
    """Total memory that a process may occupy, including what it occupies already."""

    memory: int
    """Bytes of memory."""
    limit: str
    """What sets them, for people: `free memory`, `the limit of the control group`."""
    addresses: int
    """Bytes that may be mapped, in memory or from files; `sys.maxsize` without a limit."""


class _Own(NamedTuple):
    """Memory of this process, in bytes."""

    addresses: int
    memory: int
    """Without the pages of files, which can be dropped, or belong to all."""
    data: int
    """Addresses that count for RLIMIT_DATA."""


def usable_memory(asked: int = 0, root: Path = ROOT) -> Allowance:
    """Return the memory that this process may use, by the tightest of all limits.

    asked : bytes that were asked for in place of what is free, 0 for none
    root : the folder that has `proc` and `sys`
    """
    own = _own(root)
    limits = [(asked, "what was asked for") if asked else (_free(root) + own.memory, "free memory")]
    for group in _groups(root):
        room = _room(group)
        if room is not None:
            limits.append((room + own.memory, "the limit of the control group"))
    data, addresses = _rlimit(resource.RLIMIT_DATA), _rlimit(resource.RLIMIT_AS)
    if data is not None:
        limits.append((data - own.data + own.memory, "ulimit -d"))
    if addresses is not None:
        limits.append((addresses - own.addresses + own.memory, "ulimit -v"))
    memory, limit = min(limits)
    return Allowance(max(0, memory), limit, sys.maxsize if addresses is None else addresses)


KERNELS_BYTES = 100 << 20
"""What a process with compiled kernels takes at least: 75 MiB were measured, for a small proof."""


def require_kernels_memory(asked: int) -> None:
    """Raise an error if the memory limit does not allow loading the kernels.

    asked : bytes that `--memory` allows, 0 for what there is

    Raises `MemoryError`, and `InputError` where too little was asked for.
    """
    if usable_memory().memory < KERNELS_BYTES:
        raise MemoryError("kernels take more than this process may use")
    if 0 < asked < KERNELS_BYTES:
        least = f"{KERNELS_BYTES >> 20}MiB"
        raise InputError(
            f"compiled kernels alone take {least} of memory, and --memory allows less",
            f"say --memory {least}, or more",
        )


def _own(root: Path) -> _Own:
    words = _read(root / "proc/self/statm").split()
    if not words:
        return _Own(0, 0, 0)
    size, resident, shared, data = (int(words[at]) * _PAGE for at in (0, 1, 2, 5))
    return _Own(size, resident - shared, data)


_PAGE = os.sysconf("SC_PAGE_SIZE")


def _free(root: Path) -> int:
    """Return the bytes available without swapping; all of memory if the system does not say."""
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _PAGE * os.sysconf("SC_PHYS_PAGES")


def _rlimit(which: int) -> int | None:
    """Return the soft limit of a resource of this process; None without one."""
    limit = resource.getrlimit(which)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _groups(root: Path) -> Iterator[Path]:
    """The folders of the control groups that the process is in, from its own outwards."""
    for line in _read(root / "proc/self/mountinfo").splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, controllers = [*system.split(), "", "", ""][:3]
        first = kind == "cgroup" and "memory" in controllers.split(",")
        if not first and kind != "cgroup2":
            continue
        top, at = (word.encode().decode("unicode_escape") for word in mount.split()[3:5])
        # Inside a container the path may be told as the host sees it, or lie above the mount.
        path, top = _membership(root, "memory" if first else "") + "/", top.rstrip("/") + "/"
        mounted = root / at.lstrip("/")
        group = mounted / path.removeprefix(top).strip("/") if path.startswith(top) else mounted
        while group != mounted:
            yield group
            group = group.parent
        yield mounted


def _membership(root: Path, controller: str) -> str:
    """The path of the process's group in the hierarchy of a controller; "" is version two."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") and ".." not in path:
            return path
    return "/"


def _room(group: Path) -> int | None:
    """Return the bytes left to a group, cached files not counted as used. None without a limit."""
    limits = [number for name in _GROUP_LIMITS if (number := _number(group / name)) is not None]
    used = [number for name in _GROUP_USAGES if (number := _number(group / name)) is not None]
    if not limits or not used:
        return None
    told = dict(line.split(maxsplit=1) for line in _read(group / "memory.stat").splitlines())
    names = next((names for names in _GROUP_FILES if names[0] in told), ())
    return min(limits) - used[0] + sum(int(told.get(name, "0")) for name in names)


def _number(path: Path) -> int | None:
    """The number in a file; None for `max`, and where there is no file."""
    text = _read(path).strip()
    return int(text) if text.isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
