/** Long-running requests: watches, and streams to and from containers: they have no deadline. */
import type { RequestInfo } from "./request-info.ts";

const SUBRESOURCES = new Set(["attach", "exec", "proxy", "log", "portforward"]);
/** Of clusters that are served for tests. A deadline is a moment of the time that these move. */
const MOVES_TIME = new Set(["/k8ts/fork", "/k8ts/clock"]);

export function isLongRunning({ verb, isResourceRequest, subresource, path }: RequestInfo): boolean {
  if (verb === "watch" || verb === "proxy") return true;
  if (isResourceRequest) return subresource !== "" && SUBRESOURCES.has(subresource);
  return path.startsWith("/debug/pprof/") || MOVES_TIME.has(path);
}
