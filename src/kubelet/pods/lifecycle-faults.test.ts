/** What goes wrong in the life of Pods, and what comes of it. */
import { describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import type { TestKubelet } from "../testing/index.ts";
import { kubelets, podWith, seconds, started } from "../testing/scenarios.ts";

const start = kubelets();

/** The waiting reasons of a Pod's container over time. */
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

  it("the image of a volume is pulled by its own policy, and its failure is one of the container", async () => {
    const test = await start({
      script: { pull: (image, attempt) => (image === "tools:1" && attempt < 1 ? { error: "no such image" } : {}) },
    });
    const volumes = [{ name: "tools", image: { reference: "tools:1", pullPolicy: "Always" as const } }];
    const mounts = [{ name: "tools", mountPath: "/tools" }];
    await test.create(podWith({ volumes, containers: [{ name: "app", image: "app:1", volumeMounts: mounts }] }));
    await test.settle();
    const state = async () => (await test.get("web")).status?.containerStatuses?.[0]?.state;
    expect((await state())?.waiting?.message).toBe('Back-off pulling image "tools:1": ErrImagePull: no such image');
    await test.clock.advance(seconds(60));
    expect(await state()).toHaveProperty("running");
    await test.create({
      ...podWith({ volumes, containers: [{ name: "app", image: "app:1" }] }),
      metadata: { name: "other" },
    });
    await test.clock.advance(seconds(2));
    // Nothing mounts it there.
    expect(test.runtime.calls.filter((call) => call === "images.pull tools:1")).toHaveLength(2);
  });

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

  it("a Pod that asks for users of its own does not run with the node's", async () => {
    const test = await start();
    await test.create(podWith({ hostUsers: false }));
    await test.clock.advance(seconds(1));
    expect((await test.get("web")).status?.phase).toBe("Pending");
    expect(started(test)).toEqual([]);
    expect((await test.events()).map(({ message }) => message)).toContain(
      "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
    );
  });

  it("a Pod that claims devices does not start without them, and says which claim it is about", async () => {
    const test = await start();
    await test.create(podWith({ resourceClaims: [{ name: "gpu", resourceClaimName: "gpus" }] }));
    await test.clock.advance(seconds(1));
    const notes = async () =>
      (await test.events()).flatMap(({ reason, message }) =>
        reason === "FailedPrepareDynamicResources" ? [message] : [],
      );
    const failed = "Failed to prepare dynamic resources: prepare dynamic resources: ";
    expect(await notes()).toEqual([
      `${failed}fetch ResourceClaim gpus: resourceclaims.resource.k8s.io "gpus" not found`,
    ]);
    const claims = test.client.of(kinds.ResourceClaim).in("default");
    const claim = await claims.create({
      metadata: { name: "gpus", namespace: "default" },
      spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] } },
    });
    await test.clock.advance(seconds(60));
    const { uid = "" } = (await test.get("web")).metadata;
    expect(await notes()).toContain(
      `${failed}pod web (${uid}) is not allowed to use ResourceClaim gpus (${claim.metadata.uid})`,
    );
    const results = [{ request: "one", driver: "gpu.example.com", pool: "node-1", device: "gpu-0" }];
    const object = {
      status: { allocation: { devices: { results } }, reservedFor: [{ resource: "pods", name: "web", uid }] },
    };
    await claims.subresource("gpus", "status").patch({ type: "merge", object });
    await test.clock.advance(seconds(60));
    expect(await notes()).toContain(`${failed}DRA driver gpu.example.com is not registered`);
    expect(started(test)).toEqual([]);
    expect((await test.get("web")).status?.phase).toBe("Pending");
  });

  it("a subPath that leaves its volume: CreateContainerConfigError, which says nothing of the node's files", async () => {
    const test = await start();
    const volumeMounts = [{ name: "mnt", mountPath: "/mnt", subPath: "link-out" }];
    const containers = [{ name: "app", image: "app:1", volumeMounts }];
    await test.create(podWith({ volumes: [{ name: "mnt", emptyDir: {} }], containers }));
    expect(await waiting(test)).toEqual({
      reason: "CreateContainerConfigError",
      message: 'failed to prepare subPath for volumeMount "mnt" of container "app"',
    });
  });

  it("a mount that must be read-only below, too: CreateContainerConfigError", async () => {
    const test = await start();
    const volumeMounts = [{ name: "mnt", mountPath: "/mnt", readOnly: true, recursiveReadOnly: "Enabled" as const }];
    const containers = [{ name: "app", image: "app:1", volumeMounts }];
    await test.create(podWith({ volumes: [{ name: "mnt", emptyDir: {} }], containers }));
    expect(await waiting(test)).toEqual({
      reason: "CreateContainerConfigError",
      message:
        'failed to resolve recursive read-only mode: volume "mnt" requested recursive read-only mode, but it is not supported by the runtime',
    });
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

  it("a restart while a Pod is evicted loses neither the eviction nor its reason", async () => {
    const test = await start({ script: { container: () => ({ onStop: "ignore" }) } });
    const { uid = "" } = (await test.create(podWith())).metadata;
    await test.clock.advance(seconds(1));
    test.pods().workers.get(uid)?.evict({ reason: "Evicted", message: "too much" }, 10);
    await test.clock.advance(seconds(5));
    expect((await test.get("web")).status?.phase).toBe("Running");
    await test.restart();
    await test.clock.advance(seconds(20));
    expect((await test.get("web")).status).toMatchObject({ phase: "Failed", reason: "Evicted", message: "too much" });
    expect(test.runtime.running()).toEqual([]);
    expect(started(test)).toEqual(["web/app#0"]);
  });

  it("containers of a pod that was deleted meanwhile are removed", async () => {
    const test = await start();
    await test.create(podWith());
    await test.clock.advance(seconds(1));
    test.runtime.down();
    await test.restart();
    await test.client.of(kinds.Pod).in("default").delete("web", { gracePeriodSeconds: 0 });
    await test.restart();
    test.runtime.up();
    await test.clock.advance(seconds(60));
    expect(test.runtime.containerCount + test.runtime.sandboxCount).toBe(0);
  });
});
