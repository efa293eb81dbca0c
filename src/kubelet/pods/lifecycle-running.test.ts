/** Pods that run: starts, restarts, init containers, sidecars, on the simulated runtime and virtual time. */
import { describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import type { Script } from "../runtime/simulated/index.ts";
import { exits, kubelets, podWith, seconds, started } from "../testing/scenarios.ts";

const start = kubelets();

describe("a pod starts", () => {
  it("gets a sandbox, its container, an address, and is ready", async () => {
    const { create, get, clock } = await start();
    await create(podWith());
    await clock.advance(0);
    const { status } = await get("web");
    expect(status?.phase).toBe("Running");
    expect(status?.podIP).toMatch(/^10\.244\./);
    expect(status?.hostIP).toBe("192.168.0.1");
    expect(status?.containerStatuses?.[0]).toMatchObject({ name: "app", ready: true, started: true, restartCount: 0 });
    expect(status?.containerStatuses?.[0]?.containerID).toMatch(/^simulated:\/\//);
    expect(status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });

  it("records its steps as events", async () => {
    const { create, clock, events } = await start();
    await create(podWith());
    await clock.advance(seconds(1));
    const reasons = (await events()).map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(["Pulling", "Pulled", "Created", "Started"]));
  });
});

describe("restart policies", () => {
  const table: readonly {
    readonly policy: "Always" | "OnFailure" | "Never";
    readonly codes: readonly number[];
    readonly phase: string;
    readonly starts: number;
  }[] = [
    { policy: "Always", codes: [0], phase: "Running", starts: 2 },
    { policy: "Always", codes: [1], phase: "Running", starts: 2 },
    { policy: "OnFailure", codes: [0], phase: "Succeeded", starts: 1 },
    { policy: "OnFailure", codes: [1], phase: "Running", starts: 2 },
    { policy: "OnFailure", codes: [1, 0], phase: "Succeeded", starts: 2 },
    { policy: "Never", codes: [0], phase: "Succeeded", starts: 1 },
    { policy: "Never", codes: [3], phase: "Failed", starts: 1 },
  ];
  it.each(table)(
    "$policy, exit codes $codes: $phase after $starts starts",
    async ({ policy, codes, phase, starts }) => {
      const test = await start({ script: exits(...codes) });
      await test.create(podWith({ restartPolicy: policy }));
      await test.clock.advance(seconds(5));
      expect((await test.get("web")).status?.phase).toBe(phase);
      expect(started(test)).toHaveLength(starts);
    },
  );

  it("a container's own rules come first", async () => {
    const rules = [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }];
    const app = { name: "app", image: "app:1", restartPolicy: "Never", restartPolicyRules: rules };
    const test = await start({ script: exits(42, 1) });
    await test.create(podWith({ restartPolicy: "Never", containers: [app] }));
    await test.clock.advance(seconds(5));
    expect(started(test)).toEqual(["web/app#0", "web/app#1"]);
    expect((await test.get("web")).status?.phase).toBe("Failed");
  });

  it("restarts wait 10 s, 20 s, 40 s … up to 5 minutes, and the status says so", async () => {
    const test = await start({ script: { container: () => ({ exit: { afterMs: 0, code: 1 } }) } });
    const times: number[] = [];
    const startMs = test.clock.now();
    let seen = 0;
    await test.create(podWith());
    for (let second = 0; second <= 1500; second++) {
      await test.clock.advance(second === 0 ? 0 : seconds(1));
      for (; seen < started(test).length; seen++) times.push(Math.round((test.clock.now() - startMs) / 1000));
    }
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(gaps).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
    const [status] = (await test.get("web")).status?.containerStatuses ?? [];
    expect(status?.state?.waiting?.reason).toBe("CrashLoopBackOff");
    expect(status?.state?.waiting?.message).toContain("back-off 5m0s restarting failed container=app pod=web_default");
    expect(status?.restartCount).toBe(9);
    expect(status?.lastState?.terminated?.exitCode).toBe(1);
  });

  it("keeps one dead container beside the newest", async () => {
    const test = await start({ script: { container: () => ({ exit: { afterMs: 0, code: 1 } }) } });
    await test.create(podWith());
    await test.clock.advance(seconds(600));
    expect(test.runtime.containerCount).toBe(2);
    expect(test.runtime.sandboxCount).toBe(1);
  });
});

describe("init containers", () => {
  const init = (...names: string[]) => names.map((name) => ({ name, image: "init:1" }));

  it("run one after the other before the others", async () => {
    const script: Script = {
      container: ({ name }) => (name === "app" ? {} : { exit: { afterMs: 2000, code: 0 } }),
    };
    const test = await start({ script });
    await test.create(podWith({ initContainers: init("first", "second") }));
    expect(started(test)).toEqual(["web/first#0"]);
    expect((await test.get("web")).status?.phase).toBe("Pending");
    await test.clock.advance(seconds(2));
    expect(started(test)).toEqual(["web/first#0", "web/second#0"]);
    await test.clock.advance(seconds(3));
    expect(started(test)).toEqual(["web/first#0", "web/second#0", "web/app#0"]);
    const { status } = await test.get("web");
    expect(status?.phase).toBe("Running");
    expect(status?.initContainerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
  });

  it("a failure is tried again, unless the policy is Never", async () => {
    const script: Script = {
      container: ({ name, attempt }) => (name === "app" ? {} : { exit: { afterMs: 0, code: attempt === 0 ? 1 : 0 } }),
    };
    const test = await start({ script });
    await test.create(podWith({ initContainers: init("first") }));
    await test.clock.advance(seconds(1));
    expect(started(test)).toEqual(["web/first#0", "web/first#1", "web/app#0"]);
    await test.create(podWith({ initContainers: init("first"), restartPolicy: "Never" }, "never"));
    await test.clock.advance(seconds(1));
    expect((await test.get("never")).status?.phase).toBe("Failed");
    expect(started(test)).not.toContain("never/app#0");
    expect(test.runtime.running()).toEqual(["web/app"]);
  });

  it("run again in a new sandbox", async () => {
    const script: Script = { container: ({ name }) => (name === "app" ? {} : { exit: { afterMs: 0, code: 0 } }) };
    const test = await start({ script });
    await test.create(podWith({ initContainers: init("first") }));
    await test.clock.advance(seconds(1));
    test.runtime.breakSandbox("web");
    await test.clock.advance(seconds(30));
    expect(started(test)).toEqual(["web/first#0", "web/app#0", "web/first#1", "web/app#1"]);
    expect((await test.get("web")).status?.phase).toBe("Running");
  });
});

describe("sidecars", () => {
  const sidecar = (name: string, more: Partial<core.Container> = {}): core.Container => ({
    name,
    image: "side:1",
    restartPolicy: "Always",
    ...more,
  });

  it("start in order, each after the one before has started", async () => {
    let up = false;
    const startupProbe = { exec: { command: ["up"] }, periodSeconds: 1, failureThreshold: 100 };
    const script: Script = { container: () => ({ exec: () => ({ exitCode: up ? 0 : 1 }) }) };
    const test = await start({ script });
    await test.create(podWith({ initContainers: [sidecar("one", { startupProbe }), sidecar("two")] }));
    await test.clock.advance(seconds(5));
    expect(started(test)).toEqual(["web/one#0"]);
    up = true;
    await test.clock.advance(seconds(2));
    expect(started(test)).toEqual(["web/one#0", "web/two#0", "web/app#0"]);
  });

  it("start again whatever the policy, and do not keep a pod from finishing", async () => {
    const test = await start({
      script: { container: ({ name }) => (name === "app" ? { exit: { afterMs: 20_000, code: 0 } } : {}) },
    });
    await test.create(podWith({ restartPolicy: "Never", initContainers: [sidecar("one")] }));
    await test.clock.advance(seconds(1));
    test.runtime.exit("web", "one", 1);
    await test.clock.advance(seconds(1));
    expect(test.runtime.running()).toEqual(["web/app", "web/one"]);
    await test.clock.advance(seconds(60));
    expect(test.runtime.running()).toEqual([]);
    expect((await test.get("web")).status?.phase).toBe("Succeeded");
  });

  it("end after the others, the last first", async () => {
    const test = await start({ script: { container: () => ({ onStop: { afterMs: 1000, exitCode: 0 } }) } });
    await test.create(podWith({ initContainers: [sidecar("one"), sidecar("two")] }));
    await test.clock.advance(seconds(1));
    await test.client.of(kinds.Pod).in("default").delete("web");
    await test.clock.advance(seconds(10));
    const stops = test.runtime.calls.filter((call) => call.startsWith("stopContainer"));
    expect(stops).toEqual([
      "stopContainer web/app grace 30",
      "stopContainer web/two grace 29",
      "stopContainer web/one grace 28",
    ]);
  });
});
