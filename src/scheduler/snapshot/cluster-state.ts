/**
 * The cluster as the scheduler knows it: nodes, their pods, and the counts that plugins use.
 *
 * 1. A pod, by its uid, is on one node at most. The API server's state replaces what was assumed.
 * 2. Pods of an unknown or deleted node are kept aside, and added when the node appears.
 * 3. A change costs only what it touches: there are no copies, and nothing is counted again.
 * 4. A node's generation changes with the node, its pods, and the pods nominated to it.
 */
import type { core, Labels } from "#api";
import type {
  ClusterView,
  Domains,
  LabelClass,
  OwnedTerm,
  PodInfo,
  PodSelector,
  TermKind,
} from "../framework/index.ts";
import { ChangeLog } from "./change-log.ts";
import { DomainIndex } from "./domain-index.ts";
import { Nominations } from "./nominations.ts";
import { OwnedTerms } from "./owned-terms.ts";
import { PodCounts } from "./pod-counts.ts";
import type { ResourceNames } from "./resource-names.ts";
import { count, StateNode } from "./state-node.ts";

const FIRST_CAPACITY = 64;

interface Placed {
  readonly pod: PodInfo;
  readonly node: string;
  readonly assumed: boolean;
}

export class ClusterState implements ClusterView {
  readonly #resources: ResourceNames;
  readonly #nodes: (StateNode | undefined)[] = [];
  readonly #byName = new Map<string, StateNode>();
  readonly #free: number[] = [];
  readonly #placed = new Map<string, Placed>();
  /** Pods of unknown nodes, by node name. */
  readonly #waiting = new Map<string, Map<string, PodInfo>>();
  readonly #domains = new Map<string, DomainIndex>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #images = new Map<string, number>();
  readonly #nominations = new Nominations();
  readonly #changes = new ChangeLog();
  readonly #counts: PodCounts;
  readonly #terms: OwnedTerms;
  #capacity = FIRST_CAPACITY;
  #generations = new Float64Array(FIRST_CAPACITY);
  #generation = 0;
  #imagesGeneration = 0;
  #assumed = 0;
  #names: readonly string[] | undefined;

  constructor(resources: ResourceNames) {
    this.#resources = resources;
    const matches = (select: PodSelector, labels: LabelClass) => this.#selects(select, labels);
    this.#counts = new PodCounts(FIRST_CAPACITY, matches);
    this.#terms = new OwnedTerms(FIRST_CAPACITY, matches);
  }

  get nodes(): readonly (StateNode | undefined)[] {
    return this.#nodes;
  }

  get nodeCount(): number {
    return this.#byName.size;
  }

  get generations(): Float64Array {
    return this.#generations;
  }

  get changes(): number {
    return this.#changes.count;
  }

  changedSince(changes: number): Int32Array | undefined {
    return this.#changes.since(changes);
  }

  get podCount(): number {
    return this.#placed.size;
  }

  /** Number of pods whose binding the API server has not confirmed yet. */
  get assumedCount(): number {
    return this.#assumed;
  }

  get imagesGeneration(): number {
    return this.#imagesGeneration;
  }

  /** Node names by index: the same array until a node is added or removed. */
  get nodeNames(): readonly string[] {
    this.#names ??= this.#nodes.map((node) => node?.name ?? "");
    return this.#names;
  }

  nodeNamed(name: string): StateNode | undefined {
    return this.#byName.get(name);
  }

  /** The node of a pod, confirmed or assumed. */
  placeOf(uid: string): Placed | undefined {
    return this.#placed.get(uid);
  }

  domains(topologyKey: string): Domains {
    let index = this.#domains.get(topologyKey);
    if (index === undefined) {
      index = new DomainIndex(this.#capacity);
      for (const node of this.#byName.values()) index.set(node.index, node.labels[topologyKey]);
      this.#domains.set(topologyKey, index);
    }
    return index;
  }

  counts(select: PodSelector, { terminating = true }: { readonly terminating?: boolean } = {}): Int32Array {
    return this.#counts.of({ selects: [select], terminating }, () => this.#podsByNode());
  }

  countsOfAll(selects: readonly PodSelector[]): Int32Array {
    return this.#counts.of({ selects, terminating: true }, () => this.#podsByNode());
  }

  termsAbout({ labels }: PodInfo, kind: TermKind): readonly OwnedTerm[] {
    return this.#terms.about(labels, kind);
  }

  matches(select: PodSelector, { labels }: PodInfo): boolean {
    return this.#selects(select, labels);
  }

  imageNodes(image: string): number {
    return this.#images.get(image) ?? 0;
  }

  namespaceLabels(namespace: string): Labels | undefined {
    return this.#namespaces.get(namespace);
  }

  nominatedTo(node: string): readonly PodInfo[] {
    return this.#nominations.to(node);
  }

  nominatedNodes(): Iterable<string> {
    return this.#nominations.nodes();
  }

  nominationOf(uid: string): string | undefined {
    return this.#nominations.nodeOf(uid);
  }

  setNode(node: core.Node): void {
    const name = node.metadata.name ?? "";
    let state = this.#byName.get(name);
    if (state === undefined) {
      state = new StateNode(this.#freeIndex(), node);
      this.#nodes[state.index] = state;
      this.#byName.set(name, state);
      this.#names = undefined;
      this.#imagesGeneration += 1;
    }
    const before = state.images;
    state.set(node, this.#resources);
    this.#touch(state);
    if (!sameKeys(before, state.images)) {
      this.#countImages(before, -1);
      this.#countImages(state.images, 1);
    }
    for (const [key, index] of this.#domains) index.set(state.index, state.labels[key]);
    for (const pod of this.#waiting.get(name)?.values() ?? []) this.#enter(state, pod);
    this.#waiting.delete(name);
  }

  removeNode(name: string): void {
    const state = this.#byName.get(name);
    if (state === undefined) return;
    const pods = new Map(state.pods);
    for (const pod of pods.values()) this.#leave(state, pod);
    if (pods.size > 0) this.#waiting.set(name, pods);
    for (const index of this.#domains.values()) index.set(state.index, undefined);
    this.#countImages(state.images, -1);
    this.#imagesGeneration += 1;
    this.#byName.delete(name);
    this.#names = undefined;
    this.#nodes[state.index] = undefined;
    this.#generations[state.index] = 0;
    this.#changes.add(state.index);
    this.#free.push(state.index);
  }

  /** Places a pod on the node that the API server says. */
  setPod(pod: PodInfo): void {
    const node = pod.pod.spec?.nodeName ?? "";
    const placed = this.#placed.get(pod.uid);
    const state = this.#byName.get(node);
    // Most updates of a pod change nothing here.
    if (state !== undefined && placed?.node === node && usesTheSame(placed.pod, pod)) {
      state.replace(pod);
      if (placed.assumed) this.#assumed -= 1;
      this.#placed.set(pod.uid, { pod, node, assumed: false });
    } else this.#place(pod, node, false);
  }

  assume(pod: PodInfo, node: string): void {
    if (this.#placed.has(pod.uid)) throw new Error(`the pod ${pod.key} already has a node`);
    this.#place(pod, node, true);
  }

  /** Removes an assumed pod; a pod that was confirmed meanwhile stays. */
  forget(uid: string): void {
    if (this.#placed.get(uid)?.assumed === true) this.removePod(uid);
  }

  removePod(uid: string): void {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return;
    if (placed.assumed) this.#assumed -= 1;
    this.#placed.delete(uid);
    this.#displace(placed);
  }

  setNamespace(name: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#namespaces.delete(name);
    else this.#namespaces.set(name, labels);
    this.#counts.namespacesChanged();
    this.#terms.namespacesChanged();
  }

  nominate(pod: PodInfo, node: string): void {
    for (const name of this.#nominations.set(pod, node)) this.#touch(this.#byName.get(name));
  }

  removeNomination(uid: string): void {
    const node = this.#nominations.delete(uid);
    if (node !== undefined) this.#touch(this.#byName.get(node));
  }

  #displace({ pod, node }: Placed): void {
    const state = this.#byName.get(node);
    if (state !== undefined) {
      this.#leave(state, pod);
      return;
    }
    const waiting = this.#waiting.get(node);
    waiting?.delete(pod.uid);
    if (waiting?.size === 0) this.#waiting.delete(node);
  }

  #place(pod: PodInfo, node: string, assumed: boolean): void {
    const placed = this.#placed.get(pod.uid);
    if (placed !== undefined) this.#displace(placed);
    if (placed?.assumed === true) this.#assumed -= 1;
    if (assumed) this.#assumed += 1;
    this.#placed.set(pod.uid, { pod, node, assumed });
    const state = this.#byName.get(node);
    if (state !== undefined) {
      this.#enter(state, pod);
      return;
    }
    const waiting = this.#waiting.get(node) ?? new Map<string, PodInfo>();
    waiting.set(pod.uid, pod);
    this.#waiting.set(node, waiting);
  }

  #enter(state: StateNode, pod: PodInfo): void {
    state.add(pod);
    this.#changed(state, pod, 1);
  }

  #leave(state: StateNode, pod: PodInfo): void {
    state.remove(pod);
    this.#changed(state, pod, -1);
  }

  #changed(state: StateNode, pod: PodInfo, by: 1 | -1): void {
    this.#touch(state);
    this.#counts.change(state.index, pod, by);
    this.#terms.change(state.index, pod, by);
  }

  #touch(state: StateNode | undefined): void {
    if (state === undefined) return;
    this.#generation += 1;
    state.generation = this.#generation;
    this.#generations[state.index] = this.#generation;
    this.#changes.add(state.index);
  }

  #countImages(images: ReadonlyMap<string, number>, by: 1 | -1): void {
    this.#imagesGeneration += 1;
    for (const image of images.keys()) count(this.#images, image, by);
  }

  #selects({ namespaces, namespaceSelector, selector }: PodSelector, { namespace, labels }: LabelClass): boolean {
    const there = namespaces.has(namespace) || namespaceSelector.matches(this.#namespaces.get(namespace));
    return there && selector.matches(labels);
  }

  *#podsByNode(): Iterable<readonly [number, Iterable<PodInfo>]> {
    for (const node of this.#byName.values()) yield [node.index, node.pods.values()];
  }

  #freeIndex(): number {
    const index = this.#free.pop() ?? this.#nodes.length;
    if (index < this.#capacity) return index;
    this.#capacity *= 2;
    const generations = new Float64Array(this.#capacity);
    generations.set(this.#generations);
    this.#generations = generations;
    for (const domains of this.#domains.values()) domains.grow(this.#capacity);
    this.#counts.grow(this.#capacity);
    this.#terms.grow(this.#capacity);
    return index;
  }
}

function usesTheSame(a: PodInfo, b: PodInfo): boolean {
  return (
    a.ask.requests === b.ask.requests &&
    a.ask.hostPorts === b.ask.hostPorts &&
    a.labels === b.labels &&
    a.terms === b.terms &&
    a.terminating === b.terminating &&
    a.priority === b.priority &&
    a.claims.length === b.claims.length &&
    a.claims.every((claim, at) => claim === b.claims[at])
  );
}

function sameKeys(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!b.has(key)) return false;
  return true;
}
