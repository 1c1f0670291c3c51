"""The verbs of the client side against a server: what they print, and the codes they end with."""
import contextlib
import json
import os
import pty
import shlex
import signal
import subprocess
import time

import pytest

from harness.client import _run
from harness.server import BINARY
from harness.weir import NO, UNREACHABLE, USAGE, YES, Weir


@pytest.fixture
def weir(shared):
    return Weir(shared.bootstrap)


@pytest.fixture
def name(request, weir):
    """A primary-key table of its own for each test."""
    name = f"cli_{request.node.name[5:35]}_{_run}"
    weir.run("sql", f"CREATE TABLE {name} (id INT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket.num' = '2')")
    yield name
    weir.run("sql", f"DROP TABLE {name}")


def test_rows_are_put_and_got_by_key(weir, name):
    assert weir.rows("put", name, '{"id": 1, "name": "tea"}', '{"id": 2}')[0]["rows"] == 2
    assert weir.rows("get", name, "2", "1") == [{"id": 2, "name": None}, {"id": 1, "name": "tea"}]
    assert weir.rows("get", name, '{"id": 1}', "9", code=NO) == [{"id": 1, "name": "tea"}]
    assert "E-NOTFOUND" in weir.errors and "key 9" in weir.errors
    weir.run("put", name, '{"id": 1, "name": "green tea"}')
    weir.run("delete", name, "2")
    assert weir.rows("scan", name) == [{"id": 1, "name": "green tea"}]


def test_every_change_is_told(weir, name):
    weir.run("put", name, '{"id": 1, "name": "a"}')
    weir.run("put", name, '{"id": 1, "name": "b"}')
    weir.run("delete", name, "1")
    changes = weir.rows("tail", name, "--changes", "--from", "earliest", "--limit", "4")
    assert [(c["_change"], c["name"]) for c in changes] == [("+I", "a"), ("-U", "a"), ("+U", "b"), ("-D", "b")]
    assert [c["_offset"] for c in changes] == [0, 1, 2, 3]
    assert [r["name"] for r in weir.rows("tail", name, "--from", "earliest", "--limit", "2")] == ["a", "b"]


def test_a_tail_shows_what_comes_and_ends_with_ctrl_c(weir, name):
    tail = subprocess.Popen([BINARY, "tail", name, "--bootstrap", weir.bootstrap], stdout=subprocess.PIPE, text=True)
    time.sleep(2)  # it has asked for the offsets by then
    weir.run("put", name, '{"id": 7, "name": "now"}')
    assert json.loads(tail.stdout.readline()) == {"id": 7, "name": "now"}
    tail.send_signal(signal.SIGINT)
    assert tail.wait(10) == YES


def test_lines_are_read_until_one_is_wrong(weir, name):
    lines = "".join(f'{{"id": {i}, "name": "n{i}"}}\n\n' for i in range(1000))
    assert weir.rows("put", name, stdin=lines)[0]["rows"] == 1000
    assert len(weir.rows("scan", name)) == 1000
    assert len(weir.rows("scan", name, "--limit", "7")) == 7
    weir.run("put", name, stdin='{"id": 5000}\n{"id": "x"}\n{"id": 5001}\n', code=USAGE)
    assert "line 2" in weir.errors and "1 rows before it are stored" in weir.errors
    weir.run("get", name, "5000")
    weir.run("get", name, "5001", code=NO)


def test_output_has_four_forms(weir, name):
    weir.run("put", name, '{"id": 1, "name": "a, \\"b\\""}')
    assert weir.run("scan", name, "-o", "csv") == 'id,name\n1,"a, ""b"""\n'
    assert json.loads(weir.run("scan", name, "-o", "json")) == [{"id": 1, "name": 'a, "b"'}]
    assert weir.run("scan", name, "-o", "table") == ' id  name\nINT  STRING\n  1  a, "b"\n'
    weir.run("delete", name, "1")
    assert json.loads(weir.run("scan", name, "-o", "json")) == []


def test_tables_are_listed(weir, name):
    weir.run("put", name, '{"id": 1}')
    row = weir.rows("tables", name)[0]
    assert (row["table"], row["kind"], row["buckets"], row["rows"], row["state"]) == (name, "pk", 2, 1, "off")
    assert name in [r["table"] for r in weir.rows("tables")]
    weir.run("tables", "nothere", code=NO)


def test_sql_makes_shows_and_drops(weir):
    db = f"cli_sql_{_run}"
    text = weir.run("sql", stdin=f"CREATE DATABASE {db}; USE {db};\nCREATE TABLE t (a INT COMMENT 'x', b MAP<STRING, INT>); DESCRIBE t")
    rows = [json.loads(line) for line in text.splitlines()]
    assert rows[-2] == {"column": "a", "type": "INT", "nullable": True, "primary_key": None, "comment": "x"}
    made = json.loads(weir.run("sql", f"SHOW CREATE TABLE {db}.t"))["result"]
    weir.run("sql", f"DROP TABLE {db}.t; {made}")
    assert json.loads(weir.run("sql", f"SHOW CREATE TABLE {db}.t"))["result"] == made
    weir.run("sql", f"DROP DATABASE {db}", code=NO)
    weir.run("sql", f"DROP DATABASE {db} CASCADE")
    weir.run("sql", f"CREATE TABLE {db} (a INTT)", code=USAGE)
    assert "line 1, column" in weir.errors and "^" in weir.errors
    weir.run("sql", "SELECT 1", code=USAGE)
    assert "weir scan" in weir.errors


def test_a_wrong_call_says_what_is_right(weir):
    weir.run("tabels", code=USAGE)
    assert "did you mean tables?" in weir.errors
    weir.run("get", "--limt", "3", code=USAGE)
    weir.run("tail", "x", "--limt", "3", code=USAGE)
    assert "did you mean --limit" in weir.errors
    weir.run("tail", "x", "--limit", "none", code=USAGE)
    weir.run("scan", "nothere", code=NO)
    weir.run("scan", code=USAGE)
    weir.run("tables", "nothere", code=NO)
    assert subprocess.run([BINARY, "version", "more"], capture_output=True).returncode == USAGE
    Weir("127.0.0.1:1").run("tables", code=UNREACHABLE)
    for verb in ("server", "sql", "tables", "put", "delete", "get", "tail", "scan", "verify", "wait", "version", "demo"):
        assert f"usage: weir {verb}" in subprocess.run([BINARY, verb, "--help"], capture_output=True, text=True, check=True).stdout


def test_a_reader_that_has_enough_is_no_failure(weir, shared, name):
    weir.run("put", name, stdin="".join(json.dumps({"id": i, "name": "x" * 20}) + "\n" for i in range(10000)))
    for verb in (["scan", name], ["tail", name, "--from", "earliest"]):
        p = subprocess.Popen([BINARY, *verb, "--bootstrap", shared.bootstrap], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert p.stdout.readline().startswith(b"{")
        p.stdout.close()
        assert (p.wait(20), p.stderr.read()) == (YES, b"")
        p.stderr.close()


def test_waiting_for_the_lake_keeps_its_deadline(weir, name):
    weir.run("wait", name, code=NO)
    assert "table.datalake.enabled" in weir.errors


def on_a_terminal(weir, *words, columns=80):
    """What a verb shows on a terminal, line by line."""
    mine, theirs = pty.openpty()
    run = subprocess.Popen([BINARY, *words, "--bootstrap", weir.bootstrap], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = bytearray()
    with contextlib.suppress(OSError):  # the terminal is gone
        while part := os.read(mine, 1 << 16):
            seen.extend(part)
    os.close(mine)
    lines = seen.decode().replace("\r", "").splitlines()
    assert run.wait(20) == YES, lines
    assert all(len(line) <= columns or line.startswith("try: ") for line in lines), lines
    return lines


def test_what_to_try_next_works_as_it_stands_there(weir, name):
    db = f"try_{_run}"
    weir.run("sql", f"CREATE DATABASE {db}")
    *_, line = on_a_terminal(weir, "sql", f"CREATE TABLE {db}.t (id INT NOT NULL, at DATE, ok BOOLEAN, PRIMARY KEY (id) NOT ENFORCED)")
    for verb in ("put", "sql", "tail"):
        words = shlex.split(line.removeprefix("try: weir "))
        assert words[0] == verb, line
        shown = on_a_terminal(weir, *words[:words.index("--bootstrap")], *(["--limit", "1"] if verb == "tail" else []))
        if verb != "tail":
            *_, line = on_a_terminal(weir, "tables", f"{db}.t", columns=100)  # the name is long
    assert shown[2].startswith("+I ") and shown[2].endswith(" 1  2026-01-31  true")
    weir.run("sql", f"DROP DATABASE {db} CASCADE")


def test_help_fits_a_terminal(weir):
    for verb in ("", "server", "sql", "tables", "put", "delete", "get", "tail", "scan", "verify", "wait", "version", "demo"):
        text = subprocess.run([BINARY, "help", *verb.split()], capture_output=True, text=True, check=True).stdout
        assert max(map(len, text.splitlines())) <= 80, text


def test_errors_name_what_helps(weir, name):
    weir.run("get", name, "x", code=USAGE)
    assert "x is no key: the column id is INT" in weir.errors and "see: weir get --help" in weir.errors
    weir.run("scan", f"{name}$changelog", code=USAGE)
    assert f"weir tail {name} --changes" in weir.errors
    weir.run("verify", f"{name}$lake", code=USAGE)
    assert f"weir scan '{name}$lake'" in weir.errors
    weir.run("sql", f"CREATE TABLE {name} (a INT)", code=NO)
    assert "IF NOT EXISTS" in weir.errors
    weir.run("sql", "CREATE TABLE t (a INT) WITH ('table.log.tll' = '1 d')", code=USAGE)
    assert "did you mean 'table.log.ttl'?" in weir.errors
    wrong = subprocess.run([BINARY, "server", "--lissten", "127.0.0.1:0"], capture_output=True, text=True)
    assert wrong.returncode == USAGE and "did you mean --listen?\n  see: weir server --help" in wrong.stderr
