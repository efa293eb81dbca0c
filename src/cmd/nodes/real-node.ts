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

/** What the API does for the commands: it has simulated nodes, and says which nodes are Ready. */
export interface ApiVerbs {
  /** The name of the added node; undefined: the cluster has real nodes. */
  addSimulated(options: DataDirOption, name: string | undefined): Promise<string | undefined>;
  untilReady(options: DataDirOption, name: string): Promise<void>;
  /** Deletes the Node. False if there is none. */
  forget(options: DataDirOption, name: string): Promise<boolean>;
}

/** Adds the subcommands that differ for real nodes. */
export function addRealVerbs(node: Command, { addSimulated, untilReady, forget }: ApiVerbs): void {
  node
    .command("add [name]")
    .description("add a node of the cluster's kind, real or simulated; returns when it is Ready")
    .addOption(nodeMountOption("of this node"))
    .addOption(dataDirOption())
    .action(async (name: string | undefined, options: DataDirOption & { nodeMount?: readonly string[] }) => {
      const { nodeMount = [] } = options;
      const simulated = await addSimulated(options, name);
      if (simulated !== undefined && nodeMount.length > 0)
        throw new ClusterError("--node-mount is for real nodes: those of this cluster are simulated.");
      const added = simulated ?? (await addRealNode(dataDirOf(options), name, nodeMount, realClock()));
      await untilReady(options, added);
      process.stdout.write(`${added} is up.\n`);
    });
  node
    .command("remove <name>")
    .description("remove a node; of a real one on this machine, also its data")
    .addOption(dataDirOption())
    .action(async (name: string, options: DataDirOption) => {
      const dir = dataDirOf(options);
      const isReal = await setRealNode(dir, name, "removed", realClock());
      if (!(await forget(options, name)) && !isReal) throw new ClusterError(`There is no node ${name}.`);
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
  const nodes = await listNodes(site);
  if (nodes.some(({ spec }) => spec.onMachine === true))
    throw new ClusterError(
      "This machine is one node of the cluster: another comes from another machine, by `k8ts token create --print-join-command`.",
    );
  const taken = new Set(nodes.map(({ names }) => names.name));
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

export function freeName(taken: ReadonlySet<string | undefined>): string {
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
