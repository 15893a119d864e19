/** The former name of the global `crypto`. */
declare module "k6/experimental/webcrypto" {
  export const crypto: Crypto;
  const all: Omit<typeof import("k6/experimental/webcrypto"), "default">;
  export default all;
}
