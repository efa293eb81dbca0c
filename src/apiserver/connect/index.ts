/** The whole public surface of connect. */
export type { Component } from "./component-statuses.ts";
export type { Connector } from "./connector.ts";
export { type ConnectOptions, type Connectors, connectors } from "./connectors.ts";
