"""A peer for `plimsoll conform websocket`: Python's websockets as an echo server (`serve`), which prints its port, or as a
client that goes through the cases of the suite (`visit ws://127.0.0.1:9001`). Compression is on in both roles, as it is by
default."""

import asyncio
import logging
import sys

import websockets

# What the tester does wrong on purpose is no news.
logging.getLogger("websockets").setLevel(logging.CRITICAL)

LARGEST = 16 << 20
OPTIONS = {"max_size": LARGEST, "ping_interval": None}


async def echo(socket, *_path):
    try:
        async for message in socket:
            await socket.send(message)
    except websockets.ConnectionClosed:
        pass


async def serve():
    server = await websockets.serve(echo, "127.0.0.1", 0, **OPTIONS)
    print(next(iter(server.sockets)).getsockname()[1], flush=True)
    await asyncio.Event().wait()


async def visit(url, behaviour=echo):
    try:
        async with websockets.connect(url, open_timeout=10, close_timeout=1, **OPTIONS) as socket:
            return await behaviour(socket)
    except Exception:
        # The client refuses an invalid answer, or the tester ends the connection.
        return None


async def visit_all(base):
    count = int(await visit(f"{base}/getCaseCount", lambda socket: socket.recv()))
    for number in range(1, count + 1):
        await visit(f"{base}/runCase?case={number}&agent=websockets")
    await visit(f"{base}/updateReports?agent=websockets")


if sys.argv[1] == "serve":
    asyncio.run(serve())
else:
    asyncio.run(visit_all(sys.argv[2]))
