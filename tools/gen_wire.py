#!/usr/bin/env python3
"""gen_wire.py PROTO_DIR OUT_DIR: makes wire_messages.h and wire_messages.c of PROTO_DIR/messages.def.

For each message a C struct and a table of its fields (struct wire_desc in src/wire/wire.h, which also says how a field
is held). Run by the build; the output is never edited.
"""
import re
import sys
from pathlib import Path

LABELS = ("required", "optional", "repeated", "packed")
SCALARS = {"int32": "int32_t ", "int64": "int64_t ", "bool": "bool ", "float": "float ", "double": "double ",
           "string": "struct slice ", "bytes": "struct slice ", "pieces": "struct wire_bytes "}
SINCE = ("", "1.0.0", "weir")
KEYWORDS = set("auto bool break case char const continue default do double else enum extern float for goto if inline int "
               "long register restrict return short signed sizeof static struct switch typedef union unsigned void "
               "volatile while".split())
FIELD_MAX = 64  # WIRE_FIELD_MAX


class Field:
    def __init__(self, number, label, type_, name, since):
        self.number, self.label, self.type, self.name, self.since = int(number), label, type_, name, since

    @property
    def is_message(self):
        return self.type not in SCALARS

    @property
    def is_list(self):
        return self.label in ("repeated", "packed")

    @property
    def has_flag(self):
        return self.label == "optional" and not self.is_message

    @property
    def presence(self):
        return self.name + "_count" if self.is_list else "has_" + self.name if self.has_flag else None

    def declaration(self):
        base = "struct %s " % c_name(self.type) if self.is_message else SCALARS[self.type]
        pointer = "*" if self.is_list or (self.is_message and self.label == "optional") else ""
        return base + pointer + self.name


class Message:
    def __init__(self, name, since, about):
        self.name, self.since, self.about, self.fields = name, since, about, []


def c_name(message):
    return "wire_" + re.sub(r"(?<!^)(?=[A-Z])", "_", message).lower()


def parse(path):
    messages, about = {}, ""
    message = None

    def refuse(text):
        sys.exit("%s:%d: %s" % (path, line_number, text))

    for line_number, line in enumerate(path.read_text().splitlines(), 1):
        text, _, comment = line.partition("#")
        words = text.split()
        if not words:
            if comment and not line.startswith(" "):
                about = comment.strip()
            continue
        if not line.startswith(" "):
            name, since = words[0], words[1] if len(words) > 1 else ""
            if len(words) > 2 or since not in SINCE or not re.fullmatch(r"([A-Z][a-z0-9]*)+", name):
                refuse("not a message")
            if name in messages:
                refuse("%s is there twice" % name)
            message = messages[name] = Message(name, since, about)
            continue
        if message is None or not 4 <= len(words) <= 5:
            refuse("not a field: number label type name [since]")
        field = Field(*words[:4], words[4] if len(words) > 4 else "")
        if field.label not in LABELS or field.since not in SINCE or not re.fullmatch(r"[a-z][a-z0-9_]*", field.name):
            refuse("unknown label or since, or a name that is none")
        if field.name in KEYWORDS:
            refuse("%s is a word of C" % field.name)
        if field.label == "packed" and field.type not in ("int32", "int64"):
            refuse("only integers are packed")
        if field.label == "repeated" and field.type in ("bool", "float", "double", "pieces"):
            refuse("lists of this type are not provided for")
        if not 1 <= field.number <= 65535 or message.fields and field.number <= message.fields[-1].number:
            refuse("numbers rise from 1 to 65535")
        message.fields.append(field)
        if len(message.fields) > FIELD_MAX:
            refuse("more than %d fields" % FIELD_MAX)
    for m in messages.values():
        for f in m.fields:
            if f.is_message and f.type not in messages:
                sys.exit("%s: %s.%s: no message %s" % (path, m.name, f.name, f.type))
    return messages


def by_need(messages):
    """A message that holds another one whole comes after it."""
    done, order = set(), []

    def add(message, above):
        if message.name in above:
            sys.exit("%s requires itself" % message.name)
        if message.name in done:
            return
        for f in message.fields:
            if f.is_message and f.label == "required":
                add(messages[f.type], above | {message.name})
        done.add(message.name)
        order.append(message)

    for m in messages.values():
        add(m, frozenset())
    return order


def struct_of(message):
    note = "" if not message.since else " (%s)" % message.since
    lines = ["/* %s%s: %s */" % (message.name, note, message.about), "struct %s {" % c_name(message.name)]
    for f in message.fields:
        since = ", " + f.since if f.since else ""
        lines.append("    %s; /* %d %s%s */" % (f.declaration(), f.number, f.label, since))
        if f.is_list:
            lines.append("    size_t %s;" % f.presence)
    lines += ["    bool %s;" % f.presence for f in message.fields if f.has_flag]
    if not message.fields:
        lines.append("    char nothing; /* a struct of C needs a member */")
    return lines + ["};", "extern const struct wire_desc %s_desc;" % c_name(message.name), ""]


def table_of(message):
    name = c_name(message.name)
    lines = []
    if message.fields:
        lines.append("static const struct wire_field %s_fields[] = {" % name)
        for f in message.fields:
            at = "offsetof(struct %s, %%s)" % name
            kind = "MESSAGE" if f.is_message else f.type.upper()
            lines.append('    {"%s", %d, WIRE_%s, WIRE_%s, %s, %s, %s},' % (
                f.name, f.number, f.label.upper(), kind, at % f.name, at % f.presence if f.presence else "0",
                "&%s_desc" % c_name(f.type) if f.is_message else "NULL"))
        lines.append("};")
    required = sum(1 << i for i, f in enumerate(message.fields) if f.label == "required")
    lines.append('const struct wire_desc %s_desc = {"%s", sizeof(struct %s), %d, 0x%xu, %s};' % (
        name, message.name, name, len(message.fields), required, name + "_fields" if message.fields else "NULL"))
    return lines + [""]


def main():
    proto, out = Path(sys.argv[1]), Path(sys.argv[2])
    messages = parse(proto / "messages.def")
    made = "/* Made by tools/gen_wire.py from proto/messages.def. */"
    header = [made, "#ifndef WEIR_GEN_WIRE_MESSAGES_H", "#define WEIR_GEN_WIRE_MESSAGES_H", ""]
    header += ["struct %s;" % c_name(m.name) for m in messages.values()] + [""]
    for m in by_need(messages):
        header += struct_of(m)
    header.append("#endif")
    source = [made, '#include "wire/wire.h"', ""]
    for m in messages.values():
        source += table_of(m)
    source.append("const struct wire_desc *const wire_descs[] = {")
    source += ["    &%s_desc," % c_name(name) for name in sorted(messages)]
    source += ["};", "const size_t wire_desc_count = %d;" % len(messages)]
    (out / "wire_messages.h").write_text("\n".join(header) + "\n")
    (out / "wire_messages.c").write_text("\n".join(source) + "\n")


main()
