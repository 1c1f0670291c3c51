"""One program, from its table to its lake."""
import asyncio
import tempfile

from exceptions import by_merging_pypaimon

from ..client import EXTERNAL, connect
from ..partitions import Partitions
from ..server import Server
from ..weir import verify
from . import reading, writing
from .model import Model
from .program import Program


async def run(client, seed):
    """Runs one program; AssertionError says where reader and model part. Its table stays: pyfluss asks for the metadata of
    all tables it knows at once, and one that was dropped fails that call."""
    program = Program(seed)
    if EXTERNAL:
        program.server = program.between = None
    if program.server is None:
        await _Run(program, client.server, client).run()
        return
    with tempfile.TemporaryDirectory(prefix="program") as directory:
        server = Server(directory, program.server)
        await asyncio.to_thread(server.start)
        try:
            await _Run(program, server).run()
        except Exception as e:
            e.args = (f"{e}\n{server.tail()}",)
            raise
        finally:
            await asyncio.to_thread(server.finish)


class _Run:
    def __init__(self, program, server, client=None):
        self.program, self.server, self.client = program, server, client
        self.own = []  # clients that are closed here

    async def _connect(self):
        self.own.append(await connect(self.server))
        return self.own[-1]

    async def _close(self):
        for client in self.own:
            await client.close()
        self.own = []

    async def run(self):
        try:
            first = self.client or await self._connect()
            table = await writing.create(first, self.program)
            await self._rounds([table] + [await (await self._connect()).open(table.path, self.program.schema) for _ in range(self.program.writers - 1)])
        finally:
            await self._close()

    async def _restarted(self, tables, model):
        """The server is killed or stopped, and there again; its clients are new ones."""
        await self._close()
        if self.program.between == "stop":
            await asyncio.to_thread(self.server.stop)
            await asyncio.to_thread(self.server.start)
        else:
            await asyncio.to_thread(self.server.restart)
        again = [await (await self._connect()).open(tables[0].path, self.program.schema, tables[0].named is not None) for _ in tables]
        model.table = again[0]
        return again

    async def _rounds(self, tables):
        program, model = self.program, Model(self.program, tables[0])
        partitions = Partitions(self.server, tables[0].name) if program.partition_keys else None
        for n, (added, by_writer) in enumerate(program.rounds):
            if n and program.between:
                tables = await self._restarted(tables, model)
                partitions = partitions and Partitions(self.server, tables[0].name)
            if added:
                tables = await writing.add(program, tables, model, added)
            for _, rows, _ in (o for operations in by_writer if partitions for o in operations):
                partitions.make_for(rows, program.schema, program.partition_keys)
            await asyncio.gather(*(writing.write(program, t, model, operations) for t, operations in zip(tables, by_writer)))
            if program.inserts:
                await writing.insert(program, tables[0], model)
            await reading.check(program, tables[0], model)
            if program.lake and (n == len(program.rounds) - 1 or program.random.random() < 0.3):
                await tables[0].lake(model.rows(), cut=by_merging_pypaimon(program.schema) if program.is_pk else lambda row: row)
        await reading.check_end(program, tables[0], model)
        if program.lake:
            verdict = await verify(self.server, tables[0].name)
            assert verdict["stream_rows"] == verdict["lake_rows"] == len(model.rows()), verdict
