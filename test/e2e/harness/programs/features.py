"""What a program may have beyond its rows: each feature is chosen by a random source of its own, from the seed and its
name, and says what it chose. One that is added here leaves the rows of old seeds as they are.
"""
import datetime as dt
import random
import zoneinfo

import pyarrow as pa

ROW_FORMS = ["INDEXED", "COMPACTED"]
ICEBERG_KEYS = ["int", "bigint", "binary4", "date", "decimal5_2", "decimal24_4", "time3", "timestamp3", "timestamp6"]
NUMBER = "numbered"


def choose(program):
    """Changes the program; gives what was chosen, for people."""
    said = [feature(program, random.Random(f"{program.seed} {feature.__name__}")) for feature in FEATURES]
    return [text for text in said if text]


def log_form(p, r):
    """Logs of rows, which pyfluss neither writes nor reads: weir's commands do. Of a primary-key table it reads the rows
    and not the changelog; of stored rows that are INDEXED it knows nothing."""
    x = r.random()
    if not p.is_pk and x < 0.15:
        form, p.by_weir = r.choice(ROW_FORMS), {"writes", "changes"}
    elif not p.is_pk and x < 0.2:
        form, p.by_weir = "ARROW", {"writes"}
    elif p.is_pk and x < 0.08:
        form, p.by_weir = "COMPACTED", {"changes"}
    elif p.is_pk and x < 0.15:
        form = r.choice(["ARROW", "INDEXED"])
        p.by_weir = {"writes", "rows"} | ({"changes"} if form == "INDEXED" else set())
        p.properties["table.kv.format"] = "INDEXED"
    else:
        return None
    p.properties["table.log.format"] = form
    return f"log of {form}, {' and '.join(sorted(p.by_weir))} by weir" + ", INDEXED rows" * ("rows" in p.by_weir)


def level(p, r):
    """Of what weir writes: pyfluss knows 3 alone (exceptions.py)."""
    if p.properties["table.log.arrow.compression.type"] != "ZSTD" or "writes" not in p.by_weir:
        return None
    p.properties["table.log.arrow.compression.zstd.level"] = str(r.randrange(1, 23))
    return f"ZSTD {p.properties['table.log.arrow.compression.zstd.level']}"


def conditions(p, r):
    """Statistics in the batches, and scans with conditions."""
    if p.is_pk or p.partition_keys or "changes" in p.by_weir or r.random() < 0.4:
        return None
    ordered = [f.name for f in p.schema if not pa.types.is_nested(f.type) and not pa.types.is_binary(f.type) and not pa.types.is_fixed_size_binary(f.type)]
    if not ordered:
        return None
    some = r.sample(ordered, r.randrange(1, len(ordered) + 1))
    p.properties["table.statistics.columns"] = "*" if r.random() < 0.5 else ",".join(some)
    p.conditions = ordered
    return f"statistics of {p.properties['table.statistics.columns']}"


def prefix(p, r):
    """A bucket key that is the front of the primary key: rows are found by it."""
    rest = [c for c in p.pk if c not in p.partition_keys]
    if len(rest) < 2 or r.random() < 0.3:
        return None
    p.properties["table.kv.format-version"] = "2"  # keys of version 1 do not begin with those of their front
    p.bucket_keys = rest[:r.randrange(1, len(rest))]
    p.prefix = p.partition_keys + p.bucket_keys
    return f"look-ups by {p.prefix}"


def number(p, r):
    """A column that the server numbers. A delete leaves the number, so all else must hold nulls."""
    if not p.is_pk or p.engine.kind not in (None, "aggregation") or not p.all_null or r.random() < 0.6:
        return None
    field = pa.field(NUMBER, r.choice([pa.int32(), pa.int64()]))
    p.schema = p.engine.schema = p.schema.append(field)
    p.numbered = NUMBER
    p.properties["table.auto-increment.cache-size"] = str(r.choice([1, 3, 100000]))
    return f"numbers of {field.type}"


def deletes(p, r):
    x = r.random()
    if not p.is_pk or p.engine.kind or x > 0.2:
        return None
    p.engine.deletes = "ignore" if x < 0.1 else "disable"
    p.properties["table.delete.behavior"] = p.engine.deletes
    return f"deletes: {p.engine.deletes}"


def key_form(p, r):
    """Keys of Iceberg, of tables outside the lake."""
    names = [c.split("_", 1)[1] for c in p.pk]
    if p.lake or len(names) != 1 or names[0] not in ICEBERG_KEYS or r.random() < 0.3:
        return None
    p.properties["table.datalake.format"] = "iceberg"
    return "keys of Iceberg"


def inserts(p, r):
    """Look-ups that insert what is missing, over the wire, by keys of our own encoder; to one bucket."""
    if not p.is_pk or p.buckets > 1 or p.partition_keys or not p.all_null or p.engine.kind not in (None, "aggregation"):
        return None
    if "table.datalake.format" in p.properties or r.random() < 0.3:
        return None
    p.inserts = True
    return "look-ups insert"


def _names(unit, zone, ages):
    """Of the periods so many units ago."""
    now, out = dt.datetime.now(zoneinfo.ZoneInfo(zone)), []
    for age in ages:
        month = now.year * 12 + now.month - 1 - age * {"MONTH": 1, "QUARTER": 3}.get(unit, 0)
        year, month = month // 12 - age * (unit == "YEAR"), month % 12 + 1
        then = now - dt.timedelta(days=age * (unit == "DAY"), hours=age * (unit == "HOUR"))
        out.append({"YEAR": f"{year:04d}", "QUARTER": f"{year:04d}{(month + 2) // 3}", "MONTH": f"{year:04d}{month:02d}",
                    "DAY": f"{then:%Y%m%d}", "HOUR": f"{then:%Y%m%d%H}"}[unit])
    return out


def time_partitions(p, r):
    """Partitions that the server makes by time, and rows of this period and those beside it. (The one thing of a program
    that the clock decides.)"""
    fits = [c for c in p.partition_keys if c.endswith(("_string", "_date"))]
    if not fits or r.random() < 0.2:
        return None
    unit, zone, key = r.choice(["YEAR", "QUARTER", "MONTH", "DAY", "HOUR"]), r.choice(["UTC", "Asia/Shanghai", "America/New_York"]), fits[0]
    is_date = key.endswith("_date")
    unit = "DAY" if is_date else unit
    several = len(p.partition_keys) > 1
    options = {"enabled": "true", "time-unit": unit, "time-zone": zone, "num-retention": r.choice(["4", "7", "-1"]),
               "num-precreate": "0" if several else r.choice(["0", "1", "2", "4"])} | ({"key": key} if several else {})
    p.properties |= {f"table.auto-partition.{k}": v for k, v in options.items()}
    few = _names(unit, zone, [1, 0, -1])
    if is_date:
        p.properties["table.auto-partition.time-format"] = "yyyy-MM-dd"
        few = [dt.datetime.strptime(name, "%Y%m%d").date() for name in few]
    p.makers[key] = lambda x: x.choice(few)
    return f"{key} by {unit}, {options['num-precreate']} ahead"


def own_server(p, r):
    """A server of its own, with small segments and flushes; killed or stopped between rounds."""
    if r.random() > 0.08:
        return None
    size = r.choice(["120b", "2kb", "64kb"])
    p.server = {"log.segment.file-size": size, "weir.kv.flush.interval": r.choice(["1 s", "1 min"])}
    p.between = r.choice(["kill", "kill", "stop"])
    return f"a server of its own, segments of {size}, {p.between} between rounds"


FEATURES = [log_form, level, conditions, prefix, number, deletes, key_form, inserts, time_partitions, own_server]
