/**
 * The programs of k8ts in nodes: its bundle, its packages and the Node that runs them, read-only at /opt/k8ts.
 *
 *     folders of the machine ──► overlays below programsDir --► the same in every node, also in running ones
 *
 * 1. A version has its own folder: an upgrade is mounted beside it, and needs no new start of nodes.
 * 2. Overlays without an upper layer: no node can change the programs that others run.
 */
import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join } from "node:path";
import { run } from "../machine/command.ts";
import { mounts } from "../machine/mounts.ts";
import type { SiteNames } from "../site/names.ts";
import { lowerOnly, PROGRAMS } from "./node-container.ts";

/** Programs of the system are in nodes by the same path. */
const SYSTEM = /^\/(usr|bin|sbin|lib)\//;
/** A package that the bundle loads from beside itself. */
const PACKAGE = "@grpc/grpc-js";

export function emptyDirOf({ runDir }: SiteNames): string {
  return join(runDir, ".empty");
}

/** The commands of a node as it runs them. Before the first node starts. */
export async function withPrograms<
  Commands extends { readonly command: readonly string[]; readonly proxyCommand?: readonly string[] | undefined },
>(site: SiteNames, commands: Commands): Promise<Commands & { readonly machineCommand: readonly string[] }> {
  const { command, proxyCommand = command } = commands;
  await ensureProgramsDir(site);
  const [one, two] = [await installPrograms(site, command), await installPrograms(site, proxyCommand)];
  return { ...commands, command: one, proxyCommand: two, machineCommand: command };
}

/** Mounts that are made here appear in nodes. */
async function ensureProgramsDir(site: SiteNames): Promise<void> {
  const { programsDir } = site;
  await mkdir(emptyDirOf(site), { recursive: true, mode: 0o755 });
  await mkdir(programsDir, { recursive: true, mode: 0o755 });
  if ((await mounts()).some(({ path }) => path === programsDir)) return;
  await run("mount", ["--bind", programsDir, programsDir]);
  // A peer group of its own, not that of the file system below.
  await run("mount", ["--make-private", programsDir]);
  await run("mount", ["--make-shared", programsDir]);
}

/** The command as nodes run it. `command`: a program, its flags, and its script if it has one. */
async function installPrograms(site: SiteNames, command: readonly string[]): Promise<readonly string[]> {
  const [program = process.execPath, ...args] = command;
  const entry = args.findLast((arg) => isAbsolute(arg) && existsSync(arg));
  if (SYSTEM.test(program) && entry === undefined) return command;
  const real = realpathSync(program);
  const { size, mtimeMs } = statSync(real);
  const identity = [real, size, mtimeMs, entry, entry && (await readFile(entry, "utf8"))];
  const key = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 12);
  const folders: Record<string, string> = { bin: dirname(real) };
  if (entry !== undefined) {
    folders.dist = dirname(entry);
    folders.node_modules = packagesOf(entry);
  }
  const mounted = new Set((await mounts()).map(({ path }) => path));
  for (const [name, folder] of Object.entries(folders)) {
    const target = join(site.programsDir, key, name);
    if (mounted.has(target)) continue;
    await mkdir(target, { recursive: true, mode: 0o755 });
    await run("mount", ["-t", "overlay", "overlay", "-o", lowerOnly(folder, emptyDirOf(site)), target]);
  }
  const inside = (name: string, file: string) => join(PROGRAMS, key, name, basename(file));
  return [inside("bin", real), ...args.map((arg) => (arg === entry ? inside("dist", arg) : arg))];
}

/** The folder of packages that a script finds. */
function packagesOf(entry: string): string {
  const found = createRequire(entry).resolve(PACKAGE);
  const part = `${join("/node_modules", PACKAGE)}/`;
  return found.slice(0, found.lastIndexOf(part) + "/node_modules".length);
}
