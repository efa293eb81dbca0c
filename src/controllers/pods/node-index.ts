/** Pods by the node that they are assigned to. */
import type { core } from "#api";
import type { Index, ReadonlyCache } from "#client";

export function podsByNode(pods: ReadonlyCache<core.Pod>): Index<core.Pod> {
  return pods.index("node", ({ spec }) => ((spec?.nodeName ?? "") === "" ? [] : [spec?.nodeName ?? ""]));
}
