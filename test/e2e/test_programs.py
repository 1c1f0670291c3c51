"""Programs made from a seed: types x operations x rounds, against a model, through pyfluss and pypaimon.

WEIR_E2E_SEED=n runs one of them; WEIR_E2E_PROGRAMS=n that many (100; 1000 with WEIR_LONG=1)."""
import asyncio
import os
import time

import pytest

from conftest import LONG
from harness.programs import Program, run

PROGRAMS = int(os.environ.get("WEIR_E2E_PROGRAMS", 1000 if LONG else 100))
AT_ONCE = 12
SEEDS = [int(os.environ["WEIR_E2E_SEED"])] if "WEIR_E2E_SEED" in os.environ else range(1, PROGRAMS + 1)


@pytest.mark.timeout(60 + 20 * len(SEEDS))
async def test_random_programs(shared, connect):
    turn, failures, begin = asyncio.Semaphore(AT_ONCE), [], time.monotonic()

    async def one(client, seed):
        async with turn:
            try:
                await run(client, seed)
            except Exception as e:
                failures.append(f"{Program(seed)}\n  {type(e).__name__}: {e}"[:3000])
    for first in range(0, len(SEEDS), 100):  # a client asks again and again for all tables it ever knew
        client = await connect(shared)
        await asyncio.gather(*(one(client, s) for s in SEEDS[first:first + 100]))
    print(f"{len(SEEDS)} programs in {time.monotonic() - begin:.0f} s")
    assert not failures, f"{len(failures)} of {len(SEEDS)} programs; WEIR_E2E_SEED=n runs one:\n" + "\n".join(failures[:5])


def test_a_program_follows_from_its_seed():
    for seed in range(50):
        assert str(Program(seed)) == str(Program(seed)) and repr(Program(seed).rounds) == repr(Program(seed).rounds)
