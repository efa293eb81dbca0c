/** For tests of plugins: see `admit` for one plugin, `admitting` for a server with all. */
export { ADMIN, type Admitted, type Attempt, admit, resourceOf } from "./admit.ts";
export { admitting } from "./admitting.ts";
export { certificateRequest } from "./certificate-request.ts";
export { claimObject, namespaceObject, plainKind, podObject } from "./objects.ts";
