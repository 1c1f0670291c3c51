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
PROGRAMS_PER_CLIENT = 20
SECONDS_MAX = 300  # of one program, on a busy machine
SEEDS = [int(os.environ["WEIR_E2E_SEED"])] if "WEIR_E2E_SEED" in os.environ else range(1, PROGRAMS + 1)


@pytest.mark.timeout(60 + 20 * len(SEEDS))
async def test_random_programs(shared, connect):
    seeds, failures, begin = iter(SEEDS), [], time.monotonic()

    async def work():
        """Programs one after the other. A client is used by one program at a time, since answers about metadata that come
        together overwrite each other in pyfluss ("Table not found"), and not for long, since it asks for all it knows."""
        for n, seed in enumerate(seeds):
            if n % PROGRAMS_PER_CLIENT == 0:
                client = await connect(shared)
            try:
                await asyncio.wait_for(run(client, seed), SECONDS_MAX)
            except Exception as e:
                failures.append(f"{Program(seed)}\n  {type(e).__name__}: {e}"[:3000])
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    print(f"{len(SEEDS)} programs in {time.monotonic() - begin:.0f} s")
    assert not failures, f"{len(failures)} of {len(SEEDS)} programs; WEIR_E2E_SEED=n runs one:\n" + "\n".join(failures[:5])


def test_a_program_follows_from_its_seed():
    for seed in range(50):
        assert str(Program(seed)) == str(Program(seed)) and repr(Program(seed).rounds) == repr(Program(seed).rounds)
