/** `k8ts ls`: the clusters of this user, by name. Those in other directories (--data-dir) are not known here. */
import { readdir, stat } from "node:fs/promises";
import { Command, Option } from "commander";
import { humanDuration } from "#api";
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import { realClock } from "#base";
import { contextName, type DataDir, findRunning, listClusters, type Running, readLastStart } from "#cluster";
import { askServer, bodyText } from "../inspect/ask-server.ts";
import { textTable } from "../inspect/text-table.ts";

export interface ClusterRow {
  readonly name: string;
  readonly state: "running" | "starting" | "stopped";
  /** Undefined: not known while it does not run. */
  readonly nodes?: number | undefined;
  readonly version?: string | undefined;
  readonly created: string;
  readonly address?: string | undefined;
  readonly context: string;
  readonly dataDir: string;
}

export function lsCommand(): Command {
  return new Command("ls")
    .description("list the clusters by name")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action(async ({ output }: { output: "text" | "json" }) => {
      const rows = await Promise.all((await listClusters(process.env)).map(rowOf));
      process.stdout.write(
        output === "json" ? `${JSON.stringify(rows, undefined, 2)}\n` : clustersTable(rows, realClock().now()),
      );
    });
}

async function rowOf(dir: DataDir): Promise<ClusterRow> {
  const [found, last, { mtime }] = await Promise.all([findRunning(dir), readLastStart(dir), stat(dir.marker)]);
  const state = found.running ? found.state : undefined;
  return {
    name: dir.name ?? "",
    state: !found.running ? "stopped" : state === undefined ? "starting" : "running",
    nodes: await nodesOf(dir, found),
    version: versionText(state?.version ?? last?.version),
    created: mtime.toISOString(),
    address: state?.url,
    context: contextName(dir.name),
    dataDir: dir.path,
  };
}

function versionText(own: string | undefined): string | undefined {
  if (own === undefined) return undefined;
  const { major, minor, patch } = KUBERNETES_VERSION;
  return own === K8TS_VERSION ? `v${major}.${minor}.${patch}+k8ts${own}` : `k8ts ${own}`;
}

/** A page of one: the server says how many remain. Real nodes of a stopped cluster have folders. */
async function nodesOf(dir: DataDir, found: Running): Promise<number | undefined> {
  if (!found.running) {
    const entries = await readdir(dir.nodes, { withFileTypes: true }).catch(() => []); // it has no real nodes
    return entries.filter((entry) => entry.isDirectory()).length || undefined;
  }
  if (found.state === undefined) return undefined;
  try {
    const response = await askServer(dir, "/api/v1/nodes?limit=1");
    const { items, metadata } = JSON.parse(await bodyText(response)) as {
      items: unknown[];
      metadata: { remainingItemCount?: number };
    };
    return items.length + (metadata.remainingItemCount ?? 0);
  } catch {
    return undefined; // it is just stopping
  }
}

export function clustersTable(rows: readonly ClusterRow[], now: number): string {
  if (rows.length === 0) return "There are no clusters: start one with `k8ts up [NAME]`.\n";
  return textTable([
    ["NAME", "STATE", "NODES", "VERSION", "AGE", "ADDRESS"],
    ...rows.map(({ name, state, nodes, version, created, address }) => [
      name,
      state,
      nodes === undefined ? "-" : String(nodes),
      version ?? "-",
      humanDuration(now - Date.parse(created)),
      address ?? "-",
    ]),
  ]);
}
