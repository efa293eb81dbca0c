/**
 * Folders of the machine in a node with a user namespace, with the rights that they have elsewhere: by idmapped mounts.
 * User 0 of the node is user 0 in such a folder, user 1000 is 1000, although both are others on the machine.
 *
 *     source ──► clone of its mounts, mapped by the node's user namespace ──► a place for runc, which binds it
 *
 * 1. Where that is not possible (no perl, an older kernel, a file system without it), the folder itself is mounted: the
 *    node then has the rights that everybody has.
 * 2. What is removed here is empty: never a folder below which something may still be mounted.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, run } from "../machine/command.ts";
import { unmountBelow } from "../machine/mounts.ts";
import type { NodeNames } from "../site/names.ts";
import type { NodeMount } from "./node-mounts.ts";

/**
 * open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE); mount_setattr with
 * MOUNT_ATTR_IDMAP, and AT_EMPTY_PATH | AT_RECURSIVE; move_mount with MOVE_MOUNT_F_EMPTY_PATH. Their numbers are the
 * same on all machines.
 */
const MAP =
  'my ($source, $target, $users) = @ARGV; my $none = ""; open(my $of, "<", $users) or die "$users: $!\\n"; ' +
  'my $tree = syscall(428, -100, $source, 0x88001); $tree >= 0 or die "open_tree: $!\\n"; ' +
  'my $wanted = pack("Q4", 0x100000, 0, 0, fileno($of)); ' +
  'syscall(442, $tree, $none, 0x9000, $wanted, 32) == 0 or die "mount_setattr: $!\\n"; ' +
  'syscall(429, $tree, $none, -100, $target, 4) == 0 or die "move_mount: $!\\n";';

type Names = Pick<NodeNames, "userNamespace" | "mountsDir">;

export interface MappedMounts {
  /** With what runc mounts instead of the folders themselves. */
  readonly mounts: readonly NodeMount[];
  /** Folders in which the node has only everybody's rights, and why. */
  readonly unmapped: readonly { readonly source: string; readonly why: string }[];
}

/** The node's user namespace exists, and the node is off. */
export async function mapMounts(names: Names, mounts: readonly NodeMount[]): Promise<MappedMounts> {
  await removeMappedMounts(names);
  const unmapped: { source: string; why: string }[] = [];
  const mapped: NodeMount[] = [];
  for (const [at, mount] of mounts.entries()) {
    const place = join(names.mountsDir, String(at));
    await mkdir(names.mountsDir, { recursive: true, mode: 0o755 });
    await (statSync(mount.source).isDirectory() ? mkdir(place) : writeFile(place, ""));
    try {
      await run("perl", ["-e", MAP, mount.source, place, names.userNamespace], { as: "perl" });
      mapped.push({ ...mount, source: place });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      unmapped.push({ source: mount.source, why: error.message });
      mapped.push(mount);
    }
  }
  return { mounts: mapped, unmapped };
}

export async function removeMappedMounts({ mountsDir }: Pick<Names, "mountsDir">): Promise<void> {
  if (!existsSync(mountsDir)) return;
  await unmountBelow(mountsDir);
  for (const entry of await readdir(mountsDir, { withFileTypes: true })) {
    const place = join(mountsDir, entry.name);
    await (entry.isDirectory() ? rmdir(place) : rm(place));
  }
  await rmdir(mountsDir);
}
