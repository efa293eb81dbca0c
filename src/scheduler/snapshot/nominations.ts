/** Nominated pods by node. */
import type { PodInfo } from "../framework/index.ts";

const NONE: readonly PodInfo[] = [];

export class Nominations {
  readonly #nodes = new Map<string, string>();
  readonly #pods = new Map<string, PodInfo[]>();

  get size(): number {
    return this.#nodes.size;
  }

  to(node: string): readonly PodInfo[] {
    return this.#pods.get(node) ?? NONE;
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid);
  }

  /** The nodes with nominated pods. */
  nodes(): Iterable<string> {
    return this.#pods.keys();
  }

  /** Returns the nodes whose nominated pods have changed. */
  set(pod: PodInfo, node: string): readonly string[] {
    const before = this.delete(pod.uid);
    this.#nodes.set(pod.uid, node);
    this.#pods.set(node, [...this.to(node), pod]);
    return before === undefined ? [node] : [before, node];
  }

  delete(uid: string): string | undefined {
    const node = this.#nodes.get(uid);
    if (node === undefined) return undefined;
    this.#nodes.delete(uid);
    const left = this.to(node).filter((pod) => pod.uid !== uid);
    if (left.length === 0) this.#pods.delete(node);
    else this.#pods.set(node, left);
    return node;
  }
}
