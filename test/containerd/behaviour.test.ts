/** What the official suites found to be different on real nodes: each behaviour, seen with the real kubectl. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, discovery } from "../../src/api/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const IMAGE = "localhost/busybox:1";

describe.skipIf(why !== "")(`a real node${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0", ...WITH_NODE);
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const sh = (script: string, more: object = {}) => ({
    name: "main",
    image: IMAGE,
    command: ["sh", "-c", script],
    ...more,
  });
  const pod = (name: string, spec: object, labels: Record<string, string> = { app: name }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { terminationGracePeriodSeconds: 0, ...spec },
  });
  const read = (name: string) => machine.json<core.Pod>("get", "pod", name);
  const ready = (name: string) => machine.kubectl("wait", `pod/${name}`, "--for=condition=Ready", "--timeout=60s");
  const raw = (path: string) => machine.kubectl("get", "--raw", path);
  const log = (name: string) =>
    until(
      async () => (await machine.start(tool("kubectl") ?? "", "logs", name).ended()).stdout,
      (text) => text.includes("\n"),
    );

  it("shows its logs through the API server", async () => {
    const page = await raw("/api/v1/nodes/node-1/proxy/logs/");
    for (const name of ["kubelet.log", "containerd.log", "pods/"])
      expect(page).toContain(`<a href="${name}">${name}</a>`);
    expect(await raw("/api/v1/nodes/node-1/proxy/logs/kubelet.log")).toContain("node registered");
    expect(await raw("/api/v1/nodes/node-1:10250/proxy/logs/")).toBe(page);
  });

  it("has Pods and Services behind the API server's proxy, and links that lead through it", async () => {
    const page = `mkdir /www && echo '<a href="/x">x</a>' > /www/page.html && exec httpd -f -p 8080 -h /www`;
    const ports = [{ name: "web", containerPort: 8080 }];
    await machine.apply(pod("web", { containers: [sh(page, { ports })] }));
    await machine.apply({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { selector: { app: "web" }, ports: [{ name: "front", port: 80, targetPort: "web" }] },
    });
    await ready("web");
    await until(
      () => machine.json<core.Endpoints>("get", "endpoints", "web"),
      ({ subsets = [] }) => subsets.length > 0,
    );
    for (const target of ["pods/web", "pods/http:web:8080", "services/web:front", "services/http:web:80"]) {
      const prefix = `/api/v1/namespaces/default/${target}/proxy`;
      expect(await raw(`${prefix}/page.html`)).toBe(`<a href="${prefix}/x">x</a>\n`);
    }
  });

  it("lets a Pod verify its own token by discovery", async () => {
    const script = readFileSync(join(import.meta.dirname, "support", "token-verifier.mjs"), "utf8");
    const libraries = ["/lib", "/lib64", "/usr/lib"].filter((folder) => existsSync(folder));
    const data = { "verify.mjs": script };
    await machine.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "verifier" }, data });
    const volumes = [
      { name: "script", configMap: { name: "verifier" } },
      { name: "node", hostPath: { path: realpathSync(process.execPath), type: "File" } },
      ...libraries.map((path, at) => ({ name: `lib-${at}`, hostPath: { path, type: "Directory" } })),
    ];
    const volumeMounts = [
      { name: "script", mountPath: "/app" },
      { name: "node", mountPath: "/node", readOnly: true },
      ...libraries.map((mountPath, at) => ({ name: `lib-${at}`, mountPath, readOnly: true })),
    ];
    const container = { name: "main", image: IMAGE, command: ["/node", "/app/verify.mjs"], volumeMounts };
    await machine.apply(pod("verifier", { restartPolicy: "Never", containers: [container], volumes }));
    expect(JSON.parse(await log("verifier"))).toEqual({
      isValid: true,
      isIssuer: true,
      sub: "system:serviceaccount:default:default",
    });
  });

  it("keeps extended resources that others have given it, and counts them", async () => {
    const patch = JSON.stringify({ status: { capacity: { "example.com/dongle": "3" } } });
    await machine.kubectl("patch", "node", "node-1", "--subresource=status", "-p", patch);
    const node = await until(
      () => machine.json<core.Node>("get", "node", "node-1"),
      ({ status }) => status?.allocatable?.["example.com/dongle"] === "3",
    );
    expect(node.status?.capacity?.["example.com/dongle"]).toBe("3");
    const asking = (count: string) => ({ resources: { limits: { "example.com/dongle": count } } });
    await machine.apply(pod("two", { nodeName: "node-1", containers: [sh("sleep 3600", asking("2"))] }));
    await ready("two");
    await machine.apply(pod("too-many", { nodeName: "node-1", containers: [sh("sleep 3600", asking("2"))] }));
    const refused = await until(
      () => read("too-many"),
      ({ status }) => status?.phase === "Failed",
    );
    expect(refused.status?.reason).toBe("OutOfexample.com/dongle");
    await machine.kubectl("delete", "pod", "two", "too-many");
  });

  it("has a host name, which is that of Pods in its network", async () => {
    await machine.apply(
      pod("host", { hostNetwork: true, restartPolicy: "Never", containers: [sh("echo $(hostname) $HOSTNAME")] }),
    );
    expect(await log("host")).toBe("node-1 node-1\n");
  });

  it("runs commands of 50 kB, and says nothing of streams", async () => {
    await machine.apply(pod("idle", { containers: [sh("sleep 3600")] }));
    await ready("idle");
    const long = "x".repeat(50_000);
    const kubectl = (...args: string[]) => machine.start(tool("kubectl") ?? "", ...args).ended();
    const said = await kubectl("exec", "idle", "--", "echo", long);
    expect([said.code, said.stdout.length, said.stderr]).toEqual([0, 50_001, ""]);
    const file = join(machine.home.dir, "copied");
    writeFileSync(file, "text");
    for (let i = 0; i < 5; i++)
      expect(await kubectl("cp", file, "idle:/tmp/copied")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  it("makes missing subPaths as the volume is, with the group of the Pod", async () => {
    const volumes = [
      { name: "disk", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory" } },
    ];
    const volumeMounts = volumes.flatMap(({ name }) => [
      { name, mountPath: `/${name}` },
      { name, mountPath: `/sub-${name}`, subPath: "a/b" },
    ]);
    const script = "for each in disk memory; do stat -c '%a %g' /$each /sub-$each; done";
    const securityContext = { fsGroup: 1234 };
    const containers = [sh(script, { volumeMounts })];
    await machine.apply(pod("subpath", { restartPolicy: "Never", securityContext, volumes, containers }));
    await until(
      () => read("subpath"),
      ({ status }) => status?.phase === "Succeeded",
    );
    const [disk, subDisk, memory, subMemory] = (await log("subpath")).trim().split("\n");
    expect([subDisk, subMemory]).toEqual([disk, memory]);
    expect(disk).toBe("2777 1234");
  });

  it("mounts images as volumes", async () => {
    const volumes = [{ name: "tools", image: { reference: IMAGE, pullPolicy: "IfNotPresent" } }];
    const volumeMounts = [
      { name: "tools", mountPath: "/tools" },
      { name: "tools", mountPath: "/programs", subPath: "bin" },
    ];
    const script = "/tools/bin/busybox echo $(ls -d /tools/bin /programs/busybox); touch /tools/x || echo read-only";
    const containers = [sh(script, { volumeMounts })];
    await machine.apply(pod("tools", { restartPolicy: "Never", volumes, containers }));
    await until(
      () => read("tools"),
      ({ status }) => status?.phase === "Succeeded",
    );
    expect(await log("tools")).toContain("/programs/busybox /tools/bin\n");
    expect(await log("tools")).toContain("read-only\n");
    await machine.kubectl("delete", "pod", "tools");
  });

  it("probes readiness of a Pod that terminates, and endpoints follow", async () => {
    const serving = "trap '' TERM; touch /tmp/ready; while true; do sleep 1; done";
    const readinessProbe = { exec: { command: ["test", "-e", "/tmp/ready"] }, periodSeconds: 1, failureThreshold: 1 };
    const preStop = { exec: { command: ["sh", "-c", "sleep 5; rm /tmp/ready; sleep 30"] } };
    const containers = [sh(serving, { readinessProbe, lifecycle: { preStop }, ports: [{ containerPort: 80 }] })];
    await machine.apply(pod("leaving", { terminationGracePeriodSeconds: 60, containers }));
    await machine.kubectl("expose", "pod", "leaving", "--port=80");
    await ready("leaving");
    const condition = async () => {
      const { items } = await machine.json<discovery.EndpointSliceList>(
        ...["get", "endpointslices", "-l", "kubernetes.io/service-name=leaving"],
      );
      const { serving, terminating } = items[0]?.endpoints?.[0]?.conditions ?? {};
      return `serving ${serving}, terminating ${terminating}`;
    };
    await machine.kubectl("delete", "pod", "leaving", "--wait=false");
    await until(condition, (found) => found === "serving true, terminating true");
    await until(condition, (found) => found === "serving false, terminating true");
    expect((await read("leaving")).status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
    await machine.kubectl("delete", "pod", "leaving", "--grace-period=0", "--force");
  });

  it("never shows a start that was cancelled", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `short-${i}`);
    for (const name of names) {
      await machine.apply(pod(name, { restartPolicy: "Never", containers: [sh("sleep 3600")] }));
      await machine.kubectl("delete", "pod", name, "--wait=false");
    }
    await machine.kubectl("wait", "--for=delete", ...names.map((name) => `pod/${name}`), "--timeout=90s");
    const events = await machine.json<core.EventList>("get", "events");
    expect(events.items.filter(({ message = "" }) => /context canceled|StartError/.test(message))).toEqual([]);
  });
});
