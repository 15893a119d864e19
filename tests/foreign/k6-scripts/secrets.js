// Secrets of two sources, in every stage, as checks that hold in both programs; some are logged, and must not show.

import { check } from "k6";
import secrets from "k6/secrets";

export { handleSummary } from "./data.js";

const atInit = await secrets.get("token");

/** What a promise is rejected for, as text. */
const refusal = (promise) =>
  promise.then(
    () => "",
    (error) => String(error),
  );

export async function setup() {
  return { token: await secrets.get("token") };
}

export default async function (data) {
  const [token, named, byDefault, other, missing, nowhere] = [
    await secrets.get("token"),
    await secrets.source("vault").get("token"),
    await secrets.source("default").get("token"),
    await secrets.source("notes").get("password"),
    await refusal(secrets.get("nothing")),
    await refusal(secrets.source("nowhere").get("token")),
  ];
  check(data, {
    "the default source": (data) => [atInit, data.token, token, named, byDefault].every((it) => it === "verysecret"),
    "a source by its name": () => other === "hunter2=",
    "a key that is not there": () => missing !== "",
    "a source that is not there": () => nowhere !== "",
  });
  console.log(`the token is ${token}`, { password: other });
  throw new Error(`no ${token} here`);
}
