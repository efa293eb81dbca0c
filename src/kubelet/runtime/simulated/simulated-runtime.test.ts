/** The simulated runtime keeps to the contract of a real one. */
import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { containerConfig, podSandboxConfig } from "../../containers/index.ts";
import { TEST_FACTS } from "../../testing/index.ts";
import { RuntimeError, type RuntimeEvent } from "../runtime.ts";
import type { Behaviour } from "./script.ts";
import { type SimulatedRuntime, simulatedRuntime } from "./simulated-runtime.ts";

const container = { name: "app", image: "app:1" };
const pod = { metadata: { name: "web", namespace: "default", uid: "u1" }, spec: { containers: [container] } };
const sandboxConfig = podSandboxConfig(pod, 0, TEST_FACTS);
const config = containerConfig(
  {
    pod,
    container,
    attempt: 0,
    imageRef: "app:1",
    imageUser: {},
    env: new Map(),
    paths: { volumes: new Map(), subPaths: new Map() },
  },
  TEST_FACTS,
);

let clock: VirtualClock;
let behaviour: Behaviour;
let runtime: SimulatedRuntime;
beforeEach(() => {
  clock = new VirtualClock();
  behaviour = {};
  runtime = simulatedRuntime({ clock, script: { container: () => behaviour } });
});

async function start(): Promise<{ sandbox: string; id: string }> {
  const sandbox = await runtime.runPodSandbox(sandboxConfig, "");
  const id = await runtime.createContainer(sandbox, config, sandboxConfig);
  await runtime.startContainer(id);
  return { sandbox, id };
}
const stateOf = async (id: string) => {
  const status = await runtime.containerStatus(id);
  return status && [status.state, status.exitCode];
};

describe("the simulated runtime", () => {
  it("a container runs until its script ends it", async () => {
    behaviour = { exit: { afterMs: 1000, code: 3 } };
    const { id } = await start();
    expect(await stateOf(id)).toEqual(["running", 0]);
    await clock.advance(1000);
    expect(await stateOf(id)).toEqual(["exited", 3]);
  });

  it.each<[string, Behaviour, number, number, number]>([
    ["ends at once by default", {}, 10, 0, 143],
    ["takes its time", { onStop: { afterMs: 2000, exitCode: 0 } }, 10, 2000, 0],
    ["too much of it", { onStop: { afterMs: 20_000, exitCode: 0 } }, 10, 10_000, 137],
    ["ignores SIGTERM", { onStop: "ignore" }, 3, 3000, 137],
    ["has no time at all", { onStop: { afterMs: 1, exitCode: 0 } }, 0, 0, 137],
  ])("stopped, it %s", async (_, how, graceSeconds, afterMs, code) => {
    behaviour = how;
    const { id } = await start();
    const stopping = runtime.stopContainer(id, graceSeconds);
    if (afterMs > 0) {
      await clock.advance(afterMs - 1);
      expect(await stateOf(id)).toEqual(["running", 0]);
      await clock.advance(1);
    }
    await stopping;
    expect(await stateOf(id)).toEqual(["exited", code]);
  });

  it("stop and remove are idempotent, and a sandbox takes its containers with it", async () => {
    const { sandbox, id } = await start();
    await expect(runtime.removePodSandbox(sandbox)).rejects.toThrow(RuntimeError);
    for (let time = 0; time < 2; time++) {
      await runtime.stopContainer(id, 1);
      await runtime.stopPodSandbox(sandbox);
      await runtime.removeContainer(id);
      await runtime.removePodSandbox(sandbox);
    }
    expect([runtime.containerCount, runtime.sandboxCount]).toEqual([0, 0]);
    expect(await runtime.containerStatus(id)).toBeUndefined();
  });

  it("lists by label, and never gives an id twice", async () => {
    const first = await start();
    const second = await start();
    expect(new Set([first.id, first.sandbox, second.id, second.sandbox]).size).toBe(4);
    expect(await runtime.listContainers({ labels: { "io.kubernetes.pod.uid": "u1" } })).toHaveLength(2);
    expect(await runtime.listContainers({ labels: { "io.kubernetes.pod.uid": "u2" } })).toEqual([]);
    expect(await runtime.listContainers({ podSandboxId: first.sandbox })).toHaveLength(1);
  });

  it("sends events until it goes away", async () => {
    const told: RuntimeEvent["type"][] = [];
    const following = (async () => {
      for await (const { type } of runtime.events(new AbortController().signal)) told.push(type);
    })();
    await clock.advance(0);
    const { id } = await start();
    await runtime.stopContainer(id, 1);
    await clock.advance(0);
    expect(told).toEqual(["started", "created", "started", "stopped"]);
    runtime.down();
    await expect(following).rejects.toMatchObject({ code: "Unavailable" });
    await expect(runtime.listContainers()).rejects.toMatchObject({ code: "Unavailable" });
    runtime.up();
    expect(await runtime.listContainers()).toHaveLength(1);
  });
});
