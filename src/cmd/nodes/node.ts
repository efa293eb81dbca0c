/**
 * `k8ts node`: stops and starts nodes of a running cluster. Real nodes are in real-node.ts.
 *
 *     k8ts node stop ══► Node, annotation simulated.k8ts.io/stopped --► the node stops or resumes its heartbeats
 */
import { Command } from "commander";
import { type core, isStatusError, kinds } from "#api";
import { type Clock, realClock } from "#base";
import type { ResourceClient } from "#client";
import { ClusterError } from "#cluster";
import { withClient } from "../inspect/own-client.ts";
import { textTable } from "../inspect/text-table.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { addDrain } from "./drain.ts";
import { forgetNode } from "./forget-node.ts";
import { addRealVerbs, freeName, setRealNode } from "./real-node.ts";

const NODES = kinds.Node;
/** The annotation that simulated nodes watch; repeated here, so that the command does not load them. */
export const STOPPED = "simulated.k8ts.io/stopped";
/** The same: a Node with it is a simulated one that was added. */
const ADDED = "simulated.k8ts.io/number";
const POLL_MS = 50;
const READY_TIMEOUT_MS = 60_000;

export function nodeCommand(): Command {
  const command = new Command("node").description(
    "list and drain nodes, simulate node failures, add and remove real nodes",
  );
  command
    .command("ls")
    .description("list nodes and their status")
    .addOption(dataDirOption())
    .action((options: DataDirOption) =>
      withNodes(options, async (nodes) => {
        process.stdout.write(nodesTable((await nodes.list()).items));
      }),
    );
  for (const [verb, stopped, does, done] of [
    ["stop", "true", "simulate a node failure", "is stopped"],
    ["start", null, "bring a stopped node back", "is started"],
  ] as const) {
    command
      .command(`${verb} <name>`)
      .description(does)
      .addOption(dataDirOption())
      .action((name: string, options: DataDirOption) =>
        withNodes(options, async (nodes) => {
          const wanted = verb === "stop" ? "stopped" : "running";
          const isReal = await setRealNode(dataDirOf(options), name, wanted, realClock());
          if (!isReal) await setStopped(nodes, name, stopped);
          process.stdout.write(isReal ? `${name} is ${wanted}.\n` : `${name} ${done}.\n`);
        }),
      );
  }
  addRealVerbs(command, {
    addSimulated: (options, name) => withNodes(options, (nodes) => addSimulated(nodes, name)),
    untilReady: (options, name) => withNodes(options, (nodes) => untilReady(nodes, name, realClock())),
    forget: (options, name) => withClient(dataDirOf(options), (client) => forgetNode(client, name)),
  });
  addDrain(command);
  return command;
}

/** Undefined if the cluster has real nodes, or none. */
async function addSimulated(nodes: ResourceClient<core.Node>, given: string | undefined): Promise<string | undefined> {
  const { items } = await nodes.list();
  if (!items.some(isSimulated)) return undefined;
  const names = new Set(items.map(({ metadata }) => metadata.name));
  const numbers = items.map(({ metadata }, at) => Number(metadata.annotations?.[ADDED] ?? at + 1));
  const number = Math.max(items.length, ...numbers) + 1;
  const name = given ?? freeName(names);
  if (names.has(name)) throw new ClusterError(`Node ${name} already exists.`);
  await nodes.create({ metadata: { name, annotations: { [ADDED]: String(number) } } });
  return name;
}

async function untilReady(nodes: ResourceClient<core.Node>, name: string, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + READY_TIMEOUT_MS;
  for (;;) {
    const node = await nodes.get(name).catch((error: unknown) => {
      if (isStatusError(error) && error.reason === "NotFound") return undefined;
      throw error;
    });
    if (node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) return;
    if (clock.monotonic() >= deadline)
      throw new ClusterError(
        `${name} is added, but not Ready after ${READY_TIMEOUT_MS / 1000} s: \`k8ts why node/${name}\` says more.`,
      );
    await clock.sleep(POLL_MS);
  }
}

function isSimulated({ status }: core.Node): boolean {
  return status?.nodeInfo?.containerRuntimeVersion.startsWith("simulated://") === true;
}

async function setStopped(nodes: ResourceClient<core.Node>, name: string, stopped: "true" | null): Promise<void> {
  try {
    if (!isSimulated(await nodes.get(name))) throw new ClusterError(`${name} is not a simulated node.`);
    await nodes.patch(name, { type: "merge", object: { metadata: { annotations: { [STOPPED]: stopped } } } });
  } catch (error) {
    if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    throw new ClusterError(`There is no node ${name}: \`k8ts node ls\` lists all nodes.`, { cause: error });
  }
}

async function withNodes<T>(
  options: DataDirOption,
  work: (nodes: ResourceClient<core.Node>) => Promise<T>,
): Promise<T> {
  return withClient(dataDirOf(options), (client) => work(client.of<core.Node>(NODES)));
}

export function nodesTable(nodes: readonly core.Node[]): string {
  const rows = nodes.map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
    const isStopped = metadata.annotations?.[STOPPED] === "true";
    const state = ready === "True" ? "Ready" : ready === "Unknown" ? "NotReady (no heartbeat)" : "NotReady";
    return [
      metadata.name ?? "",
      isStopped ? `${state}, stopped` : state,
      metadata.labels?.["topology.kubernetes.io/zone"] ?? "-",
      status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "-",
      status?.nodeInfo?.containerRuntimeVersion.split(":")[0] ?? "-",
    ];
  });
  return textTable([["NAME", "STATUS", "ZONE", "ADDRESS", "RUNTIME"], ...rows]);
}
