#!/usr/bin/env python3
"""A chat behind a cable server, over HTTP. README.md says how to run it.

The server asks with POST: /connect, /command and /disconnect under the path that its --rpc_host names. The fields are
those of AnyCable's gRPC messages, and the status is a number.
"""

import hmac
import json
import os
import signal
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from application import ERROR, SUCCESS, Chat
from broadcaster import HttpBroadcaster

PATH = "/_anycable"
MAX_BODY_BYTES = 1024 * 1024
LINGER_SECONDS = 1


class Handler(BaseHTTPRequestHandler):
    """Takes requests apart and puts responses together. Each connection has a thread of its own."""

    # The server keeps its connections open and uses them again.
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two writes; the second must not wait for an acknowledgement of the first.
    disable_nagle_algorithm = True
    chat: Chat
    secret: str

    def do_POST(self):
        calls = {
            f"{PATH}/connect": self.answer_connect,
            f"{PATH}/command": self.answer_command,
            f"{PATH}/disconnect": lambda _request: {"status": SUCCESS},
        }
        # Refused bodies are read, too: the next request of this connection comes after it.
        body = self.read_body()
        if body is None:
            return
        call = calls.get(self.path)
        if call is None:
            self.answer(404, {"error": f"no such call; there are {', '.join(calls)}"})
        elif not self.is_authorized():
            self.answer(401, {"error": "the header Authorization must be Bearer and the secret"})
        else:
            self.carry_out(call, body)

    def read_body(self):
        length = self.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) <= MAX_BODY_BYTES:
            return self.rfile.read(int(length))
        self.close_connection = True
        self.answer(400, {"error": f"Content-Length must be a number up to {MAX_BODY_BYTES}"})
        self.linger()
        return None

    def linger(self):
        """Drops what the client still sends. A close with unread bytes would reset the connection and lose the answer."""
        self.connection.settimeout(LINGER_SECONDS)
        n_left = 2 * MAX_BODY_BYTES
        try:
            self.connection.shutdown(socket.SHUT_WR)
            while n_left > 0 and (dropped := self.rfile.read1(n_left)):
                n_left -= len(dropped)
        except OSError:
            pass  # The client is gone, or sends no more.

    def is_authorized(self):
        given = self.headers.get("Authorization", "")
        return not self.secret or hmac.compare_digest(given.encode(), f"Bearer {self.secret}".encode())

    def carry_out(self, call, body):
        try:
            self.answer(200, call(json.loads(body)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.answer(422, {"error": f"the request is not valid: {error!r}"})
        except OSError as error:
            # The server logs the text of an ERROR, and treats the command as failed.
            self.answer(200, {"status": ERROR, "error_msg": f"the message was not broadcast: {error}"})

    def answer_connect(self, request):
        cookies = request["env"].get("headers", {}).get("cookie", "")
        return self.chat.connect(cookies, self.headers.get("x-anycable-meta-sid", ""))

    def answer_command(self, request):
        return self.chat.command(
            request["command"], request["identifier"], request["connection_identifiers"], request.get("data", "")
        )

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Nothing: a line per call is too much."""


def main():
    host, _, port = os.environ.get("ANYCABLE_RPC_HOST", "127.0.0.1:3001").rpartition(":")
    url = os.environ.get("ANYCABLE_HTTP_BROADCAST_URL", "http://localhost:8090/_broadcast")
    Handler.chat = Chat(HttpBroadcaster(url, os.environ.get("ANYCABLE_BROADCAST_KEY")))
    Handler.secret = os.environ.get("ANYCABLE_HTTP_RPC_SECRET", "")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with ThreadingHTTPServer((host, int(port)), Handler) as server:
        server.daemon_threads = True
        print(f"The chat listens on http://{host}:{port}{PATH}.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
