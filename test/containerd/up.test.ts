/** `k8ts up --runtime containerd` and the commands around it: a cluster whose Pods are processes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { play } from "../../scripts/flow-catalogue/play.ts";
import { cniSetUp, networkPolicy } from "../../scripts/flow-catalogue/real-nodes.ts";
import { recordsOf, stageInside } from "../../scripts/flow-catalogue/stage.ts";
import type { core } from "../../src/api/index.ts";
import { machineImages } from "../../src/cluster/images/index.ts";
import type { FlowRecord } from "../../src/flows/index.ts";
import { expectRollout } from "../support/rollout-flow.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

/** An address of the machine that nodes cannot reach by themselves. */
const REGISTRY = "192.0.2.10:5000";
const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;

describe.skipIf(why !== "")(`a cluster of real nodes${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    const said = await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0");
    expect(said).toMatch(/nodes .* 2 ready, on containerd/);
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const pod = (name: string, nodeName: string, changes: Partial<core.Container> = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image: "localhost/busybox:1", command: ["sleep", "3600"], ...changes }],
    },
  });
  const read = (name: string) => machine.json<core.Pod>("get", "pod", name);
  const phase = (name: string, wanted: string) =>
    until(
      () => read(name),
      (found) => found.status?.phase === wanted,
    );
  const nodes = async () => (await machine.json<core.NodeList>("get", "nodes")).items;
  const isReady = (node: core.Node | undefined) =>
    node?.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";

  it("nodes are Ready, with an address, a runtime and a range for Pods each", async () => {
    const [one, two] = await nodes();
    expect([one?.metadata.name, two?.metadata.name]).toEqual(["node-1", "node-2"]);
    expect(isReady(one) && isReady(two)).toBe(true);
    expect(one?.status?.nodeInfo?.containerRuntimeVersion).toMatch(/^containerd:\/\//);
    expect(new Set([one?.spec?.podCIDR, two?.spec?.podCIDR]).size).toBe(2);
    expect(await machine.ok("node", "ls")).toMatch(/node-1\s+Ready.*containerd\nnode-2\s+Ready/);
    const server = await machine.json<core.Endpoints>("get", "endpoints", "kubernetes");
    // Where Pods reach the API server: not on the machine's own loopback.
    expect(server.subsets?.[0]?.addresses?.[0]?.ip).toMatch(/^10\.89\./);
  });

  it("Pods of two nodes run and reach each other", async () => {
    await machine.apply(pod("server", "node-1", { command: ["httpd", "-f", "-p", "8080", "-h", "/etc"] }));
    const ip = (await phase("server", "Running")).status?.podIP ?? "";
    const ask = `until wget -q -O - http://${ip}:8080/passwd | grep -q nobody; do sleep 0.1; done`;
    const once = pod("once", "node-2", { command: ["sh", "-c", ask] });
    await machine.apply({ ...once, spec: { ...once.spec, restartPolicy: "Never" } });
    expect((await phase("once", "Succeeded")).spec?.nodeName).toBe("node-2");
  });

  it("flow tells of a Deployment from the user down to the runtime, over several processes", async () => {
    const command = ["--replicas=2", "--", "sleep", "3600"];
    await machine.kubectl("create", "deployment", "web", "--image=localhost/busybox:1", ...command);
    await machine.kubectl("rollout", "status", "deployment/web", "--timeout=60s");
    const records = JSON.parse(await machine.ok("flow", "deployment/web", "--format", "json")) as FlowRecord[];
    expectRollout(records);
    const calls = records.flatMap((record) =>
      record.type === "work" ? record.calls.filter(({ to }) => to === "runtime").map(({ what }) => what) : [],
    );
    const order = ["RunPodSandbox", "CreateContainer", "StartContainer"].map((verb) =>
      calls.findIndex((what) => what.startsWith(verb)),
    );
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    await machine.kubectl("delete", "deployment", "web");
  });

  it.each([cniSetUp, networkPolicy])("the flow of the catalogue is played as documented: $id", async (scenario) => {
    await play(scenario, stageInside(machine), () => recordsOf(machine));
  });

  it("runs an image from a file, on the nodes that were given it", async () => {
    const busybox = (await machineImages()).find(({ name }) => name.includes("busybox"))?.archive ?? Buffer.alloc(0);
    const file = join(machine.home.dir, "mine.tar");
    writeFileSync(
      file,
      Buffer.from(busybox).toString("latin1").replaceAll("localhost/busybox:1", "localhost/mine-it:1"),
      "latin1",
    );
    const imported = await machine.k8ts("image", "import", "--node", "node-1", file);
    expect(imported).toMatchObject({ code: 0, stdout: "localhost/mine-it:1 on node-1\n" });
    expect(await machine.ok("image", "ls")).toMatch(/localhost\/mine-it:1\s+\S+\s+2\.\d MB\s+node-1\n/);
    await machine.apply(pod("mine", "node-1", { image: "localhost/mine-it:1" }));
    await phase("mine", "Running");
    expect((await machine.k8ts("image", "import", join(machine.home.dir, "none.tar"))).stderr).toContain(
      "cannot be read",
    );
  });

  it("says in the Pod's status why nothing is pulled", async () => {
    await machine.apply(pod("pulled", "node-2", { image: `${REGISTRY}/team/app:1` }));
    const waiting = await until(
      () => read("pulled"),
      (found) => found.status?.containerStatuses?.[0]?.state?.waiting?.reason === "ErrImagePull",
    );
    expect(waiting.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("use k8ts image import");
  });

  it("a cluster that was killed finds its nodes and Pods as they were", async () => {
    const before = (await read("server")).status?.containerStatuses?.[0];
    process.kill(machine.home.runState().pid, "SIGKILL");
    const said = await machine.ok("up", "--detach", "--runtime", "containerd", "--pull-images", "--port", "0");
    expect(said).toMatch(/2 ready, on containerd/);
    await until(nodes, (found) => found.length === 2 && found.every(isReady));
    const after = (await phase("server", "Running")).status?.containerStatuses?.[0];
    expect(after).toMatchObject({ containerID: before?.containerID, restartCount: 0 });
  });

  it("pulls through the machine where it may, by the user's own list of registries", async () => {
    const hosts = join(machine.home.dataDir, "certs.d", REGISTRY);
    mkdirSync(hosts, { recursive: true });
    writeFileSync(join(hosts, "hosts.toml"), `[host."http://${REGISTRY}"]\n  capabilities = ["pull", "resolve"]\n`);
    await machine.addAddress("192.0.2.10");
    const script = join(import.meta.dirname, "support", "registry.ts");
    await using registry = machine.start(process.execPath, script, ...REGISTRY.split(":"));
    await registry.printed("ready");
    await machine.kubectl("delete", "pod", "pulled", "--wait=true");
    await machine.apply(pod("pulled", "node-2", { image: `${REGISTRY}/team/app:1` }));
    const status = (await phase("pulled", "Running")).status?.containerStatuses?.[0];
    expect(status?.imageID).toMatch(/team\/app@sha256:[0-9a-f]{64}$/);
  });

  it("pulls what was pushed to the registry of this machine", async () => {
    await using registry = machine.startK8ts("registry", "--port", "5000");
    await registry.printed("Registry at localhost:5000");
    const push = join(import.meta.dirname, "support", "push.ts");
    await using pushed = machine.start(process.execPath, push, "http://127.0.0.1:5000", "team/app", "1");
    await pushed.printed("pushed");
    await machine.apply(pod("own", "node-1", { image: "localhost:5000/team/app:1" }));
    const status = (await phase("own", "Running")).status?.containerStatuses?.[0];
    expect(status?.imageID).toMatch(/^localhost:5000\/team\/app@sha256:[0-9a-f]{64}$/);
    const hosting = ["get", "configmap", "local-registry-hosting", "-n", "kube-public", "-o", "jsonpath={.data}"];
    expect(await machine.kubectl(...hosting)).toContain("localhost:5000");
  });

  it("nodes can be added, stopped, started and removed while it runs", async () => {
    expect(await machine.ok("node", "add")).toBe("node-3 is up.\n");
    await until(nodes, (found) => found.length === 3 && found.every(isReady));
    await machine.apply(pod("third", "node-3"));
    await phase("third", "Running");
    expect(await machine.ok("node", "stop", "node-3")).toBe("node-3 is stopped.\n");
    expect(machine.leftovers().filter((left) => left.includes("node-3"))).toEqual([]);
    expect(await machine.ok("node", "start", "node-3")).toBe("node-3 is running.\n");
    const again = await until(
      () => read("third"),
      (found) => (found.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0 && found.status?.phase === "Running",
    );
    expect(again.spec?.nodeName).toBe("node-3");
    expect(await machine.ok("node", "remove", "node-3")).toBe("node-3 is removed.\n");
    expect((await nodes()).map(({ metadata }) => metadata.name)).toEqual(["node-1", "node-2"]);
    expect((await machine.k8ts("node", "remove", "node-3")).stderr).toContain("There is no node node-3");
    expect((await machine.k8ts("node", "add", "Not-A-Name")).stderr).toContain("is not a node name");
    expect((await machine.k8ts("node", "add", "node-1")).stderr).toContain("Node node-1 already exists");
  });

  it("`down --keep-nodes` leaves containers running, and a plain `up` goes on with them", async () => {
    const before = (await read("server")).status?.containerStatuses?.[0];
    await machine.ok("down", "--keep-nodes");
    expect(machine.leftovers().filter((left) => left.includes("httpd"))).toHaveLength(1);
    expect(await machine.ok("up", "--detach", "--port", "0")).toMatch(/2 ready, on containerd/);
    const after = (await phase("server", "Running")).status?.containerStatuses?.[0];
    expect(after).toMatchObject({ containerID: before?.containerID, restartCount: 0 });
  });

  it("`down` ends all that ran; the next `up` continues, and Ctrl-C ends it too", async () => {
    expect(machine.leftovers()).not.toEqual([]);
    await machine.ok("down");
    expect(machine.leftovers()).toEqual([]);
    const up = machine.startK8ts("up", "--runtime", "containerd", "--port", "0");
    await up.printed("Ready in");
    const again = await until(
      () => read("server"),
      (found) => found.status?.phase === "Running" && (found.status.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    expect(again.status?.podIP).toMatch(/^10\.244\./);
    up.process.kill("SIGINT");
    expect((await up.ended()).code).toBe(0);
    expect(machine.leftovers()).toEqual([]);
    expect(await machine.ok("reset")).toContain("Deleted the cluster");
  });
});
