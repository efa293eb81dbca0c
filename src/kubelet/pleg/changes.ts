/** The Pods whose containers or sandboxes differ between two listings of the runtime. */
import { POD_UID } from "../containers/index.ts";
import type { Container, PodSandbox } from "../runtime/runtime.ts";

export interface Listing {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** For each Pod, the states of its containers and sandboxes by id. */
export type Relisted = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function relisted({ sandboxes, containers }: Listing): Relisted {
  const pods = new Map<string, Map<string, string>>();
  for (const { id, state, labels } of [...sandboxes, ...containers]) {
    const uid = labels[POD_UID];
    // Not created by a kubelet.
    if (uid === undefined) continue;
    const states = pods.get(uid);
    if (states === undefined) pods.set(uid, new Map([[id, state]]));
    else states.set(id, state);
  }
  return pods;
}

export function changedPods(before: Relisted, after: Relisted): readonly string[] {
  const uids = new Set([...before.keys(), ...after.keys()]);
  return [...uids].filter((uid) => !isSame(before.get(uid), after.get(uid)));
}

function isSame(a: ReadonlyMap<string, string> = new Map(), b: ReadonlyMap<string, string> = new Map()): boolean {
  return a.size === b.size && [...a].every(([id, state]) => b.get(id) === state);
}
