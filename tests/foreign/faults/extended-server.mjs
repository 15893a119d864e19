// The server of AnyCable's extended protocol with one fault:
//
//   node extended-server.mjs FAULT --port N --rpc_host URL

import { Server } from "../extended/server.mjs";
import { FAULTS } from "./extended.mjs";

const [name, ...flags] = process.argv.slice(2);
const fault = FAULTS[name];
if (!fault) throw new Error(`no fault is called ${name}`);

const { Server: Kind = Server, ...parts } = fault.parts;
new Kind(flags, parts).listen();
