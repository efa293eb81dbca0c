/**
 * What keeps a Pod off the nodes, with names and figures: the scheduler's reasons, compared with what nodes have. Pure.
 *
 * 1. A reason without facts to support it has no cause here: the scheduler's words remain.
 */
import {
  addQuantities,
  compareQuantities,
  type core,
  formatQuantity,
  parseQuantity,
  podRequests,
  type Quantity,
  subtractQuantities,
  zeroQuantity,
} from "#api";
import type { PodFacts } from "./facts.ts";

export interface Cause {
  readonly text: string;
  readonly help: string;
}

type Finder = (facts: PodFacts, match: RegExpExecArray) => Cause | undefined;

const FINDERS: readonly (readonly [RegExp, Finder])[] = [
  [/^Insufficient (.+)$/, (facts, [, resource = ""]) => tooLittle(facts, resource)],
  [/^Too many pods$/, tooMany],
  [/untolerated taint/, tainted],
  [/node affinity\/selector/, unlabelled],
  [/unschedulable$/, cordoned],
  [/free ports/, portTaken],
  [/persistentvolumeclaim "([^"]+)" not found/, (_, [, name = ""]) => noClaim(name)],
];

export function causeOf(facts: PodFacts, reason: string): Cause | undefined {
  for (const [pattern, find] of FINDERS) {
    const match = pattern.exec(reason);
    if (match !== null) return find(facts, match);
  }
  return undefined;
}

/** `64 CPUs`, `4Gi of memory`, `2 example.com/gpu`. */
function amountOf(resource: string, amount: Quantity): string {
  const figure = formatQuantity(amount);
  if (resource === "cpu") return figure === "1" ? "1 CPU" : `${figure} CPUs`;
  return resource === "memory" || resource === "ephemeral-storage"
    ? `${figure} of ${resource}`
    : `${figure} ${resource}`;
}

function tooLittle({ pod, nodes, placed }: PodFacts, resource: string): Cause | undefined {
  const wanted = pod && podRequests(pod)[resource];
  if (wanted === undefined || placed === undefined) return undefined;
  const rooms = nodes.flatMap(({ metadata: { name = "" }, status }) => {
    const total = status?.allocatable?.[resource];
    if (total === undefined) return [];
    return [
      {
        name,
        total: parseQuantity(total),
        free: subtractQuantities(parseQuantity(total), usedOn(placed, name, resource)),
      },
    ];
  });
  const [most] = rooms.sort((a, b) => compareQuantities(b.free, a.free));
  if (most === undefined)
    return { text: `no node has ${resource}`, help: `remove the request for ${resource}, or add a node that has it` };
  const fitsEmpty = rooms.some(({ total }) => compareQuantities(total, wanted) >= 0);
  const which = rooms.length === 1 ? `node ${most.name}` : `the node with most room, ${most.name},`;
  return {
    text: `it wants ${amountOf(resource, wanted)}, ${which} has ${formatQuantity(most.free)} free`,
    help: fitsEmpty
      ? `request less ${resource}, delete other Pods, or add a node`
      : `request less ${resource}: at most ${formatQuantity(most.free)} now, or add a larger node`,
  };
}

function usedOn(placed: readonly core.Pod[], node: string, resource: string): Quantity {
  return placed
    .filter(({ spec }) => spec?.nodeName === node)
    .reduce((sum, pod) => addQuantities(sum, podRequests(pod)[resource] ?? zeroQuantity), zeroQuantity);
}

function tooMany({ nodes, placed = [] }: PodFacts): Cause | undefined {
  const [first] = nodes;
  const limit = first?.status?.allocatable?.pods;
  if (first === undefined || limit === undefined) return undefined;
  const has = placed.filter(({ spec }) => spec?.nodeName === first.metadata.name).length;
  return {
    text: `node ${first.metadata.name} has ${has} Pods, and takes ${limit}`,
    help: "no node accepts more Pods: add a node, or delete other Pods",
  };
}

function tainted({ pod, nodes }: PodFacts): Cause | undefined {
  const found = nodes.flatMap(({ metadata: { name = "" }, spec }) =>
    (spec?.taints ?? []).filter((taint) => !tolerates(pod, taint)).map((taint) => ({ name, taint })),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const { key, value = "", effect } = first.taint;
  const title = `${key}${value === "" ? "" : `=${value}`}:${effect}`;
  const same = found.filter(({ taint }) => taint.key === key && taint.effect === effect).length;
  const who = same === 1 ? `node ${first.name} has` : `${same} nodes have`;
  const removed = `\`kubectl taint node ${first.name} ${key}:${effect}-\``;
  return {
    text: `${who} the taint ${title}, which it does not tolerate`,
    help: key.startsWith("node.kubernetes.io/")
      ? `this taint goes when the node is well: \`k8ts why node/${first.name}\``
      : `add a toleration for ${key}, or remove the taint: ${removed}`,
  };
}

function tolerates(pod: core.Pod | undefined, taint: core.Taint): boolean {
  if (taint.effect === "PreferNoSchedule") return true;
  return (pod?.spec?.tolerations ?? []).some(
    ({ key = "", operator, value = "", effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (key === "" || key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")),
  );
}

function unlabelled({ pod, nodes }: PodFacts): Cause | undefined {
  const { nodeSelector = {}, affinity } = pod?.spec ?? {};
  const name = nodes[0]?.metadata.name ?? "NAME";
  const missing = Object.entries(nodeSelector).find(
    ([key, value]) => !nodes.some(({ metadata }) => metadata.labels?.[key] === value),
  );
  if (missing !== undefined)
    return {
      text: `no node has the label ${missing[0]}=${missing[1]}, which it selects`,
      help: `label one: \`kubectl label node ${name} ${missing[0]}=${missing[1]}\`, or change nodeSelector`,
    };
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const [wanted] = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  if (wanted === undefined) return undefined;
  const { key, operator, values = [] } = wanted;
  const shown = values.length === 0 ? `${key} ${operator}` : `${key} ${operator} (${values.join(", ")})`;
  return {
    text: `no node matches its node affinity ${shown}`,
    help: `label one: \`kubectl label node ${name} ${key}=${values[0] ?? "VALUE"}\`, or change its node affinity`,
  };
}

function cordoned({ nodes }: PodFacts): Cause | undefined {
  const names = nodes.filter(({ spec }) => spec?.unschedulable === true).map(({ metadata }) => metadata.name ?? "");
  const [first] = names;
  if (first === undefined) return undefined;
  return {
    text: names.length === 1 ? `node ${first} is cordoned` : `${names.length} nodes are cordoned: ${names.join(", ")}`,
    help: `\`kubectl uncordon ${first}\``,
  };
}

function portTaken({ pod, placed = [] }: PodFacts): Cause | undefined {
  const wanted = portsOf(pod);
  for (const other of placed) {
    const [port] = portsOf(other).filter((each) => wanted.includes(each));
    if (port === undefined) continue;
    const { name, namespace } = other.metadata;
    return {
      text: `the host port ${port} of node ${other.spec?.nodeName} is taken by pod/${name}${namespace === pod?.metadata.namespace ? "" : ` of ${namespace}`}`,
      help: `choose another port, or fewer replicas than nodes, or \`kubectl delete pod ${name} -n ${namespace}\``,
    };
  }
  return undefined;
}

function portsOf(pod: core.Pod | undefined): readonly number[] {
  return (pod?.spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0 }) => (hostPort > 0 ? [hostPort] : [])),
  );
}

function noClaim(name: string): Cause {
  return { text: `its claim ${name} does not exist`, help: `create the claim ${name}` };
}
