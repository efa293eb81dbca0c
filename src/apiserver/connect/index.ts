/** The whole public surface of connect. */
export type { Component } from "./component-statuses.ts";
export type { Connector } from "./connector.ts";
export { type ConnectOptions, type Connectors, connectors } from "./connectors.ts";
export type { Rules } from "./reviews.ts";
export type { TokenSigner } from "./token-request.ts";
