/** Who keeps the state of a cluster: the embedded store of this machine, or the members of etcd. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DataDir } from "./data-dir.ts";

export interface StoreMember {
  readonly name: string;
  readonly endpoint: string;
  readonly isLeader: boolean;
  readonly isLearner: boolean;
  /** Bytes. */
  readonly dbSize: number;
  /** How many entries of the log it has not applied yet, behind the leader. */
  readonly raftIndexLag: number;
  readonly health: "healthy" | "unhealthy";
  /** Why it is unhealthy. */
  readonly reason?: string | undefined;
}

/** Asks for the members. What runs etcd hands its own to `k8ts status`. */
export type StoreMembers = () => Promise<readonly StoreMember[]>;

/** The embedded store is its only member. */
export function embeddedMember(dir: DataDir): StoreMembers {
  return async () => {
    const names = await readdir(dir.store, { recursive: true });
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(dir.store, name)).then(
          (found) => (found.isFile() ? found.size : 0),
          () => 0, // the journal has just begun another file
        ),
      ),
    );
    const dbSize = sizes.reduce((sum, size) => sum + size, 0);
    const state = { isLeader: true, isLearner: false, dbSize, raftIndexLag: 0, health: "healthy" } as const;
    return [{ name: "embedded", endpoint: dir.store, ...state }];
  };
}
