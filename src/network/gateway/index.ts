/** The whole public surface of gateway. */
export type { ListenerCertificate } from "./attach.ts";
export { GATEWAY_DEFINITIONS, installDefinitions } from "./definitions.ts";
export { GatewayClassResource, GatewayResource } from "./kinds.ts";
export { GatewayRoutes } from "./rules.ts";
export { GATEWAY_CONTROLLER, runGateways } from "./run-gateways.ts";
