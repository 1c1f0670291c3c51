#!/usr/bin/env python3
"""Writes test/corpus/wire_frame_fuzz from the golden frames: one file a call, a stream of frames. Each request as it is,
each answer's body behind the header of a request, since the fuzz target tries a body as both. Run by hand, from the
root of the tree, when the golden frames change; the files are committed."""
import json
from pathlib import Path

BYTES_MAX = 3000  # a file of up to 4096 bytes is replayed with every cut-off prefix

out = Path("test/corpus/wire_frame_fuzz")
out.mkdir(parents=True, exist_ok=True)
for old in out.iterdir():
    old.unlink()
streams, names = {}, {}
for line in Path("test/golden/frames.jsonl").read_text().splitlines():
    golden = json.loads(line)
    if "api_key" not in golden:
        streams.setdefault(0, []).append(bytes.fromhex(golden["hex"]))
        names[0] = "errors"
        continue
    key, frame = golden["api_key"], bytes.fromhex(golden["hex"])
    if golden["id"].startswith("response/"):
        body = frame[9:]
        frame = (8 + len(body)).to_bytes(4, "big") + key.to_bytes(2, "big") + bytes(6) + body
    names[key] = golden["id"].split("/")[1].lower()
    if frame not in streams.setdefault(key, []):
        streams[key].append(frame)
for key, frames in streams.items():
    while sum(map(len, frames)) > BYTES_MAX:
        frames.remove(min(frames, key=len))
    (out / names[key]).write_bytes(b"".join(frames))
