/**
 * Whether equal claims can be allocated on each node, computed again only for nodes that have changed.
 *
 * Written for speed: Pods of one template have equal claims, and one of them changes one node. With 500 nodes of 8
 * devices a sweep takes 0.1 instead of 1.1 ms (2026-11-19, loaded machine). random-devices.property.test.ts compares
 * it with testing/plain/devices.ts.
 */
import type { ClusterView, NodeInfo, Verdict } from "../../framework/index.ts";
import type { NodeChanges } from "./node-changes.ts";

export interface NodeVerdict {
  readonly verdict: Verdict;
  /** For claims with alternatives: higher for preferred ones. */
  readonly score: number;
  /** False: another attempt may find something else. */
  readonly isFinal: boolean;
}

export class NodeVerdicts {
  #verdicts: (NodeVerdict | undefined)[] = [];
  #nodesSeen = Number.NEGATIVE_INFINITY;
  #devicesSeen = -1;

  /** Forgets the nodes that have changed since the last call. */
  refresh(view: ClusterView, devices: NodeChanges): void {
    const nodes = view.changedSince(this.#nodesSeen);
    const names = devices.since(this.#devicesSeen);
    this.#nodesSeen = view.changes;
    this.#devicesSeen = devices.count;
    if (nodes === undefined || names === undefined) {
      this.#verdicts = [];
      return;
    }
    for (const index of nodes) this.#verdicts[index] = undefined;
    for (const name of names) {
      const node = view.nodeNamed(name);
      if (node !== undefined) this.#verdicts[node.index] = undefined;
    }
  }

  of(node: NodeInfo, compute: (node: NodeInfo) => NodeVerdict): NodeVerdict {
    const known = this.#verdicts[node.index];
    if (known !== undefined) return known;
    const verdict = compute(node);
    if (verdict.isFinal) this.#verdicts[node.index] = verdict;
    return verdict;
  }
}
