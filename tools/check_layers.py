#!/usr/bin/env python3
"""check_layers.py: no file includes a module above its own, nor a private header of another (src/LAYERS).

The words at the top of src/LAYERS are the rule. Beside it: the client side does not know the server side; only the
module on the last line (cmd) may include both. Tests beside the code obey too; test/lib and test/sim are open to them.
"""
import re
import sys

import house

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
OPEN = {"base"}  # all headers of these may be included
FOR_TESTS = ("lib/", "sim/")  # test/lib, test/sim
GENERATED = {"wire_messages.h": "wire"}  # made by the build; the module that owns them


def layers():
    """Module -> (level, side), from src/LAYERS; side is shared, server or client, by the comment above."""
    modules, side = {}, "shared"
    for level, line in enumerate((house.SRC / "LAYERS").read_text().splitlines()):
        if line.startswith("#"):
            word = line[1:].split()
            if word[1:] == ["side"]:
                side = word[0]
            continue
        for module in line.split():
            modules[module] = (level, side)
    return modules


def module_of(name, modules):
    """The module that a path below src/ lies in: the longest that is a folder above it."""
    parts = name.split("/")[:-1]
    while parts:
        if "/".join(parts) in modules:
            return "/".join(parts)
        parts.pop()
    return None


def public(name, module):
    return module in OPEN or name == f"{module}/{module.split('/')[-1]}.h"


def fault(path, included, modules, top):
    """What is wrong with this #include, or None."""
    own = module_of(house.relative(path).removeprefix("src/"), modules)
    if "/" not in included:
        if (house.ROOT / "proto" / included).exists():
            return None
        if included not in GENERATED:
            return "write the path from src/, as base/buf.h"
    elif included.startswith(FOR_TESTS):
        return None if house.is_beside(path) else "only tests include test/lib and test/sim"
    elif not (house.SRC / included).exists():
        return "no such file below src/"
    other = GENERATED.get(included) or module_of(included, modules)
    if other is None:
        return "lies in no module of src/LAYERS"
    if other == own:
        return None
    (level, side), (level_other, side_other) = modules[own], modules[other]
    if level_other > level:
        return f"{other} is above {own}"
    if level_other == level:
        return f"{other} and {own} are peers and do not know each other"
    if {side, side_other} == {"client", "server"} and own != top:
        return f"{other} is on the other side of the protocol; only {top} knows both"
    if included not in GENERATED and not public(included, other):
        return f"is private to {other}; its public header is {other}/{other.split('/')[-1]}.h"
    return None


def main():
    modules = layers()
    top = list(modules)[-1]
    faults, count = [], 0
    for path in house.source():
        name = house.relative(path)
        if module_of(name.removeprefix("src/"), modules) is None:
            faults.append(f"{name}: lies in no module of src/LAYERS")
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            count += 1
            why = fault(path, match[1], modules, top)
            if why:
                faults.append(f"{name}:{text.count(chr(10), 0, match.start(1)) + 1}: \"{match[1]}\" {why}")
    return house.finish("layers", faults, f"{count} includes of {len(modules)} modules")


sys.exit(main())
