"""A peer for `plimsoll conform websocket`: Python's aiohttp as an echo server (`serve`), which prints its port, or as a client
that goes through the cases of the suite (`visit ws://127.0.0.1:9001`). Compression is on in both roles."""

import asyncio
import logging
import sys

import aiohttp
from aiohttp import WSMsgType, web

# What the tester does wrong on purpose is no news.
logging.disable(logging.CRITICAL)

LARGEST = 17 << 20


async def echo(socket):
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)


async def answer(request):
    socket = web.WebSocketResponse(max_msg_size=LARGEST, timeout=1)
    await socket.prepare(request)
    await echo(socket)
    return socket


async def serve():
    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def visit(session, url, behaviour=echo):
    try:
        async with session.ws_connect(url, max_msg_size=LARGEST, compress=15) as socket:
            return await asyncio.wait_for(behaviour(socket), 300)
    except Exception:
        # The client refuses an invalid answer, or the tester ends the connection.
        return None


async def visit_all(base):
    # A connection for each case: aiohttp would use that of a refused handshake again, if the tester has not yet closed it.
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        count = int(await visit(session, f"{base}/getCaseCount", lambda socket: socket.receive_str()))
        for number in range(1, count + 1):
            await visit(session, f"{base}/runCase?case={number}&agent=aiohttp")
        await visit(session, f"{base}/updateReports?agent=aiohttp")


if sys.argv[1] == "serve":
    asyncio.run(serve())
else:
    asyncio.run(visit_all(sys.argv[2]))
