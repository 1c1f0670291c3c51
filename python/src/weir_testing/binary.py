"""Where the weir binary is."""
import os
import pathlib
import shutil


class BinaryNotFound(FileNotFoundError):
    pass


def _above(start):
    """build/weir in this directory or one above it."""
    for directory in [start, *start.parents]:
        yield directory / "build" / "weir"


def find_binary():
    """The path in WEIR_BINARY, else `weir` in PATH, else build/weir in the working directory, above it, or above this
    file (a checkout of weir)."""
    named = os.environ.get("WEIR_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise BinaryNotFound(f"WEIR_BINARY is {named}, which is no program")
        return pathlib.Path(named).resolve()
    in_path = shutil.which("weir")
    if in_path:
        return pathlib.Path(in_path).resolve()
    for path in [*_above(pathlib.Path.cwd()), *_above(pathlib.Path(__file__).resolve().parent)]:
        if os.access(path, os.X_OK) and path.is_file():
            return path.resolve()
    raise BinaryNotFound("no weir: neither WEIR_BINARY nor weir in PATH nor build/weir in or above the working directory; "
                         "build it with `make` in its repository")
