// Settings of the servers behind the proxies.

/** The header that names a run to the application, in servers that many runs share. */
export const RUN = "x-run";

/** Flags of `plimsoll serve`. */
export const SERVE = [
  ...["--headers", `cookie,x-api-token,${RUN}`, "--broadcast_key", "secret"],
  ...["--ping_interval", "1", "--ping_timestamp_precision", "ms"],
];
