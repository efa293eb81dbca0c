/** Requires the right to create: a WebSocket begins with GET, and the right to get must not run commands. */
import { NO_SELECTORS } from "../authz/attributes.ts";
import { type Authorizer, demand } from "../authz/authorizer.ts";
import type { RestRequest } from "../rest/rest-request.ts";

/** Throws Forbidden. `path`: that of the whole request. */
export async function demandCreate(authorize: Authorizer, request: RestRequest, path: string): Promise<void> {
  const { user, resource, subresource, namespace, name } = request;
  const { group: apiGroup, resource: plural } = resource.groupResource;
  await demand(authorize, {
    user,
    verb: "create",
    isResourceRequest: true,
    path,
    apiGroup,
    apiVersion: resource.kind.version,
    resource: plural,
    subresource,
    namespace,
    name,
    selectors: NO_SELECTORS,
  });
}
