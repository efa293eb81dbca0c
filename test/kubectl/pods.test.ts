/** Pods and nodes as kubectl shows and changes them, with the parts of the kubelet played by status patches. */
import { beforeAll, describe, expect, it } from "vitest";
import { table, young } from "../support/table.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: {
    serviceAccountName: "robot",
    containers: [
      { name: "main", image: "nginx:1" },
      { name: "side", image: "busybox:1" },
    ],
    ...spec,
  },
});
const report = (name: string, status: object) =>
  kubectl.ok("patch", "pod", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));

beforeAll(async () => {
  if (program === undefined) return;
  await kubectl.ok("create", "serviceaccount", "robot");
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "box", labels: { "node-role.kubernetes.io/worker": "" } },
    status: {
      capacity: { cpu: "4", memory: "8Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "InternalIP", address: "10.9.9.9" }],
      nodeInfo: { kubeletVersion: "v1.36.4", osImage: "test" },
    },
  };
  await kubectl.given(node).ok("create", "-f", "-");
});

describe.skipIf(program === undefined)("kubectl and pods", () => {
  it("get: from pending to running to trouble", async () => {
    await kubectl.given(pod("web", { nodeName: "box" })).ok("create", "-f", "-");
    const row = async () => table(await kubectl.ok("get", "pod", "web"))[1];
    expect(await row()).toEqual(["web", "0/2", "Pending", "0", young]);

    const container = (name: string, ready: boolean, restartCount: number, state: object) => ({
      name,
      ready,
      restartCount,
      state,
      image: "",
      imageID: "",
    });
    const main = container("main", true, 0, { running: {} });
    await report("web", {
      phase: "Running",
      podIP: "10.1.2.3",
      podIPs: [{ ip: "10.1.2.3" }],
      containerStatuses: [main, container("side", true, 0, { running: {} })],
    });
    expect(await row()).toEqual(["web", "2/2", "Running", "0", young]);
    const crashing = container("side", false, 3, { waiting: { reason: "CrashLoopBackOff" } });
    await report("web", { containerStatuses: [main, crashing] });
    expect(await row()).toEqual(["web", "1/2", "CrashLoopBackOff", "3", young]);
    expect(table(await kubectl.ok("get", "pod", "web", "-o", "wide"))).toEqual([
      ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"],
      ["web", "1/2", "CrashLoopBackOff", "3", young, "10.1.2.3", "box", "<none>", "<none>"],
    ]);
  });

  it("field selectors: by phase and node", async () => {
    await kubectl.given(pod("waiting"), pod("placed", { nodeName: "box" })).ok("create", "-f", "-");
    const names = (...selectors: string[]) =>
      kubectl.ok("get", "pods", "-l", "app in (waiting,placed)", "--field-selector", selectors.join(","), "-o", "name");
    expect(await names("spec.nodeName=box")).toBe("pod/placed\n");
    expect(await names("spec.nodeName=", "status.phase=Pending")).toBe("pod/waiting\n");
    expect(await names("status.phase!=Pending")).toBe("");
  });

  it("change: only what may change", async () => {
    await kubectl.given(pod("fixed")).ok("create", "-f", "-");
    expect(await kubectl.ok("set", "image", "pod/fixed", "main=nginx:2")).toBe("pod/fixed image updated\n");
    expect(await kubectl.fails("patch", "pod", "fixed", "-p", '{"spec":{"restartPolicy":"Never"}}')).toContain(
      'The Pod "fixed" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`',
    );
  });

  it("delete: a pod on a node ends when its grace period does, or at once by force", async () => {
    await kubectl.given(pod("ending", { nodeName: "box" })).ok("create", "-f", "-");
    await kubectl.ok("delete", "pod", "ending", "--grace-period=600", "--wait=false");
    expect(table(await kubectl.ok("get", "pod", "ending"))[1]?.[2]).toBe("Terminating");
    expect(await kubectl.ok("get", "pod", "ending", "-o", "jsonpath={.metadata.deletionGracePeriodSeconds}")).toBe(
      "600",
    );
    expect(await kubectl.run("delete", "pod", "ending", "--force", "--grace-period=0")).toMatchObject({
      code: 0,
      stdout: 'pod "ending" force deleted from default namespace\n',
    });
    expect(await kubectl.ok("get", "pod", "ending", "--ignore-not-found")).toBe("");
  });

  it("delete: a pod without a node has nothing to wait for", async () => {
    await kubectl.given(pod("nowhere")).ok("create", "-f", "-");
    await kubectl.ok("delete", "pod", "nowhere", "--wait=false");
    expect(await kubectl.ok("get", "pod", "nowhere", "--ignore-not-found")).toBe("");
  });

  it("every fault of a pod is told at once", async () => {
    const bad = pod("bad", { containers: [{ name: "A", image: "" }], restartPolicy: "Sometimes" });
    expect(
      (await kubectl.given(bad).fails("create", "-f", "-")).split("\n").map((line) => line.split(": ")[0]),
    ).toEqual([
      'The Pod "bad" is invalid',
      "* spec.containers[0].name",
      "* spec.containers[0].image",
      "* spec.restartPolicy",
      "",
    ]);
  });

  it("a service account that is not there is refused", async () => {
    expect(await kubectl.given(pod("orphan", { serviceAccountName: "nobody" })).fails("create", "-f", "-")).toBe(
      'Error from server (Forbidden): error when creating "STDIN": pods "orphan" is forbidden: ' +
        'error looking up service account default/nobody: serviceaccount "nobody" not found\n',
    );
  });
});

describe.skipIf(program === undefined)("kubectl and nodes", () => {
  it("get", async () => {
    expect(table(await kubectl.ok("get", "node", "box", "-o", "wide"))).toEqual([
      [
        "NAME",
        "STATUS",
        "ROLES",
        "AGE",
        "VERSION",
        "INTERNAL-IP",
        "EXTERNAL-IP",
        "OS-IMAGE",
        "KERNEL-VERSION",
        "CONTAINER-RUNTIME",
      ],
      ["box", "Ready", "worker", young, "v1.36.4", "10.9.9.9", "<none>", "test", "<unknown>", "<unknown>"],
    ]);
  });

  it("cordon, uncordon and taint", async () => {
    expect(await kubectl.ok("cordon", "box")).toBe("node/box cordoned\n");
    expect(table(await kubectl.ok("get", "node", "box"))[1]?.[1]).toBe("Ready,SchedulingDisabled");
    expect(await kubectl.ok("uncordon", "box")).toBe("node/box uncordoned\n");
    expect(await kubectl.ok("taint", "node", "box", "own=yes:NoExecute")).toBe("node/box tainted\n");
    expect(await kubectl.json("get", "node", "box")).toMatchObject({
      spec: { taints: expect.arrayContaining([{ key: "own", value: "yes", effect: "NoExecute" }]) },
    });
    expect(await kubectl.ok("taint", "node", "box", "own-")).toBe("node/box untainted\n");
  });

  it("describe", async () => {
    const text = await kubectl.ok("describe", "node", "box");
    expect(text).toContain("Capacity:\n  cpu:     4\n  memory:  8Gi\n  pods:    110\n");
    expect(text).toMatch(/Non-terminated Pods: +\(\d+ in total\)/);
  });
});
