/** Long-running requests: watches, and streams to and from containers. */
import type { RequestInfo } from "./request-info.ts";

const SUBRESOURCES = new Set(["attach", "exec", "proxy", "log", "portforward"]);

export function isLongRunning({ verb, isResourceRequest, subresource, path }: RequestInfo): boolean {
  if (verb === "watch" || verb === "proxy") return true;
  if (isResourceRequest) return subresource !== "" && SUBRESOURCES.has(subresource);
  return path.startsWith("/debug/pprof/");
}
