/** The documented life of Pods, on the simulated runtime and virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { Pod } from "../kinds.ts";
import type { Script } from "../runtime/simulated/index.ts";
import { type TestKubelet, type TestKubeletOptions, testKubelet } from "../testing/index.ts";

let kubelet: TestKubelet | undefined;
afterEach(async () => {
  await kubelet?.close();
  kubelet = undefined;
});

async function start(options: TestKubeletOptions = {}): Promise<TestKubelet> {
  kubelet = await testKubelet(options);
  return kubelet;
}

function podWith(spec: Partial<core.PodSpec> = {}, name = "web"): core.Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: { nodeName: "node-1", containers: [{ name: "app", image: "app:1" }], ...spec },
  };
}

/** `app` ends after one second, with the exit codes of its attempts in turn. */
function exits(...codes: number[]): Script {
  return {
    container: ({ name, attempt }) => {
      const code = codes[attempt];
      return name === "app" && code !== undefined ? { exit: { afterMs: 1000, code } } : {};
    },
  };
}

const seconds = (count: number) => count * 1000;
const started = ({ runtime }: TestKubelet) =>
  runtime.calls.filter((call) => call.startsWith("startContainer")).map((call) => call.slice("startContainer ".length));

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

  it("tells its steps as events", async () => {
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
    await test.client.of(Pod).in("default").delete("web");
    await test.clock.advance(seconds(10));
    const stops = test.runtime.calls.filter((call) => call.startsWith("stopContainer"));
    expect(stops).toEqual([
      "stopContainer web/app grace 30",
      "stopContainer web/two grace 29",
      "stopContainer web/one grace 28",
    ]);
  });
});

describe("probes", () => {
  const probed = (probe: Partial<core.Container>): Partial<core.PodSpec> => ({
    containers: [{ name: "app", image: "app:1", ...probe }],
  });
  const check = { exec: { command: ["check"] }, periodSeconds: 1, failureThreshold: 3 };

  it("a failed liveness probe restarts the container after its threshold", async () => {
    let code = 0;
    const test = await start({ script: { container: () => ({ exec: () => ({ exitCode: code, output: "no" }) }) } });
    await test.create(podWith(probed({ livenessProbe: { ...check, terminationGracePeriodSeconds: 7 } })));
    await test.clock.advance(seconds(10));
    expect(started(test)).toHaveLength(1);
    code = 1;
    await test.clock.advance(seconds(4));
    expect(started(test)).toEqual(["web/app#0", "web/app#1"]);
    expect(test.runtime.calls).toContain("stopContainer web/app grace 7");
    const messages = (await test.events()).map(({ message }) => message);
    expect(messages).toContain("Liveness probe failed: no");
    expect(messages).toContain("Container app failed liveness probe, will be restarted");
    expect((await test.get("web")).status?.containerStatuses?.[0]?.restartCount).toBe(1);
  });

  it("readiness comes and goes", async () => {
    let status = 500;
    const readinessProbe = { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
    const test = await start({ network: { httpGet: async () => ({ status, body: "" }) } });
    const isReady = async () => (await test.get("web")).status?.containerStatuses?.[0]?.ready;
    await test.create(podWith(probed({ readinessProbe })));
    await test.clock.advance(seconds(2));
    expect(await isReady()).toBe(false);
    status = 204;
    await test.clock.advance(seconds(2));
    expect(await isReady()).toBe(true);
    status = 503;
    await test.clock.advance(seconds(2));
    expect(await isReady()).toBe(false);
    expect(started(test)).toHaveLength(1);
  });

  it("nothing else is probed before the startup probe has succeeded, and its failure restarts", async () => {
    const test = await start({
      script: { container: () => ({ exec: ([what]) => ({ exitCode: what === "up" ? 1 : 0 }) }) },
    });
    const startupProbe = { exec: { command: ["up"] }, periodSeconds: 2, failureThreshold: 3 };
    await test.create(podWith(probed({ startupProbe, livenessProbe: check })));
    await test.clock.advance(seconds(3));
    expect(test.runtime.calls.filter((call) => call.endsWith("check"))).toEqual([]);
    expect((await test.get("web")).status?.containerStatuses?.[0]).toMatchObject({ started: false, ready: false });
    await test.clock.advance(seconds(3));
    expect(started(test)).toHaveLength(2);
  });

  it("waits for the initial delay", async () => {
    const test = await start({ script: { container: () => ({ exec: () => ({ exitCode: 0 }) }) } });
    await test.create(podWith(probed({ livenessProbe: { ...check, initialDelaySeconds: 30 } })));
    await test.clock.advance(seconds(29));
    expect(test.runtime.calls.filter((call) => call.startsWith("execSync"))).toEqual([]);
    await test.clock.advance(seconds(2));
    expect(test.runtime.calls.filter((call) => call.startsWith("execSync")).length).toBeGreaterThan(0);
  });
});

describe("hooks", () => {
  const hooked = (lifecycle: core.Lifecycle): Partial<core.PodSpec> => ({
    containers: [{ name: "app", image: "app:1", lifecycle }],
  });

  it("preStop comes before SIGTERM, and its time counts", async () => {
    const test = await start({
      script: { container: () => ({ exec: () => ({ exitCode: 0, afterMs: 10_000 }), onStop: "ignore" }) },
    });
    await test.create(podWith(hooked({ preStop: { exec: { command: ["bye"] } } })));
    await test.clock.advance(seconds(1));
    await test.client.of(Pod).in("default").delete("web");
    await test.clock.advance(seconds(9));
    expect(test.runtime.calls.filter((call) => call.startsWith("stopContainer"))).toEqual([]);
    await test.clock.advance(seconds(2));
    expect(test.runtime.calls).toContain("stopContainer web/app grace 20");
    expect(test.runtime.running()).toEqual(["web/app"]);
    await test.clock.advance(seconds(21));
    expect(test.runtime.running()).toEqual([]);
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("a postStart hook that fails ends the container", async () => {
    const test = await start({
      script: { container: ({ attempt }) => ({ exec: () => ({ exitCode: attempt === 0 ? 1 : 0 }) }) },
    });
    await test.create(podWith(hooked({ postStart: { exec: { command: ["hello"] } } })));
    await test.clock.advance(seconds(30));
    expect(started(test)).toEqual(["web/app#0", "web/app#1"]);
    expect((await test.events()).map(({ reason }) => reason)).toContain("FailedPostStartHook");
    expect((await test.get("web")).status?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 1 });
  });
});

describe("deletion", () => {
  it("ends containers with the grace period, removes everything, then the pod", async () => {
    const test = await start({ script: { container: () => ({ onStop: { afterMs: 3000, exitCode: 0 } }) } });
    await test.create(podWith({ terminationGracePeriodSeconds: 8 }));
    await test.clock.advance(seconds(1));
    await test.client.of(Pod).in("default").delete("web");
    await test.settle();
    expect((await test.get("web")).metadata.deletionGracePeriodSeconds).toBe(8);
    expect(test.runtime.calls).toContain("stopContainer web/app grace 8");
    await test.clock.advance(seconds(4));
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
    expect(test.runtime.containerCount + test.runtime.sandboxCount).toBe(0);
    expect([...test.host.contents.keys(), ...test.host.mounted]).toEqual([]);
  });

  it("a shorter grace period takes the place of a longer one under way", async () => {
    const test = await start({ script: { container: () => ({ onStop: "ignore" }) } });
    await test.create(podWith({ terminationGracePeriodSeconds: 600 }));
    await test.clock.advance(seconds(1));
    await test.client.of(Pod).in("default").delete("web");
    await test.clock.advance(seconds(10));
    expect(test.runtime.running()).toEqual(["web/app"]);
    await test.client.of(Pod).in("default").delete("web", { gracePeriodSeconds: 5 });
    await test.clock.advance(seconds(6));
    expect(test.runtime.running()).toEqual([]);
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("a pod that was removed by force is ended all the same", async () => {
    const test = await start({});
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    await test.client.of(Pod).in("default").delete("web", { gracePeriodSeconds: 0 });
    await test.clock.advance(seconds(40));
    expect(test.runtime.containerCount + test.runtime.sandboxCount).toBe(0);
  });

  it("a pod that is deleted while its image is pulled does not wait for it", async () => {
    const test = await start({ script: { pull: () => ({ afterMs: 600_000 }) } });
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    await test.client.of(Pod).in("default").delete("web");
    await test.clock.advance(seconds(2));
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
    expect(test.runtime.sandboxCount).toBe(0);
  });
});

/** What the container of a Pod waits for, as it was told over time. */
async function watchWaiting(test: TestKubelet): Promise<() => Promise<core.ContainerStateWaiting[]>> {
  const watch = await test.server.watch("/api/v1/namespaces/default/pods?watch=true&resourceVersion=0");
  return async () => {
    await test.settle();
    const told: core.ContainerStateWaiting[] = [];
    for (const { object } of watch.events) {
      const waiting = (object as core.Pod).status?.containerStatuses?.[0]?.state?.waiting;
      if (waiting !== undefined && waiting.reason !== told.at(-1)?.reason) told.push(waiting);
    }
    await watch.close();
    return told;
  };
}

describe("what goes wrong", () => {
  const waiting = async (test: TestKubelet) => (await test.get("web")).status?.containerStatuses?.[0]?.state?.waiting;

  it("an image that cannot be pulled: ErrImagePull, then ImagePullBackOff, then it works", async () => {
    const test = await start({ script: { pull: (_, attempt) => (attempt < 2 ? { error: "no such image" } : {}) } });
    const waits = await watchWaiting(test);
    await test.create(podWith());
    await test.clock.advance(seconds(9));
    expect(await waits()).toEqual([
      { reason: "ContainerCreating" },
      { reason: "ErrImagePull", message: "no such image" },
      { reason: "ImagePullBackOff", message: 'Back-off pulling image "app:1": ErrImagePull: no such image' },
    ]);
    await test.clock.advance(seconds(60));
    expect((await test.get("web")).status?.phase).toBe("Running");
  });

  it.each([
    { image: "app:1", imagePullPolicy: "Never", reason: "ErrImageNeverPull" },
    { image: "Not A Name", imagePullPolicy: "IfNotPresent", reason: "InvalidImageName" },
  ] as const)("$reason", async ({ image, imagePullPolicy, reason }) => {
    const test = await start();
    await test.create(podWith({ containers: [{ name: "app", image, imagePullPolicy }] }));
    expect((await waiting(test))?.reason).toBe(reason);
  });

  it("a container that cannot be made: CreateContainerError", async () => {
    const test = await start({ script: { container: () => ({ createError: "no space left" }) } });
    await test.create(podWith());
    expect(await waiting(test)).toEqual({ reason: "CreateContainerError", message: "no space left" });
    expect((await test.get("web")).status?.phase).toBe("Pending");
  });

  it("a command that is not there: RunContainerError, and restarts with backoff", async () => {
    const test = await start({ script: { container: () => ({ startError: "exec: no such file" }) } });
    const waits = await watchWaiting(test);
    await test.create(podWith());
    await test.clock.advance(seconds(30));
    expect((await waits()).map(({ reason }) => reason).slice(0, 3)).toEqual([
      "ContainerCreating",
      "RunContainerError",
      "CrashLoopBackOff",
    ]);
    const [status] = (await test.get("web")).status?.containerStatuses ?? [];
    expect(status?.lastState?.terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
    expect((await test.events()).map(({ message }) => message)).toContain("Error: exec: no such file");
  });

  it("a missing ConfigMap is CreateContainerConfigError until it is there", async () => {
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "settings", key: "a" } } }];
    const test = await start();
    await test.create(podWith({ containers: [{ name: "app", image: "app:1", env }] }));
    expect(await waiting(test)).toEqual({
      reason: "CreateContainerConfigError",
      message: 'configmap "settings" not found',
    });
    await test.server.request("POST", "/api/v1/namespaces/default/configmaps", {
      body: { metadata: { name: "settings" }, data: { a: "1" } },
    });
    await test.clock.advance(seconds(1));
    expect((await test.get("web")).status?.phase).toBe("Running");
  });

  it("a sandbox that cannot be made is tried again", async () => {
    let failures = 3;
    const test = await start({ script: { sandbox: () => (failures-- > 0 ? { error: "no network" } : {}) } });
    await test.create(podWith());
    await test.clock.advance(seconds(60));
    expect((await test.get("web")).status?.phase).toBe("Running");
    expect((await test.events()).find(({ reason }) => reason === "FailedCreatePodSandBox")?.message).toBe(
      "Failed to create pod sandbox: no network",
    );
  });

  it("past its deadline the pod fails", async () => {
    const test = await start();
    await test.create(podWith({ activeDeadlineSeconds: 20 }));
    await test.clock.advance(seconds(19));
    expect((await test.get("web")).status?.phase).toBe("Running");
    await test.clock.advance(seconds(3));
    const { status } = await test.get("web");
    expect(status).toMatchObject({
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    expect(test.runtime.running()).toEqual([]);
  });

  it("a pod that the node does not take fails, and nothing of it runs", async () => {
    const test = await start({
      admit: () => ({ reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" }),
    });
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    expect((await test.get("web")).status).toMatchObject({ phase: "Failed", reason: "OutOfcpu" });
    expect(test.runtime.calls).toEqual([]);
  });

  it("last words come from the file, or from the log where the policy says so", async () => {
    const log = "2030-01-01T00:00:00Z stdout F from the log\n";
    const test = await start({
      script: {
        container: ({ pod }) => ({
          exit: { afterMs: 0, code: 1 },
          ...(pod === "file" ? { terminationMessage: "from the file" } : { log }),
        }),
      },
    });
    const message = async (name: string) =>
      (await test.get(name)).status?.containerStatuses?.[0]?.state?.terminated?.message;
    const app = { name: "app", image: "app:1", terminationMessagePath: "/dev/termination-log" };
    await test.create(podWith({ containers: [app], restartPolicy: "Never" }, "file"));
    const falling = { ...app, terminationMessagePolicy: "FallbackToLogsOnError" as const };
    await test.create(podWith({ containers: [falling], restartPolicy: "Never" }, "log"));
    await test.clock.advance(seconds(1));
    expect(await message("file")).toBe("from the file");
    expect(await message("log")).toBe("from the log\n");
  });
});

describe("changes of a running pod", () => {
  it("another image means another container", async () => {
    const test = await start();
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    const object = { spec: { containers: [{ name: "app", image: "app:2" }] } };
    await test.client.of(Pod).in("default").patch("web", { type: "strategic", object });
    await test.clock.advance(seconds(1));
    expect(started(test)).toEqual(["web/app#0", "web/app#1"]);
    expect((await test.get("web")).status?.containerStatuses?.[0]).toMatchObject({ image: "app:2", restartCount: 1 });
  });

  it("an ephemeral container is started once", async () => {
    const test = await start();
    const pod = await test.create(podWith());
    await test.clock.advance(seconds(1));
    const ephemeralContainers = [
      { name: "debug", image: "busybox:1", targetContainerName: "app", terminationMessagePolicy: "File" as const },
    ];
    const latest = await test.get(pod.metadata.name ?? "");
    await test.client
      .of(Pod)
      .in("default")
      .subresource("web", "ephemeralcontainers")
      .update({ ...latest, spec: { ...latest.spec, containers: latest.spec?.containers ?? [], ephemeralContainers } });
    await test.clock.advance(seconds(1));
    test.runtime.exit("web", "debug", 0);
    await test.clock.advance(seconds(90));
    expect(started(test)).toEqual(["web/app#0", "web/debug#0"]);
    expect((await test.get("web")).status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });
});

describe("crashes", () => {
  it("after a restart of the kubelet nothing is started again, and what happened meanwhile is noticed", async () => {
    const test = await start();
    await test.create(podWith({}, "stays"));
    await test.create(podWith({ restartPolicy: "Never" }, "ends"));
    await test.clock.advance(seconds(1));
    const before = started(test);
    await test.restart();
    await test.clock.advance(seconds(30));
    expect(started(test)).toEqual(before);
    test.runtime.exit("ends", "app", 0);
    await test.restart();
    await test.clock.advance(seconds(5));
    expect((await test.get("ends")).status?.phase).toBe("Succeeded");
    expect(started(test)).toEqual(before);
    expect(test.runtime.running()).toEqual(["stays/app"]);
  });

  it("a runtime that goes away and comes back finds its containers as they were", async () => {
    const test = await start();
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    test.runtime.down();
    await test.create(podWith({}, "later"));
    await test.clock.advance(seconds(60));
    test.runtime.up();
    await test.clock.advance(seconds(20));
    expect(started(test)).toEqual(["web/app#0", "later/app#0"]);
    expect((await test.get("later")).status?.phase).toBe("Running");
  });

  it("a restart of the kubelet makes no container unready", async () => {
    const probe = { exec: { command: ["check"] }, periodSeconds: 5 };
    const app = { name: "app", image: "app:1", readinessProbe: probe, startupProbe: probe };
    const test = await start();
    await test.create(podWith({ containers: [app] }));
    await test.clock.advance(seconds(20));
    const { status } = await test.get("web");
    expect(status?.containerStatuses?.[0]).toMatchObject({ ready: true, started: true });
    await test.restart();
    await test.clock.advance(seconds(20));
    expect((await test.get("web")).status?.conditions).toEqual(status?.conditions);
  });

  it("a runtime that is away gets no container killed by its probes", async () => {
    const livenessProbe = { exec: { command: ["check"] }, periodSeconds: 1, failureThreshold: 1 };
    const test = await start();
    await test.create(podWith({ containers: [{ name: "app", image: "app:1", livenessProbe }] }));
    await test.clock.advance(seconds(3));
    test.runtime.down();
    await test.clock.advance(seconds(30));
    test.runtime.up();
    await test.clock.advance(seconds(30));
    expect(started(test)).toEqual(["web/app#0"]);
  });

  it("containers of a pod that was deleted meanwhile are removed", async () => {
    const test = await start();
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    test.runtime.down();
    await test.restart();
    await test.client.of(Pod).in("default").delete("web", { gracePeriodSeconds: 0 });
    await test.restart();
    test.runtime.up();
    await test.clock.advance(seconds(60));
    expect(test.runtime.containerCount + test.runtime.sandboxCount).toBe(0);
  });
});

describe("resize", () => {
  const sized = (cpu: string, more: Partial<core.Container> = {}): core.Container => ({
    name: "app",
    image: "app:1",
    resources: { requests: { cpu }, limits: { cpu } },
    ...more,
  });
  const resize = (test: TestKubelet, cpu: string) =>
    test.client
      .of(Pod)
      .in("default")
      .subresource("web", "resize")
      .patch({
        type: "strategic",
        object: { spec: { containers: [{ name: "app", resources: sized(cpu).resources ?? {} }] } } as never,
      });
  const conditions = async (test: TestKubelet) =>
    ((await test.get("web")).status?.conditions ?? []).filter(({ type }) => type.startsWith("PodResize"));

  it("changes the container in place", async () => {
    const test = await start();
    await test.create(podWith({ containers: [sized("100m")] }));
    await test.clock.advance(seconds(1));
    await resize(test, "200m");
    await test.clock.advance(seconds(1));
    expect(test.runtime.calls).toContain("updateContainerResources web/app");
    const { status } = await test.get("web");
    expect(status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 0,
      allocatedResources: { cpu: "200m" },
      resources: { requests: { cpu: "200m" }, limits: { cpu: "200m" } },
    });
    expect(await conditions(test)).toEqual([]);
    expect(started(test)).toHaveLength(1);
  });

  it("restarts it where its policy says so", async () => {
    const test = await start();
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }];
    await test.create(podWith({ containers: [sized("100m", { resizePolicy })] }));
    await test.clock.advance(seconds(1));
    await resize(test, "200m");
    await test.clock.advance(seconds(1));
    expect(started(test)).toHaveLength(2);
    await test.restart();
    await test.clock.advance(seconds(5));
    expect(started(test)).toHaveLength(2);
  });

  it("waits while there is no room, and the status keeps what was given", async () => {
    let fits = false;
    const test = await start({
      admitResize: () =>
        fits ? { fits } : { fits, reason: "Deferred", message: "Node didn't have enough resource: cpu" },
    });
    await test.create(podWith({ containers: [sized("100m")] }));
    await test.clock.advance(seconds(1));
    await resize(test, "200m");
    await test.clock.advance(seconds(1));
    expect(await conditions(test)).toMatchObject([{ type: "PodResizePending", reason: "Deferred", status: "True" }]);
    expect((await test.get("web")).status?.containerStatuses?.[0]?.allocatedResources).toEqual({ cpu: "100m" });
    fits = true;
    await test.clock.advance(seconds(61));
    expect(await conditions(test)).toEqual([]);
    expect((await test.get("web")).status?.containerStatuses?.[0]?.allocatedResources).toEqual({ cpu: "200m" });
  });
});
