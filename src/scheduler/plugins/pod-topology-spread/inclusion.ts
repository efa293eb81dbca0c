/** Nodes that count for a constraint, by nodeAffinityPolicy and nodeTaintsPolicy. Cached by ask and node. */
import type { core } from "#api";
import type { ClusterView, NodeAsk, NodeInfo, SpreadConstraint } from "../../framework/index.ts";
import { type NodeMatcher, requiredMatcher } from "../node-selectors.ts";
import { repels } from "../taints.ts";

const AFFINE = 1;
const TOLERATED = 2;

/** Undefined: all nodes count. */
export type Included = (node: number) => boolean;

interface Known {
  readonly matches: NodeMatcher | undefined;
  readonly nodes: (core.Node | undefined)[];
  flags: Uint8Array;
}

export class Inclusion {
  readonly #known = new WeakMap<NodeAsk, Known>();

  /** Updated for all nodes on first use. */
  of(ask: NodeAsk, view: ClusterView): (constraint: SpreadConstraint) => Included | undefined {
    const known = this.#known.get(ask) ?? { matches: requiredMatcher(ask), nodes: [], flags: new Uint8Array(0) };
    this.#known.set(ask, known);
    let fresh = false;
    const refreshed = () => {
      if (!fresh) refresh(known, ask, view);
      fresh = true;
      return known.flags;
    };
    return ({ honorsNodeAffinity, honorsTaints }) => {
      const asksAffinity = honorsNodeAffinity && known.matches !== undefined;
      if (!asksAffinity && !honorsTaints) return undefined;
      const flags = refreshed();
      const wanted = (asksAffinity ? AFFINE : 0) | (honorsTaints ? TOLERATED : 0);
      return (node) => ((flags[node] ?? 0) & wanted) === wanted;
    };
  }
}

function refresh(known: Known, ask: NodeAsk, { nodes, generations }: ClusterView): void {
  if (known.flags.length !== generations.length) {
    const flags = new Uint8Array(generations.length);
    flags.set(known.flags);
    known.flags = flags;
  }
  for (let index = 0; index < nodes.length; index++) {
    const info = nodes[index];
    if (known.nodes[index] === info?.node) continue;
    known.nodes[index] = info?.node;
    known.flags[index] = info === undefined ? 0 : flagsOf(info, ask, known.matches);
  }
}

function flagsOf(node: NodeInfo, { tolerations }: NodeAsk, matches: NodeMatcher | undefined): number {
  return (matches?.(node) === false ? 0 : AFFINE) | (repels(node.taints, tolerations) ? 0 : TOLERATED);
}
