/** Random affinities: node affinity, Pod affinity and anti-affinity. */
import type { core } from "#api";
import type { Random } from "#base";
import { APPS, chance, list, NAMESPACES, ZONE } from "./random-parts.ts";

const KEYS = [ZONE, "kubernetes.io/hostname", "disk"] as const;

type Labels = Readonly<Record<string, string>>;

export function randomAffinity(random: Random, labels: Labels, nodes: readonly string[]): core.Affinity {
  return {
    ...(chance(random, 0.35) ? { nodeAffinity: randomNodeAffinity(random, nodes) } : {}),
    ...(chance(random, 0.4) ? { podAffinity: randomSide(random, labels) } : {}),
    ...(chance(random, 0.4) ? { podAntiAffinity: randomSide(random, labels) } : {}),
  };
}

export function randomNodeAffinity(random: Random, nodes: readonly string[]): core.NodeAffinity {
  return {
    ...(chance(random, 0.5)
      ? {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: list(random, 1, 2, () => randomNodeTerm(random, nodes)),
          },
        }
      : {}),
    ...(chance(random, 0.6)
      ? {
          preferredDuringSchedulingIgnoredDuringExecution: list(random, 1, 3, () => ({
            weight: 1 + random.integer(100),
            preference: randomNodeTerm(random, nodes),
          })),
        }
      : {}),
  };
}

function randomNodeTerm(random: Random, nodes: readonly string[]): core.NodeSelectorTerm {
  if (chance(random, 0.1))
    return {
      matchFields: [
        { key: "metadata.name", operator: random.pick(["In", "NotIn"] as const), values: [random.pick(nodes)] },
      ],
    };
  return { matchExpressions: list(random, 1, 2, () => randomRequirement(random)) };
}

function randomRequirement(random: Random): core.NodeSelectorRequirement {
  return random.pick<core.NodeSelectorRequirement>([
    { key: "disk", operator: "In", values: ["ssd"] },
    { key: "disk", operator: "NotIn", values: ["hdd"] },
    { key: "cores", operator: "Gt", values: ["4"] },
    { key: "cores", operator: "Lt", values: ["9"] },
    { key: ZONE, operator: "In", values: ["z1", "z2"] },
    { key: ZONE, operator: "Exists" },
    { key: "disk", operator: "DoesNotExist" },
  ]);
}

function randomSide(random: Random, labels: Labels): core.PodAffinity {
  return {
    ...(chance(random, 0.5)
      ? { requiredDuringSchedulingIgnoredDuringExecution: list(random, 1, 2, () => randomTerm(random, labels)) }
      : {}),
    ...(chance(random, 0.5)
      ? {
          preferredDuringSchedulingIgnoredDuringExecution: list(random, 1, 2, () => ({
            weight: 1 + random.integer(100),
            podAffinityTerm: randomTerm(random, labels),
          })),
        }
      : {}),
  };
}

/** As stored by the API server: `matchLabelKeys` are merged into the selector. */
function randomTerm(random: Random, labels: Labels): core.PodAffinityTerm {
  const followed = labels.rev !== undefined && chance(random, 0.2) ? labels.rev : undefined;
  const matches = chance(random, 0.5);
  return {
    topologyKey: random.pick(KEYS),
    labelSelector: {
      matchLabels: { app: random.pick(APPS) },
      ...(followed === undefined
        ? {}
        : { matchExpressions: [{ key: "rev", operator: matches ? "In" : "NotIn", values: [followed] }] }),
    },
    ...(followed === undefined ? {} : matches ? { matchLabelKeys: ["rev"] } : { mismatchLabelKeys: ["rev"] }),
    ...(chance(random, 0.2) ? { namespaces: [random.pick(NAMESPACES)] } : {}),
    ...(chance(random, 0.2)
      ? { namespaceSelector: chance(random, 0.3) ? {} : { matchLabels: { team: random.pick(["t0", "t1"]) } } }
      : {}),
  };
}
