/**
 * A node's user namespace: its root is nobody on the machine, also for a privileged Pod.
 *
 *     ids 0 to 65535 of the node ──► as many of the machine, which no user has and no other node of the cluster
 *     user namespace ──► network namespace, owned by it ──► the others, by runc
 *
 * 1. A node's disk belongs to its ids. So the kind of a node is that of its disk, and does not change.
 * 2. The namespaces exist before the node's first process: the link to the switch needs them.
 * 3. What the kernel keeps for the root of the machine (its settings, modules, clock, log, programs that it starts) is
 *    closed, by whatever path it is asked for. So is mounting what is on a device: the driver of volumes is outside.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cgroupRoots } from "../machine/cgroups.ts";
import { run } from "../machine/command.ts";
import { below, mounts } from "../machine/mounts.ts";
import { type NodeNames, namespacePath, type SiteNames } from "../site/names.ts";

/** Of users and groups alike. */
export interface IdRange {
  /** What 0 of the node is on the machine. */
  readonly first: number;
  readonly size: number;
}

const SIZE = 65_536;
/** Beyond what distributions give to users, and below 2^31, where some programs take ids for negative. */
const LOWEST = 0x4000_0000;
const NODES = 256;
const CLUSTERS = 64;

/** `index`: of the node in its cluster. Pure. */
export function idRangeFor({ id }: Pick<SiteNames, "id">, index: number): IdRange {
  const cluster = createHash("sha256").update(id).digest().readUInt16BE(0) % CLUSTERS;
  return { first: LOWEST + (cluster * NODES + (index % NODES)) * SIZE, size: SIZE };
}

/** That of its disk; undefined: the node has no user namespace, or no disk yet. */
export async function idRangeOf({ diskDir }: Pick<NodeNames, "diskDir">): Promise<IdRange | undefined> {
  if (!existsSync(diskDir)) return undefined;
  const { uid } = await stat(diskDir);
  return uid < LOWEST ? undefined : { first: uid, size: SIZE };
}

/** A process holds both until they have names. It ends by itself if this program is killed. */
const MAKE =
  "unshare --user --net sleep 60 > /dev/null 2>&1 & holder=$!; " +
  "tries=0; while :; do " +
  'there=$(readlink "/proc/$holder/ns/net") && [ "$there" != "$(readlink /proc/self/ns/net)" ] && break; ' +
  '[ "$tries" -lt 500 ] || exit 1; tries=$((tries + 1)); sleep 0.01; done; ' +
  'echo "0 $1 $2" > "/proc/$holder/uid_map" && echo "0 $1 $2" > "/proc/$holder/gid_map" && ' +
  'touch "$3" "$4" && mount --bind "/proc/$holder/ns/user" "$3" && mount --bind "/proc/$holder/ns/net" "$4"; ' +
  'code=$?; kill "$holder"; exit "$code"';

/** With the node's network namespace. Both are missing. */
export async function makeUserNamespace(names: NodeNames, { first, size }: IdRange): Promise<void> {
  await removeUserNamespace(names); // of a start that was killed in between
  await mkdir(dirname(names.userNamespace), { recursive: true, mode: 0o700 });
  const files = [names.userNamespace, namespacePath(names.namespace)];
  await run("sh", ["-c", MAKE, "sh", String(first), String(size), ...files]);
}

/** It ends with its last process and name. */
export async function removeUserNamespace({
  userNamespace,
  rootDir,
}: Pick<NodeNames, "userNamespace" | "rootDir">): Promise<void> {
  for (const path of below(await mounts(), userNamespace)) await run("umount", [path]);
  await rm(userNamespace, { force: true });
  await rmdir(rootDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/** Files of the machine that become the node's. */
export async function giveFiles({ first }: IdRange, paths: readonly string[]): Promise<void> {
  await run("chown", ["--no-dereference", "--recursive", `${first}:${first}`, "--", ...paths]);
}

/** The node makes groups of its own below, and moves its processes into them; limits of its own it cannot change. */
export async function giveCgroups({ cgroup }: Pick<NodeNames, "cgroup">, { first }: IdRange): Promise<void> {
  const files = ["", "cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"];
  const paths = (await cgroupRoots()).flatMap(({ path }) => files.map((file) => join(path, cgroup, file)));
  const found = paths.filter((path) => existsSync(path));
  if (found.length > 0) await run("chown", ["--no-dereference", `${first}:${first}`, "--", ...found]);
}
