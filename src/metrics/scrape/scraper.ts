/** What asks a node for its figures. */
import type { core } from "#api";

/** The text of the node's /metrics/resource. Rejects if it cannot be had. */
export type Scraper = (node: core.Node, signal: AbortSignal) => Promise<string>;

/** Kubelets of simulated nodes have no server: their runtime's name tells. */
export function isSimulated({ status }: core.Node): boolean {
  return status?.nodeInfo?.containerRuntimeVersion?.startsWith("simulated://") === true;
}
