/**
 * All that a running node has, by names that stay the same while nothing changes: to be compared with what it has
 * later.
 */
import { globSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { realClock, silentLogger } from "../../../src/base/index.ts";
import { nodeNames, siteNames } from "../../../src/cluster/nodes/index.ts";
import { run } from "../../../src/cluster/nodes/machine/command.ts";
import { criRuntime } from "../../../src/kubelet/index.ts";
import { leftovers } from "./leftovers.ts";

export async function inventory(dataDir: string, nodeName: string): Promise<string[]> {
  const site = siteNames(dataDir);
  const node = nodeNames(site, nodeName);
  const runtime = criRuntime({ endpoint: node.socket, clock: realClock(), log: silentLogger });
  try {
    const [sandboxes, containers, links] = await Promise.all([
      runtime.listPodSandboxes(),
      runtime.listContainers(),
      run("ip", ["-n", node.namespace, "-o", "link", "show"]),
    ]);
    return [
      // Numbers of processes differ after a restart.
      ...leftovers(dataDir).map((each) => each.replace(/^process \d+ /, "process ")),
      ...sandboxes.map(({ id, state }) => `sandbox ${id} ${state}`),
      ...containers.map(({ id, state }) => `container ${id} ${state}`),
      ...links.split("\n").map((line) => `link ${line.split(": ")[1] ?? ""}`),
      ...globSync([`/sys/fs/cgroup${node.cgroup}/**/`, `/sys/fs/cgroup/*${node.cgroup}/**/`]),
      ...entries(join(node.ipamDir, "k8ts")).map((address) => `address ${address}`),
      ...entries(join(node.kubeletRoot, "pods")).map((uid) => `volumes of Pod ${uid}`),
      ...entries(join(node.diskDir, "var", "log", "pods")).map((uid) => `logs of Pod ${uid}`),
      ...entries(join(node.stateDir, "io.containerd.runtime.v2.task", "k8s.io")).map((id) => `bundle ${id}`),
      ...entries(join(node.runcRoot, "k8s.io")).map((id) => `state of runc ${id}`),
    ].sort();
  } finally {
    await runtime.close();
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("last_reserved") && name !== "lock");
  } catch {
    return []; // nothing was ever made
  }
}
