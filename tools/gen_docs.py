#!/usr/bin/env python3
"""gen_docs.py [--check | --unused]: pages of the manual that are made from tables.

    docs/manual/options.md   from src/conf/options.def
    docs/manual/errors.md    from proto/errors.def
    docs/manual/metrics.md   from src/metric/metric.def
    docs/manual/table-options.md  from src/meta/table/table_options.def
    docs/manual/apis.md      from src/api/served.def, src/api/refused.def and proto/apis.def
    docs/manual/commands.md  from src/cmd/verbs.def, args.c, server.c and demo.c

Without an argument writes them; --check tells which are not fresh; --unused tells the served options and the metrics
that no file of the product names. A row stands in one line: MACRO(argument, ...), an argument being a word, a number,
NULL or a string; comments are left out.
"""
import re
import sys

import house

MANUAL = house.ROOT / "docs/manual"
ROW = re.compile(r"^([A-Z_]+)\((.*)\)$")
ARGUMENT = re.compile(r'\s*(?:"((?:\\.|[^"\\])*)"|([\w-]+))\s*(?:,|$)')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}
TYPES = {"BOOL": "true or false", "INT": "number", "SIZE": "size", "DURATION": "duration", "RATIO": "ratio", "STRING": "text", "LIST": "list",
         "ENUM": "choice", "MAP": "names"}


def arguments(text, where):
    found, at = [], 0
    while at < len(text):
        match = ARGUMENT.match(text, at)
        if not match:
            sys.exit(f"{where}: cannot be read: {text[at:at + 40]}")
        string, word = match.groups()
        found.append(re.sub(r"\\.", lambda m: ESCAPES[m[0]], string) if string is not None else None if word == "NULL" else word)
        at = match.end()
    return found


def rows(name):
    """(macro, arguments) of each row of a .def file."""
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), (house.ROOT / name).read_text())
    for number, line in enumerate(text.splitlines(), 1):
        match = ROW.match(line.strip())
        if match:
            yield match[1], arguments(match[2], f"{name}:{number}")
        elif line.strip():
            sys.exit(f"{name}:{number}: not a row in one line: {line.strip()[:60]}")


def cell(text):
    return str(text).replace("|", "\\|")


def code(text):
    return f"`{cell(text)}`" if text else ""


def table(head, lines):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


def made_from(name):
    return f"<!-- Made from {name} by tools/gen_docs.py (make docs); edit there. -->\n"


def bounds(type_, text):
    if type_ == "ENUM":
        return " ".join(f"`{choice}`" for choice in text.split("|"))
    least, _, most = text.partition("..")
    if least and least == most:
        return cell(least)
    return cell(f"{least} to {most}" if least and most else f"at least {least}" if least else f"at most {most}" if most else "")


def options():
    served, ignored, not_yet = [], [], []
    for macro, row in rows("src/conf/options.def"):
        if macro == "OPTION":
            _, name, type_, default, range_, text = row
            served.append([code(name), TYPES[type_], code(default), bounds(type_, range_), cell(text)])
        elif macro == "OPTION_IGNORED":
            ignored.append([code(row[0]), cell(row[1])])
        else:
            not_yet.append([code(row[0]), "nothing" if row[1] is None else "empty" if row[1] == "" else code(row[1]), cell(row[2])])
    ids = {row[0]: row[1] for macro, row in rows("src/conf/options.def") if macro == "OPTION"}
    live = re.findall(r"CONF_(\w+)", re.search(r"live\[\] = \{(.*?)\}", (house.ROOT / "src/conf/live.c").read_text(), re.S)[1])
    own = [line for line in served if line[0].startswith("`weir.")]
    stock = [line for line in served if line not in own]
    head = ["option", "type", "default", "range", "meaning"]
    return (f"{made_from('src/conf/options.def')}# Options of the server\n\n"
            "Options stand in `server.yaml` as `option: value` or after `-D` as `option=value`. `-D` beats flags, flags beat the file. Names are Apache\n"
            "Fluss's; those of weir alone begin with `weir.` An unknown name is refused, with the nearest one that exists. In `server.yaml`, nested names\n"
            "are joined with dots and sequences with commas. A size is a number with `kb`, `mb`, `gb` or `tb` (1024 each); a duration one with `ms`, `s`,\n"
            "`min`, `h` or `d`. `.*` stands for any name below.\n\n"
            f"These can be altered while the server runs, with ALTER_CLUSTER_CONFIGS (from Flink: `CALL cat.sys.set_cluster_configs(...)`), and stay\n"
            f"altered: {', '.join(code(ids[i]) for i in live)}. They beat all else until they are reset.\n\n"
            f"## Apache Fluss's\n\n{table(head, stock)}\n## weir's own\n\n{table(head, own)}\n"
            "## Not yet\n\nThese are refused, since weir would not do what they ask for. The value in the middle asks for nothing and is taken.\n\n"
            f"{table(['option', 'taken', 'why'], not_yet)}\n"
            "## Without meaning here\n\nThese are accepted with a warning, so that a `server.yaml` of Apache Fluss can be used as it is.\n\n"
            f"{table(['option', 'why'], ignored)}")


def table_options():
    served, not_yet = [], []
    for _, (_, key, type_, default, values, taken, alterable, text) in rows("src/meta/table/table_options.def"):
        of_type = " ".join(f"`{v}`" for v in values.split("|")) if values else TYPES.get(type_.removeprefix("OPTION_"), "number")
        if taken:
            only = "" if taken == "*" else " ".join(f"`{v}`" for v in taken.split("|"))
            served.append([code(key), of_type, code(default), only, "yes" if alterable == "true" else "no", cell(text)])
        else:
            not_yet.append([code(key), of_type, cell(text)])
    return (f"{made_from('src/meta/table/table_options.def')}# Options of a table\n\n"
            "They stand in the WITH clause of CREATE TABLE, or in a client's table descriptor. Names and defaults are Apache Fluss's; values are taken in\n"
            "any letter case. A name that begins with `table.` and is not here is refused; others are kept as custom properties, and those that begin\n"
            "with `paimon.` go to the lake table. \"Only\": of the values that Fluss knows, weir takes these so far.\n\n"
            f"{table(['option', 'values', 'default', 'only', 'alterable in Fluss', 'meaning'], served)}\n"
            "## Not yet\n\nThese are refused, since weir would not do what they ask for.\n\n"
            f"{table(['option', 'values', 'meaning'], not_yet)}")


def errors():
    own, wire, protocol, seen = [], {}, [], set()
    for _, (name, number, retriable, user_code, text, remedy) in rows("proto/errors.def"):
        if user_code in seen:
            sys.exit(f"proto/errors.def: {user_code} stands for two errors")
        seen.add(user_code)
        again = "yes" if retriable == "1" else "no"
        if int(number) not in wire:  # the protocol's own rows come first, one for each number
            wire[int(number)] = name
            protocol.append([code(user_code), number, code(name), again])
        else:
            own.append([code(user_code), cell(text), cell(remedy or ""), again, f"{number} {code(wire[int(number)])}"])
    return (f"{made_from('proto/errors.def')}# Errors\n\n"
            "An error that people see is one line with its cause and one stable code. \"Again\": the same call may succeed when it is tried again.\n\n"
            "## Of weir\n\nThe last column is what a client of the protocol gets for it.\n\n"
            f"{table(['code', 'cause', 'what helps', 'again', 'protocol'], own)}\n"
            "## Of the protocol\n\nThese are Apache Fluss's; the text that comes with one says what it was about.\n\n"
            f"{table(['code', 'number', 'name', 'again'], protocol)}")


RIGHT_ON = {"CLUSTER": "the cluster", "DATABASE": "the database", "TABLES_DATABASE": "the table's database", "TABLE": "the table",
            "TABLE_ID": "the table", "OWN": "each part"}


def apis():
    served = {name: row for _, (name, *row) in rows("src/api/served.def")}
    refused = {name: why for _, (name, why) in rows("src/api/refused.def")}
    lines, others = [], []
    for _, (name, key, _, most, _, _, _, note) in sorted(rows("proto/apis.def"), key=lambda r: int(r[1][1])):
        if (name in served) == (name in refused):
            sys.exit(f"{name} stands in served.def and refused.def, or in neither")
        if name in refused:
            others.append([code(name), key, cell(refused[name])])
            continue
        least, greatest, _, _, operation, on = served[name]
        versions = least if least == greatest else f"{least} to {greatest}"
        right = "none" if on == "ANYBODY" else f"{code(operation)} on {RIGHT_ON[on]}"
        lines.append([code(name), key, versions, f"up to {most}" if most != greatest else "", "none" if "none" in note else "", right])
    return (f"{made_from('src/api/served.def, src/api/refused.def and proto/apis.def')}# Requests of the protocol\n\n"
            "Every request that the clients of Apache Fluss 0.9.1 and 1.0.0 know. API_VERSIONS lists exactly those that are served; the text of an error\n"
            "says what of a request is not served yet.\n\n"
            "## Served\n\n\"1.0.0\" says where the clients of 1.0.0 know later versions; they use the one that is served. \"0.9.1\" says where its clients\n"
            "do not know the request. The right is what a user needs with `authorizer.enabled` (security.md); \"each part\" is asked for each table,\n"
            "bucket, database or entry that the request is about.\n\n"
            f"{table(['request', 'number', 'versions', '1.0.0', '0.9.1', 'right'], lines)}\n"
            "## Refused\n\nThese are answered with the error 2, `UNSUPPORTED_VERSION`, and the reason.\n\n"
            f"{table(['request', 'number', 'why'], others)}")


def metrics():
    kinds = {"COUNTER": "counter", "GAUGE": "gauge", "RATE": "gauge, a second", "HISTOGRAM": "summary", "TIMES": "summary"}
    lines = [[code(name), kinds[kind], cell(labels.replace(",", ", ")), cell(text)]
             for _, (_, name, kind, labels, text) in sorted(rows("src/metric/metric.def"), key=lambda r: r[1][1])]
    return (f"{made_from('src/metric/metric.def')}# Metrics\n\n"
            "The server tells them under `/metrics` at `weir.http.listen`, in the text form of Prometheus. Names that begin with `fluss_` are Apache\n"
            "Fluss's, so that its dashboards work. Rates look back over a minute; summaries count since the start.\n\n"
            f"{table(['metric', 'kind', 'labels', 'meaning'], lines)}")


STRINGS = re.compile(r'"((?:\\.|[^"\\])*)"')
OPTION = re.compile(r'\[\w+\] = \{"(-[\w-]+)", (?:"([^"]*)"|NULL), (true|false), "([^"]*)"\}')


def unescaped(text):
    return re.sub(r"\\.", lambda m: ESCAPES[m[0]], text)


def verbs():
    """(name, args, options, summary, help) of each VERB; strings may go on over several lines."""
    for row in re.split(r"^VERB\(", COMMENT.sub("", (house.ROOT / "src/cmd/verbs.def").read_text()), flags=re.M)[1:]:
        name, rest = row.split(",", 1)
        parts = [unescaped("".join(STRINGS.findall(part))) for part in re.split(r'(?<="),', rest, maxsplit=3)]
        yield (name.strip(), *parts)


SERVERS = (("server", "serve the tables of a data directory"), ("demo", "a server with two tables, rows, the lake, and the proof"))


def own_help(name):
    """The help that a verb beside verbs.def prints."""
    text = re.search(r"static const char help\[\] =\s+(.*?);\n", (house.ROOT / f"src/cmd/{name}.c").read_text(), re.S)[1]
    return "".join(re.sub(r"\\.", lambda m: ESCAPES[m[0]], part) for part in re.findall(r'"((?:\\.|[^"\\])*)"', text))


def commands():
    options = [(name, value, common == "true", text) for name, value, common, text in
               OPTION.findall((house.ROOT / "src/cmd/args.c").read_text())]
    page = (f"{made_from('src/cmd/verbs.def, args.c, server.c and demo.c')}# Commands\n\n"
            "The client side of weir works with a weir server and with a stock Apache Fluss cluster. Tables are named `[DATABASE.]TABLE`; the database is\n"
            "`fluss` if none is given. Every command takes:\n\n"
            + table(["option", "meaning"], [[code(f"{n} {v}"), cell(t)] for n, v, common, t in options if common])
            + "\nExit codes: 0 yes; 1 the answer is no (not found, not equal); 2 could not tell in time; 64 usage; 69 no server; 70 our fault.\n"
            "`weir server` and `weir demo`, which shows it all in one go, take options of the server (options.md) instead.\n")
    for name, summary in SERVERS:
        page += f"\n## weir {name}\n\n{summary[0].upper() + summary[1:]}.\n\n```text\n{own_help(name).rstrip()}\n```\n"
    for name, args, own, summary, text in verbs():
        page += f"\n## weir {name} {args}".rstrip() + f"\n\n{summary[0].upper() + summary[1:]}.\n\n```text\n{text.rstrip()}\n```\n"
        lines = [[code(f"{n} {v}".strip()), cell(t)] for n, v, _, t in options if n.lstrip("-") in own.split()]
        page += "\n" + table(["option", "meaning"], lines) if lines else ""
    return page


PAGES = {"apis.md": apis, "commands.md": commands, "options.md": options, "table-options.md": table_options, "errors.md": errors, "metrics.md": metrics}


def check():
    faults = [f"docs/manual/{name} is not fresh: make docs" for name, make in PAGES.items()
              if not (MANUAL / name).exists() or (MANUAL / name).read_text() != make()]
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


def unused():
    text = "\n".join(p.read_text() for p in house.source() if not house.is_beside(p))
    ids = [f"CONF_{row[0]}" for macro, row in rows("src/conf/options.def") if macro == "OPTION"]
    ids += [f"METRIC_{row[0]}" for _, row in rows("src/metric/metric.def")]
    faults = [f"{i}: no file of the product names it" for i in ids if not re.search(rf"\b{i}\b", text)]
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


def main():
    if "--check" in sys.argv[1:]:
        return check()
    if "--unused" in sys.argv[1:]:
        return unused()
    MANUAL.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (MANUAL / name).write_text(make())
    return 0


sys.exit(main())
