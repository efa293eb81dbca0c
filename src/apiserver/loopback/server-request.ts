/** A request that the server makes of itself: it passes admission and validation as anybody's does. */
import type { UserInfo } from "../identity/user.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { ServerContext } from "../rest/server-context.ts";

export const SERVER: UserInfo = { name: "system:apiserver", groups: ["system:masters"] };

/** Owns what it writes as `kube-apiserver`, unless another field manager is named. */
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
    body: async () => Buffer.alloc(0),
    warn: () => {},
    annotate: () => {},
    ...about,
  };
}
