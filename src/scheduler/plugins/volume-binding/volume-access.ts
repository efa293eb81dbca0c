/** Whether a volume is accessible from a node: node affinity of volumes matches the labels of nodes only. */
import type { core, Labels } from "#api";
import { type NodeMatcher, selectorMatcher } from "../node-selectors.ts";
import type { Volume, VolumeObjects } from "../volume-objects.ts";

export interface VolumeNode {
  readonly name: string;
  readonly labels: Labels;
}

export type IsAccessible = (volume: Volume, node: VolumeNode) => boolean;

/** The lookups of VolumeBinding. */
export interface BindingObjects extends VolumeObjects {
  readonly isAccessible: IsAccessible;
}

/** Compiles the node affinity of each volume once: cached objects are immutable. */
export function volumeAccess(): IsAccessible {
  const compiled = new WeakMap<Volume, NodeMatcher>();
  return (volume, node) => {
    const required = volume.spec?.nodeAffinity?.required;
    if (required === undefined) return true;
    let matches = compiled.get(volume);
    if (matches === undefined) {
      matches = byLabels(required);
      compiled.set(volume, matches);
    }
    return matches(node);
  };
}

/** matchFields of a term are ignored; a term with matchFields only matches every node. */
function byLabels({ nodeSelectorTerms = [] }: core.NodeSelector): NodeMatcher {
  const anywhere = nodeSelectorTerms.some(
    ({ matchExpressions = [], matchFields = [] }) => matchExpressions.length === 0 && matchFields.length > 0,
  );
  if (anywhere) return () => true;
  return selectorMatcher({
    nodeSelectorTerms: nodeSelectorTerms.map(({ matchExpressions = [] }) => ({ matchExpressions })),
  });
}

/** The host names of a local volume; undefined if its node affinity is not just a list of host names. */
export function hostnamesOf({ spec }: Volume): readonly string[] | undefined {
  const [term, ...more] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  if (term === undefined || more.length > 0) return undefined;
  const { matchExpressions = [], matchFields = [] } = term;
  const [only, ...others] = matchExpressions;
  if (only === undefined || others.length + matchFields.length > 0) return undefined;
  return only.key === "kubernetes.io/hostname" && only.operator === "In" ? [...new Set(only.values)] : undefined;
}
