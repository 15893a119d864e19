"""An HTTP server that signs connections in with NTLM, verified by pyspnego. It prints its port.

Accounts are those of the file that NTLM_USER_FILE names. The path says what is asked for: `/ntlm`, `/negotiate`, `/basic`,
`/digest`, and `/broken`, whose challenges are invalid. Below `/fresh`, no connection stays signed in.
"""

import base64
import http.server

import spnego

BASIC = "Basic " + base64.b64encode(b"DOMAIN\\john:secret word").decode()


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection: Python makes an object for each."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    user = None
    context = None

    def answer(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        words = self.path.strip("/").split("/")
        is_fresh = words[0] == "fresh"
        what = words[1] if is_fresh else words[0]
        given = self.headers.get("Authorization", "")
        scheme, _, token = given.partition(" ")
        if self.user and not is_fresh and not given:
            self.let_in(what, self.user)
        elif what == "basic":
            self.let_in(what, "basic") if given == BASIC else self.refuse('Basic realm="test"')
        elif what in ("ntlm", "negotiate", "redirect"):
            expected = "Negotiate" if what == "negotiate" else "NTLM"
            self.sign_in(what, expected, token if scheme == expected else "", is_fresh)
        elif what == "broken":
            self.refuse("NTLM AAAA" if given else "NTLM")
        else:
            self.refuse('Digest realm="test", nonce="n", qop="other"')

    def sign_in(self, what, scheme, token, is_fresh):
        if not token:
            self.context = None
            return self.refuse(scheme)
        self.context = self.context or spnego.server(protocol="ntlm")
        try:
            reply = self.context.step(base64.b64decode(token))
        except spnego.exceptions.SpnegoError:
            self.context = None
            return self.refuse(scheme)
        if not self.context.complete:
            return self.refuse(f"{scheme} {base64.b64encode(reply).decode()}")
        user, self.context = self.context.client_principal, None
        if not is_fresh:
            self.user = user
        self.let_in(what, user)

    def let_in(self, what, user):
        if what == "redirect":
            self.send(302, [("Location", "/ntlm")], "")
        else:
            self.send(200, [], f"{self.command} {user} {self.body.decode()}")

    def refuse(self, field):
        self.send(401, [("WWW-Authenticate", field)], "who are you?")

    def send(self, status, fields, text):
        body = text.encode()
        self.send_response(status)
        for name, value in [*fields, ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        """Only the test speaks."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
