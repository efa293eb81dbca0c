/** What this machine has for real nodes, what it lacks, and how to get it: a row for each thing. */

import { once } from "node:events";
import { readFileSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { isolationObstacle, userNamespaceObstacle } from "./isolation/probe.ts";
import { volumeObstacle } from "./isolation/volume-devices.ts";
import { cgroupRoots } from "./machine/cgroups.ts";
import { findProgram, run } from "./machine/command.ts";
import { hasCapability, NEEDS_ROOT, wantedHere } from "./machine/machine.ts";
import { cniBinDir, installCommand, missingPackages } from "./machine/packages.ts";

export interface Finding {
  readonly what: string;
  /** `advice`: real nodes work without it, or with fewer of them. */
  readonly verdict: "ok" | "lacks" | "advice";
  readonly found: string;
  /** How to get it. */
  readonly help?: string;
}

const CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n };
const CONTROLLERS = ["cpu", "memory", "pids"];
const FREE_BYTES = 5e9;
const INSTANCES = 512;
const API_PORT = 6443;
/** What this machine's kernel offers to root is not known to others. */
const UNTRIED = "not tried: only root may";

/** `folder`: where clusters keep their state. */
export async function examine(folder: string): Promise<readonly Finding[]> {
  if (process.platform !== "linux")
    return [
      {
        what: "system",
        verdict: "lacks",
        found: process.platform,
        help: "Real nodes need Linux; simulated ones run here.",
      },
    ];
  return [
    rights(),
    programs(),
    await version("containerd", /\sv?(\d+\.\d+\S*)/),
    await version("runc", /version (\S+)/),
    plugins(),
    await namespaces(),
    await userNamespaces(),
    overlay(),
    await cgroups(),
    await tried(
      "links between nodes",
      "ip link add one type veth peer name two && ip link add three type bridge",
      "the kernel modules veth and bridge",
    ),
    await tried(
      "nftables",
      "nft add table inet k8ts-doctor && nft delete table inet k8ts-doctor",
      "the kernel module nf_tables, and the package nftables",
    ),
    await volumes(),
    growth(),
    disk(folder),
    inotify(),
    await port(),
  ];
}

function rights(): Finding {
  const what = "rights";
  if (process.getuid?.() !== 0) return { what, verdict: "lacks", found: "not root", help: NEEDS_ROOT };
  const status = readFileSync("/proc/self/status", "utf8");
  const missing = Object.entries(CAPABILITIES).filter(([, number]) => !hasCapability(status, number));
  if (missing.length === 0) return { what, verdict: "ok", found: "root" };
  const names = missing.map(([name]) => name).join(", ");
  return {
    what,
    verdict: "lacks",
    found: `root without ${names}`,
    help: `Give this container ${names} (--privileged).`,
  };
}

function programs(): Finding {
  const missing = missingPackages();
  if (missing.length === 0) return { what: "programs", verdict: "ok", found: "all there" };
  return { what: "programs", verdict: "lacks", found: `no ${missing.join(", ")}`, help: installCommand(missing) };
}

async function version(program: string, pattern: RegExp): Promise<Finding> {
  const what = program;
  if (findProgram(program) === undefined)
    return { what, verdict: "lacks", found: "not there", help: installCommand([program]) };
  const said = await run(program, ["--version"]).catch((error: Error) => error.message);
  return { what, verdict: "ok", found: pattern.exec(said)?.[1] ?? said.split("\n")[0] ?? "" };
}

function plugins(): Finding {
  const found = cniBinDir();
  if (found !== undefined) return { what: "CNI plugins", verdict: "ok", found };
  return { what: "CNI plugins", verdict: "lacks", found: "not there", help: installCommand(missingPackages()) };
}

async function namespaces(): Promise<Finding> {
  const what = "namespaces";
  if (process.getuid?.() !== 0) return { what, verdict: "advice", found: UNTRIED };
  const obstacle = await isolationObstacle().catch((error: Error) => error.message);
  if (obstacle === undefined) return { what, verdict: "ok", found: "nodes have their own" };
  const help = "Nodes then share this machine's files and processes: run outside a container, or in a privileged one.";
  return { what, verdict: "advice", found: obstacle, help };
}

async function userNamespaces(): Promise<Finding> {
  const what = "user namespaces";
  const obstacle = await userNamespaceObstacle().catch((error: Error) => error.message);
  if (obstacle === undefined) return { what, verdict: "ok", found: "with `k8ts up --node-user-namespaces`" };
  const help =
    "Root of a node is then root towards this machine's kernel: sysctl user.max_user_namespaces and the like.";
  return { what, verdict: "advice", found: obstacle, help };
}

function overlay(): Finding {
  const has = readFileSync("/proc/filesystems", "utf8").includes("overlay");
  const help = "modprobe overlay; without it images are copied, which takes time and space.";
  return has
    ? { what: "overlayfs", verdict: "ok", found: "there" }
    : { what: "overlayfs", verdict: "advice", found: "not there", help };
}

async function cgroups(): Promise<Finding> {
  const roots = await cgroupRoots();
  const isV2 = roots.some(({ type }) => type === "cgroup2");
  const text = readFileSync("/proc/cgroups", "utf8");
  const missing = CONTROLLERS.filter((name) => !new RegExp(`^${name}\\s.*\\s1$`, "m").test(text));
  const found = roots.some(({ type }) => type === "cgroup") ? "v1" : isV2 ? "v2" : "none mounted";
  if (roots.length > 0 && missing.length === 0) return { what: "cgroups", verdict: "ok", found };
  const help =
    roots.length === 0 ? "mount -t cgroup2 none /sys/fs/cgroup" : "Boot with cgroup_enable=memory and the like.";
  return {
    what: "cgroups",
    verdict: "lacks",
    found: missing.length > 0 ? `${found}, no ${missing.join(", ")}` : found,
    help,
  };
}

/** In a network namespace that ends with the command. */
async function tried(what: string, script: string, needs: string): Promise<Finding> {
  if (process.getuid?.() !== 0) return { what, verdict: "advice", found: UNTRIED };
  const problem = await run("unshare", ["--net", "sh", "-c", script]).then(
    () => undefined,
    (error: Error) => error.message.split("\n")[0],
  );
  if (problem === undefined) return { what, verdict: "ok", found: "work" };
  return { what, verdict: "lacks", found: problem, help: `Needs ${needs}.` };
}

async function volumes(): Promise<Finding> {
  if (process.getuid?.() !== 0) return { what: "volumes", verdict: "advice", found: UNTRIED };
  const why = await volumeObstacle();
  if (why === undefined) return { what: "volumes", verdict: "ok", found: "loop devices for each node" };
  return {
    what: "volumes",
    verdict: "advice",
    found: why,
    help: "Nodes with namespaces of their own then make no volumes.",
  };
}

function growth(): Finding {
  const what = "growing volumes";
  const wanted = wantedHere();
  if (wanted.length === 0) return { what, verdict: "ok", found: "also under running Pods" };
  return { what, verdict: "advice", found: "with the next start of their Pods", help: installCommand(wanted) };
}

function disk(folder: string): Finding {
  let at = folder;
  for (;;) {
    try {
      const { bavail, bsize } = statfsSync(at);
      const free = bavail * bsize;
      const found = `${(free / 1e9).toFixed(1)} GB free in ${at}`;
      const help = "Images and volumes of nodes need space: choose another place with K8TS_HOME or --data-dir.";
      return free >= FREE_BYTES
        ? { what: "disk", verdict: "ok", found }
        : { what: "disk", verdict: "advice", found, help };
    } catch {
      at = at.slice(0, at.lastIndexOf("/")) || "/"; // it is not there yet: its parent counts
    }
  }
}

function inotify(): Finding {
  const number = Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8"));
  const found = `${number} instances`;
  const help = `sysctl fs.inotify.max_user_instances=${INSTANCES}: each node and many Pods take some.`;
  return number >= INSTANCES
    ? { what: "inotify", verdict: "ok", found }
    : { what: "inotify", verdict: "advice", found, help };
}

async function port(): Promise<Finding> {
  const server = createServer();
  try {
    server.listen(API_PORT, "127.0.0.1");
    await once(server, "listening");
    return { what: "port", verdict: "ok", found: `${API_PORT} is free` };
  } catch {
    return { what: "port", verdict: "advice", found: `${API_PORT} is in use`, help: "`k8ts up` takes another one." };
  } finally {
    server.close();
  }
}
