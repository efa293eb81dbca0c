/** A request of the server to itself. It passes admission and validation as all others. */
import type { UserInfo } from "../identity/user.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { ServerContext } from "../rest/server-context.ts";

export const SERVER: UserInfo = { name: "system:apiserver", groups: ["system:masters"] };

/** Its field manager is `kube-apiserver`, unless `query` names another. */
export function serverRequest(
  context: ServerContext,
  resource: Resource,
  about: Partial<RestRequest> = {},
): RestRequest {
  return {
    context,
    resource,
    namespace: "",
    name: "",
    subresource: "",
    user: SERVER,
    userAgent: "kube-apiserver/v1.36",
    query: new URLSearchParams(),
    contentType: undefined,
    cbor: false,
    body: async () => Buffer.alloc(0),
    warn: () => {},
    annotate: () => {},
    ...about,
  };
}
