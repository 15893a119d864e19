// How a message gets to the server, which sends it to everyone on a stream: one HTTP request, answered with 201.

export type Broadcast = (stream: string, message: unknown) => Promise<void>;

/** With a key the server takes broadcasts on its main port, without one on port 8090. */
export function overHttp(url: string, key: string | undefined): Broadcast {
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  return async (stream, message) => {
    const body = JSON.stringify({ stream, data: JSON.stringify(message) });
    const response = await fetch(url, { method: "POST", headers, body });
    if (response.status !== 201) throw new Error(`POST ${url} was answered with ${response.status} ${await response.text()}`);
  };
}
