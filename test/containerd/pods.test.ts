/**
 * What Pods live through on two real nodes, seen with the real kubectl: their own token, a drain, images and commands
 * that are missing, an API server that is away.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { realClock, silentLogger } from "../../src/base/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { criRuntime } from "../../src/kubelet/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const IMAGE = "localhost/busybox:1";

describe.skipIf(why !== "")(`Pods of real nodes${why && `: ${why}`}`, () => {
  let machine: Machine;

  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0", ...WITH_NODE);
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const pod = (name: string, spec: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
  const sh = (script: string, more: object = {}) => ({
    name: "main",
    image: IMAGE,
    command: ["sh", "-c", script],
    ...more,
  });
  const read = (name: string) => machine.json<core.Pod>("get", "pod", name);
  const state = async (name: string) => (await read(name)).status?.containerStatuses?.[0];

  it("a Pod asks the API server with its own token, and with the next one when its file has changed", async () => {
    const script = readFileSync(join(import.meta.dirname, "support", "api-caller.mjs"), "utf8");
    const libraries = ["/lib", "/lib64", "/usr/lib"].filter((folder) => existsSync(folder));
    const node = { name: "node", hostPath: { path: realpathSync(process.execPath), type: "File" } };
    const mounts = [
      { name: "script", mountPath: "/app" },
      { name: "node", mountPath: "/node", readOnly: true },
      ...libraries.map((mountPath, at) => ({ name: `lib-${at}`, mountPath, readOnly: true })),
    ];
    const volumes = [
      { name: "script", configMap: { name: "caller" } },
      node,
      ...libraries.map((path, at) => ({ name: `lib-${at}`, hostPath: { path, type: "Directory" } })),
    ];
    await machine.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "caller" },
      data: { "call.mjs": script },
    });
    await machine.kubectl("create", "serviceaccount", "robot");
    await machine.kubectl("create", "role", "pod-reader", "--verb=list", "--resource=pods");
    await machine.kubectl("create", "rolebinding", "robot", "--role=pod-reader", "--serviceaccount=default:robot");
    const container = { name: "main", image: IMAGE, command: ["/node", "/app/call.mjs"], volumeMounts: mounts };
    const spec = { nodeName: "node-1", serviceAccountName: "robot", terminationGracePeriodSeconds: 0 };
    await machine.apply(pod("caller", { ...spec, containers: [container], volumes }));
    const told = async () => {
      const { code, stdout } = await machine.start(tool("kubectl") ?? "", "logs", "caller").ended();
      return code === 0 ? stdout.split("\n").filter((line) => line.startsWith("[")) : [];
    };
    const [first = ""] = await until(told, (lines) => lines.length === 1);
    const { uid = "", name = "" } = (await read("caller")).metadata;
    const identity = {
      user: {
        username: "system:serviceaccount:default:robot",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        extra: {
          "authentication.kubernetes.io/pod-name": [name],
          "authentication.kubernetes.io/pod-uid": [uid],
          "authentication.kubernetes.io/node-name": ["node-1"],
        },
      },
      pods: ["caller"],
      secrets: 403,
    };
    expect(JSON.parse(first)).toEqual([expect.objectContaining({ token: expect.any(String) })]);
    expect(JSON.parse(first)[0]).toMatchObject(identity);

    // A kubelet that starts has no tokens: it asks for new ones, long before the old ones end.
    const names = nodeNames(siteNames(machine.home.dataDir), "node-1");
    const before = (await readNode(names))?.run?.kubelet?.pid ?? 0;
    process.kill(before, "SIGKILL");
    const [, second = ""] = await until(told, (lines) => lines.length === 2);
    const [fresh, old] = JSON.parse(second);
    expect(fresh).toMatchObject(identity);
    expect(old).toMatchObject(identity);
    expect(old.token).toBe(JSON.parse(first)[0].token);
    expect(fresh.token).not.toBe(old.token);
    expect(await state("caller")).toMatchObject({ ready: true, restartCount: 0 });
    await machine.kubectl("delete", "pod", "caller");
  });

  it("what cannot start says why, in the words that users know", async () => {
    const never = { nodeName: "node-1", restartPolicy: "Never", terminationGracePeriodSeconds: 0 };
    const image = { name: "main", image: "localhost/none:1", command: ["true"] };
    await machine.apply(pod("no-image", { ...never, containers: [image] }));
    await machine.apply(
      pod("no-command", { nodeName: "node-1", containers: [{ name: "main", image: IMAGE, command: ["/none"] }] }),
    );
    await machine.apply(pod("codes", { ...never, containers: [sh("exit 42")] }));
    const memory = { resources: { limits: { memory: "16Mi" } } };
    await machine.apply(pod("oom", { ...never, containers: [sh("exec tail /dev/zero", memory)] }));
    const waiting = async (name: string) => (await state(name))?.state?.waiting;
    await until(
      () => waiting("no-image"),
      (found) => found?.reason === "ImagePullBackOff",
    );
    expect((await waiting("no-image"))?.message).toMatch(/^Back-off pulling image "localhost\/none:1": ErrImagePull: /);
    expect(await machine.kubectl("events", "--for", "pod/no-image")).toMatch(
      /Failed\s+Pod\/no-image\s+Error: ErrImagePull/,
    );
    const failed = await until(
      () => state("no-command"),
      (found) =>
        found?.state?.waiting?.reason === "CrashLoopBackOff" || found?.state?.waiting?.reason === "RunContainerError",
    );
    expect(failed?.lastState?.terminated).toMatchObject({ reason: "StartError", exitCode: 128 });
    expect(failed?.lastState?.terminated?.message).toContain('exec: "/none": stat /none: no such file or directory');
    const ended = (name: string) =>
      until(
        async () => (await state(name))?.state?.terminated,
        (found) => found !== undefined,
      );
    expect(await ended("codes")).toMatchObject({ exitCode: 42, reason: "Error" });
    // The runtime may say later why it was.
    const oom = await until(
      () => ended("oom"),
      (found) => found?.reason === "OOMKilled",
    );
    expect(oom).toMatchObject({ exitCode: 137 });
    await machine.kubectl("delete", "pod", "no-image", "no-command", "codes", "oom", "--grace-period=1");
  });

  it("`k8ts why` has the last line of a container that crashes, a probe's answer, and what cannot be mounted", async () => {
    await machine.apply(
      pod("crash", { nodeName: "node-1", containers: [sh("echo no database at db:5432 >&2; exit 3")] }),
    );
    const readinessProbe = { httpGet: { path: "/none", port: 8080 }, periodSeconds: 1 };
    const serves = sh("mkdir -p /www; exec httpd -f -p 8080 -h /www", { readinessProbe });
    await machine.apply(pod("probed", { nodeName: "node-1", containers: [serves] }));
    const volumes = [{ name: "v", configMap: { name: "none" } }];
    await machine.apply(pod("unmounted", { nodeName: "node-1", volumes, containers: [sh("sleep 1")] }));
    const volumeMounts = [{ name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: "Enabled" as const }];
    const asked = { volumes: [{ name: "v", emptyDir: {} }], containers: [sh("sleep 1", { volumeMounts })] };
    await machine.apply(pod("recursive", { nodeName: "node-1", ...asked }));
    const first = async (name: string) => (await machine.ok("why", `pod/${name}`)).split("\n")[0] ?? "";
    const says = async (name: string, cause: string) =>
      expect(
        await until(
          () => first(name),
          (line) => line.includes(cause),
        ),
      ).toContain(cause);
    await says(
      "crash",
      'container main exited with 3 (Error) after 0 s, and its last line is "no database at db:5432"',
    );
    await says("probed", "Readiness probe failed: HTTP probe failed with statuscode: 404");
    await says("unmounted", 'configmap "none" not found');
    await says("recursive", "it is not supported by the runtime");
    await machine.kubectl("delete", "pod", "crash", "probed", "unmounted", "recursive", "--grace-period=1");
  });

  it("exec into a Pod that is ending: as long as its container runs, and a clear answer afterwards", async () => {
    const deaf = { nodeName: "node-2", terminationGracePeriodSeconds: 4 };
    const script = "trap 'echo asked' TERM; echo up; while true; do sleep 0.1; done";
    await machine.apply(pod("dying", { ...deaf, containers: [sh(script)] }));
    await machine.kubectl("wait", "--for=condition=Ready", "pod/dying", "--timeout=60s");
    await machine.kubectl("delete", "pod", "dying", "--wait=false");
    await until(
      () => machine.kubectl("logs", "dying"),
      (text) => text.includes("asked"),
    );
    expect(await machine.kubectl("exec", "dying", "--", "echo", "still here")).toBe("still here\n");
    // One that is under way when the container is killed ends with it.
    const long = machine.start(tool("kubectl") ?? "", "exec", "dying", "--", "sh", "-c", "trap '' TERM; sleep 60");
    expect((await long.ended()).code).not.toBe(0);
    await machine.kubectl("wait", "--for=delete", "pod/dying", "--timeout=30s");
    const after = await machine.start(tool("kubectl") ?? "", "exec", "dying", "--", "true").ended();
    expect(after.stderr).toContain('pods "dying" not found');
  });

  it("drain: every Pod moves to the other node, within its disruption budget", async () => {
    const labels = { app: "web" };
    const template = {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [sh("trap 'exit 0' TERM; while true; do sleep 0.1; done")],
      },
    };
    const spec = { replicas: 4, selector: { matchLabels: labels }, template };
    await machine.apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec });
    const budget = { minAvailable: 3, selector: { matchLabels: labels } };
    await machine.apply({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web" },
      spec: budget,
    });
    await machine.kubectl("rollout", "status", "deployment/web", "--timeout=90s");
    const nodesOf = async () => {
      const { items } = await machine.json<core.PodList>("get", "pods", "-l", "app=web");
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec?.nodeName);
    };
    expect(new Set(await nodesOf())).toEqual(new Set(["node-1", "node-2"]));
    const said = await machine.kubectl(
      "drain",
      "node-1",
      "--delete-emptydir-data",
      "--ignore-daemonsets",
      "--timeout=90s",
    );
    expect(said).toContain("node/node-1 drained");
    expect(said).toMatch(/pod\/web-\S+ evicted/);
    await machine.kubectl("rollout", "status", "deployment/web", "--timeout=60s");
    expect(await nodesOf()).toEqual(["node-2", "node-2", "node-2", "node-2"]);
    expect(await machine.kubectl("get", "node", "node-1")).toContain("Ready,SchedulingDisabled");
    expect(await machine.kubectl("uncordon", "node-1")).toContain("node/node-1 uncordoned");
    await machine.kubectl("delete", "deployment/web", "pdb/web");
  });

  it("while the API server is away a container that ends is started again, and the Pod says so afterwards", async () => {
    const script = "trap 'exit 0' TERM; until [ -e /end ]; do sleep 0.1; done; exit 3";
    await machine.apply(
      pod("alone", { nodeName: "node-1", terminationGracePeriodSeconds: 1, containers: [sh(script)] }),
    );
    await machine.kubectl("wait", "--for=condition=Ready", "pod/alone", "--timeout=60s");
    const id = (await state("alone"))?.containerID?.split("://")[1] ?? "";
    await machine.ok("down", "--keep-nodes");
    const { socket } = nodeNames(siteNames(machine.home.dataDir), "node-1");
    const runtime = criRuntime({ endpoint: socket, clock: realClock(), log: silentLogger });
    const instances = async () =>
      (await runtime.listContainers()).filter(({ labels }) => labels["io.kubernetes.pod.name"] === "alone");
    expect((await runtime.execSync(id, ["touch", "/end"], 5000)).exitCode).toBe(0);
    await until(instances, (found) => found.some((each) => each.id !== id && each.state === "running"));
    await runtime.close();
    await machine.ok("up", "--detach", "--port", "0", ...WITH_NODE);
    const after = await until(
      () => state("alone"),
      (found) => found?.restartCount === 1,
    );
    expect(after?.lastState?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    await machine.kubectl("delete", "pod", "alone");
  });
});
