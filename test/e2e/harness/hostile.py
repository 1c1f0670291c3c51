"""Requests that are right but for one thing: each request of the protocol, filled in from its message, with one field
at a time absent, twice, thousands of times, or of a value that no client would send."""
import functools
import re

from .server import ROOT
from .wire import MESSAGES

SERVED = [(name, int(low), int(high)) for name, low, high in
          re.findall(r"^SERVED\((\w+), (\d+), (\d+),", (ROOT / "src/api/served.def").read_text(), re.M)]
DEPTH_MAX = 6  # predicates hold predicates

INT32 = [-1, 0, 1, 7, 2**31 - 1, -2**31]
INT64 = [*INT32, 2**63 - 1, -2**63, 2**32]
STRINGS = ["", "a" * 10000, "\0", "a\0b", "/", "../../etc", ".", "..", "__x", "ä" * 200, "\U0001F600" * 99, "*", " ", "a.b", "'; DROP", "%s%n", "9" * 400]
BYTES = [b"", b"\0", b"\xff" * 9, bytes(10000), b"{}", b"[" * 3000, b'{"version":1}', bytes(range(256))]


@functools.cache
def fields(message):
    """Those that weir knows; what only messages of servers have is left away by served.def."""
    return MESSAGES[message]["fields"]


def full(message, values, depth=0):
    """The message with all its fields, one element in each list. values: name -> value, where the field's type is not
    enough to go by; None leaves it out."""
    out = {}
    for f in fields(message):
        name = f["name"]
        if name in values:
            value = values[name]
        elif f["type"] in MESSAGES:
            value = full(f["type"], values, depth + 1) if depth < DEPTH_MAX else None
        else:
            value = {"string": "x", "bytes": b"x", "pieces": b"x", "bool": 0}.get(f["type"], 1)
        if value is not None:
            out[name] = [value] if f["label"] == "repeated" and not isinstance(value, list) else value
    return out


def hostile(kind):
    if kind == "string":
        return STRINGS
    if kind in ("bytes", "pieces"):
        return BYTES
    return {"int32": INT32, "int64": INT64, "bool": [1, 2**31]}.get(kind, [])


def mutants(message, request):
    """(what is wrong, the message) for each thing that can be wrong."""
    for f in fields(message):
        name, kind = f["name"], f["type"]
        if name not in request:
            continue
        value = request[name]
        yield f"no {name}", {k: v for k, v in request.items() if k != name}
        if f["label"] == "repeated":
            yield f"{name} empty", request | {name: []}
            for times in (2, 300):
                yield f"{name} x{times}", request | {name: value * times}
        inner = value[0] if isinstance(value, list) and value else value
        wrong = mutants(kind, inner) if kind in MESSAGES and isinstance(inner, dict) else ((repr(v)[:30], v) for v in hostile(kind))
        for what, v in wrong:
            yield f"{name}: {what}", request | {name: [v] if f["label"] == "repeated" else v}
