"""The lake, read by pypaimon and by nothing of ours."""
import asyncio
import time

from pypaimon import CatalogFactory

from . import canon

SYSTEM = ["__bucket", "__offset", "__timestamp"]


def open_table(warehouse, name):
    return CatalogFactory.create({"warehouse": f"file://{warehouse.removeprefix('file://')}"}).get_table(name)


def read(warehouse, name, schema, system=False):
    """The rows of the newest snapshot as canonical dicts; of the system columns only when asked."""
    t = open_table(warehouse, name)
    builder = t.new_read_builder()
    tab = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    if tab is None or tab.num_rows == 0:
        return []
    rows = canon.table(tab, schema)
    if system:
        for column in SYSTEM:
            for r, v in zip(rows, canon.array(tab[column])):
                r[column] = v
    return rows


def snapshot(warehouse, name):
    """The newest snapshot, or None."""
    return open_table(warehouse, name).snapshot_manager().get_latest_snapshot()


async def until(warehouse, name, schema, want, seconds=60, cut=lambda r: r):
    """Reads until the lake holds exactly the rows want (canonical dicts), or fails with the difference. cut is applied to
    the rows of both sides: what the reader cannot hold (exceptions.py). Gives the seconds it took."""
    want = [cut(r) for r in want]
    begin, why, pause = time.monotonic(), "nothing was read", 0.05
    while time.monotonic() - begin < seconds:
        try:
            got = await asyncio.to_thread(read, warehouse, name, schema)
            why = canon.differ([cut(r) for r in got], want)
            if why is None:
                return time.monotonic() - begin
        except Exception as e:  # not there yet, or a file that expired under the reader
            why = f"{type(e).__name__}: {e}"
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 1)
    raise AssertionError(f"{name} in the lake after {seconds} s: {why}")
