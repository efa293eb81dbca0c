/** `k8ts status`: whether the cluster of a data directory runs and is ready; exit code 1 if not. */
import { Command, Option } from "commander";
import { realClock } from "#base";
import { type DataDir, findRunning, type RunState } from "#cluster";
import type { ClusterReport } from "#dashboard";
import { askServer, bodyText } from "../inspect/ask-server.ts";
import { localFacts, readFacts } from "../inspect/cluster/facts.ts";
import { clusterReport, reportText } from "../inspect/cluster/report.ts";
import { withClient } from "../inspect/own-client.ts";
import { clusterArgument, type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { duration } from "./terminal.ts";

interface Status extends Partial<RunState> {
  readonly running: boolean;
  readonly ready: boolean;
  readonly dataDir: string;
  readonly kubeconfig?: string;
  /** Why it is not ready. */
  readonly reason?: string;
  /** Of the whole cluster, as its admin sees it. */
  readonly cluster?: ClusterReport;
}

export function statusCommand(): Command {
  return new Command("status")
    .description("show whether the cluster runs and is ready, and its nodes, servers and leaders; exit code 1 if not")
    .addArgument(clusterArgument())
    .addOption(dataDirOption())
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, options: DataDirOption & { output: "text" | "json" }) => {
      const status = await statusOf(dataDirOf(options, name));
      process.stdout.write(
        options.output === "json" ? `${JSON.stringify(status, undefined, 2)}\n` : describe(status, realClock().now()),
      );
      process.exitCode = status.ready ? 0 : 1;
    });
}

async function statusOf(dir: DataDir): Promise<Status> {
  const found = await findRunning(dir);
  if (!found.running) return { running: false, ready: false, dataDir: dir.path };
  if (found.state === undefined)
    return { running: true, ready: false, dataDir: dir.path, reason: "it is starting or stopping" };
  const base = { running: true, dataDir: dir.path, kubeconfig: dir.kubeconfig, ...found.state };
  try {
    const response = await askServer(dir, "/readyz?verbose");
    const failing = (await bodyText(response)).split("\n").filter((line) => line.startsWith("[-]"));
    if (response.statusCode === 200) return { ...base, ready: true, ...(await clusterOf(dir, found.state)) };
    return { ...base, ready: false, reason: failing.join(", ") };
  } catch (error) {
    return { ...base, ready: false, reason: (error as Error).message };
  }
}

/** A machine that joined sees its own node only: the control plane shows the cluster. */
async function clusterOf(dir: DataDir, { joined }: RunState): Promise<Pick<Status, "cluster">> {
  if (joined !== undefined) return {};
  const now = realClock().now();
  const local = await localFacts(dir);
  return { cluster: clusterReport(await withClient(dir, (client) => readFacts(client, local, now))) };
}

function describe(status: Status, now: number): string {
  if (!status.running) return `No cluster is running in ${status.dataDir}.\n`;
  const rows: [string, string | undefined][] = [
    ["state", status.ready ? "ready" : `not ready: ${status.reason}`],
    ["machine", status.joined && `node ${status.joined.nodeName} of the cluster ${status.joined.clusterName}`],
    ["server", status.url],
    ["store", status.store],
    ["up", status.startedAt && `${duration(now - Date.parse(status.startedAt))} (process ${status.pid})`],
    ["data", status.dataDir],
    ["kubeconfig", status.kubeconfig],
  ];
  const own = rows.map(([name, value]) => (value === undefined ? "" : `${name.padEnd(12)}${value}\n`)).join("");
  return status.cluster === undefined ? own : own + reportText(status.cluster, now);
}
