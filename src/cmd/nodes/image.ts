/** `k8ts image`: images for the real nodes of this machine, without a registry. */
import { Command } from "commander";
import { realClock, silentLogger } from "#base";
import { ClusterError, type DataDir, imageTools, type NodeRecord, nodeTools } from "#cluster";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

interface ImageRow {
  readonly name: string;
  readonly id: string;
  readonly sizeBytes: number;
  readonly nodes: readonly string[];
}

export function imageCommand(): Command {
  const command = new Command("image").description("import images into real nodes without a registry, and list them");
  command
    .command("import <images...>")
    .description("import images from archives (docker save, OCI; optionally gzipped) or OCI layout folders into nodes")
    .option("--node <name>", "import into this node only (default: all running nodes)")
    .addOption(dataDirOption())
    .action(async (paths: readonly string[], options: DataDirOption & { node?: string }) => {
      const nodes = await runningNodes(dataDirOf(options), options.node);
      for (const path of paths) {
        const names = await importOn(nodes, path);
        const on = nodes.map(({ names: { name } }) => name).join(", ");
        process.stdout.write(`${names.join(", ")} on ${on}\n`);
      }
    });
  command
    .command("ls")
    .description("list images and the nodes that have them")
    .addOption(dataDirOption())
    .action(async (options: DataDirOption) => {
      process.stdout.write(imageTable(await imagesOn(await runningNodes(dataDirOf(options)))));
    });
  return command;
}

async function runningNodes(dir: DataDir, only?: string): Promise<NodeRecord[]> {
  const { listNodes, siteNames } = await nodeTools();
  const nodes = await listNodes(siteNames(dir.path));
  const running = nodes.filter(({ names, run }) => run?.state === "running" && (only ?? names.name) === names.name);
  if (running.length > 0) return running;
  throw new ClusterError(
    only === undefined
      ? `No real node is running in ${dir.path}: start some with \`k8ts up --runtime containerd\`.`
      : `No real node ${only} is running in ${dir.path}.`,
  );
}

/** The names by which Pods can use it. */
async function importOn(nodes: readonly NodeRecord[], path: string): Promise<readonly string[]> {
  const [{ openImage }, { importImage }] = await Promise.all([imageTools(), nodeTools()]);
  const source = await openImage(path);
  const named = await Promise.all(
    nodes.map(({ names }) =>
      importImage(names, source.read()).catch((error: unknown) => {
        throw new ClusterError(`${path} could not be imported into ${names.name}: ${(error as Error).message}.`, {
          cause: error,
        });
      }),
    ),
  );
  return named[0] ?? [];
}

async function imagesOn(nodes: readonly NodeRecord[]): Promise<ImageRow[]> {
  const { openRuntime } = await nodeTools();
  const rows = new Map<string, ImageRow>();
  for (const { names } of nodes) {
    const runtime = openRuntime(names, { clock: realClock(), log: silentLogger });
    try {
      for (const { id, repoTags, repoDigests, sizeBytes } of await runtime.images.list()) {
        for (const name of repoTags.length > 0 ? repoTags : [repoDigests[0] ?? "<none>"]) {
          const key = `${name} ${id}`;
          rows.set(key, { name, id, sizeBytes, nodes: [...(rows.get(key)?.nodes ?? []), names.name] });
        }
      }
    } finally {
      await runtime.close();
    }
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export function imageTable(images: readonly ImageRow[]): string {
  const rows = images.map(({ name, id, sizeBytes, nodes }) => [
    name,
    id.replace("sha256:", "").slice(0, 12),
    size(sizeBytes),
    nodes.join(", "),
  ]);
  const table = [["IMAGE", "ID", "SIZE", "NODES"], ...rows];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   ");
  return table.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function size(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
