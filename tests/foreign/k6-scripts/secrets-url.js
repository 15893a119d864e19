// Secrets of a server, in the init context and in iterations, as checks that hold in both programs.

import { check } from "k6";
import secrets from "k6/secrets";

export { handleSummary } from "./data.js";

export const options = { iterations: 2 };

const atInit = await secrets.get("token");

/** What a promise is rejected for, as text. */
const refusal = (promise) =>
  promise.then(
    () => "",
    (error) => String(error),
  );

export default async function () {
  const [token, again, later] = await Promise.all([secrets.get("token"), secrets.source("vault").get("token"), secrets.get("later")]);
  check(null, {
    "the same everywhere": () => [atInit, token, again].every((it) => it === "verysecret"),
    "after a failure that passes": () => later === "hunter2",
  });
  check(await refusal(secrets.get("nothing")), { "a key that is not there": (text) => text !== "" });
  check(await refusal(secrets.get("number")), { "a secret that is not a text": (text) => text !== "" });
  console.log(`the token is ${token}`);
}
