"""Jobs of Flink that go on while the server is killed and comes again."""
import json
import time

import pytest

from flink import same
from harness.server import Server
from harness.weir import Weir

ROUNDS, ROWS = 4, 1000


@pytest.fixture
def server(tmp_path):
    s = Server(tmp_path).start()
    yield s
    s.finish()


def until(done, seconds=90):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.5)


def test_jobs_write_on_what_they_read_once_each(flink, server):
    flink.catalog("kills", server)
    flink.sql("USE CATALOG kills; CREATE DATABASE jobs; USE jobs")
    for name, buckets in ("src", 2), ("dst", 3):
        flink.sql(f"CREATE TABLE {name}_pk (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket.num'='{buckets}')")
        flink.sql(f"CREATE TABLE {name}_log (id INT, v STRING) WITH ('bucket.num'='{buckets}')")
    weir, every = Weir(server.bootstrap), []
    with flink.query("INSERT INTO dst_pk SELECT * FROM src_pk"), flink.query("INSERT INTO dst_log SELECT * FROM src_log"):
        for n in range(ROUNDS):
            rows = [(i, f"v{n}") for i in range(n * ROWS // 2, n * ROWS // 2 + ROWS)]
            every += rows
            for table in "src_pk", "src_log":
                weir.run("put", f"jobs.{table}", stdin="\n".join(json.dumps({"id": i, "v": v}) for i, v in rows))
            time.sleep(1)
            server.restart()
        until(lambda: len(weir.rows("scan", "jobs.dst_log")) >= len(every) and pairs(weir, "dst_pk") == sorted(dict(every).items()))
    same(pairs(weir, "dst_pk"), sorted(dict(every).items()))
    same(pairs(weir, "dst_log"), every)


def pairs(weir, table):
    return sorted((r["id"], r["v"]) for r in weir.rows("scan", f"jobs.{table}"))
