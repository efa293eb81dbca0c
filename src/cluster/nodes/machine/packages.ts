/** Finds and installs missing distribution packages for real nodes. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { table } from "#base";
import { ClusterError } from "../../config/errors.ts";
import { findProgram } from "./command.ts";

/** Programs, each with the package of Debian and Ubuntu that has it. */
const PROGRAMS: Readonly<Record<string, string>> = table({
  containerd: "containerd",
  ctr: "containerd",
  "containerd-shim-runc-v2": "containerd",
  runc: "runc",
  ip: "iproute2",
  iptables: "iptables",
  nft: "nftables",
  conntrack: "conntrack",
  busybox: "busybox-static",
});
const PLUGINS = "containernetworking-plugins";
const PLUGIN_NAMES = ["ptp", "host-local", "portmap", "loopback"];
const PLUGIN_DIRS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

export const NODE_PACKAGES: readonly string[] = [...new Set([...Object.values(PROGRAMS), PLUGINS])].sort();

export function missingPackages(): string[] {
  const missing = Object.entries(PROGRAMS).filter(([program]) => findProgram(program) === undefined);
  const packages = missing.map(([, debianPackage]) => debianPackage);
  if (cniBinDir() === undefined) packages.push(PLUGINS);
  return [...new Set(packages)].sort();
}

/** Where CNI's plugins are. */
export function cniBinDir(): string | undefined {
  return PLUGIN_DIRS.find((dir) => PLUGIN_NAMES.every((plugin) => existsSync(join(dir, plugin))));
}

/** Whether there is a supported package manager. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && findProgram("apt-get") !== undefined;
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get install --no-install-recommends ${packages.join(" ")}`;
}

/** Shows the package manager's output only on failure. */
export async function installPackages(packages: readonly string[]): Promise<void> {
  const install = () => aptGet("install", "--yes", "--no-install-recommends", ...packages);
  // Package lists may be missing or outdated.
  if ((await install()) === undefined) return;
  await aptGet("update");
  const failure = await install();
  if (failure !== undefined) {
    throw new ClusterError(
      `${packages.join(", ")} could not be installed: ${failure}. Run \`${installCommand(packages)}\` yourself, or use --runtime simulated.`,
    );
  }
}

/** The last line of its errors if it failed. */
async function aptGet(...args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const child = spawn("apt-get", ["-qq", ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return undefined;
  const errorLine = output.split("\n").find((line) => line.startsWith("E: ")) ?? "";
  return errorLine.slice(3) || output.trim().split("\n").at(-1) || `apt-get exited with code ${code}`;
}
