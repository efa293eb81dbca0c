/** The runtime of real nodes against a real containerd: what CRI promises, as far as the kubelet builds on it. */
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/base/index.ts";
import { BUSYBOX_IMAGE, machineImages, PAUSE_IMAGE } from "../../src/cluster/images/index.ts";
import { importImage } from "../../src/cluster/nodes/runtime/containerd.ts";
import { containerConfig, sandboxConfig } from "../../src/kubelet/cri/testing/configs.ts";
import { type ContainerConfig, criRuntime, type PodSandboxConfig, type RuntimeEvent } from "../../src/kubelet/index.ts";
import { testTracer } from "../../src/tracing/testing/index.ts";
import { start } from "../support/command.ts";
import { leftovers, missing } from "./support/leftovers.ts";
import { LoneContainerd } from "./support/lone-containerd.ts";
import { until } from "./support/wait.ts";

describe.skipIf(missing !== "")(`CRI on containerd${missing && `: ${missing}`}`, () => {
  let containerd: LoneContainerd;
  let pods = 0;

  beforeAll(async () => {
    containerd = new LoneContainerd();
    await containerd.start();
  });
  afterAll(async () => {
    expect(leftovers(containerd.dir)).not.toEqual([]);
    await containerd[Symbol.asyncDispose]();
    expect(leftovers(containerd.dir)).toEqual([]);
  });

  const runtime = () => containerd.runtime;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

  /** A Pod of its own for a test, which takes it away. */
  async function pod(): Promise<{ id: string; config: PodSandboxConfig } & AsyncDisposable> {
    const uid = `uid-${++pods}`;
    const { linux } = sandboxConfig({});
    const config = sandboxConfig({
      metadata: { name: `pod-${pods}`, uid, namespace: "default", attempt: 0 },
      logDirectory: join(containerd.dir, "logs", uid),
      labels: { "io.kubernetes.pod.uid": uid },
      linux: { ...linux, cgroupParent: `${containerd.node.cgroup}/${uid}` },
    });
    mkdirSync(join(config.logDirectory, "main"), { recursive: true });
    const id = await runtime().runPodSandbox(config, "");
    return {
      id,
      config,
      [Symbol.asyncDispose]: async () => {
        await runtime().stopPodSandbox(id);
        await runtime().removePodSandbox(id);
      },
    };
  }

  async function container(
    { id, config }: { id: string; config: PodSandboxConfig },
    script: string,
    changes: Partial<ContainerConfig> = {},
  ): Promise<string> {
    const shell = { command: ["sh", "-c", script], logPath: "main/0.log" };
    const made = await runtime().createContainer(id, containerConfig({ ...shell, ...changes }), config);
    await runtime().startContainer(made);
    return made;
  }

  /** In its first container's log. */
  const said = ({ config }: { config: PodSandboxConfig }, words: string) =>
    until(
      () => readFileSync(join(config.logDirectory, "main/0.log"), "utf8"),
      (log) => log.includes(words),
    );

  const exited = (id: string) =>
    until(
      () => runtime().containerStatus(id),
      (status) => status?.state === "exited",
    );

  it("says who it is, and that it is ready", async () => {
    expect(await runtime().version()).toMatchObject({ runtimeName: "containerd", runtimeApiVersion: "v1" });
    const { conditions } = await until(
      () => runtime().status(),
      (status) => status.conditions.every((condition) => condition.status),
    );
    expect(conditions.map(({ type }) => type)).toEqual(expect.arrayContaining(["RuntimeReady", "NetworkReady"]));
  });

  it("takes the trace of a call, which is a span of the work that calls", async () => {
    const { tracer, spans } = testTracer(containerd.clock);
    const endpoint = containerd.node.socket;
    const traced = criRuntime({ endpoint, clock: containerd.clock, log: silentLogger, tracer });
    try {
      await tracer.during({ name: "syncPod", woken: [] }, () => traced.version());
    } finally {
      await traced.close();
    }
    tracer.works.sweep(true);
    const root = spans.find(({ name }) => name === "syncPod");
    const call = spans.find(({ name }) => name === "runtime.v1.RuntimeService/Version");
    expect(call).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId, failure: undefined });
  });

  it("runs a sandbox with an address, and shows it until it is removed", async () => {
    const started = containerd.clock.now();
    const { id, config } = await pod();
    const status = await runtime().podSandboxStatus(id);
    expect(status).toMatchObject({ id, metadata: config.metadata, state: "ready", labels: config.labels });
    expect(status?.ips).toEqual([expect.stringMatching(/^10\.244\.7\.\d+$/)]);
    expect(status?.createdAtMs).toBeGreaterThanOrEqual(started - 1000);
    expect(await runtime().listPodSandboxes({ labels: config.labels })).toEqual([expect.objectContaining({ id })]);
    expect(await runtime().listPodSandboxes({ labels: { "io.kubernetes.pod.uid": "another" } })).toEqual([]);

    await runtime().stopPodSandbox(id);
    expect((await runtime().podSandboxStatus(id))?.state).toBe("notReady");
    await runtime().stopPodSandbox(id);
    await runtime().removePodSandbox(id);
    await runtime().removePodSandbox(id);
    expect(await runtime().podSandboxStatus(id)).toBeUndefined();
  });

  it("runs a container: its log is on disk in CRI's format, its end is told with the code", async () => {
    await using own = await pod();
    const envs = [{ key: "WHO", value: "world ✓" }];
    const id = await container(own, 'echo "hello $WHO"; echo oops >&2; exit 3', { envs, labels: { a: "b" } });
    const status = await exited(id);
    expect(status).toMatchObject({
      id,
      podSandboxId: own.id,
      image: BUSYBOX_IMAGE,
      exitCode: 3,
      reason: "Error",
      labels: { a: "b" },
      logPath: join(own.config.logDirectory, "main/0.log"),
    });
    expect(status?.startedAtMs).toBeGreaterThanOrEqual(status?.createdAtMs ?? Number.NaN);
    // A start is written down when it has succeeded: by then a short one may have ended.
    expect(status?.finishedAtMs).toBeGreaterThanOrEqual(status?.createdAtMs ?? Number.NaN);
    const log = readFileSync(join(own.config.logDirectory, "main/0.log"), "utf8").trim().split("\n");
    expect(log).toHaveLength(2);
    expect(log.find((line) => line.includes(" stdout "))).toMatch(/^\d{4}-\d\d-\d\dT\S+Z stdout F hello world ✓$/);
    expect(log.find((line) => line.includes(" stderr "))).toMatch(/^\S+ stderr F oops$/);

    expect((await runtime().listContainers({ podSandboxId: own.id })).map((each) => each.id)).toEqual([id]);
    await runtime().removeContainer(id);
    await runtime().removeContainer(id);
    expect(await runtime().containerStatus(id)).toBeUndefined();
  });

  it("tells events in order, and only when a question about them has the answer", async () => {
    const stop = new AbortController();
    const events: RuntimeEvent[] = [];
    const seen: string[] = [];
    const following = (async () => {
      for await (const event of runtime().events(stop.signal)) {
        events.push(event);
        if (event.type === "stopped" && event.containerId !== event.podSandboxId) {
          const status = await runtime().containerStatus(event.containerId);
          seen.push(`${status?.state} ${status?.exitCode}`);
        }
      }
    })();
    // A subscription is not acknowledged: it is there when the first event comes.
    const first = await pod();
    await until(
      async () => {
        await container(first, "exit 0", { metadata: { name: "probe", attempt: ++pods }, logPath: "" });
        return events.length;
      },
      (count) => count > 0,
    );
    const own = await pod();
    const id = await container(own, "exit 7");
    await until(
      () => seen,
      (states) => states.includes("exited 7"),
    );
    await runtime().stopPodSandbox(own.id);
    await runtime().removePodSandbox(own.id);
    const about = (wanted: string) => events.filter((event) => event.containerId === wanted);
    await until(
      () => about(own.id).map(({ type }) => type),
      (types) => types.includes("deleted"),
    );
    await first[Symbol.asyncDispose]();
    expect(about(id).map(({ type }) => type)).toEqual(["created", "started", "stopped", "deleted"]);
    expect(about(own.id).map(({ type }) => type)).toEqual(["created", "started", "stopped", "deleted"]);
    expect(new Set(about(id).map(({ podSandboxId }) => podSandboxId))).toEqual(new Set([own.id]));
    expect(seen.filter((state) => state.startsWith("running"))).toEqual([]);
    stop.abort();
    await following;
  });

  it("runs commands in a container", async () => {
    await using own = await pod();
    const id = await container(own, "sleep 1000");
    const { stdout, stderr, exitCode } = await runtime().execSync(
      id,
      ["sh", "-c", "hostname; echo no >&2; exit 5"],
      5000,
    );
    expect([text(stdout), text(stderr), exitCode]).toEqual([`${own.config.hostname}\n`, "no\n", 5]);
    await expect(runtime().execSync(id, ["sleep", "1000"], 1000)).rejects.toMatchObject({ code: "DeadlineExceeded" });
    await expect(runtime().execSync(id, ["no-such-command"], 5000)).rejects.toMatchObject({ code: "Unknown" });
    const aborted = AbortSignal.timeout(50);
    await expect(runtime().execSync(id, ["sleep", "1000"], 0, aborted)).rejects.toThrow("aborted due to timeout");
    const streams = { containerId: id, stdin: true, stdout: true, stderr: false, tty: true };
    expect(await runtime().exec({ ...streams, command: ["sh"] })).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/exec\//);
    expect(await runtime().attach(streams)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/attach\//);
    expect(await runtime().portForward(own.id, [80])).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/portforward\//);
  });

  it("stops with SIGTERM first, and kills what does not listen", async () => {
    await using own = await pod();
    const polite = await container(own, "trap 'exit 9' TERM; echo listening; while :; do sleep 0.05; done");
    // Process 1 does not hear a signal that it has not asked for.
    await said(own, "listening");
    await runtime().stopContainer(polite, 20);
    expect(await runtime().containerStatus(polite)).toMatchObject({ state: "exited", exitCode: 9 });
    const deaf = await container(own, "trap '' TERM; while :; do sleep 0.05; done", {
      metadata: { name: "deaf", attempt: 0 },
      logPath: "main/1.log",
    });
    await runtime().stopContainer(deaf, 1);
    expect(await runtime().containerStatus(deaf)).toMatchObject({ state: "exited", exitCode: 137, reason: "Error" });
    await runtime().stopContainer(deaf, 1);
    await runtime().stopContainer("no-such-container", 1);
  });

  it("keeps a container within its memory, and says that this ended it", async () => {
    await using own = await pod();
    const linux = { ...containerConfig({}).linux, resources: { memoryLimitBytes: 20_000_000 } };
    const id = await container(own, "exec tail /dev/zero", { linux });
    expect(await exited(id)).toMatchObject({ exitCode: 137, resources: { memoryLimitBytes: 20_000_000 } });
    // That it has ended, and why, containerd hears from two sides: the reason may come later.
    await until(
      () => runtime().containerStatus(id),
      (status) => status?.reason === "OOMKilled",
    );
  });

  it("measures containers, and changes their resources", async () => {
    await using own = await pod();
    const linux = { ...containerConfig({}).linux, resources: { memoryLimitBytes: 50_000_000, cpuShares: 200 } };
    const id = await container(own, "echo x > /file; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 1000", {
      linux,
    });
    const stats = await until(
      async () => (await runtime().listContainerStats({ podSandboxId: own.id }))[0],
      (one) => (one?.cpuCoreNanoSeconds ?? 0) > 0 && (one?.memoryWorkingSetBytes ?? 0) > 0,
    );
    expect(stats).toMatchObject({ id });
    expect(Math.abs((stats?.timestampMs ?? 0) - containerd.clock.now())).toBeLessThan(60_000);
    await runtime().updateContainerResources(id, {
      memoryLimitBytes: 60_000_000,
      cpuShares: 300,
      cpuPeriod: 100_000,
      cpuQuota: 50_000,
    });
    const status = await runtime().containerStatus(id);
    expect(status?.resources).toMatchObject({ memoryLimitBytes: 60_000_000, cpuShares: 300, cpuQuota: 50_000 });
  });

  it("goes on in a new log file when the old one has been moved", async () => {
    await using own = await pod();
    const id = await container(own, "while :; do echo tick; sleep 0.05; done");
    const log = join(own.config.logDirectory, "main/0.log");
    const read = () => readFileSync(log, "utf8");
    await until(read, (content) => content.includes("tick"));
    renameSync(log, `${log}.old`);
    await runtime().reopenContainerLog(id);
    await until(read, (content) => content.includes("tick"));
  });

  it("says in the runtime's words why a container cannot be", async () => {
    await using own = await pod();
    await expect(container(own, "", { command: ["/no/such"] })).rejects.toMatchObject({
      code: "Unknown",
      message: expect.stringMatching(/^rpc error: .*exec: "\/no\/such": .*no such file or directory/),
    });
    await expect(
      container(own, "", { image: "localhost/none:1", metadata: { name: "b", attempt: 0 } }),
    ).rejects.toMatchObject({
      code: "NotFound",
    });
    await expect(runtime().startContainer("no-such-container")).rejects.toMatchObject({ code: "NotFound" });
  });

  it("has images, and says so when it has not", async () => {
    const tags = (await runtime().images.list()).flatMap((image) => image.repoTags);
    expect(tags).toEqual(expect.arrayContaining([BUSYBOX_IMAGE, PAUSE_IMAGE]));
    const busybox = await runtime().images.status(BUSYBOX_IMAGE);
    expect(busybox?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(busybox?.sizeBytes).toBeGreaterThan(100_000);
    expect(await runtime().images.status("localhost/none:1")).toBeUndefined();
    // Nothing listens on the node's own loopback: a registry that cannot be reached.
    await expect(runtime().images.pull("localhost/none:1", {})).rejects.toMatchObject({
      code: "Unknown",
      message: expect.stringContaining('failed to resolve reference "localhost/none:1"'),
    });
    expect(await runtime().images.filesystemUsage()).toEqual([
      expect.objectContaining({ mountpoint: expect.stringContaining(containerd.node.containerdRoot) }),
    ]);

    await runtime().images.remove(BUSYBOX_IMAGE);
    await runtime().images.remove(BUSYBOX_IMAGE);
    expect(await runtime().images.status(BUSYBOX_IMAGE)).toBeUndefined();
    const archive = (await machineImages()).find(({ name }) => name === BUSYBOX_IMAGE)?.archive ?? new Uint8Array();
    expect(await importImage(containerd.node, archive)).toEqual([BUSYBOX_IMAGE]);
    await until(
      () => runtime().images.status(BUSYBOX_IMAGE),
      (image) => image !== undefined,
    );
  });

  it("pulls from a registry, as whoever may", async () => {
    const inNode = `--net=/run/netns/${containerd.node.namespace}`;
    const registry = [inNode, "--", process.execPath, join(import.meta.dirname, "support", "registry.ts")];
    const options = { env: process.env, cwd: containerd.dir };
    await using running = start("nsenter", [...registry, "127.0.0.1", "5000", "me:secret"], options);
    await running.printed("ready");
    const image = "localhost:5000/some/image:1";
    await expect(runtime().images.pull(image, {})).rejects.toThrow("401 Unauthorized");
    const auth = { username: "me", password: "secret" };
    const ref = await runtime().images.pull(image, { auth });
    const pulled = await runtime().images.status(image);
    expect(pulled).toMatchObject({ id: ref, repoTags: expect.arrayContaining([image]) });
    expect(pulled?.repoDigests).toEqual([expect.stringMatching(/^localhost:5000\/some\/image@sha256:[0-9a-f]{64}$/)]);
  });

  it("is the same runtime after containerd was killed and came back; containers have not noticed", async () => {
    await using own = await pod();
    const id = await container(own, "sleep 1000");
    const startedAtMs = (await runtime().containerStatus(id))?.startedAtMs;
    const stop = new AbortController();
    const following = (async () => {
      for await (const _ of runtime().events(stop.signal));
    })();
    const broken = expect(following).rejects.toMatchObject({ code: "Unavailable" });
    await runtime().version();
    await containerd.kill();
    await broken;
    await expect(runtime().version()).rejects.toMatchObject({ code: "Unavailable" });
    await containerd.start();
    await until(
      () =>
        runtime()
          .version()
          .catch(() => undefined),
      (version) => version !== undefined,
    );
    expect(await runtime().containerStatus(id)).toMatchObject({ state: "running", startedAtMs, podSandboxId: own.id });
    expect((await runtime().execSync(id, ["true"], 5000)).exitCode).toBe(0);
  });
});
