"""Fluss's own tiering job and weir's tiering on the same tables: by turns, and both at once with the server killed
meanwhile. No row is lost and none comes twice."""
import contextlib
import json
import re
import time

import pytest

from flink import same
from harness import lake
from harness.server import Server
from harness.weir import Weir

COLUMNS = ["id", "v", "n", "region"]


def key(row):
    return row["id"], row["region"]


class Tables:
    """Tables written beside a model of their rows: with a key those called orders.., in partitions those called .._parts."""

    def __init__(self, flink, server, names):
        self.server, self.weir, self.names = server, Weir(server.bootstrap), names
        self.keyed = {n: n.startswith("orders") for n in names}
        self.rows = {n: {} if self.keyed[n] else [] for n in names}
        for n in names:
            parts = n.endswith("_parts")
            primary = f", PRIMARY KEY ({'id, region' if parts else 'id'}) NOT ENFORCED" if self.keyed[n] else ""
            flink.sql(f"CREATE TABLE {n} (id INT NOT NULL, v STRING, n INT, region STRING NOT NULL{primary}) "
                      f"{'PARTITIONED BY (region) ' if parts else ''}"
                      "WITH ('bucket.num'='3', 'table.datalake.enabled'='true', 'table.datalake.freshness'='500ms')")
        self.serial = 0

    def write(self, count=30):
        """New rows in each table, each time in one more region; in those with a key also new values for old ones, and
        deletes."""
        self.serial += 1
        for name in self.names:
            rows = [{"id": self.serial * 1000 + i, "v": f"v{self.serial}", "n": i if i % 5 else None, "region": f"r{i % (self.serial + 1)}"}
                    for i in range(count)]
            if not self.keyed[name]:
                self.rows[name] += rows
            else:
                old = list(self.rows[name].values())
                rows += [dict(r, v=f"again{self.serial}") for r in old[::3]]
                self.rows[name].update({key(r): r for r in rows})
            self.weir.run("put", f"turns.{name}", stdin="\n".join(map(json.dumps, rows)))
            if self.keyed[name] and self.serial > 1:
                parts = name.endswith("_parts")
                gone = old[1::7]
                self.weir.run("delete", f"turns.{name}", stdin="\n".join(
                    json.dumps({"id": r["id"], "region": r["region"]} if parts else r["id"]) for r in gone))
                for r in gone:
                    del self.rows[name][key(r)]

    def want(self, name):
        rows = self.rows[name].values() if self.keyed[name] else self.rows[name]
        return [tuple(r[c] for c in COLUMNS) for r in rows]

    def wait(self, seconds=90):
        """Until the lake holds the rows of the model, all of them once, as pypaimon reads it."""
        until = time.monotonic() + seconds
        for name in self.names:
            while True:
                try:
                    tab = lake.read_arrow(self.server.warehouse, f"turns.{name}")
                    got = [tuple(r[c] for c in COLUMNS) for r in tab.to_pylist()] if tab else []
                    same(got, self.want(name))
                    break
                except Exception as e:
                    if time.monotonic() > until:
                        raise AssertionError(f"{name} in the lake after {seconds} s") from e
                time.sleep(0.3)

    def verify(self):
        for name in self.names:
            told = self.weir.verify(f"turns.{name}", "--deadline", "60s")
            assert told["equal"] is True, told

    def data_snapshots(self, name):
        manager = lake.open_table(self.server.warehouse, f"turns.{name}").snapshot_manager()
        newest = manager.get_latest_snapshot()
        every = (manager.get_snapshot_by_id(i) for i in range(1, newest.id + 1)) if newest else ()
        return {s.id for s in every if s.commit_kind == "APPEND"}


def rounds(server, name):
    """The snapshots that weir's own service has made of a table."""
    return {int(n) for n in re.findall(rf"round_done .*database=turns table={name} snapshot=(\d+)", server.log.read_text())}


@pytest.fixture
def server(tmp_path):
    s = Server(tmp_path)
    yield s
    s.finish()


def start(flink, server, **options):
    server.options |= options
    if server.running():
        server.stop()
    server.start()


def use(flink, server, catalog):
    flink.catalog(catalog, server)
    flink.sql(f"USE CATALOG {catalog}; CREATE DATABASE turns; USE turns")


ON, OFF = {"weir.tier.enabled": "true"}, {"weir.tier.enabled": "false"}


def test_turn_by_turn(flink, server):
    start(flink, server, **ON)
    use(flink, server, "turn_by_turn")
    tables = Tables(flink, server, ["orders", "events", "orders_parts", "events_parts"])
    for turn in ("weir", "job", "weir", "job", "weir"):
        start(flink, server, **(ON if turn == "weir" else OFF))
        before = {n: rounds(server, n) for n in tables.names}
        with flink.tiering(server) if turn == "job" else contextlib.nullcontext():
            for _ in range(2):
                tables.write()
                tables.wait()
        for name in tables.names:
            assert (rounds(server, name) != before[name]) == (turn == "weir"), f"{name} was not tiered by {turn}"
        tables.verify()
    for name in tables.names:
        same(flink.sql(f"SELECT * FROM {name}"), tables.want(name))
        same(flink.sql(f"SELECT id, v, n, region FROM `{name}$lake`"), tables.want(name))
        same(flink.sql(f"SELECT * FROM {name} WHERE region = 'r1'"), [r for r in tables.want(name) if r[3] == "r1"])


def test_both_at_once_with_kills(flink, server):
    start(flink, server, **{"weir.tier.workers": "1"}, **ON)
    use(flink, server, "both_at_once")
    tables = Tables(flink, server, ["orders1", "orders2", "orders_parts", "events1", "events2", "events_parts"])
    with flink.tiering(server, poll="100 ms"):
        tables.write()
        tables.wait()
        for _ in range(3):
            for _ in range(3):
                tables.write(10)
                time.sleep(0.5)
            server.restart()
        tables.write()
        tables.wait()
    tables.verify()
    by_weir = {n: rounds(server, n) for n in tables.names}
    by_job = {n: tables.data_snapshots(n) - by_weir[n] for n in tables.names}
    assert any(by_weir.values()) and any(by_job.values()), f"one of them did nothing: {by_weir}, {by_job}"
    for name in tables.names:
        same(flink.sql(f"SELECT * FROM {name}"), tables.want(name))
