/** The whole public surface of gateway. */
export { GATEWAY_DEFINITIONS, installDefinitions } from "./definitions.ts";
export { definitionEstablished } from "./established.ts";
export { GATEWAYS, GatewayClassResource, GatewayResource } from "./kinds.ts";
export type { ListenerCertificate } from "./listeners.ts";
export { GatewayRoutes } from "./rules.ts";
export { GATEWAY_CONTROLLER, runGateways, type ServedGateways } from "./run-gateways.ts";
