/** On which node a volume is made. Pure. */
import { GrpcError } from "#grpc";
import type { CsiReceived } from "../../csi/services.ts";
import { TOPOLOGY_KEY } from "./names.ts";

type Topology = CsiReceived<"Topology">;

export function topologyOf(node: string): { readonly segments: Readonly<Record<string, string>> } {
  return { segments: { [TOPOLOGY_KEY]: node } };
}

/** Undefined if it names no node of this driver. */
export function nodeIn({ segments }: Topology): string | undefined {
  return segments[TOPOLOGY_KEY];
}

/** `nodes`: those whose volumes this driver makes, the best one first. */
export function placeVolume(
  requirement: CsiReceived<"TopologyRequirement"> | null,
  nodes: readonly string[],
  source?: string,
): string {
  const { requisite = [], preferred = [] } = requirement ?? {};
  const wanted = [...preferred, ...requisite].map(nodeIn).filter((node) => node !== undefined);
  const anywhere = requisite.length === 0 && preferred.length === 0;
  const known = new Set(source === undefined ? nodes : [source]);
  const found = anywhere ? (source ?? nodes[0]) : wanted.find((node) => known.has(node) && nodes.includes(node));
  if (found !== undefined) return found;
  const where = source === undefined ? nodes.join(", ") : `${source}, where its source is`;
  throw new GrpcError(
    "RESOURCE_EXHAUSTED",
    `the volume can be made on ${where || "no node"}; asked for: ${wanted.join(", ") || "none of this driver's nodes"}`,
  );
}
