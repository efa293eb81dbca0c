/** Everyone whom the server knows may ask for flows: what they are shown is decided record by record. And for numbers of revisions, which all objects have. */
import type { Authorizer } from "../authz/authorizer.ts";
import { HISTORY_PATH } from "../past/index.ts";

export const FLOWS_PATH = "/k8ts/flows";
const AUTHENTICATED = "system:authenticated";

export function flowsForEveryone(authorize: Authorizer): Authorizer {
  return (attributes) => {
    const { isResourceRequest, path, verb, user } = attributes;
    if (
      isResourceRequest ||
      !(path === FLOWS_PATH || path === HISTORY_PATH) ||
      verb !== "get" ||
      !user.groups?.includes(AUTHENTICATED)
    )
      return authorize(attributes);
    return { decision: "allow", reason: "everyone may ask for it" };
  };
}
