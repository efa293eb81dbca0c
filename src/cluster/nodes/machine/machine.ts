/** What this machine offers for real nodes, and what it lacks. */
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { unmountBelow } from "./mounts.ts";
import { cniBinDir, installCommand, missingPackages, wantedPackages } from "./packages.ts";

/** There is no rootless mode: network namespaces with addresses of the machine and cgroups of nodes need its rights. */
export const NEEDS_ROOT = "Real nodes need root, and k8ts has no rootless mode: use sudo, or simulated nodes.";
const CAP_SYS_RESOURCE = 24n;
/** CAP_NET_ADMIN and CAP_SYS_ADMIN: root in a container may lack them. */
const PRIVILEGES = [12n, 21n];

/** Beside the folders of nodes, whose names have no dot. */
const PROBE = ".overlay-";

export interface Machine {
  readonly cniBinDir: string;
  /** Whether oom_score_adj of a process may be set below that of this one. */
  readonly canLowerOomScore: boolean;
  readonly snapshotter: "overlayfs" | "native";
}

/** Why real nodes are not possible here, as sentences. Empty: they are. */
export function obstacles(): string[] {
  if (process.platform !== "linux") return [`Real nodes need Linux; this is ${process.platform}.`];
  const found: string[] = [];
  if (process.getuid?.() !== 0) found.push(NEEDS_ROOT);
  else if (!PRIVILEGES.every((capability) => hasCapability(readFileSync("/proc/self/status", "utf8"), capability))) {
    found.push("Real nodes need CAP_SYS_ADMIN and CAP_NET_ADMIN, which root does not have here.");
  }
  const missing = missingPackages();
  if (missing.length > 0) found.push(`Missing: ${missing.join(", ")}. To get them: ${installCommand(missing)}.`);
  return found;
}

/** Packages that real nodes can do without here, and do more with. */
export function wantedHere(): string[] {
  if (process.platform !== "linux") return [];
  return wantedPackages(hasCapability(readFileSync("/proc/self/status", "utf8"), CAP_SYS_RESOURCE));
}

/** `scratch` lies on the disk that nodes will use. */
export async function inspectMachine(scratch: string): Promise<Machine> {
  const [status, overlay] = await Promise.all([readFile("/proc/self/status", "utf8"), overlayWorks(scratch)]);
  return {
    cniBinDir: cniBinDir() ?? "/opt/cni/bin",
    canLowerOomScore: hasCapability(status, CAP_SYS_RESOURCE),
    snapshotter: overlay ? "overlayfs" : "native",
  };
}

export function hasCapability(status: string, capability: bigint): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> capability) & 1n) === 1n;
}

/**
 * Some file systems, such as another overlay, do not support it: tried once. A start that is killed meanwhile leaves a
 * folder with a mount: the next one removes it.
 */
async function overlayWorks(scratch: string): Promise<boolean> {
  await mkdir(scratch, { recursive: true });
  for (const name of await readdir(scratch)) {
    if (!name.startsWith(PROBE)) continue;
    await unmountBelow(join(scratch, name));
    await rm(join(scratch, name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(scratch, PROBE));
  const at = (name: string) => join(folder, name);
  try {
    await Promise.all(["lower", "upper", "work", "merged"].map((name) => mkdir(at(name))));
    const options = `lowerdir=${at("lower")},upperdir=${at("upper")},workdir=${at("work")}`;
    return await run("mount", ["-t", "overlay", "overlay", "-o", options, at("merged")]).then(
      async () => {
        await run("umount", [at("merged")]);
        return true;
      },
      () => false,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
