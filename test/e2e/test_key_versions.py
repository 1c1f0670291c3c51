"""What old clients may do: which versions of PUT_KV and the look-ups a table takes, and keys in the forms of lakes."""
import datetime as dt
import decimal
import struct

import fluss
import pyarrow as pa
import pytest

from harness import client as clients
from harness.server import Server
from harness.wire import Wire, WireError, look_up, put

ORDERS = pa.schema([pa.field("shop", pa.int32(), nullable=False), pa.field("item", pa.int64(), nullable=False), ("note", pa.string())])


@pytest.mark.own  # PUT_KV 3, and puts of no bytes
async def test_version_0_is_refused_where_it_makes_other_keys(client, shared):
    """Only with a lake, kv format version 2 and a bucket key of its own."""
    new = await client.create(ORDERS, ["shop", "item"], bucket_keys=["shop"])
    old = await client.create(ORDERS, ["shop", "item"], bucket_keys=["shop"], properties={"table.kv.format-version": "1"})
    whole = await client.create(ORDERS, ["shop", "item"])
    with Wire(shared.bootstrap) as wire:
        def code(api, fields, version):
            return wire.call(api, fields, version)["buckets_resp"][0].get("error_code")
        for t, want in ((new, 2), (old, None), (whole, None)):
            prefix = {"table_id": t.id, "buckets_req": [{"bucket_id": 0, "keys": [b"\1"]}]}
            assert code("PUT_KV", put(t.id, b""), 0) == want
            assert code("LOOKUP", look_up(t.id, [b"\1\1"]), 0) == want
            assert code("LOOKUP", look_up(t.id, [], insert_if_not_exists=True, acks=-1, timeout_ms=5000), 0) == want
            assert code("PREFIX_LOOKUP", prefix, 0) == want
            for version in (1, 2, 3):
                assert code("PUT_KV", put(t.id, b""), version) is None
            assert code("LOOKUP", look_up(t.id, [b"\1\1"]), 1) is None
            assert code("PREFIX_LOOKUP", prefix, 1) is None
        expired = put(new.id, b"")
        expired["buckets_req"][0]["original_partition_name"] = "2020"
        answer = wire.call("PUT_KV", expired, 3)["buckets_resp"][0]
        assert (answer["error_code"], answer["original_partition_name"]) == (36, "2020")
        with pytest.raises(WireError) as e:
            wire.call("PUT_KV", put(new.id, b""), 4)
        assert e.value.code == 2


KEYS = {"int": (pa.int32(), lambda i: i - 50), "bigint": (pa.int64(), lambda i: -i * 10**12), "string": (pa.string(), lambda i: f"k{i}" + "x" * (i % 9)),
        "date": (pa.date32(), lambda i: dt.date(1960, 1, 1) + dt.timedelta(days=i * 97)), "decimal": (pa.decimal128(10, 2), lambda i: decimal.Decimal(i - 50) / 4),
        "timestamp": (pa.timestamp("us"), lambda i: dt.datetime(1970, 1, 1) + dt.timedelta(hours=i)), "bytes": (pa.binary(), lambda i: bytes([i, 0, 255 - i]))}


@pytest.mark.own
async def test_keys_in_the_form_of_iceberg(tmp_path):
    """Hot tables of that lake format: keys, buckets, look-ups, prefixes, the changelog replayed; not the lake."""
    server = Server(tmp_path, {"weir.kv.flush.interval": "1 s"}).start()
    client = await clients.connect(server)
    tables = []
    for version in ("1", "2"):
        for name, (arrow, make) in KEYS.items():
            schema = pa.schema([pa.field("k", arrow, nullable=False), ("v", pa.int64())])
            t = await client.create(schema, ["k"], buckets=4, name=f"ice_{name}", properties={"table.datalake.format": "iceberg", "table.kv.format-version": version})
            rows = [{"k": make(i), "v": i} for i in range(1, 60)]
            await t.upsert(rows)
            await t.delete([{"k": make(3)}])
            tables.append((t.path, schema, make))
            assert sum(map(len, (await t.limit(100)).values())) == 58
    prefix = pa.schema([pa.field("k", pa.string(), nullable=False), pa.field("n", pa.int32(), nullable=False), ("v", pa.int64())])
    t = await client.create(prefix, ["k", "n"], buckets=2, bucket_keys=["k"], properties={"table.datalake.format": "iceberg"})
    await t.upsert([{"k": k, "n": n, "v": n} for k in ("a", "ab") for n in range(5)])
    await client.close()
    server.restart()
    client = await clients.connect(server)
    for path, schema, make in tables:
        t = await client.open(path, schema)
        found = await t.lookup([{"k": make(i)} for i in range(1, 60)])
        assert [f and f["v"] for f in found] == [None if i == 3 else i for i in range(1, 60)], path
    t = await client.open(tables[0][0], tables[0][1])
    with Wire(server.bootstrap) as wire:  # INT keys have 8 bytes
        answers = [wire.call("LOOKUP", look_up(t.id, [struct.pack("<q", -49)], bucket=b))["buckets_resp"][0]["values"][0] for b in range(4)]
    assert len([a for a in answers if "values" in a]) == 1
    with pytest.raises(fluss.FlussError, match="Paimon|must match"):
        await client.create(tables[0][1], ["k"], lake=True, properties={"table.datalake.format": "iceberg"})
    for schema, keys in ((prefix, ["k", "n"]), (pa.schema([pa.field("k", pa.int8(), nullable=False), ("v", pa.int64())]), ["k"])):
        with pytest.raises(fluss.FlussError):
            await client.create(schema, keys, properties={"table.datalake.format": "iceberg"})
    await client.close()
    server.finish()
