"""How a message gets to the server, which sends it to everyone on a stream."""

import json
from urllib.request import Request, urlopen

TIMEOUT_S = 3


class HttpBroadcaster:
    """One request per message, answered with 201; a refusal is raised as OSError, like a server that is not there."""

    def __init__(self, url, key=None):
        """With a key the server takes broadcasts on its main port, without one on port 8090."""
        self.url = url
        self.headers = {"Content-Type": "application/json"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"

    def broadcast(self, stream, message):
        payload = {"stream": stream, "data": json.dumps(message)}
        request = Request(self.url, json.dumps(payload).encode(), self.headers)
        with urlopen(request, timeout=TIMEOUT_S):
            pass
