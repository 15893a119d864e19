// A cable server in one of Action Cable's encodings, for scripts: it confirms, rejects, echoes, and sends what a test wants
// to see arrive, well-formed or not.

import { WebSocketServer } from "ws";
import { CODECS } from "./cable-codecs.mjs";

/**
 * Starts on a free port and ends with the test: its URL. `chosen` is the sub-protocol that it names, asked or not, that of
 * the encoding by default; `say` has an action per name, called with the client's `data` and with `send(message, options)` for a message
 * of the subscription and `raw(content)` for any content. A whisper is the action `whisper`.
 */
export async function startCodecServer(t, encoding, { chosen = CODECS[encoding].protocol, say = {} } = {}) {
  const codec = CODECS[encoding];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => chosen });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    const reply = (message, options) => socket.send(codec.write(message, options));
    reply({ type: "welcome" });
    reply({ type: "ping", message: Math.floor(Date.now() / 1000) });
    socket.on("message", (content, isBinary) => {
      const { command, identifier, data } = codec.read(content, isBinary);
      const send = (message, options) => reply({ identifier, message }, options);
      if (command === "subscribe") {
        reply({ type: identifier.includes("Forbidden") ? "reject_subscription" : "confirm_subscription", identifier });
      } else if (command === "message") {
        const { action, ...rest } = JSON.parse(data);
        if (action === "echo") send(rest);
        else if (action === "leave") reply({ type: "disconnect", reason: "remote", reconnect: rest.reconnect });
        else say[action](rest, { send, raw: (content) => socket.send(content) });
      } else if (command === "whisper") {
        say.whisper(data, { send });
      }
    });
  });
  await new Promise((resolve) => server.on("listening", resolve));
  t.after(() => {
    server.clients.forEach((socket) => socket.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}/cable`;
}
