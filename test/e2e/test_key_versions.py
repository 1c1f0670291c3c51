"""What old clients may do: which versions of PUT_KV and the look-ups a table takes, and keys in the forms of lakes."""
import fluss
import pyarrow as pa
import pytest

from harness.wire import Wire, WireError, look_up, put

ORDERS = pa.schema([pa.field("shop", pa.int32(), nullable=False), pa.field("item", pa.int64(), nullable=False), ("note", pa.string())])


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
            for version in (1, 2):
                assert code("PUT_KV", put(t.id, b""), version) is None
            assert code("LOOKUP", look_up(t.id, [b"\1\1"]), 1) is None
            assert code("PREFIX_LOOKUP", prefix, 1) is None
        with pytest.raises(WireError) as e:
            wire.call("PUT_KV", put(new.id, b""), 3)
        assert e.value.code == 2
