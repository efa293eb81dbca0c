/**
 * Finds and installs missing distribution packages for real nodes: with apt-get, dnf, pacman or apk. Where none of them
 * is there, static binaries in /usr/local/bin do as well.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ClusterError } from "../../config/errors.ts";
import { findProgram } from "./command.ts";
import { MANAGERS, nameFor, type PackageManager, PLUGINS, PROGRAMS, WANTED_PROGRAMS } from "./package-names.ts";

const PLUGIN_NAMES = ["ptp", "host-local", "portmap", "loopback"];
const PLUGIN_DIRS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const DEBIAN: PackageManager = "apt-get";

/** Of Debian and Ubuntu. */
export const NODE_PACKAGES: readonly string[] = [
  ...new Set([...Object.values({ ...PROGRAMS, ...WANTED_PROGRAMS }), PLUGINS].map((names) => nameFor(DEBIAN, names))),
].sort();

/** The manager of this machine, if it is a supported one. */
export function packageManager(find: typeof findProgram = findProgram): PackageManager | undefined {
  return (Object.keys(MANAGERS) as PackageManager[]).find((name) => find(name) !== undefined);
}

/** By the names that this machine's package manager has for them. */
export function missingPackages(find: typeof findProgram = findProgram): string[] {
  const manager = packageManager(find) ?? DEBIAN;
  const missing = Object.entries(PROGRAMS).filter(([program]) => find(program) === undefined);
  const packages = missing.map(([, names]) => nameFor(manager, names));
  if (cniBinDir() === undefined) packages.push(nameFor(manager, PLUGINS));
  return [...new Set(packages)].sort();
}

/** Those that nodes can do without. `growsMounted`: whether root may grow a mounted ext4; else volumes are xfs. */
export function wantedPackages(growsMounted: boolean, find: typeof findProgram = findProgram): string[] {
  if (growsMounted) return [];
  const manager = packageManager(find) ?? DEBIAN;
  const lacking = Object.entries(WANTED_PROGRAMS).filter(([program]) => find(program) === undefined);
  return lacking.map(([, names]) => nameFor(manager, names));
}

/** Where CNI's plugins are. */
export function cniBinDir(): string | undefined {
  return PLUGIN_DIRS.find((dir) => PLUGIN_NAMES.every((plugin) => existsSync(join(dir, plugin))));
}

/** Whether there is a supported package manager. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && packageManager() !== undefined;
}

/** How to get packages on this machine, for people. */
export function installCommand(packages: readonly string[], manager = packageManager()): string {
  if (manager === undefined)
    return `put static binaries of ${packages.join(", ")} into /usr/local/bin, and CNI plugins into /opt/cni/bin`;
  return [manager, ...MANAGERS[manager].install, ...packages].join(" ");
}

/** Shows the package manager's output only on failure. */
export async function installPackages(packages: readonly string[]): Promise<void> {
  const manager = packageManager() ?? DEBIAN;
  const { install: verb, isQuiet, update } = MANAGERS[manager];
  const install = () => quietly(manager, [...isQuiet, ...verb, ...packages]);
  // Package lists may be missing or outdated.
  if ((await install()) === undefined) return;
  if (update !== undefined) await quietly(manager, [...update]);
  const failure = await install();
  if (failure !== undefined) {
    throw new ClusterError(
      `${packages.join(", ")} could not be installed: ${failure}. Run \`${installCommand(packages)}\` yourself, or use --runtime simulated.`,
    );
  }
}

/** The last line of its errors if it failed. */
async function quietly(manager: PackageManager, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const child = spawn(manager, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return undefined;
  const errorLine = output.split("\n").find((line) => line.startsWith("E: ")) ?? "";
  return errorLine.slice(3) || output.trim().split("\n").at(-1) || `${manager} exited with code ${code}`;
}
