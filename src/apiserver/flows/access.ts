/**
 * Authorization of the paths of flows. Every authenticated user may read flows, and is shown the records about objects
 * that they may get; and may read revisions, which every object has. Reports of works are checked one by one: only who
 * does a work may report it. A scheduler may report the reasons for its decisions.
 */
import type { Authorizer } from "../authz/authorizer.ts";
import { HISTORY_PATH } from "../past/index.ts";

export const FLOWS_PATH = "/k8ts/flows";
/** The reasons for scheduling decisions. */
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
