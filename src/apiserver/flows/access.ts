/**
 * Everyone whom the server knows may ask for flows: what they are shown is decided record by record. And for numbers of revisions, which all objects have.
 * Who tells of works has to be who does them: that is decided work by work.
 */
import type { Authorizer } from "../authz/authorizer.ts";
import { HISTORY_PATH } from "../past/index.ts";

export const FLOWS_PATH = "/k8ts/flows";
const AUTHENTICATED = "system:authenticated";

export function flowsForEveryone(authorize: Authorizer): Authorizer {
  return (attributes) => {
    const { isResourceRequest, path, verb, user } = attributes;
    if (isResourceRequest || !isOpen(path, verb) || !user.groups.includes(AUTHENTICATED)) return authorize(attributes);
    return { decision: "allow", reason: "everyone may ask for it" };
  };
}

function isOpen(path: string, verb: string): boolean {
  if (path === HISTORY_PATH) return verb === "get";
  return path === FLOWS_PATH && (verb === "get" || verb === "post");
}
