"""The merge engine AGGREGATION: every function through a client, hot and in the lake. Random programs are in test_programs.py."""
import json
import math
from decimal import Decimal

import fluss
import pyarrow as pa
import pytest

from harness import client as clients
from harness.alter import alter, column
from harness.client import fold
from harness.server import ROOT
from harness.weir import USAGE, Weir, verify
from harness.wire import WireError

FUNCTIONS = {  # column -> (SQL type, Arrow type, function, three values, what they come to)
    "sum_tiny": ("TINYINT", pa.int8(), "sum", [100, 27, 1], -128),
    "sum_big": ("BIGINT", pa.int64(), "sum", [2**63 - 1, 1, None], -(2**63)),
    "sum_real": ("FLOAT", pa.float32(), "sum", [0.5, 0.25, None], 0.75),
    "sum_dec": ("DECIMAL(5, 2)", pa.decimal128(5, 2), "sum", [Decimal("999.99"), Decimal("0.01"), Decimal("5.00")], Decimal("5.00")),
    "product_int": ("INT", pa.int32(), "product", [65536, 65536, 3], 0),
    "product_dec": ("DECIMAL(38, 10)", pa.decimal128(38, 10), "product", [Decimal("1.5"), Decimal("-0.0000000001"), Decimal("2")], Decimal("-0.0000000004")),
    "max_day": ("STRING", pa.string(), "max", ["a", "é", "z"], "é"),
    "min_double": ("DOUBLE", pa.float64(), "min", [math.nan, 0.0, -0.0], -0.0),
    "last": ("INT", pa.int32(), "last_value", [1, 2, None], None),
    "last_not_null": ("INT", pa.int32(), "last_value_ignore_nulls", [1, 2, None], 2),
    "first": ("INT", pa.int32(), "first_value", [None, 2, 3], 2),
    "first_not_null": ("INT", pa.int32(), "first_value_ignore_nulls", [1, 2, 3], 1),
    "list": ("STRING", pa.string(), "listagg", ["a", "b", None], "a,b"),
    "string_agg": ("STRING", pa.string(), "string_agg", ["a", None, "b"], "a; b"),
    "all_of": ("BOOLEAN", pa.bool_(), "bool_and", [True, None, False], False),
    "any_of": ("BOOLEAN", pa.bool_(), "bool_or", [False, True, None], True),
    "plain": ("INT", pa.int32(), None, [1, None, 3], 3),
}


def sql(name, columns, *options):
    """CREATE TABLE with columns {name: (type, function, parameters)}."""
    lines = ["`id` INT NOT NULL"] + [f"`{c}` {t}" for c, (t, *_) in columns.items()]
    options = ["'table.merge-engine' = 'aggregation'", *options]
    for c, (_, function, *parameters) in columns.items():
        if function:
            options.append(f"'fields.{c}.agg' = '{function}'")
        options += [f"'fields.{c}.{function}.{k}' = '{v}'" for k, v in (parameters[0] if parameters else {}).items()]
    return f"CREATE TABLE {name} ({', '.join(lines)}, PRIMARY KEY (id) NOT ENFORCED) WITH ({', '.join(options)})"


async def opened(client, name, schema):
    return await client.open(fluss.TablePath("fluss", name), schema)


async def test_every_function_hot_and_in_the_lake(client, shared):
    columns = {c: (t, f, {"delimiter": "; "} if f == "string_agg" else {}) for c, (t, _, f, _, _) in FUNCTIONS.items()}
    name = f"agg_all_{client.database}_{id(client)}"
    Weir(shared.bootstrap).run("sql", sql(name, columns, "'table.datalake.enabled' = 'true'", "'table.datalake.freshness' = '1 s'"))
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False)] + [(c, t) for c, (_, t, *_) in FUNCTIONS.items()])
    t = await opened(client, name, schema)
    for n in range(3):
        await t.upsert([{"id": 1, **{c: values[n] for c, (*_, values, _) in FUNCTIONS.items()}}])
    await t.delete([{"id": 1}])  # nothing, as long as deletes are not allowed
    want = t.rows([{"id": 1, **{c: w for c, (*_, w) in FUNCTIONS.items()}}])
    assert await t.lookup([{"id": 1}]) == want
    changes = await t.scan(5)
    assert [c.kind for c in changes] == ["+I", "-U", "+U", "-U", "+U"] and list(fold(changes, ["id"]).values()) == want
    await t.lake(want)
    await verify(shared, t.name)


def bitmaps():
    """Union vectors that Java wrote: name -> (a, b, union)."""
    with open(ROOT / "test/golden/bitmaps.jsonl") as f:
        rows = [json.loads(line) for line in f]
    return {r["id"]: tuple(bytes.fromhex(r[k]) for k in ("a", "b", "union")) for r in rows}


async def test_bitmaps_are_those_of_java(client, shared):
    name = f"agg_bitmaps_{id(client)}"
    Weir(shared.bootstrap).run("sql", sql(name, {"narrow": ("BYTES", "rbm32"), "wide": ("BYTES", "rbm64")}))
    t = await opened(client, name, pa.schema([pa.field("id", pa.int32(), nullable=False), ("narrow", pa.binary()), ("wide", pa.binary())]))
    known = bitmaps()
    narrow, wide = known["rbm32/few|mixed"], known["rbm64/node4|few"]
    await t.upsert([{"id": 1, "narrow": narrow[i], "wide": wide[i]} for i in range(2)])
    once = await t.lookup([{"id": 1}])
    # Values that are all there already change nothing.
    await t.upsert([{"id": 1, "narrow": narrow[2], "wide": wide[2]}])
    assert await t.lookup([{"id": 1}]) == once
    with pytest.raises(fluss.FlussError, match="rbm64|BufferUnderflow"):
        await t.upserter.upsert({"id": 1, "narrow": None, "wide": b"no bitmap"}).wait()
    assert await t.lookup([{"id": 1}]) == once


async def test_deletes_begin_anew_where_they_are_allowed(client, shared):
    name = f"agg_deletes_{id(client)}"
    Weir(shared.bootstrap).run("sql", sql(name, {"n": ("INT", "sum")}, "'table.delete.behavior' = 'allow'"))
    t = await opened(client, name, pa.schema([pa.field("id", pa.int32(), nullable=False), ("n", pa.int32())]))
    await t.upsert([{"id": 1, "n": 5}, {"id": 1, "n": 6}])
    await t.delete([{"id": 1}])
    await t.upsert([{"id": 1, "n": 7}])
    assert (await t.lookup([{"id": 1}]))[0]["n"] == 7
    assert [c.kind for c in await t.scan()] == ["+I", "-U", "+U", "-D", "+I"]


@pytest.mark.own  # stock writes no such row either, for Arrow refuses it
async def test_a_column_that_is_not_null_refuses_an_overflow(client, shared):
    name = f"agg_not_null_{id(client)}"
    Weir(shared.bootstrap).run("sql", sql(name, {"n": ("DECIMAL(3, 0) NOT NULL", "sum")}))
    t = await opened(client, name, pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("n", pa.decimal128(3, 0), nullable=False)]))
    await t.upsert([{"id": 1, "n": Decimal(999)}])
    with pytest.raises(fluss.FlussError, match="'n'"):
        await t.upserter.upsert({"id": 1, "n": Decimal(1)}).wait()
    assert (await t.lookup([{"id": 1}]))[0]["n"] == "999"


@pytest.mark.own  # the texts are weir's; stock takes CHAR and fails at each write
@pytest.mark.parametrize("columns, options, words", [
    ({"n": ("STRING", "sum")}, [], "does not take STRING"),
    ({"n": ("CHAR(3)", "listagg")}, [], "does not take CHAR(3)"),
    ({"n": ("STRING", "median")}, [], "median"),
    ({"n": ("STRING", "max", {"delimiter": ","})}, [], "delimiter"),
    ({"n": ("STRING", "listagg", {"delimiter": ""})}, [], "empty"),
    ({"n": ("INT", "sum")}, ["'table.merge-engine' = 'versioned'", "'table.merge-engine.versioned.ver-column' = 'n'"], "AGGREGATION"),
])
def test_what_no_table_can_be_made_with(shared, columns, options, words):
    weir = Weir(shared.bootstrap)
    weir.run("sql", sql("agg_refused", columns, *options), code=USAGE)
    assert words in weir.errors


@pytest.mark.own
async def test_a_column_added_later_has_its_function(client, shared):
    """Rows of before lack it: null takes the first value, and the rest of the row goes on."""
    name = f"agg_added_{id(client)}"
    Weir(shared.bootstrap).run("sql", sql(name, {"n": ("INT", "sum")}, "'table.datalake.enabled' = 'true'", "'table.datalake.freshness' = '1 s'"))
    old = pa.schema([pa.field("id", pa.int32(), nullable=False), ("n", pa.int32())])
    before = await opened(client, name, old)
    await before.upsert([{"id": i, "n": i} for i in range(4)])
    new = pa.field("words", pa.string())
    alter(shared, f"fluss.{name}", add_columns=[column(new, agg_function_type="listagg", agg_function_params=[{"key": "delimiter", "value": "|"}])])
    with pytest.raises(WireError, match="BOOLEAN|does not take"):
        alter(shared, f"fluss.{name}", add_columns=[column(pa.field("no", pa.bool_()), agg_function_type="sum")])
    await before.upsert([{"id": 0, "n": 100}])  # a writer that does not know of it yet
    fresh = await clients.connect(shared)
    t = await opened(fresh, name, pa.schema([*old, new]))
    await t.upsert([{"id": i, "n": 10, "words": w} for i in range(3) for w in ("a", "b")])
    want = t.rows([{"id": i, "n": n, "words": w} for i, n, w in ((0, 120, "a|b"), (1, 21, "a|b"), (2, 22, "a|b"), (3, 3, None))])
    assert await t.lookup([{"id": i} for i in range(4)]) == want
    await t.lake(want)
    await verify(shared, t.name)
    await fresh.close()
