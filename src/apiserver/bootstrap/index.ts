/** The whole public surface of bootstrap. */
export { advertise, type BootstrapOptions, bootstrap } from "./bootstrap.ts";
export type { AuthenticationFacts } from "./config-maps.ts";
export { type Identity, renewIdentity } from "./identity.ts";
export { SERVER, serverRequest } from "./server-request.ts";
