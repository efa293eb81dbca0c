/** Nodes: their state in a word, and how much their Pods request. */
import type { core } from "#api";
import type { Tone } from "./pod.ts";
import { quantity } from "./quantity.ts";

export function nodeState({ spec, status }: core.Node): { readonly word: string; readonly tone: Tone } {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const word = ready === "True" ? "Ready" : ready === "False" ? "NotReady" : "Unknown";
  const isCordoned = spec?.unschedulable === true;
  const tone = word !== "Ready" ? "bad" : isCordoned ? "busy" : "good";
  return { word: isCordoned ? `${word}, cordoned` : word, tone };
}

export interface NodeUse {
  readonly pods: number;
  readonly cpu: number;
  readonly cpuOf: number;
  readonly memory: number;
  readonly memoryOf: number;
}

export function usesByNode(nodes: Iterable<core.Node>, pods: Iterable<core.Pod>): Map<string, NodeUse> {
  const uses = new Map<string, { -readonly [Key in keyof NodeUse]: number }>();
  for (const { metadata, status } of nodes) {
    const { cpu, memory } = status?.allocatable ?? {};
    uses.set(metadata?.name ?? "", { pods: 0, cpu: 0, memory: 0, cpuOf: quantity(cpu), memoryOf: quantity(memory) });
  }
  for (const pod of pods) {
    const use = uses.get(pod.spec?.nodeName ?? "");
    if (use === undefined || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    const { cpu, memory } = requestsOf(pod);
    use.pods += 1;
    use.cpu += cpu;
    use.memory += memory;
  }
  return uses;
}

const requests = new WeakMap<core.Pod, { readonly cpu: number; readonly memory: number }>();

/** The sum of all containers, or the largest init container. */
export function requestsOf(pod: core.Pod): { readonly cpu: number; readonly memory: number } {
  const known = requests.get(pod);
  if (known !== undefined) return known;
  const of = (name: "cpu" | "memory") => {
    const each = (containers: readonly core.Container[] = []) =>
      containers.map(({ resources }) => quantity(resources?.requests?.[name]));
    const sum = each(pod.spec?.containers).reduce((total, value) => total + value, 0);
    return Math.max(sum, ...each(pod.spec?.initContainers)) + quantity(pod.spec?.overhead?.[name]);
  };
  const found = { cpu: of("cpu"), memory: of("memory") };
  requests.set(pod, found);
  return found;
}
