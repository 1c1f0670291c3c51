"""The verbs of the client side against a server: what they print, and the codes they end with."""
import json
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
