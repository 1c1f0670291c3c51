"""The lake, read by pypaimon and by nothing of ours."""
import asyncio
import time

from pypaimon import CatalogFactory

from . import canon

SYSTEM = ["__bucket", "__offset", "__timestamp"]


def open_table(warehouse, name):
    return CatalogFactory.create({"warehouse": f"file://{warehouse.removeprefix('file://')}"}).get_table(name)


def read_arrow(warehouse, name):
    """The newest snapshot as an Arrow table, or None where it holds no row."""
    builder = open_table(warehouse, name).new_read_builder()
    tab = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return tab if tab is not None and tab.num_rows else None


def read(warehouse, name, schema, system=False):
    """The rows of the newest snapshot as canonical dicts; of the system columns only when asked."""
    tab = read_arrow(warehouse, name)
    if tab is None:
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
            tab = await asyncio.to_thread(read_arrow, warehouse, name)
            if tab is not None and tab.num_rows != len(want) and time.monotonic() - begin < seconds - 5:
                why = f"{tab.num_rows} rows, expected {len(want)}"  # the rows themselves only where their number is right
            else:
                got = canon.table(tab, schema) if tab is not None else []
                why = canon.differ(map(cut, got), want)
                if why is None:
                    return time.monotonic() - begin
        except Exception as e:  # not there yet, or a file that expired under the reader
            why = f"{type(e).__name__}: {e}"
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 1)
    raise AssertionError(f"{name} in the lake after {seconds} s: {why}")


def _manifest_files(table_dir, manifest_list):
    """The entries of the manifests that a manifest list names, and the manifests' own names."""
    import fastavro
    if not manifest_list:
        return set(), set()
    names, files = {manifest_list}, set()
    with open(table_dir / "manifest" / manifest_list, "rb") as f:
        manifests = [m["_FILE_NAME"] for m in fastavro.reader(f)]
    for manifest in manifests:
        names.add(manifest)
        with open(table_dir / "manifest" / manifest, "rb") as f:
            for entry in fastavro.reader(f):
                files.add(entry["_FILE"]["_FILE_NAME"])
                files.update(entry["_FILE"].get("_EXTRA_FILES") or ())
    return names, files


def dangling(warehouse, name):
    """Files below the table's directory that no snapshot leads to: what a crash may leave and recovery must remove."""
    import json
    import pathlib
    database, table = name.split(".")
    table_dir = pathlib.Path(warehouse.removeprefix("file://")) / f"{database}.db" / table
    known = set()
    for snapshot_file in (table_dir / "snapshot").glob("snapshot-*"):
        s = json.loads(snapshot_file.read_text())
        for key in ("baseManifestList", "deltaManifestList", "changelogManifestList"):
            names, files = _manifest_files(table_dir, s.get(key))
            known |= names | files
        known.add(s.get("indexManifest"))
    found = {p for p in table_dir.rglob("*") if p.is_file() and p.parent.name not in ("snapshot", "schema", "index")}
    return sorted(str(p.relative_to(table_dir)) for p in found if p.name not in known)


async def nothing_dangling(warehouse, name, seconds=15):
    """Waits until no file dangles: a round, a compaction or an expiry that runs has files that no snapshot names yet, or
    takes away those that one named when it was read."""
    begin, left = time.monotonic(), None
    while time.monotonic() - begin < seconds:
        try:
            left = dangling(warehouse, name)
            if not left:
                return
        except FileNotFoundError as e:
            left = e
        await asyncio.sleep(0.2)
    raise AssertionError(f"{name}, after {seconds} s: {left}")
