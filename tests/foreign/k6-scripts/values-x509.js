// What certificates say.
import x509 from "k6/crypto/x509";
import { valuesOf } from "./values.js";

export { handleSummary } from "./data.js";

const NAMES = ["p256", "p521", "rsa", "pss", "ed25519", "dsa"];
const texts = Object.fromEntries(NAMES.map((name) => [name, open(`./certificates/${name}.pem`)]));
const bytes = open("./certificates/p256.pem", "b");
const { key } = { key: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" };

/** JSON has no numbers of this size. */
const withTexts = (_, value) => (typeof value === "bigint" ? `${value}n` : value);

/** The numbers of a key, without the methods of Go's types. */
function numbersOf({ algorithm, key }) {
  if (algorithm === "RSA") return [key.n, key.e, key.size()];
  if (algorithm === "ECDSA") return [key.x, key.y, key.curve.params().name];
  return [key.y];
}

const functions = {};
for (const [name, pem] of Object.entries({ ...texts, bytes, twice: texts.rsa + texts.p256, after: `text\n${texts.rsa}`, key, none: "", word: "x" })) {
  functions[`alternative names of ${name}`] = () => x509.getAltNames(pem);
  functions[`issuer of ${name}`] = () => JSON.stringify(x509.getIssuer(pem));
  functions[`subject of ${name}`] = () => JSON.stringify(x509.getSubject(pem));
  functions[`all of ${name}`] = () => {
    const { publicKey, ...rest } = x509.parse(pem);
    return JSON.stringify([rest, publicKey.algorithm, numbersOf(publicKey)], withTexts);
  };
}
for (const [name, value] of Object.entries({ undefined: undefined, null: null, number: 5, object: {} })) {
  functions[`all of ${name}`] = () => x509.parse(value);
}

export function setup() {
  return valuesOf(functions);
}

export default function () {}
