// The decisions of the chat, without gRPC: who may connect, what a subscription hears, what an action does.

import type { Broadcast } from "./broadcast.js";
import type { CommandMessage, CommandResponse, ConnectionResponse } from "./contract.js";

/** The identifiers of a connection; they come back with every later call. */
interface User {
  name: string;
  id: string;
}

export class Chat {
  readonly #broadcast: Broadcast;

  constructor(broadcast: Broadcast) {
    this.#broadcast = broadcast;
  }

  /** Accepts clients with a cookie `uid=<name>/<id>`. */
  connect(cookies: string, sid: string): ConnectionResponse {
    const user = signIn(cookies);
    if (!user) {
      const refusal = { type: "disconnect", reason: "unauthorized", reconnect: false };
      return { status: "FAILURE", transmissions: [JSON.stringify(refusal)] };
    }
    const welcome = { type: "welcome", sid };
    return { status: "SUCCESS", identifiers: JSON.stringify(user), transmissions: [JSON.stringify(welcome)] };
  }

  async command(message: CommandMessage): Promise<CommandResponse> {
    const stream = streamOf(message.identifier);
    switch (message.command) {
      case "subscribe":
        return subscribe(message.identifier, stream);
      case "unsubscribe":
        return { status: "SUCCESS", stop_streams: true };
      default:
        return this.#perform(stream, message);
    }
  }

  async #perform(stream: string | null, message: CommandMessage): Promise<CommandResponse> {
    const speech = parse(message.data);
    if (!stream || speech.action !== "speak" || typeof speech.message !== "string") return { status: "FAILURE" };
    const user = parse(message.connection_identifiers);
    await this.#broadcast(stream, {
      action: "newMessage",
      author_id: user.id,
      author: user.name,
      message: speech.message,
    });
    return { status: "SUCCESS" };
  }
}

function subscribe(identifier: string, stream: string | null): CommandResponse {
  if (!stream) return { status: "FAILURE", transmissions: [JSON.stringify({ type: "reject_subscription", identifier })] };
  const confirmation = JSON.stringify({ type: "confirm_subscription", identifier });
  return { status: "SUCCESS", streams: [stream], transmissions: [confirmation] };
}

/** A name may hold a slash, an id does not. */
function signIn(cookies: string): User | null {
  const uid = cookies.split(/;\s*/).find((cookie) => cookie.startsWith("uid="));
  const match = /^uid=(.+)\/([^/]+)$/.exec(uid ?? "");
  return match ? { name: match[1]!, id: match[2]! } : null;
}

function streamOf(identifier: string): string | null {
  const { channel, id } = parse(identifier);
  const isRoom = channel === "ChatChannel" && (typeof id === "string" || typeof id === "number");
  return isRoom ? `chat_${id}` : null;
}

/** A JSON object; an empty one when `text` is anything else. */
function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
