/** What is to be done for a Pod, state by state. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { containerAnnotations, containerLabels } from "../containers/index.ts";
import { type CrashBackoff, REDUCED_CRASH_BACKOFF, startVerdict } from "../lifecycle/crash-backoff.ts";
import type { ContainerState, ContainerStatus, PodSandboxStatus } from "../runtime/runtime.ts";
import type { PodActionsInput } from "./actions.ts";
import { deadOf } from "./collect-dead.ts";
import { podActions } from "./pod-actions.ts";
import type { RuntimePod } from "./runtime-pod.ts";

const NOW = 1_000_000;
const app: core.Container = { name: "app", image: "app:1" };
const podWith = (spec: Partial<core.PodSpec> = {}): core.Pod => ({
  metadata: { name: "web", namespace: "default", uid: "u1" },
  spec: { containers: [app], ...spec },
});

function sandbox(attempt = 0, state: PodSandboxStatus["state"] = "ready", ips = ["10.0.0.1"]): PodSandboxStatus {
  const metadata = { name: "web", namespace: "default", uid: "u1", attempt };
  const common = { createdAtMs: NOW, labels: {}, annotations: {}, runtimeHandler: "" };
  return { id: `sandbox-${attempt}`, metadata, state, ips: state === "ready" ? ips : [], ...common };
}

interface Seen {
  readonly exit?: number;
  readonly attempt?: number;
  readonly sandbox?: number;
  readonly spec?: core.Container;
  readonly finished?: number;
}

function container(name: string, state: ContainerState, about: Seen = {}): ContainerStatus {
  const { exit = 0, attempt = 0, sandbox: of = 0, spec = { name, image: "app:1" }, finished = NOW } = about;
  return {
    id: `${name}-${attempt}`,
    podSandboxId: `sandbox-${of}`,
    metadata: { name, attempt },
    image: "",
    imageRef: "",
    state,
    createdAtMs: NOW,
    labels: containerLabels(podWith(), spec),
    annotations: containerAnnotations(podWith(), spec, attempt),
    startedAtMs: NOW,
    finishedAtMs: state === "exited" ? finished : 0,
    exitCode: exit,
    reason: "",
    message: "",
    mounts: [],
    logPath: "",
  };
}

function decide(pod: core.Pod, runtime: Partial<RuntimePod>, more: Partial<PodActionsInput> = {}) {
  const actions = podActions({
    pod,
    runtime: { uid: "u1", sandboxes: [], containers: [], ...runtime },
    probed: () => ({ startup: "unknown", liveness: "unknown" }),
    backoffs: new Map(),
    applied: () => ({}),
    nowMs: NOW,
    ...more,
  });
  return {
    ...(actions.killPod && { killPod: true }),
    ...(actions.createSandbox && { sandbox: actions.createSandbox.attempt }),
    ...(actions.kill.length > 0 && { kill: actions.kill.map(({ id }) => id) }),
    ...(actions.start.length > 0 && { start: actions.start.map(({ name, attempt }) => `${name}#${attempt}`) }),
    ...(actions.waiting.size > 0 && { waiting: [...actions.waiting.keys()] }),
    ...(actions.resize.length > 0 && { resize: actions.resize.map(({ name }) => name) }),
  };
}

const two: Partial<core.PodSpec> = { containers: [app, { name: "b", image: "app:1" }] };
const never: Partial<core.PodSpec> = { restartPolicy: "Never" };
const onFailure: Partial<core.PodSpec> = { restartPolicy: "OnFailure" };
const init = (...containers: Partial<core.Container>[]): Partial<core.PodSpec> => ({
  initContainers: containers.map((each, at) => ({ name: `i${at}`, image: "app:1", ...each })),
});
const side = { restartPolicy: "Always" };
const [ready, lost] = [[sandbox()], [sandbox(0, "notReady")]];

describe("the sandbox", () => {
  it.each<[string, core.Pod, Partial<RuntimePod>, object]>([
    ["none yet", podWith(two), {}, { sandbox: 0, start: ["app#0", "b#0"] }],
    ["none yet, with init containers", podWith(init({}, {})), {}, { sandbox: 0, start: ["i0#0"] }],
    [
      "lost: a new one, and all anew",
      podWith(),
      { sandboxes: lost, containers: [container("app", "exited", { exit: 137 })] },
      { killPod: true, sandbox: 1, start: ["app#1"] },
    ],
    [
      "without an address",
      podWith(),
      { sandboxes: [sandbox(0, "ready", [])] },
      { killPod: true, sandbox: 1, start: ["app#0"] },
    ],
    [
      "on the node's network it needs none",
      podWith({ hostNetwork: true }),
      { sandboxes: [sandbox(0, "ready", [])] },
      { start: ["app#0"] },
    ],
    [
      "two at once",
      podWith(),
      { sandboxes: [sandbox(1), sandbox(0)] },
      { killPod: true, sandbox: 2, start: ["app#0"] },
    ],
    [
      "lost, and nothing may start again",
      podWith(never),
      { sandboxes: lost, containers: [container("app", "exited", { exit: 1 })] },
      { killPod: true },
    ],
    [
      "lost, and all have succeeded",
      podWith(onFailure),
      { sandboxes: lost, containers: [container("app", "exited")] },
      { killPod: true },
    ],
    ["lost before anything ran", podWith(never), { sandboxes: lost }, { killPod: true, sandbox: 1, start: ["app#0"] }],
  ])("%s", (_, pod, runtime, want) => expect(decide(pod, runtime)).toEqual(want));
});

describe("containers", () => {
  const running = container("app", "running");
  it.each<[string, core.Pod, readonly ContainerStatus[], object]>([
    ["all run", podWith(), [running], {}],
    ["one is missing", podWith(two), [running], { start: ["b#0"] }],
    ["one has ended", podWith(two), [running, container("b", "exited", { exit: 1 })], { start: ["b#1"] }],
    ["ended well, and that is enough", podWith({ ...two, ...onFailure }), [running, container("b", "exited")], {}],
    ["all have ended", podWith(onFailure), [container("app", "exited")], { killPod: true }],
    ["one may not start again", podWith({ ...two, ...never }), [running, container("b", "exited", { exit: 1 })], {}],
    ["made, but never started", podWith(), [container("app", "created")], { start: ["app#0"] }],
    ["nobody knows its state", podWith(), [container("app", "unknown")], { kill: ["app-0"], start: ["app#1"] }],
    [
      "another image",
      podWith({ containers: [{ ...app, image: "app:2" }] }),
      [running],
      { kill: ["app-0"], start: ["app#1"] },
    ],
    [
      "another image, whatever the policy",
      podWith({ containers: [{ ...app, image: "app:2" }], ...never }),
      [running],
      { kill: ["app-0"], start: ["app#1"] },
    ],
    ["a debugger", podWith({ ephemeralContainers: [{ name: "d", image: "d" }] }), [running], { start: ["d#0"] }],
    [
      "a debugger that has ended",
      podWith({ ephemeralContainers: [{ name: "d", image: "d" }] }),
      [running, container("d", "exited")],
      {},
    ],
    [
      "other resources",
      podWith({ containers: [{ ...app, resources: { limits: { cpu: "1" } } }] }),
      [running],
      { resize: ["app"] },
    ],
  ])("%s", (_, pod, containers, want) => expect(decide(pod, { sandboxes: ready, containers })).toEqual(want));

  it.each<[string, core.Pod, "liveness" | "startup", object]>([
    ["liveness", podWith(), "liveness", { kill: ["app-0"], start: ["app#1"] }],
    ["startup", podWith(), "startup", { kill: ["app-0"], start: ["app#1"] }],
    ["the policy is Never", podWith(never), "liveness", { killPod: true }],
  ])("a failed probe: %s", (_, pod, kind, want) => {
    const verdicts = { startup: "unknown", liveness: "unknown", [kind]: "failure" } as const;
    expect(decide(pod, { sandboxes: ready, containers: [running] }, { probed: () => verdicts })).toEqual(want);
  });
});

describe("init containers", () => {
  const pod = podWith(init({}, {}));
  it.each<[string, core.Pod, readonly ContainerStatus[], object]>([
    ["the first runs", pod, [container("i0", "running")], {}],
    ["the first is done", pod, [container("i0", "exited")], { start: ["i1#0"] }],
    ["the first has failed", pod, [container("i0", "exited", { exit: 1 })], { start: ["i0#1"] }],
    [
      "it may not be tried again",
      podWith({ ...init({}, {}), ...never }),
      [container("i0", "exited", { exit: 1 })],
      { killPod: true },
    ],
    ["all are done", pod, [container("i0", "exited"), container("i1", "exited")], { start: ["app#0"] }],
    ["history, once the others have begun", pod, [container("app", "running")], {}],
    ["a sidecar has started", podWith(init(side, {})), [container("i0", "running")], { start: ["i1#0"] }],
    [
      "a sidecar has ended early",
      podWith(init(side, {})),
      [container("i0", "exited", { exit: 1 })],
      { start: ["i0#1"] },
    ],
    [
      "a sidecar ends while a later one runs",
      podWith(init(side, {})),
      [container("i0", "exited"), container("i1", "running")],
      { start: ["i0#1"] },
    ],
    [
      "a sidecar ends while the others run",
      podWith(init(side)),
      [container("i0", "exited"), container("app", "running")],
      { start: ["i0#1"] },
    ],
    [
      "sidecars alone keep nothing alive",
      podWith({ ...init(side), ...onFailure }),
      [container("i0", "running"), container("app", "exited")],
      { killPod: true },
    ],
  ])("%s", (_, asked, containers, want) => expect(decide(asked, { sandboxes: ready, containers })).toEqual(want));

  it("a sidecar with a startup probe holds up what comes after it", () => {
    const startupProbe = { exec: { command: ["x"] } };
    const asked = podWith(init({ ...side, startupProbe }));
    const runtime = { sandboxes: ready, containers: [container("i0", "running")] };
    expect(decide(asked, runtime)).toEqual({});
    const up = { startup: "success", liveness: "unknown" } as const;
    expect(decide(asked, runtime, { probed: () => up })).toEqual({ start: ["app#0"] });
  });
});

describe("backoff", () => {
  it("a restart waits, and says until when", () => {
    const backoffs = new Map<string, CrashBackoff>([["app", { delayMs: 20_000, sinceMs: NOW - 5000 }]]);
    const containers = [container("app", "exited", { exit: 1, finished: NOW - 3000 })];
    const input = { pod: podWith(), runtime: { uid: "u1", sandboxes: ready, containers }, backoffs, nowMs: NOW };
    const rest = { probed: () => ({ startup: "unknown", liveness: "unknown" }) as const, applied: () => ({}) };
    const actions = podActions({ ...input, ...rest });
    expect(actions).toMatchObject({ killPod: false, start: [], wakeAtMs: NOW + 17_000 });
    expect(actions.waiting.get("app")?.reason).toBe("CrashLoopBackOff");
  });

  it("is shorter with ReduceDefaultCrashLoopBackOffDecay, and starts over after the same time", () => {
    const at = (before: CrashBackoff | undefined) => startVerdict(before, NOW, NOW + 60_000, REDUCED_CRASH_BACKOFF);
    expect(at(undefined)).toMatchObject({ backoff: { delayMs: 1_000 } });
    expect(at({ delayMs: 40_000, sinceMs: NOW - 599_000 })).toMatchObject({ backoff: { delayMs: 60_000 } });
    expect(at({ delayMs: 60_000, sinceMs: NOW - 601_000 })).toMatchObject({ backoff: { delayMs: 1_000 } });
  });

  it.each<[string, CrashBackoff | undefined, number, object]>([
    ["the first time at once", undefined, 0, { start: true, backoff: { delayMs: 10_000, sinceMs: NOW } }],
    [
      "too early",
      { delayMs: 10_000, sinceMs: NOW - 9000 },
      8000,
      { start: false, delayMs: 10_000, untilMs: NOW + 2000 },
    ],
    [
      "due",
      { delayMs: 10_000, sinceMs: NOW - 20_000 },
      10_000,
      { start: true, backoff: { delayMs: 20_000, sinceMs: NOW } },
    ],
    [
      "never more than 5 minutes",
      { delayMs: 300_000, sinceMs: NOW - 400_000 },
      300_000,
      { start: true, backoff: { delayMs: 300_000, sinceMs: NOW } },
    ],
    [
      "after 10 minutes of peace anew",
      { delayMs: 300_000, sinceMs: NOW - 700_000 },
      0,
      { start: true, backoff: { delayMs: 10_000, sinceMs: NOW } },
    ],
  ])("%s", (_, before, agoMs, want) => expect(startVerdict(before, NOW - agoMs, NOW)).toEqual(want));
});

describe("what is dead", () => {
  it("all but the newest two of a container, and sandboxes without any", () => {
    const containers = [2, 1, 0].map((attempt) =>
      container("app", "exited", { attempt, sandbox: attempt > 0 ? 1 : 0 }),
    );
    const dead = deadOf({ uid: "u1", sandboxes: [sandbox(1), sandbox(0, "notReady")], containers });
    expect(dead.containers.map(({ id }) => id)).toEqual(["app-0"]);
    expect(dead.sandboxIds).toEqual(["sandbox-0"]);
  });
});
