// The application behind the server: AnyCable's RPC over HTTP.

/** Statuses of replies. */
export const SUCCESS = 1;
export const FAILURE = 2;

/** After which a call has failed. */
const PATIENCE_MS = 3000;

export class Application {
  #url;
  #log;

  constructor(url, log) {
    this.#url = url;
    this.#log = log;
  }

  /** Calls `connect`, `command` or `disconnect` for a session; what fails is a reply with an error. */
  async call(method, sid, request) {
    const headers = { "content-type": "application/json", "x-anycable-meta-sid": sid, "x-anycable-meta-protov": "v1" };
    const body = JSON.stringify(request);
    try {
      const options = { method: "POST", headers, body, signal: AbortSignal.timeout(PATIENCE_MS) };
      const response = await fetch(`${this.#url}/${method}`, options);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return await response.json();
    } catch (error) {
      this.#log(`${method}: ${error.message}`);
      return { status: 0 };
    }
  }
}
