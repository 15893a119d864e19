"""The decisions of the chat, without HTTP: who may connect, what a subscription hears, what an action does."""

import json

ERROR, SUCCESS, FAILURE = 0, 1, 2


class Chat:
    """Returns dictionaries with the names of AnyCable's responses."""

    def __init__(self, broadcaster):
        self.broadcaster = broadcaster

    def connect(self, cookies, sid):
        """Accepts clients with a cookie `uid=<name>/<id>`. The identifiers come back with every later call."""
        user = sign_in(cookies)
        if user is None:
            refusal = {"type": "disconnect", "reason": "unauthorized", "reconnect": False}
            return {"status": FAILURE, "transmissions": [json.dumps(refusal)]}
        welcome = {"type": "welcome", "sid": sid}
        return {"status": SUCCESS, "identifiers": json.dumps(user), "transmissions": [json.dumps(welcome)]}

    def command(self, command, identifier, identifiers, data):
        """`command` is `subscribe`, `unsubscribe` or `message`; `data` belongs to a message and is JSON."""
        stream = stream_of(identifier)
        if command == "subscribe":
            return subscribe(identifier, stream)
        if command == "unsubscribe":
            return {"status": SUCCESS, "stop_streams": True}
        return self.perform(stream, identifiers, data)

    def perform(self, stream, identifiers, data):
        speech = parse(data)
        if stream is None or speech.get("action") != "speak" or not isinstance(speech.get("message"), str):
            return {"status": FAILURE}
        user = parse(identifiers)
        message = {
            "action": "newMessage",
            "author_id": user["id"],
            "author": user["name"],
            "message": speech["message"],
        }
        self.broadcaster.broadcast(stream, message)
        return {"status": SUCCESS}


def subscribe(identifier, stream):
    if stream is None:
        rejection = {"type": "reject_subscription", "identifier": identifier}
        return {"status": FAILURE, "transmissions": [json.dumps(rejection)]}
    confirmation = {"type": "confirm_subscription", "identifier": identifier}
    return {"status": SUCCESS, "streams": [stream], "transmissions": [json.dumps(confirmation)]}


def sign_in(cookies):
    """A name may hold a slash, an id does not."""
    for cookie in cookies.split(";"):
        key, _, uid = cookie.strip().partition("=")
        name, _, user_id = uid.rpartition("/")
        if key == "uid" and name and user_id:
            return {"name": name, "id": user_id}
    return None


def stream_of(identifier):
    channel = parse(identifier)
    room = channel.get("id")
    is_room = isinstance(room, (str, int, float)) and not isinstance(room, bool)
    return f"chat_{room}" if channel.get("channel") == "ChatChannel" and is_room else None


def parse(text):
    """A JSON object; an empty one when `text` is anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
