/** The conditions of a Node. */
import type { RuntimeStatus } from "../runtime/runtime.ts";
import type { OwnCondition } from "./node-object.ts";

export interface NodeHealth {
  /** Undefined if the runtime does not answer. */
  readonly runtime: RuntimeStatus | undefined;
  readonly runtimeProblem: string | undefined;
  readonly pressures: ReadonlySet<Pressure>;
  readonly isShuttingDown?: boolean;
}

export type Pressure = "MemoryPressure" | "DiskPressure" | "PIDPressure";

const WORDS: Readonly<Record<Pressure, readonly [bad: string, badWords: string, good: string, goodWords: string]>> = {
  MemoryPressure: [
    "KubeletHasInsufficientMemory",
    "kubelet has insufficient memory available",
    "KubeletHasSufficientMemory",
    "kubelet has sufficient memory available",
  ],
  DiskPressure: [
    "KubeletHasDiskPressure",
    "kubelet has disk pressure",
    "KubeletHasNoDiskPressure",
    "kubelet has no disk pressure",
  ],
  PIDPressure: [
    "KubeletHasInsufficientPID",
    "kubelet has insufficient PID available",
    "KubeletHasSufficientPID",
    "kubelet has sufficient PID available",
  ],
};

export function nodeConditions(health: NodeHealth): readonly OwnCondition[] {
  const pressures = (Object.keys(WORDS) as Pressure[]).map((type): OwnCondition => {
    const [bad, badWords, good, goodWords] = WORDS[type];
    return health.pressures.has(type)
      ? { type, status: "True", reason: bad, message: badWords }
      : { type, status: "False", reason: good, message: goodWords };
  });
  return [...pressures, readyCondition(health)];
}

function readyCondition({ runtime, runtimeProblem, isShuttingDown = false }: NodeHealth): OwnCondition {
  const problems = [
    ...(isShuttingDown ? ["node is shutting down"] : []),
    ...(runtimeProblem === undefined ? [] : [runtimeProblem]),
    ...(runtime === undefined && runtimeProblem === undefined ? ["container runtime is down"] : []),
    ...(runtime?.conditions ?? [])
      .filter(({ type, status }) => !status && (type === "RuntimeReady" || type === "NetworkReady"))
      .map(({ type, reason, message }) => {
        const what = type === "NetworkReady" ? "container runtime network not ready" : "container runtime not ready";
        return `${what}: ${type}=false reason:${reason} message:${message}`;
      }),
  ];
  if (problems.length === 0)
    return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  const words = problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
  return { type: "Ready", status: "False", reason: "KubeletNotReady", message: words };
}
