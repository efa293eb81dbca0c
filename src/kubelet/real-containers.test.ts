/**
 * Pods in real containers: a kubelet on a containerd of its own, with an API server in memory. What a container sees,
 * it writes to the test's own folder.
 */

import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type core, kinds } from "#api";
import { MetricsRegistry, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { createAuthority } from "#pki";
import { openMemoryStore, type Store } from "#store";
import { missing } from "../../test/containerd/support/leftovers.ts";
import { LoneContainerd } from "../../test/containerd/support/lone-containerd.ts";
import { type ApiServer, startApiServer } from "../apiserver/index.ts";
import { KUBELET_DEFAULTS, type KubeletConfig } from "./config/index.ts";
import { shutdownPeriods } from "./eviction/index.ts";
import { runKubelet } from "./kubelet.ts";

const IMAGE = "localhost/busybox:1";

describe.skipIf(missing !== "")(`pods in real containers${missing && `: ${missing}`}`, () => {
  const clock = realClock();
  const containerd = new LoneContainerd();
  const out = join(containerd.dir, "out");
  const config: KubeletConfig = {
    ...KUBELET_DEFAULTS,
    nodeName: "lone",
    nodeIps: ["127.0.0.1"],
    rootDir: join(containerd.dir, "kubelet"),
    podLogsRoot: join(containerd.dir, "logs"),
    cgroupRoot: containerd.node.cgroup,
    clusterDns: ["10.96.0.10"],
    containerLogMaxBytes: 200_000,
    containerLogMaxFiles: 3,
    shutdownPeriods: shutdownPeriods(8, 2),
    podPidsLimit: 321,
    systemReserved: { cpu: "100m", memory: "64Mi" },
    topology: { ...KUBELET_DEFAULTS.topology, cpuPolicy: "static", reconcileMs: 1000 },
  };
  let store: Store;
  let server: ApiServer;
  let admin: Client;
  let kubelet: TaskGroup;
  let shutdown: AbortController;
  const clients: Client[] = [];
  const parts = { clock, random: systemRandom(), log: silentLogger, metrics: new MetricsRegistry() };

  const clientOf = (name: string, groups: readonly string[]) => {
    const client = new Client({ transport: inProcess(server.handle, { name, groups }), clock });
    clients.push(client);
    return client;
  };
  const startKubelet = () => {
    const client = clientOf("system:node:lone", ["system:nodes", "system:authenticated"]);
    kubelet = new TaskGroup();
    shutdown = new AbortController();
    const options = {
      config,
      client,
      runtime: containerd.runtime,
      version: "v1.36.4",
      ...parts,
      metrics: new MetricsRegistry(),
      shutdown: shutdown.signal,
    };
    kubelet.run("kubelet", (signal) => runKubelet(options, signal));
  };

  beforeAll(async () => {
    mkdirSync(out, { recursive: true });
    // Whoever a container runs as.
    chmodSync(out, 0o777);
    mkdirSync(config.rootDir, { recursive: true });
    await containerd.start();
    const ca = await createAuthority({ commonName: "ca", clock });
    const serving = await ca.issue({ commonName: "s", ipAddresses: ["127.0.0.1"], usages: ["server"] });
    store = openMemoryStore({ clock });
    server = await startApiServer({
      host: "127.0.0.1",
      port: 0,
      certificate: { ...serving, clientCaPem: ca.certPem },
      store,
      sharedStore: false,
      ...parts,
    });
    admin = clientOf("admin", ["system:masters"]);
    // What controllers make in every namespace.
    await admin
      .of(kinds.ServiceAccount)
      .in("default")
      .create({ metadata: { name: "default" } });
    startKubelet();
    await vi.waitFor(
      async () =>
        expect(
          (await admin.of(kinds.Node).get("lone")).status?.conditions?.find(({ type }) => type === "Ready")?.status,
        ).toBe("True"),
      30_000,
    );
    await admin.of(kinds.Node).patch("lone", { type: "merge", object: { spec: { taints: [] } } });
    // What takes its time, and is looked at later.
    await create("chatty", { containers: [container("app", "while true; do seq 1 1000; usleep 100000; done")] });
    await create("greedy", {
      restartPolicy: "Never",
      containers: [
        container("app", "dd if=/dev/zero of=/data/file bs=1M count=3; exec sleep 1000", {
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        }),
      ],
      volumes: [{ name: "data", emptyDir: { sizeLimit: "1Mi" } }],
    });
  });

  afterAll(async () => {
    await kubelet.stop();
    for (const client of clients) await client.close();
    await server.stop();
    await store.close();
    await containerd[Symbol.asyncDispose]();
  });

  const pods = () => admin.of(kinds.Pod).in("default");
  const create = (name: string, spec: Partial<core.PodSpec>) =>
    pods().create({
      metadata: { name, labels: { app: name } },
      spec: {
        nodeName: "lone",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 5,
        containers: [],
        ...spec,
        volumes: [{ name: "out", hostPath: { path: out, type: "Directory" } }, ...(spec.volumes ?? [])],
      },
    });
  const container = (name: string, script: string, more: Partial<core.Container> = {}): core.Container => ({
    name,
    image: IMAGE,
    command: ["sh", "-c", script],
    ...more,
    volumeMounts: [{ name: "out", mountPath: "/out" }, ...(more.volumeMounts ?? [])],
  });
  const until = (name: string, check: (pod: core.Pod) => void) =>
    vi.waitFor(async () => check(await pods().get(name)), { timeout: 60_000, interval: 100 });
  const phase = (name: string, wanted: string) => until(name, ({ status }) => expect(status?.phase).toBe(wanted));
  const gone = (name: string) =>
    vi.waitFor(() => expect(pods().get(name)).rejects.toMatchObject({ reason: "NotFound" }), {
      timeout: 60_000,
      interval: 100,
    });
  const read = (file: string) => readFileSync(join(out, file), "utf8").trim();
  const idOf = async (name: string) => (await pods().get(name)).status?.containerStatuses?.[0]?.containerID;

  it("environment, volumes, users and names are as documented", async () => {
    await admin
      .of(kinds.ConfigMap)
      .in("default")
      .create({ metadata: { name: "cm" }, data: { a: "one" } });
    await admin
      .of(kinds.Secret)
      .in("default")
      .create({ metadata: { name: "sec" }, data: { s: "dHdv" } });
    const script = [
      "echo $IP > /out/v-ip",
      "echo $GREETING > /out/v-env",
      "cat /cm/a /sec/s /sub/file > /out/v-files; id > /out/v-id",
      "cat /etc/hosts > /out/v-hosts; cat /etc/resolv.conf > /out/v-resolv; hostname > /out/v-hostname",
      "stat -L -c %a /sec/s > /out/v-mode; df /mem | tail -1 > /out/v-mem; touch /data/own; stat -c %g /data/own > /out/v-group",
      "while [ $(cat /cm/a) = one ]; do sleep 0.1; done; cat /cm/a > /out/v-changed",
    ].join("; ");
    await create("vols", {
      restartPolicy: "Never",
      hostname: "box",
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
      initContainers: [
        container("prepare", "echo deep > /data/file", {
          volumeMounts: [{ name: "data", mountPath: "/data", subPath: "x/y" }],
        }),
      ],
      containers: [
        container("app", script, {
          env: [
            { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
            { name: "GREETING", value: "hello $(IP)" },
          ],
          volumeMounts: [
            { name: "cm", mountPath: "/cm" },
            { name: "sec", mountPath: "/sec" },
            { name: "mem", mountPath: "/mem" },
            { name: "data", mountPath: "/data" },
            { name: "data", mountPath: "/sub", subPath: "x/y" },
          ],
        }),
      ],
      volumes: [
        { name: "cm", configMap: { name: "cm" } },
        { name: "sec", secret: { secretName: "sec", defaultMode: 0o400 } },
        { name: "mem", emptyDir: { medium: "Memory", sizeLimit: "8Mi" } },
        { name: "data", emptyDir: {} },
      ],
    });
    await phase("vols", "Running");
    await vi.waitFor(() => expect(existsSync(join(out, "v-group"))).toBe(true), 60_000);
    await admin
      .of(kinds.ConfigMap)
      .in("default")
      .patch("cm", { type: "merge", object: { data: { a: "changed" } } });
    await phase("vols", "Succeeded");
    const ip = (await pods().get("vols")).status?.podIP ?? "";
    expect(ip).toMatch(/^10\.244\.7\./);
    expect([read("v-ip"), read("v-env"), read("v-changed")]).toEqual([ip, `hello ${ip}`, "changed"]);
    expect(read("v-files")).toBe("onetwodeep");
    expect(read("v-id")).toMatch(/uid=1000 .*groups=.*2000/);
    expect(read("v-hosts")).toContain(`${ip}\tbox`);
    expect(read("v-resolv")).toContain("search default.svc.cluster.local");
    expect([read("v-hostname"), read("v-mode"), read("v-group")]).toEqual(["box", "440", "2000"]);
    expect(read("v-mem")).toMatch(/^tmpfs\s+8192/);
  });

  it("exit codes, termination messages and memory limits are reported", async () => {
    await create("fails", {
      restartPolicy: "Never",
      containers: [container("app", "echo -n why > /dev/termination-log; exit 3")],
    });
    await create("oom", {
      restartPolicy: "Never",
      containers: [container("app", "tail /dev/zero", { resources: { limits: { memory: "16Mi" } } })],
    });
    await create("nothing", {
      restartPolicy: "Never",
      containers: [{ name: "app", image: IMAGE, command: ["/nothing"] }],
    });
    const ended = (name: string) => async () =>
      (await pods().get(name)).status?.containerStatuses?.[0]?.state?.terminated;
    await Promise.all(["fails", "oom", "nothing"].map((name) => phase(name, "Failed")));
    expect(await ended("fails")()).toMatchObject({ exitCode: 3, reason: "Error", message: "why" });
    // The runtime may say later why it was.
    await vi.waitFor(async () => expect(await ended("oom")()).toMatchObject({ exitCode: 137, reason: "OOMKilled" }), {
      timeout: 60_000,
    });
    expect(await ended("nothing")()).toMatchObject({ exitCode: 128, reason: "StartError" });
  });

  it("init containers, sidecars and hooks come in order, and end in order", async () => {
    const stays = (name: string) =>
      `trap 'echo ${name} ended >> /out/order; exit 0' TERM; echo ${name} >> /out/order; touch /up; while true; do sleep 0.1; done`;
    const startupProbe = { exec: { command: ["test", "-f", "/up"] }, periodSeconds: 1 };
    await create("order", {
      initContainers: [
        container("first", "echo first >> /out/order"),
        container("side", stays("side"), { restartPolicy: "Always", startupProbe }),
      ],
      containers: [
        container("app", stays("app"), {
          lifecycle: { preStop: { exec: { command: ["sh", "-c", "echo bye >> /out/order"] } } },
        }),
      ],
    });
    await until("order", ({ status }) =>
      expect(status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True"),
    );
    await pods().delete("order");
    await gone("order");
    expect(read("order").split("\n")).toEqual(["first", "side", "app", "bye", "app ended", "side ended"]);
  });

  it("a failed liveness probe restarts, and a container that ignores SIGTERM is killed", async () => {
    const livenessProbe = {
      exec: { command: ["test", "-f", "/ok"] },
      periodSeconds: 1,
      failureThreshold: 2,
      terminationGracePeriodSeconds: 1,
    };
    await create("live", {
      containers: [
        container("app", "trap '' TERM; touch /ok; sleep 3; rm /ok; while true; do sleep 1; done", { livenessProbe }),
      ],
    });
    await until("live", ({ status }) => expect(status?.containerStatuses?.[0]?.restartCount).toBeGreaterThanOrEqual(1));
    const last = (await pods().get("live")).status?.containerStatuses?.[0]?.lastState?.terminated;
    expect(last?.exitCode).toBe(137);
    await pods().delete("live", { gracePeriodSeconds: 1 });
    await gone("live");
  });

  it("containers outlive their kubelet and their containerd", async () => {
    await create("stays", { containers: [container("app", "trap 'exit 0' TERM; while true; do sleep 0.1; done")] });
    await create("resized", {
      containers: [
        container("app", "trap 'exit 0' TERM; while true; do sleep 0.1; done", {
          resources: { limits: { cpu: "100m" }, requests: { cpu: "100m" } },
        }),
      ],
    });
    await Promise.all([phase("stays", "Running"), phase("resized", "Running")]);
    const before = await idOf("stays");
    await kubelet.stop();
    await create("meanwhile", { restartPolicy: "Never", containers: [container("app", "exit 0")] });
    startKubelet();
    await phase("meanwhile", "Succeeded");
    await containerd.kill();
    await containerd.start();
    await create("after", { restartPolicy: "Never", containers: [container("app", "exit 0")] });
    await phase("after", "Succeeded");
    expect(await idOf("stays")).toBe(before);
    expect((await pods().get("stays")).status?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
    const resources = { limits: { cpu: "200m" }, requests: { cpu: "200m" } };
    await pods()
      .subresource("resized", "resize")
      .patch({ type: "strategic", object: { spec: { containers: [{ name: "app", resources }] } } });
    await until("resized", ({ status }) => expect(status?.containerStatuses?.[0]?.resources).toEqual(resources));
    const { uid } = (await pods().get("resized")).metadata;
    const quotas = globSync(`/sys/fs/cgroup/{cpu/,}*/*/kubepods/*/pod${uid}/*/{cpu.cfs_quota_us,cpu.max}`).map((file) =>
      readFileSync(file, "utf8").trim(),
    );
    expect(quotas.some((quota) => quota.startsWith("20000"))).toBe(true);
  });

  it.skipIf(availableParallelism() < 2)(
    "whole CPUs are a container's own, in a cgroup of its Pod and class",
    async () => {
      const amounts = { cpu: "1", memory: "64Mi" };
      const own = container("app", "grep Cpus_allowed_list /proc/self/status > /out/pinned; exec sleep 1000", {
        resources: { requests: amounts, limits: amounts },
      });
      await create("pinned", { containers: [own] });
      await phase("pinned", "Running");
      await vi.waitFor(() => expect(read("pinned")).toMatch(/^Cpus_allowed_list:\s+\d+$/), 30_000);
      const state = JSON.parse(readFileSync(join(config.rootDir, "cpu_manager_state"), "utf8"));
      const { uid = "" } = (await pods().get("pinned")).metadata;
      expect(state.entries[uid]).toEqual({ app: read("pinned").split(/\s+/)[1] });
      const files = (names: string) =>
        globSync(`/sys/fs/cgroup/{,*/}${config.cgroupRoot}/kubepods/${names}`).map((file) =>
          readFileSync(file, "utf8").trim(),
        );
      expect(files(`pod${uid}/pids.max`)).toContain("321");
      expect(files("besteffort/{cpu.shares,cpu.weight}")).toContain(
        files("besteffort/cpu.weight").length > 0 ? "1" : "2",
      );
      expect(files(`pod${uid}/{cpu.cfs_quota_us,cpu.max}`)[0]).toMatch(/^(-1|max)/);
      const kept = availableParallelism() * 1024 - 103;
      if (files("cpu.shares").length > 0) expect(files("cpu.shares")).toEqual([String(kept)]);
      await pods().delete("pinned");
      await gone("pinned");
    },
  );

  it("a Pod that exceeds the size limit of a volume is evicted", async () => {
    await phase("greedy", "Failed");
    const { status } = await pods().get("greedy");
    expect(status).toMatchObject({
      reason: "Evicted",
      message: 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ',
    });
    expect(status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  });

  it("logs of ten thousand lines a second are put aside, and no more than a few are kept", async () => {
    const folder = () =>
      readdirSync(config.podLogsRoot)
        .filter((name) => name.startsWith("default_chatty_"))
        .flatMap((name) => readdirSync(join(config.podLogsRoot, name, "app")).map((file) => join(name, "app", file)));
    const files = await vi.waitFor(
      () => {
        const found = folder();
        expect(found.filter((name) => /0\.log\.[\d-]+\.gz$/.test(name))).toHaveLength(1);
        expect(found.filter((name) => /0\.log\.[\d-]+$/.test(name))).toHaveLength(1);
        // The new file may just have been made.
        const current = found.filter((name) => /0\.log$/.test(name)).map((name) => join(config.podLogsRoot, name));
        expect(current.map((file) => statSync(file).size > 0)).toEqual([true]);
        return found;
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(files.length).toBeLessThanOrEqual(config.containerLogMaxFiles);
    // It goes on where it was: no line is lost between two files.
    const [aside = "", current = ""] = files
      .filter((name) => !name.endsWith(".gz"))
      .sort()
      .reverse();
    const lines = (name: string) =>
      readFileSync(join(config.podLogsRoot, name), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => Number(line.split(" ").at(-1)));
    const [last, next] = [lines(aside).at(-1) ?? 0, lines(current)[0] ?? 0];
    expect(next).toBe((last % 1000) + 1);
    expect((await pods().get("chatty")).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it("a machine that goes down lets its Pods end first, and says so", async () => {
    const script = (file: string) =>
      `trap 'echo ended > /out/${file}; exit 0' TERM; touch /out/${file}-up; while true; do sleep 0.1; done`;
    await create("last", { terminationGracePeriodSeconds: 30, containers: [container("app", script("down"))] });
    await vi.waitFor(() => expect(existsSync(join(out, "down-up"))).toBe(true), { timeout: 60_000, interval: 100 });
    shutdown.abort();
    await kubelet.done();
    expect(read("down")).toBe("ended");
    expect((await pods().get("last")).status).toMatchObject({ reason: "Terminated" });
    const ready = (await admin.of(kinds.Node).get("lone")).status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", message: "node is shutting down" });
    expect((await containerd.runtime.listContainers()).filter(({ state }) => state === "running")).toEqual([]);
    startKubelet();
  });

  it("nothing is left when all are deleted", async () => {
    await Promise.all(
      (await pods().list()).items.map(({ metadata }) => pods().delete(metadata.name ?? "", { gracePeriodSeconds: 1 })),
    );
    await vi.waitFor(async () => expect((await pods().list()).items).toEqual([]), { timeout: 60_000, interval: 100 });
    const left = () => [
      ...readdirSync(join(config.rootDir, "pods")),
      ...readdirSync(config.podLogsRoot),
      ...readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((line) => line.includes(`${config.rootDir}/pods/`)),
      ...globSync(`/sys/fs/cgroup/{,*/}${config.cgroupRoot}/kubepods/{,*/}pod*`),
    ];
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 60_000, interval: 200 });
    expect(await containerd.runtime.listPodSandboxes()).toEqual([]);
    expect(await containerd.runtime.listContainers()).toEqual([]);
  });
});
