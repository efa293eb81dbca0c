/**
 * Everyone whom the server knows may ask for flows: what they are shown is decided record by record. And for numbers of
 * revisions, which all objects have. Who tells of works has to be who does them: that is decided work by work. A
 * scheduler may say why it decided as it did.
 */
import type { Authorizer } from "../authz/authorizer.ts";
import { HISTORY_PATH } from "../past/index.ts";

export const FLOWS_PATH = "/k8ts/flows";
/** Why Pods are where they are. */
export const SCHEDULING_PATH = "/k8ts/scheduling";
const SCHEDULER = "system:kube-scheduler";
const AUTHENTICATED = "system:authenticated";

export function flowsForEveryone(authorize: Authorizer): Authorizer {
  return (attributes) => {
    const { isResourceRequest, path, verb, user } = attributes;
    if (isResourceRequest || !user.groups.includes(AUTHENTICATED)) return authorize(attributes);
    if (path === SCHEDULING_PATH && verb === "post" && user.name === SCHEDULER)
      return { decision: "allow", reason: "it is the scheduler" };
    return isOpen(path, verb) ? { decision: "allow", reason: "everyone may ask for it" } : authorize(attributes);
  };
}

function isOpen(path: string, verb: string): boolean {
  if (path === HISTORY_PATH) return verb === "get";
  return path === FLOWS_PATH && (verb === "get" || verb === "post");
}
