/** From which nodes a volume is reached. Volumes know nodes by their labels alone. */
import type { core, Labels } from "#api";
import { type NodeMatcher, selectorMatcher } from "../node-selectors.ts";
import type { Volume } from "../volume-objects.ts";

export interface VolumeNode {
  readonly name: string;
  readonly labels: Labels;
}

/** Compiled once for a volume of a revision: objects of caches are never changed. */
const reaches = new WeakMap<Volume, NodeMatcher>();

export function isReached(volume: Volume, node: VolumeNode): boolean {
  const required = volume.spec?.nodeAffinity?.required;
  if (required === undefined) return true;
  let matches = reaches.get(volume);
  if (matches === undefined) {
    matches = byLabels(required);
    reaches.set(volume, matches);
  }
  return matches(node);
}

/** What a term says of a node's fields does not count, but the term does. */
function byLabels({ nodeSelectorTerms = [] }: core.NodeSelector): NodeMatcher {
  const anywhere = nodeSelectorTerms.some(
    ({ matchExpressions = [], matchFields = [] }) => matchExpressions.length === 0 && matchFields.length > 0,
  );
  if (anywhere) return () => true;
  return selectorMatcher({
    nodeSelectorTerms: nodeSelectorTerms.map(({ matchExpressions = [] }) => ({ matchExpressions })),
  });
}

/** Where nothing else is asked for: the names of the only hosts; undefined where it takes more to say. */
export function hostnamesOf({ spec }: Volume): readonly string[] | undefined {
  const [term, ...more] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  if (term === undefined || more.length > 0) return undefined;
  const { matchExpressions = [], matchFields = [] } = term;
  const [only, ...others] = matchExpressions;
  if (only === undefined || others.length + matchFields.length > 0) return undefined;
  return only.key === "kubernetes.io/hostname" && only.operator === "In" ? [...new Set(only.values)] : undefined;
}
