/**
 * Nodes made of a network namespace, a containerd and a kubelet each: made, lost, found again, removed. The machine's
 * side is a namespace too.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "../../src/base/index.ts";
import {
  listNodes,
  type NodeRun,
  nodeNames,
  powerOffAll,
  siteNames,
  writeSpec,
} from "../../src/cluster/nodes/index.ts";
import { CommandError, run } from "../../src/cluster/nodes/machine/command.ts";
import { containerConfig, sandboxConfig } from "../../src/kubelet/cri/testing/configs.ts";
import { criRuntime, type Runtime } from "../../src/kubelet/index.ts";
import { type Running, start } from "../support/command.ts";
import { leftovers, missing } from "./support/leftovers.ts";
import { until } from "./support/wait.ts";

const driver = join(import.meta.dirname, "support", "node-driver.ts");
const clock = realClock();

describe.skipIf(missing !== "")(`nodes on this machine${missing && `: ${missing}`}`, () => {
  const home = mkdtempSync(join(tmpdir(), "k8ts-nodes-"));
  const dataDir = join(home, "data");
  const site = siteNames(dataDir);
  const machine = `k8ts-test-${process.pid}`;
  const inMachine = { inNamespace: `/run/netns/${machine}` };
  let running: Running | undefined;
  const runtimes: Runtime[] = [];

  beforeAll(() => run("ip", ["netns", "add", machine]));
  afterEach(async () => {
    await running?.[Symbol.asyncDispose]();
    for (const runtime of runtimes.splice(0)) await runtime.close();
    await powerOffAll(site, clock);
    expect(leftovers(dataDir)).toEqual([]);
    expect(await run("ip", ["-o", "link", "show"], inMachine)).not.toContain("k8ts-");
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterAll(async () => {
    await run("ip", ["netns", "delete", machine]);
    rmSync(home, { recursive: true, force: true });
  });

  async function drive(version = "1"): Promise<Running> {
    running = await driveAt(dataDir, version);
    return running;
  }

  async function driveAt(dir: string, version: string): Promise<Running> {
    const command = [`--net=/run/netns/${machine}`, "--", process.execPath, driver, dir, version];
    const driving = start("nsenter", command, { env: process.env, cwd: home });
    await driving.printed("ready");
    return driving;
  }

  const want = (name: string, wanted: "running" | "stopped" | "removed") =>
    writeSpec(nodeNames(site, name), { wanted });

  async function runOf(name: string): Promise<NodeRun | undefined> {
    return (await listNodes(site)).find(({ names }) => names.name === name)?.run;
  }

  const state = (name: string, wanted: NodeRun["state"]) =>
    until(
      () => runOf(name),
      (found) => found?.state === wanted && (wanted === "stopped" || found.podCidrs.length > 0),
    );

  /** Nodes are looked at in the order of their names: once the last is gone, all have been. */
  async function lookedAtAll(): Promise<void> {
    await want("zzz", "removed");
    await until(
      () => readdirSync(site.nodesDir),
      (entries) => !entries.includes("zzz"),
    );
  }

  /** A Pod that sleeps, on a node. */
  async function sleeper(node: string): Promise<{ ip: string; exec: (...command: string[]) => Promise<number> }> {
    const names = nodeNames(site, node);
    const runtime = criRuntime({ endpoint: names.socket, clock, log: silentLogger });
    runtimes.push(runtime);
    const { linux } = sandboxConfig({});
    const config = sandboxConfig({ linux: { ...linux, cgroupParent: "/pod-1" } });
    await until(
      () => runtime.status(),
      (status) => status.conditions.every((condition) => condition.status),
    );
    const id = await runtime.runPodSandbox(config, "");
    const container = await runtime.createContainer(id, containerConfig({ command: ["sleep", "1000"] }), config);
    await runtime.startContainer(container);
    const ip = (await runtime.podSandboxStatus(id))?.ips[0] ?? "";
    const exec = async (...command: string[]) => (await runtime.execSync(container, command, 5000)).exitCode;
    return { ip, exec };
  }

  const ping = (ip: string) => ["ping", "-c", "1", "-W", "2", ip];

  it("two nodes reach each other's Pods, the machine reaches all, and nobody reaches the outside", async () => {
    await Promise.all([want("node-1", "running"), want("node-2", "running")]);
    await drive();
    await Promise.all([state("node-1", "running"), state("node-2", "running")]);
    const [one, two] = [await sleeper("node-1"), await sleeper("node-2")];
    expect([one.ip, two.ip]).toEqual(["10.244.1.2", "10.244.2.2"]);
    expect(
      await until(
        () => one.exec(...ping(two.ip)),
        (code) => code === 0,
      ),
    ).toBe(0);
    expect(await two.exec(...ping(one.ip))).toBe(0);
    await until(
      () =>
        run("busybox", ping(one.ip), inMachine).then(
          () => true,
          () => false,
        ),
      (reached) => reached,
    );
    const nodeIp = (await runOf("node-1"))?.ip ?? "";
    expect(await two.exec(...ping(nodeIp))).toBe(0);
    expect(await one.exec(...ping("192.0.2.1"))).not.toBe(0);
    const inNode = { inNamespace: `/run/netns/${nodeNames(site, "node-1").namespace}` };
    await expect(run("busybox", ping("192.0.2.1"), inNode)).rejects.toThrow(CommandError);
    // There is a way, so that an address can be translated on it; it leads nowhere.
    expect(await run("ip", ["route", "get", "192.0.2.1"], inNode)).toContain("dev nowhere");
    const { specFile, runFile, kubeconfig } = nodeNames(site, "node-1");
    for (const file of [specFile, runFile, kubeconfig]) {
      expect((await run("stat", ["-c", "%a", file])).trim()).toBe("600");
    }
  });

  it("survive the end of what keeps them, and are taken up again as they are", async () => {
    await want("node-1", "running");
    const first = await drive();
    const before = await state("node-1", "running");
    const pod = await sleeper("node-1");
    first.process.kill("SIGKILL");
    await first.ended();
    expect(await pod.exec("true")).toBe(0);
    const second = await drive();
    await lookedAtAll();
    expect(await runOf("node-1")).toEqual(before);
    expect(await pod.exec("true")).toBe(0);
    second.process.kill("SIGTERM");
    expect((await second.ended()).code).toBe(0);
    expect(await pod.exec("true")).toBe(0);

    // Another version brings another kubelet, and nothing else.
    await drive("2");
    const after = await until(
      () => runOf("node-1"),
      (found) => found?.state === "running" && found.kubelet?.pid !== before?.kubelet?.pid,
    );
    expect(after?.containerd).toEqual(before?.containerd);
    expect(await pod.exec("true")).toBe(0);
  });

  it("what dies comes back; containers do not notice", async () => {
    await want("node-1", "running");
    await drive();
    let last = await state("node-1", "running");
    const pod = await sleeper("node-1");
    for (const part of ["containerd", "kubelet", "containerd"] as const) {
      process.kill(last?.[part]?.pid ?? 0, "SIGKILL");
      last = await until(
        () => runOf("node-1"),
        (found) => found?.state === "running" && found[part]?.pid !== last?.[part]?.pid,
      );
      expect(await pod.exec("true")).toBe(0);
    }
  });

  it("can be stopped, started and removed, each without the others", async () => {
    await Promise.all([want("node-1", "running"), want("node-2", "running")]);
    await drive();
    await Promise.all([state("node-1", "running"), state("node-2", "running")]);
    const other = await sleeper("node-2");
    await sleeper("node-1");
    await want("node-1", "stopped");
    const off = await state("node-1", "stopped");
    expect(leftovers(dataDir).filter((left) => left.includes("node-1"))).toEqual([]);
    await want("node-1", "running");
    expect(await state("node-1", "running")).toMatchObject({
      index: off?.index,
      ip: off?.ip,
      podCidrs: ["10.244.1.0/24"],
    });
    // Its disk is as it was: the image is there, and the Pod of before is known to have ended.
    const names = nodeNames(site, "node-1");
    const runtime = criRuntime({ endpoint: names.socket, clock, log: silentLogger });
    expect((await runtime.listPodSandboxes()).map((sandbox) => sandbox.state)).toEqual(["notReady"]);
    expect((await runtime.listContainers()).map((container) => container.state)).toEqual(["exited"]);
    for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id);
    expect(await runtime.listContainers()).toEqual([]);
    await runtime.close();

    await want("node-1", "removed");
    await until(
      () => readdirSync(site.nodesDir),
      (entries) => !entries.includes("node-1"),
    );
    expect(leftovers(dataDir).filter((left) => left.includes("node-1"))).toEqual([]);
    expect(await other.exec("true")).toBe(0);
  });

  it("after a crash in the middle of a start, everything is found and removed", async () => {
    await Promise.all([want("node-1", "running"), want("node-2", "running")]);
    const first = await drive();
    await until(
      () => leftovers(dataDir).filter((left) => left.startsWith("process")).length,
      (count) => count > 1,
    );
    first.process.kill("SIGKILL");
    await first.ended();
    await powerOffAll(site, clock);
    expect(leftovers(dataDir)).toEqual([]);
    // What is kept on disk is enough to go on.
    await drive();
    await Promise.all([state("node-1", "running"), state("node-2", "running")]);
    expect(JSON.parse(readFileSync(site.networkFile, "utf8"))).toMatchObject({ third: expect.any(Number) });
  });

  it("of two clusters have addresses of their own", async () => {
    await drive();
    const otherDir = join(home, "other");
    const other = siteNames(otherDir);
    await using _second = await driveAt(otherDir, "1");
    try {
      const chosen = ({ networkFile }: typeof site) => JSON.parse(readFileSync(networkFile, "utf8"));
      expect([chosen(site).podRange, chosen(other).podRange]).toEqual(["10.244.0.0/16", "10.243.0.0/16"]);
      expect(chosen(site).third).not.toBe(chosen(other).third);
    } finally {
      await powerOffAll(other, clock);
      rmSync(otherDir, { recursive: true, force: true });
    }
  });
});
