// AnyCable's RPC service as `rpc.proto` has it: the parts that this chat uses, with types.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

export type Status = "SUCCESS" | "FAILURE" | "ERROR";

export interface ConnectionRequest {
  env: { headers: Record<string, string> } | null;
}

export interface ConnectionResponse {
  status: Status;
  identifiers?: string;
  transmissions?: string[];
  error_msg?: string;
}

export interface CommandMessage {
  command: string;
  identifier: string;
  connection_identifiers: string;
  data: string;
}

export interface CommandResponse {
  status: Status;
  stop_streams?: boolean;
  streams?: string[];
  transmissions?: string[];
  error_msg?: string;
}

const PROTO = fileURLToPath(new URL("../rpc.proto", import.meta.url));
const definition = protoLoader.loadSync(PROTO, { keepCase: true, enums: String, defaults: true });

/** The service `anycable.RPC`, for `addService`. */
export const service = definition["anycable.RPC"] as grpc.ServiceDefinition;
