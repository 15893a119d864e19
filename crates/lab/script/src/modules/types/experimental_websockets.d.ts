/** The former name of `k6/websockets`. */
declare module "k6/experimental/websockets" {
  export { Blob, WebSocket } from "k6/websockets";
  const all: Omit<typeof import("k6/experimental/websockets"), "default">;
  export default all;
}
