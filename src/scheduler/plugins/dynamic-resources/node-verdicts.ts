/**
 * Whether equal claims can be allocated on each node, computed again only for nodes that have changed.
 *
 * Written for speed: Pods of one template have equal claims, and one of them changes one node. With 500 nodes of 8
 * devices a sweep takes 0.1 instead of 1.1 ms (2026-11-19, loaded machine). random-devices.property.test.ts compares
 * it with testing/plain/devices.ts.
 */
import { type ClusterView, isRejection, type NodeInfo, type OpenNodes, type Verdict } from "../../framework/index.ts";
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
  /** 1 for nodes whose verdict is known and not a rejection. */
  #fits = new Uint8Array(0);
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
      this.#fits.fill(0);
    } else {
      for (const index of nodes) this.#forget(index);
      for (const name of names) {
        const node = view.nodeNamed(name);
        if (node !== undefined) this.#forget(node.index);
      }
    }
    if (this.#fits.length >= view.nodes.length) return;
    const larger = new Uint8Array(view.nodes.length * 2);
    larger.set(this.#fits);
    this.#fits = larger;
  }

  #forget(index: number): void {
    this.#verdicts[index] = undefined;
    this.#fits[index] = 0;
  }

  of(node: NodeInfo, compute: (node: NodeInfo) => NodeVerdict): NodeVerdict {
    const known = this.#verdicts[node.index];
    if (known !== undefined) return known;
    const verdict = compute(node);
    if (verdict.isFinal) {
      this.#verdicts[node.index] = verdict;
      if (!isRejection(verdict.verdict)) this.#fits[node.index] = 1;
    }
    return verdict;
  }

  /** Rejects the open nodes that do not fit. */
  sweep(open: OpenNodes, view: ClusterView, compute: (node: NodeInfo) => NodeVerdict): void {
    const fits = this.#fits;
    for (let at = 0; at < open.count; at++) {
      const index = open.indexes[at] ?? 0;
      if (fits[index] === 1) continue;
      const node = view.nodes[index];
      if (node === undefined) continue;
      const { verdict } = this.of(node, compute);
      if (isRejection(verdict)) open.reject(index, verdict);
    }
  }
}
