"""Memory limits of this process: free memory, and limits set by the system or a container.

    --memory          memory that the user allows, in place of free memory
    free memory       memory that the machine can give without swapping, and what this process has
    control groups    versions 1 and 2: containers, services, batch jobs. A process that exceeds
                      the limit of its group, or of an enclosing group, is killed
    RLIMIT_DATA       `ulimit -d`: private memory, without pages of files
    RLIMIT_AS         `ulimit -v`: address space, which includes arrays mapped from files

On macOS, total memory takes the place of free memory, and there are no control groups. On Windows,
the only limit is free memory, or `--memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tbgen.system import platform
from tbgen.system.platform import available_memory, process_memory, resource_limit

_GROUP_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")
_GROUP_USAGES = ("memory.current", "memory.usage_in_bytes")
_GROUP_FILES = ("total_inactive_file", "total_active_file"), ("inactive_file", "active_file")
"""Names of the entries (inactive, active) of a control group's `memory.stat` that count cached file
pages: first those of version 1, which include nested groups, then those of version 2.
"""


class Allowance(NamedTuple):
    """Total memory that a process may occupy, including memory already in use."""

    memory: int
    """Bytes of memory, by the tightest limit."""
    limit: str
    """Name of the tightest limit, for messages, such as `free memory` or `ulimit -v`."""
    addresses: int
    """Bytes of address space, for memory and mapped files; `sys.maxsize` without a limit."""


def usable_memory(asked: int = 0) -> Allowance:
    """Return the total memory that this process may use, by the tightest of all limits.

    asked : bytes that the user allows, in place of free memory; 0 if not given
    """
    size, resident, shared, _, _, data, _ = process_memory()
    used = resident - shared  # without pages of files, which can be dropped or are shared
    free = available_memory() + used
    limits = [(asked, "the requested memory") if asked else (free, "free memory")]
    for group in _groups():
        room = _room(group)
        if room is not None:
            limits.append((room + used, "the limit of the control group"))
    limits.append((resource_limit("RLIMIT_DATA") - data + used, "ulimit -d"))
    addresses = resource_limit("RLIMIT_AS")
    limits.append((addresses - size + used, "ulimit -v"))
    memory, limit = min(limits)
    return Allowance(max(0, memory), limit, addresses)


def _groups() -> Iterator[Path]:
    """Yield the folders of this process's control groups, in each hierarchy the innermost first.

    The hierarchies are those of version 2, and of version 1 with the controller `memory`.
    """
    for line in _read(platform.ROOT / "proc/self/mountinfo").splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, controllers = [*system.split(), "", "", ""][:3]
        first = kind == "cgroup" and "memory" in controllers.split(",")
        if not first and kind != "cgroup2":
            continue
        top, at = (word.encode().decode("unicode_escape") for word in mount.split()[3:5])
        # In a container the path may be relative to the host, or lie above the mount.
        path, top = _membership("memory" if first else "") + "/", top.rstrip("/") + "/"
        mounted = platform.ROOT / at.lstrip("/")
        group = mounted / path.removeprefix(top).strip("/") if path.startswith(top) else mounted
        while group != mounted:
            yield group
            group = group.parent
        yield mounted


def _membership(controller: str) -> str:
    """Return the path of this process's group in `/proc/self/cgroup`.

    Returns "/" if the file lists no such group, or only a path that contains `..`.

    controller : "memory" for the group of version 1 with this controller; "" for that of version 2
    """
    for line in _read(platform.ROOT / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") and ".." not in path:
            return path
    return "/"


def _room(group: Path) -> int | None:
    """Return the bytes that a control group may still allocate; None without a limit or usage.

    Cached file pages count as free, since the system can drop them. The number is negative if the
    group exceeds `memory.high`.
    """
    limits = [number for name in _GROUP_LIMITS if (number := _number(group / name)) is not None]
    used = [number for name in _GROUP_USAGES if (number := _number(group / name)) is not None]
    if not limits or not used:
        return None
    told = dict(line.split(maxsplit=1) for line in _read(group / "memory.stat").splitlines())
    names = next((names for names in _GROUP_FILES if names[0] in told), ())
    return min(limits) - used[0] + sum(int(told.get(name, "0")) for name in names)


def _number(path: Path) -> int | None:
    """Return the number in a file; None for other text, such as `max`, or for a missing file."""
    text = _read(path).strip()
    return int(text) if text.isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
