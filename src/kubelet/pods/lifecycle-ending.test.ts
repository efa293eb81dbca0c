/** Pods and containers that end, because they are asked to: probes, hooks, deletion, changes. */
import { describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import type { TestKubelet } from "../testing/index.ts";
import { kubelets, podWith, seconds, started } from "../testing/scenarios.ts";

const start = kubelets();

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

  it("a redirect to another host is a success that is worth an event", async () => {
    const readinessProbe = { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 1 };
    const test = await start({ network: { httpGet: async () => ({ status: 302, body: "away" }) } });
    await test.create(podWith(probed({ readinessProbe })));
    await test.clock.advance(seconds(2));
    expect((await test.get("web")).status?.containerStatuses?.[0]?.ready).toBe(true);
    const warnings = (await test.events()).filter(({ reason }) => reason === "ProbeWarning");
    expect(warnings.map(({ type, message }) => `${type} ${message}`)).toEqual([
      "Warning Readiness probe warning: Probe terminated redirects, Response body: away",
    ]);
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

describe("why a container has ended", () => {
  it.each(["Never", "Always"] as const)("may be known later: restartPolicy %s", async (restartPolicy) => {
    const test = await start();
    await test.create(podWith({ restartPolicy }));
    await test.clock.advance(seconds(2));
    test.runtime.exit("web", "app", 137);
    await test.clock.advance(seconds(1));
    const ended = async () => {
      const [app] = (await test.get("web")).status?.containerStatuses ?? [];
      return (restartPolicy === "Never" ? app?.state : app?.lastState)?.terminated;
    };
    expect(await ended()).toMatchObject({ exitCode: 137, reason: "Error" });
    test.runtime.explain("web", "app", "OOMKilled");
    await test.clock.advance(seconds(1));
    expect(await ended()).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
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
    await test.client.of(kinds.Pod).in("default").delete("web");
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
    await test.client.of(kinds.Pod).in("default").delete("web");
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
    await test.client.of(kinds.Pod).in("default").delete("web");
    await test.clock.advance(seconds(10));
    expect(test.runtime.running()).toEqual(["web/app"]);
    await test.client.of(kinds.Pod).in("default").delete("web", { gracePeriodSeconds: 5 });
    await test.clock.advance(seconds(6));
    expect(test.runtime.running()).toEqual([]);
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("waits for a container that is being started, and stops it like any other", async () => {
    const test = await start({ script: { container: () => ({ startAfterMs: 5_000, onStop: "ignore" }) } });
    await test.create(podWith({ terminationGracePeriodSeconds: 8 }));
    await test.clock.advance(seconds(1));
    await test.client.of(kinds.Pod).in("default").delete("web");
    await test.clock.advance(seconds(2));
    const state = async () => (await test.get("web")).status?.containerStatuses?.[0]?.state;
    expect(await state()).toHaveProperty("waiting");
    await test.clock.advance(seconds(4));
    expect(await state()).toHaveProperty("running");
    expect(test.runtime.calls).toContain("stopContainer web/app grace 8");
    await test.clock.advance(seconds(9));
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("probes readiness to the end, and says what it finds", async () => {
    let status = 200;
    const readinessProbe = { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
    const test = await start({
      network: { httpGet: async () => ({ status, body: "" }) },
      script: { container: () => ({ onStop: "ignore" }) },
    });
    const isReady = async () => (await test.get("web")).status?.containerStatuses?.[0]?.ready;
    await test.create(
      podWith({ terminationGracePeriodSeconds: 30, containers: [{ name: "app", image: "app:1", readinessProbe }] }),
    );
    await test.clock.advance(seconds(2));
    await test.client.of(kinds.Pod).in("default").delete("web");
    await test.clock.advance(seconds(3));
    expect(await isReady()).toBe(true);
    status = 500;
    await test.clock.advance(seconds(2));
    expect(await isReady()).toBe(false);
    expect((await test.get("web")).status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
    status = 200;
    await test.clock.advance(seconds(2));
    expect(await isReady()).toBe(true);
    await test.clock.advance(seconds(30));
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("a pod that was removed by force is ended all the same", async () => {
    const test = await start({});
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    await test.client.of(kinds.Pod).in("default").delete("web", { gracePeriodSeconds: 0 });
    await test.clock.advance(seconds(40));
    expect(test.runtime.containerCount + test.runtime.sandboxCount).toBe(0);
  });

  it("a pod that is deleted while its image is pulled does not wait for it", async () => {
    const test = await start({ script: { pull: () => ({ afterMs: 600_000 }) } });
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    await test.client.of(kinds.Pod).in("default").delete("web");
    await test.clock.advance(seconds(2));
    await expect(test.get("web")).rejects.toMatchObject({ reason: "NotFound" });
    expect(test.runtime.sandboxCount).toBe(0);
  });
});

describe("changes of a running pod", () => {
  it("another image means another container", async () => {
    const test = await start();
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    const object = { spec: { containers: [{ name: "app", image: "app:2" }] } };
    await test.client.of(kinds.Pod).in("default").patch("web", { type: "strategic", object });
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
      .of(kinds.Pod)
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

describe("resize", () => {
  const sized = (cpu: string, more: Partial<core.Container> = {}): core.Container => ({
    name: "app",
    image: "app:1",
    resources: { requests: { cpu }, limits: { cpu } },
    ...more,
  });
  const resize = (test: TestKubelet, cpu: string) =>
    test.client
      .of(kinds.Pod)
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
