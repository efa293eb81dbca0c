/** The whole public surface of bootstrap. */
export { type BootstrapOptions, bootstrap, publishAuthentication, reportTo } from "./bootstrap.ts";
export type { AuthenticationFacts } from "./config-maps.ts";
export { type EndpointReconcilerType, RECONCILER_TYPES } from "./endpoint-addresses.ts";
export { type Identity, identityName } from "./identity.ts";
export { Membership } from "./membership.ts";
export { nodeRules } from "./rbac/index.ts";
