/**
 * How long kubelets keep Secrets and ConfigMaps before they ask again, written on each Node: longer the more nodes there are.
 *
 * 1. The sizes at which the time changes overlap: a cluster that grows and shrinks by a few nodes is not written over and over.
 */
import { kinds } from "#api";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";

const TTL = "node.alpha.kubernetes.io/ttl";

/** For clusters from `min` to `max` nodes. */
const STEPS = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, seconds: 300 },
] as const;

/** `current`: what the node says now. */
export function ttlSeconds(nodes: number, current: string | undefined): number {
  const fitting = STEPS.filter(({ min, max }) => nodes >= min && nodes <= max);
  return (fitting.find(({ seconds }) => `${seconds}` === current) ?? fitting[0])?.seconds ?? 0;
}

/** Whether one node more, or one less, may matter to all. */
function isBoundary(nodes: number): boolean {
  return STEPS.some(({ min, max }) => nodes === max + 1 || nodes === min - 1);
}

export const ttlController = defineController({
  name: "ttl-controller",
  bind({ cache }) {
    const nodes = cache(kinds.Node);
    return {
      sources: [
        changesOf(kinds.Node, ({ type }) => type !== "deleted"),
        keysFrom(kinds.Node, ({ type }) =>
          type !== "updated" && isBoundary(nodes.size) ? nodes.list().map(({ metadata }) => metadata.name ?? "") : [],
        ),
      ],
      reconcile(key) {
        const node = nodes.get(key);
        if (node === undefined) return undefined;
        const current = node.metadata.annotations?.[TTL];
        const wanted = `${ttlSeconds(nodes.size, current)}`;
        if (wanted === current) return undefined;
        const patch = { metadata: { annotations: { [TTL]: wanted } } };
        return { steps: [[{ verb: "patch", resource: kinds.Node, object: node, patch }]] };
      },
    };
  },
});
