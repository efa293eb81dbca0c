/**
 * Annotates Nodes with the time that kubelets cache Secrets and ConfigMaps: longer the more nodes there are.
 *
 * 1. The cluster sizes of two steps overlap, so that adding and removing a few nodes does not rewrite all of them.
 */
import { kinds } from "#api";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";

const TTL = "node.alpha.kubernetes.io/ttl";

/** For clusters of `min` to `max` nodes. */
const STEPS = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, seconds: 300 },
] as const;

/** `current`: the present annotation of the node. */
export function ttlSeconds(nodes: number, current: string | undefined): number {
  const fitting = STEPS.filter(({ min, max }) => nodes >= min && nodes <= max);
  return (fitting.find(({ seconds }) => `${seconds}` === current) ?? fitting[0])?.seconds ?? 0;
}

/** Whether a change of the node count by one may affect all nodes. */
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
