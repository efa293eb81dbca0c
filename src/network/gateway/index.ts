/** The whole public surface of gateway. */
export type { ListenerCertificate } from "./attach.ts";
export { HTTP_ROUTES } from "./kinds.ts";
export { GatewayRoutes } from "./rules.ts";
export { runGateways } from "./run-gateways.ts";
