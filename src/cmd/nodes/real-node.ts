/**
 * `k8ts node add · remove · stop · start` for real nodes: the command writes the wanted state, the running cluster
 * reconciles it, and the command waits.
 *
 *     k8ts node stop ══► nodes/<name>/node.json ···► running cluster ══► run.json ···► k8ts node stop
 */
import type { Command } from "commander";
import type { Clock } from "#base";
import { realClock } from "#base";
import { ClusterError, type DataDir, type NodeRecord, nodeTools, type Wanted } from "#cluster";
import { runningServer } from "../inspect/running-server.ts";
import { nodeMountOption, nodeMounts } from "../options/real-nodes.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

const POLL_MS = 50;
const TIMEOUT_MS = 60_000;

/** Adds the subcommands for real nodes only. `forget` deletes a Node from the API. */
export function addRealVerbs(node: Command, forget: (options: DataDirOption, name: string) => Promise<void>): void {
  node
    .command("add [name]")
    .description("add a real node to the running cluster")
    .addOption(nodeMountOption("of this node"))
    .addOption(dataDirOption())
    .action(async (name: string | undefined, options: DataDirOption & { nodeMount?: readonly string[] }) => {
      const added = await addRealNode(dataDirOf(options), name, options.nodeMount ?? [], realClock());
      process.stdout.write(`${added} is up.\n`);
    });
  node
    .command("remove <name>")
    .description("stop a real node and delete its data")
    .addOption(dataDirOption())
    .action(async (name: string, options: DataDirOption) => {
      const dir = dataDirOf(options);
      if (!(await setRealNode(dir, name, "removed", realClock())))
        throw new ClusterError(`${name} is not a real node.`);
      await forget(options, name);
      process.stdout.write(`${name} is removed.\n`);
    });
}

/** Resolves when the node has the wanted state, to false if there is no real node of this name. */
export async function setRealNode(dir: DataDir, name: string, wanted: Wanted, clock: Clock): Promise<boolean> {
  const { nodeNames, readNode, siteNames, writeSpec } = await nodeTools();
  const names = nodeNames(siteNames(dir.path), name);
  const known = await readNode(names);
  if (known === undefined) return false;
  await runningServer(dir);
  await writeSpec(names, { ...known.spec, wanted });
  await waitFor(dir, () => readNode(names), wanted, name, clock);
  return true;
}

async function addRealNode(
  dir: DataDir,
  given: string | undefined,
  mounts: readonly string[],
  clock: Clock,
): Promise<string> {
  const { listNodes, nodeNameProblem, nodeNames, readNode, siteNames, writeSpec } = await nodeTools();
  await runningServer(dir);
  const site = siteNames(dir.path);
  const taken = new Set((await listNodes(site)).map(({ names }) => names.name));
  const name = given ?? freeName(taken);
  const problem = nodeNameProblem(name);
  if (problem !== undefined) throw new ClusterError(problem);
  if (taken.has(name)) throw new ClusterError(`Node ${name} already exists.`);
  const names = nodeNames(site, name);
  await nodeMounts(mounts);
  await writeSpec(names, { wanted: "running", ...(mounts.length > 0 && { mounts }) });
  await waitFor(dir, () => readNode(names), "running", name, clock);
  return name;
}

function freeName(taken: ReadonlySet<string>): string {
  let number = 1;
  while (taken.has(`node-${number}`)) number++;
  return `node-${number}`;
}

async function waitFor(
  dir: DataDir,
  read: () => Promise<NodeRecord | undefined>,
  wanted: Wanted,
  name: string,
  clock: Clock,
): Promise<void> {
  const deadline = clock.monotonic() + TIMEOUT_MS;
  for (;;) {
    const record = await read();
    if ((record?.run?.state ?? "removed") === wanted && (record === undefined) === (wanted === "removed")) return;
    if (clock.monotonic() >= deadline) {
      throw new ClusterError(
        `${name} is not ${wanted} after ${TIMEOUT_MS / 1000} s. Does the cluster have real nodes (--runtime containerd)? See ${dir.log}.`,
      );
    }
    await clock.sleep(POLL_MS);
  }
}
