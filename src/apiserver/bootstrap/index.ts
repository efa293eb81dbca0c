/** The whole public surface of bootstrap. */
export { advertise, type BootstrapOptions, bootstrap, publishAuthentication } from "./bootstrap.ts";
export type { AuthenticationFacts } from "./config-maps.ts";
export { type Identity, renewIdentity } from "./identity.ts";
export { nodeRules } from "./rbac/index.ts";
