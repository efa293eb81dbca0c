/**
 * User namespaces of Pods with `hostUsers: false`: each has a range of the node's ids for itself.
 *
 * 1. A range is kept with the Pod's files before its sandbox exists: a kubelet that restarts gives it to nobody else.
 * 2. Ranges begin behind the first 65536 ids, which are the node's own, and there are as many as the node takes Pods.
 */
import type { core } from "#api";
import { KeyedLock } from "#base";
import type { PodFiles } from "../host/index.ts";
import type { IdMapping, UserNamespace } from "../runtime/runtime.ts";

export interface UserNamespacesOptions {
  readonly files: Pick<PodFiles, "readUserNamespace" | "writeUserNamespace" | "podUids">;
  readonly idsPerPod: number;
  readonly maxPods: number;
}

const FIRST_ID = 65_536;
const ALL = "";

export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  readonly #lock = new KeyedLock();
  /** The first id of each Pod. */
  #taken: Map<string, number> | undefined;

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /** Undefined: the Pod has the node's users. Throws Error if there is no range left. */
  async of(pod: core.Pod): Promise<UserNamespace | undefined> {
    if (pod.spec?.hostUsers !== false) return undefined;
    const uid = pod.metadata.uid ?? "";
    return this.#lock.run(ALL, async () => {
      const taken = await this.#read();
      const first = taken.get(uid) ?? (await this.#allocate(uid, taken));
      const ids: readonly IdMapping[] = [{ hostId: first, containerId: 0, length: this.#options.idsPerPod }];
      return { mode: "POD", uids: ids, gids: ids };
    });
  }

  release(uid: string): void {
    this.#taken?.delete(uid);
  }

  async #allocate(uid: string, taken: Map<string, number>): Promise<number> {
    const { idsPerPod, maxPods, files } = this.#options;
    const used = new Set(taken.values());
    for (let at = 0; at < maxPods; at += 1) {
      const first = FIRST_ID + at * idsPerPod;
      if (used.has(first)) continue;
      const mapping = [{ hostId: first, containerId: 0, length: idsPerPod }];
      await files.writeUserNamespace(uid, JSON.stringify({ uidMappings: mapping, gidMappings: mapping }));
      taken.set(uid, first);
      return first;
    }
    throw new Error(`could not find an empty slot to allocate a user namespace`);
  }

  async #read(): Promise<Map<string, number>> {
    if (this.#taken !== undefined) return this.#taken;
    const { files, idsPerPod } = this.#options;
    const taken = new Map<string, number>();
    for (const uid of await files.podUids()) {
      const text = await files.readUserNamespace(uid);
      if (text === undefined) continue;
      const { uidMappings = [] } = JSON.parse(text) as { readonly uidMappings?: readonly IdMapping[] };
      const [mapping] = uidMappings;
      if (mapping === undefined || mapping.length !== idsPerPod)
        throw new Error(`wrong user namespace length ${mapping?.length ?? 0}`);
      taken.set(uid, mapping.hostId);
    }
    this.#taken = taken;
    return taken;
  }
}
