/** `k8ts image`: images of the real nodes of this machine. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { realClock, silentLogger } from "#base";
import { ClusterError, type DataDir, type NodeRecord, nodeTools } from "#cluster";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { importEverywhere, importInto } from "./import-image.ts";
import { pullInto } from "./pull-image.ts";

interface ImageRow {
  readonly name: string;
  readonly id: string;
  readonly sizeBytes: number;
  readonly nodes: readonly string[];
}

interface NodeOption extends DataDirOption {
  readonly node?: string;
}

const NODE = ["--node <name>", "this node only (default: all running nodes)"] as const;

export function imageCommand(): Command {
  const command = new Command("image").description("images of real nodes: import, list, remove, pull, save");
  command
    .command("import <images...>")
    .description(
      "import images from archives (docker save, OCI; optionally gzip or zstd), OCI layout folders, or docker-daemon:NAME; nodes that come later get them, too",
    )
    .option(...NODE)
    .addOption(dataDirOption())
    .action(async (sources: readonly string[], options: NodeOption) => {
      const dir = dataDirOf(options);
      const nodes = await runningNodes(dir, options.node);
      for (const source of sources) {
        const names =
          options.node === undefined ? await importEverywhere(dir, nodes, source) : await importInto(nodes, source);
        say(names.join(", "), nodes);
      }
    });
  command
    .command("ls")
    .description("list images and the nodes that have them")
    .option(...NODE)
    .addOption(dataDirOption())
    .action(async (options: NodeOption) => {
      process.stdout.write(imageTable(await imagesOn(await runningNodes(dataDirOf(options), options.node))));
    });
  command
    .command("rm <images...>")
    .description("remove images; containers that run keep what they have")
    .option(...NODE)
    .addOption(dataDirOption())
    .action(async (images: readonly string[], options: NodeOption) => {
      const dir = dataDirOf(options);
      const nodes = await runningNodes(dir, options.node);
      for (const image of images)
        say(image, await removeFrom(dir, nodes, image, options.node === undefined), "removed");
    });
  command
    .command("pull <images...>")
    .description("pull images from their registries, with the credentials of registries.yaml")
    .option(...NODE)
    .addOption(dataDirOption())
    .action(async (images: readonly string[], options: NodeOption) => {
      const nodes = await runningNodes(dataDirOf(options), options.node);
      for (const image of images) {
        await pullInto(nodes, image);
        say(image, nodes);
      }
    });
  command
    .command("save <image>")
    .description("write an image of a node to an OCI archive")
    .requiredOption("-o, --output <file>", "the archive")
    .option("--node <name>", "the node that has it (default: the first that does)")
    .addOption(dataDirOption())
    .action(async (image: string, options: NodeOption & { readonly output: string }) => {
      await save(await runningNodes(dataDirOf(options), options.node), image, resolve(options.output));
    });
  return command;
}

function say(what: string, nodes: readonly NodeRecord[], how = ""): void {
  const on = nodes.map(({ names: { name } }) => name).join(", ");
  process.stdout.write(`${what} ${how === "" ? "on" : `${how} from`} ${on}\n`);
}

async function runningNodes(dir: DataDir, only?: string): Promise<NodeRecord[]> {
  const { listNodes, siteNames } = await nodeTools();
  const nodes = await listNodes(siteNames(dir.path));
  const running = nodes.filter(({ names, run }) => run?.state === "running" && (only ?? names.name) === names.name);
  if (running.length > 0) return running;
  throw new ClusterError(
    only === undefined
      ? `No real node is running in ${dir.path}: start some with \`k8ts up --runtime containerd\`${process.getuid?.() === 0 ? "" : ", as root"}.`
      : `No real node ${only} is running in ${dir.path}.`,
  );
}

/** Returns the nodes that had it. Throws ClusterError if none did. */
async function removeFrom(
  dir: DataDir,
  nodes: readonly NodeRecord[],
  image: string,
  isEverywhere: boolean,
): Promise<readonly NodeRecord[]> {
  const { forgetImage, siteNames } = await nodeTools();
  const had: NodeRecord[] = [];
  for (const node of nodes) {
    await withRuntime(node, async ({ images }) => {
      const found = await images.status(image);
      if (found === undefined) return;
      if (isEverywhere) for (const name of found.repoTags) await forgetImage(siteNames(dir.path), name);
      await images.remove(image);
      had.push(node);
    });
  }
  if (had.length === 0) throw noSuchImage(image, nodes);
  return had;
}

async function save(nodes: readonly NodeRecord[], image: string, file: string): Promise<void> {
  if (existsSync(file)) throw new ClusterError(`${file} exists already.`);
  const { exportImage } = await nodeTools();
  for (const node of nodes) {
    const found = await withRuntime(node, ({ images }) => images.status(image));
    if (found === undefined) continue;
    const name = found.repoTags.find((tag) => tag.endsWith(image)) ?? found.repoTags[0] ?? image;
    await exportImage(node.names, name, file).catch(async (error: unknown) => {
      await rm(file, { force: true });
      throw new ClusterError(`${image} could not be saved: ${(error as Error).message}.`, { cause: error });
    });
    process.stdout.write(`${name} of ${node.names.name} is in ${file}\n`);
    return;
  }
  throw noSuchImage(image, nodes);
}

function noSuchImage(image: string, nodes: readonly NodeRecord[]): ClusterError {
  return new ClusterError(`There is no image ${image} on ${nodes.map(({ names: { name } }) => name).join(", ")}.`);
}

type Runtime = ReturnType<Awaited<ReturnType<typeof nodeTools>>["openRuntime"]>;

async function withRuntime<T>({ names }: NodeRecord, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const { openRuntime } = await nodeTools();
  const runtime = openRuntime(names, { clock: realClock(), log: silentLogger });
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

async function imagesOn(nodes: readonly NodeRecord[]): Promise<ImageRow[]> {
  const rows = new Map<string, ImageRow>();
  for (const node of nodes) {
    for (const { id, repoTags, repoDigests, sizeBytes } of await withRuntime(node, ({ images }) => images.list())) {
      for (const name of repoTags.length > 0 ? repoTags : [repoDigests[0] ?? "<none>"]) {
        const key = `${name} ${id}`;
        rows.set(key, { name, id, sizeBytes, nodes: [...(rows.get(key)?.nodes ?? []), node.names.name] });
      }
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
