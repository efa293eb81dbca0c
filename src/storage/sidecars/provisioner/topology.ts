/**
 * Where a volume may be: the topology that CreateVolume asks for, and the node affinity of the volume that it makes.
 *
 * 1. With a selected node, its topology is preferred; a strict driver is asked for nothing else.
 * 2. Without one, the terms are shifted by a hash of the claim's name, so that the claims of a StatefulSet are spread.
 */
import type { core, storage } from "#api";
import type { CsiReceived, CsiSent } from "../../csi/index.ts";

export type Segments = Readonly<Record<string, string>>;

export interface TopologyFacts {
  readonly driverName: string;
  readonly claimName: string;
  readonly allowed: readonly core.TopologySelectorTerm[];
  readonly selectedNode?: core.Node | undefined;
  readonly nodes: readonly core.Node[];
  readonly csiNodeOf: (name: string) => storage.CSINode | undefined;
  /** Ask for the selected node's topology only. */
  readonly strict: boolean;
  /** Ask for a topology also if no node is selected. */
  readonly immediate: boolean;
}

/** Throws if the selected node has no topology, or one that is not allowed. */
export function topologyRequirement(facts: TopologyFacts): CsiSent<"TopologyRequirement"> | undefined {
  const { allowed, selectedNode, strict, immediate, claimName } = facts;
  const selected = selectedNode && segmentsOfSelected(selectedNode, facts);
  const permitted = flattened(allowed);
  if (selected !== undefined && strict) {
    if (permitted.length > 0 && !permitted.some((term) => isWithin(term, selected)))
      throw new Error(
        `selected node '"${selectedNode?.metadata.name}"' topology '${text(selected)}' is not in allowed topologies: [${permitted.map(text).join(" ")}]`,
      );
    return { requisite: [{ segments: { ...selected } }], preferred: [{ segments: { ...selected } }] };
  }
  if (permitted.length === 0 && selected === undefined && !immediate) return undefined;
  const requisite = distinct(permitted.length > 0 ? permitted : clusterSegments(facts, selected));
  if (requisite.length === 0) return undefined;
  const at =
    selected === undefined
      ? startOf(claimName) % requisite.length
      : requisite.findIndex((term) => isWithin(term, selected));
  if (at === -1)
    throw new Error(
      `topology ${text(selected ?? {})} from selected node "${selectedNode?.metadata.name}" is not in requisite: [${requisite.map(text).join(" ")}]`,
    );
  const preferred = [...requisite.slice(at), ...requisite.slice(0, at)];
  // The selected node's own segments come first, also where the term has fewer keys.
  if (selected !== undefined) preferred[0] = selected;
  return { requisite: requisite.map(sent), preferred: preferred.map(sent) };
}

/** Undefined: the volume can be used everywhere. */
export function affinityOf(topologies: readonly CsiReceived<"Topology">[]): core.VolumeNodeAffinity | undefined {
  const terms = topologies
    .map(({ segments }) => Object.entries(segments).sort(([a], [b]) => (a < b ? -1 : 1)))
    .filter((entries) => entries.length > 0)
    .map((entries) => ({
      matchExpressions: entries.map(([key, value]) => ({ key, operator: "In", values: [value] })),
    }));
  return terms.length === 0 ? undefined : { required: { nodeSelectorTerms: terms as core.NodeSelectorTerm[] } };
}

/** The segments of all nodes on which the driver runs. */
export function segmentsOfNodes({
  driverName,
  nodes,
  csiNodeOf,
}: Pick<TopologyFacts, "driverName" | "nodes" | "csiNodeOf">) {
  const all = nodes.flatMap((node) => {
    const keys = topologyKeys(csiNodeOf(node.metadata.name ?? ""), driverName);
    const segments = keys.length === 0 ? undefined : segmentsOf(node, keys);
    return segments === undefined ? [] : [segments];
  });
  return distinct(all);
}

/** One term for each combination of values. */
export function flattened(terms: readonly core.TopologySelectorTerm[]): readonly Segments[] {
  return terms.flatMap(({ matchLabelExpressions = [] }) => {
    let made: readonly Segments[] = matchLabelExpressions.length === 0 ? [] : [{}];
    for (const { key, values } of matchLabelExpressions)
      made = made.flatMap((term) => values.map((value) => ({ ...term, [key]: value })));
    return made;
  });
}

/** Every segment of `term` is one of `of`. */
export function isWithin(term: Segments, of: Segments): boolean {
  return Object.entries(term).every(([key, value]) => of[key] === value);
}

function segmentsOfSelected(node: core.Node, { driverName, csiNodeOf }: TopologyFacts): Segments {
  const { name = "", labels = {} } = node.metadata;
  const csiNode = csiNodeOf(name);
  if (csiNode === undefined)
    throw new Error(`error getting CSINode for selected node "${name}": csinode "${name}" not found`);
  const keys = topologyKeys(csiNode, driverName);
  // The driver is not on the node, or is about to register there.
  if (keys.length === 0) throw new Error(`no topology key found on CSINode ${name}`);
  const segments = segmentsOf(node, keys);
  if (segments === undefined)
    throw new Error(
      `topology labels from selected node ${text(labels)} does not match topology keys from CSINode [${keys.join(" ")}]`,
    );
  return segments;
}

/** Terms with the keys of the selected node, else with those of each node. */
function clusterSegments(facts: TopologyFacts, selected: Segments | undefined): readonly Segments[] {
  if (selected === undefined) return segmentsOfNodes(facts);
  const keys = Object.keys(selected);
  return facts.nodes.map((node) => segmentsOf(node, keys)).filter((segments) => segments !== undefined);
}

function topologyKeys(csiNode: storage.CSINode | undefined, driverName: string): readonly string[] {
  return csiNode?.spec.drivers?.find(({ name }) => name === driverName)?.topologyKeys ?? [];
}

/** Undefined if the node lacks one of the labels. */
function segmentsOf({ metadata: { labels = {} } }: core.Node, keys: readonly string[]): Segments | undefined {
  if (!keys.every((key) => Object.hasOwn(labels, key))) return undefined;
  return Object.fromEntries(keys.map((key) => [key, labels[key] ?? ""]));
}

function distinct(terms: readonly Segments[]): Segments[] {
  const byText = new Map(terms.map((term) => [text(term), term]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
}

function text(segments: Segments): string {
  const entries = Object.entries(segments).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, value]) => `${key}:${value}`).join(" ")}]`;
}

function sent(segments: Segments) {
  return { segments: { ...segments } };
}

/** A hash of the name without its ordinal, plus the ordinal. */
export function startOf(claimName: string): number {
  const [, base = claimName, ordinal = "0"] = /^(.*)-(\d{1,9})$/.exec(claimName) ?? [];
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(base)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash + Number(ordinal);
}
