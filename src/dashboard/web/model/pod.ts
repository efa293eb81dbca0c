/** A Pod's state in a word, as in `kubectl get pods`. */
import type { core } from "#api";

export type Tone = "good" | "busy" | "bad" | "quiet";

export interface PodSummary {
  readonly word: string;
  readonly tone: Tone;
  readonly ready: number;
  readonly containers: number;
  readonly restarts: number;
}

export function podSummary(pod: core.Pod): PodSummary {
  const statuses = pod.status?.containerStatuses ?? [];
  const word = wordOf(pod);
  return {
    word,
    tone: toneOf(word, pod),
    ready: statuses.filter(({ ready }) => ready).length,
    containers: pod.spec?.containers?.length ?? 0,
    restarts: [...statuses, ...(pod.status?.initContainerStatuses ?? [])].reduce(
      (sum, each) => sum + (each.restartCount ?? 0),
      0,
    ),
  };
}

function wordOf(pod: core.Pod): string {
  const { status, metadata } = pod;
  const base = status?.reason || status?.phase || "Unknown";
  const word = initWord(pod) ?? containersWord(pod) ?? base;
  if (metadata?.deletionTimestamp === undefined) return word;
  return status?.reason === "NodeLost" ? "Unknown" : "Terminating";
}

function initWord({ spec, status }: core.Pod): string | undefined {
  const total = spec?.initContainers?.length ?? 0;
  for (const [index, { state, started, name }] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = spec?.initContainers?.find((each) => each.name === name)?.restartPolicy === "Always";
    if (state?.terminated?.exitCode === 0 || (isSidecar && started === true)) continue;
    if (state?.terminated !== undefined) return `Init:${ended(state.terminated)}`;
    const reason = state?.waiting?.reason;
    return reason !== undefined && reason !== "PodInitializing" ? `Init:${reason}` : `Init:${index}/${total}`;
  }
  return undefined;
}

function containersWord({ status }: core.Pod): string | undefined {
  let word: string | undefined;
  let running = false;
  for (const { state, ready } of [...(status?.containerStatuses ?? [])].reverse()) {
    if (state?.waiting?.reason) word = state.waiting.reason;
    else if (state?.terminated !== undefined) word = ended(state.terminated);
    else if (state?.running !== undefined && ready) running = true;
  }
  return word === "Completed" && running ? "Running" : word;
}

function ended({ reason, signal, exitCode }: core.ContainerStateTerminated): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

const BUSY = new Set(["Pending", "ContainerCreating", "PodInitializing", "Terminating"]);

function toneOf(word: string, { status }: core.Pod): Tone {
  if (word === "Running") {
    return (status?.containerStatuses ?? []).every(({ ready }) => ready) ? "good" : "busy";
  }
  if (word === "Completed" || word === "Succeeded") return "quiet";
  return BUSY.has(word) || /^Init:\d/.test(word) ? "busy" : "bad";
}
