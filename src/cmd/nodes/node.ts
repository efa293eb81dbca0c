/**
 * `k8ts node`: stops and starts nodes of a running cluster. Real nodes are in real-node.ts.
 *
 *     k8ts node stop ══► Node, annotation simulated.k8ts.io/stopped --► the node stops or resumes its heartbeats
 */
import { Command } from "commander";
import { type core, isStatusError, kinds } from "#api";
import { realClock } from "#base";
import type { ResourceClient } from "#client";
import { ClusterError } from "#cluster";
import { runningServer } from "../inspect/running-server.ts";
import { textTable } from "../inspect/text-table.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { addRealVerbs, setRealNode } from "./real-node.ts";

const NODES = kinds.Node;
/** The annotation that simulated nodes watch; repeated here, so that the command does not load them. */
export const STOPPED = "simulated.k8ts.io/stopped";

export function nodeCommand(): Command {
  const command = new Command("node").description("list nodes, simulate node failures, add and remove real nodes");
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
  addRealVerbs(command, (options, name) =>
    withNodes(options, async (nodes) => {
      await nodes.delete(name).catch((error: unknown) => {
        // It may never have registered.
        if (!isStatusError(error) || error.reason !== "NotFound") throw error;
      });
    }),
  );
  return command;
}

async function setStopped(nodes: ResourceClient<core.Node>, name: string, stopped: "true" | null): Promise<void> {
  try {
    const { status } = await nodes.get(name);
    if (status?.nodeInfo?.containerRuntimeVersion.startsWith("simulated://") !== true)
      throw new ClusterError(`${name} is not a simulated node.`);
    await nodes.patch(name, { type: "merge", object: { metadata: { annotations: { [STOPPED]: stopped } } } });
  } catch (error) {
    if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    throw new ClusterError(`There is no node ${name}: \`k8ts node ls\` lists all nodes.`, { cause: error });
  }
}

async function withNodes(
  options: DataDirOption,
  work: (nodes: ResourceClient<core.Node>) => Promise<void>,
): Promise<void> {
  const { server, caPem, client: user } = await runningServer(dataDirOf(options));
  const credentials = user !== undefined && "certPem" in user ? { certPem: user.certPem, keyPem: user.keyPem } : {};
  // Loaded on demand, so that other commands start without it.
  const { Client, https } = await import("#client");
  const clock = realClock();
  const client = new Client({ transport: https({ server, caPem, ...credentials }, { clock }), clock });
  try {
    await work(client.of<core.Node>(NODES));
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new ClusterError(`The API server at ${server} returned: ${error.message}`, { cause: error });
  } finally {
    await client.close();
  }
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
