// Many stock `@rails/actioncable` clients in one process, each with one subscription.

import ActionCable from "@rails/actioncable";
import WebSocket from "ws";
import { within } from "./deadline.mjs";

// The package takes these from a browser's window, to notice that a tab becomes visible. Node.js has no tabs.
globalThis.addEventListener ??= () => {};
globalThis.removeEventListener ??= () => {};

const PARAMS = { channel: "ChatChannel", id: "demo" };

export class RailsHerd {
  #consumers;
  #change;
  /** Clients whose subscription is confirmed now. */
  nConnected = 0;
  /** Clients that were told at least once that their subscription is rejected: they never ask again. */
  nRejected = 0;

  /** Opens `n` connections at once. */
  constructor(url, n) {
    // The package reads its adapter at the moment when a connection opens.
    ActionCable.adapters.WebSocket = class extends WebSocket {
      constructor(target, protocols) {
        super(target, protocols, { headers: { cookie: "uid=kay/1" } });
      }
    };
    this.#consumers = Array.from({ length: n }, () => {
      const consumer = ActionCable.createConsumer(url);
      let isConnected = false;
      const becomes = (connected) => {
        this.nConnected += Number(connected) - Number(isConnected);
        isConnected = connected;
        this.#change?.();
      };
      consumer.subscriptions.create(PARAMS, {
        connected: () => becomes(true),
        disconnected: () => becomes(false),
        rejected: () => {
          this.nRejected += 1;
          this.#change?.();
        },
      });
      return consumer;
    });
  }

  /** Completes when the first client is connected. */
  any() {
    return this.#until(() => this.nConnected > 0);
  }

  /** Completes when each client is connected, or was rejected. */
  async decided(patienceMs) {
    const nWaiting = () => this.#consumers.length - this.nConnected - this.nRejected;
    const decided = this.#until(() => nWaiting() <= 0);
    await within(decided, "all clients to be connected or rejected", patienceMs).catch((error) => {
      throw new Error(`${error.message}: ${nWaiting()} are neither`);
    });
  }

  #until(isSo) {
    return new Promise((resolve) => {
      this.#change = () => isSo() && resolve();
      this.#change();
    });
  }

  /** Ends all connections. */
  leave() {
    this.#consumers.forEach((consumer) => consumer.disconnect());
  }
}
