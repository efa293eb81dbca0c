/**
 * Removes what is left of unknown Pods: containers, sandboxes, volumes, cgroups and files after a crash, or of a Pod
 * that was deleted while the kubelet was down.
 *
 * It starts only once every source has been read: until then a Pod may be unknown only because it has not been read
 * yet.
 */
import type { Clock, Logger } from "#base";
import { isAbort } from "#base";
import { POD_NAME, POD_NAMESPACE, TERMINATION_GRACE } from "../containers/index.ts";
import { killPod } from "./kill.ts";
import type { PodParts } from "./parts.ts";
import { lookAtPod, type RuntimePod } from "./runtime-pod.ts";

const SWEEP_MS = 60_000;
const LONGEST_GRACE_SECONDS = 30;

export class Orphans {
  readonly #parts: PodParts;
  readonly #isKnown: (uid: string) => boolean;
  readonly #going = new Map<string, Promise<boolean>>();

  constructor(parts: PodParts, isKnown: (uid: string) => boolean) {
    this.#parts = parts;
    this.#isKnown = isKnown;
  }

  /** Stops and removes containers and sandboxes of unknown Pods. */
  sweepRuntime(uids: Iterable<string>, signal: AbortSignal): void {
    for (const uid of uids) this.#remove(uid, signal);
  }

  /** The same for volumes, cgroups and files, every minute. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, volumes, cgroups, files, metrics } = this.#parts;
    while (!signal.aborted) {
      try {
        const found = await Promise.all([volumes.podUids(), cgroups.podUids(), files.podUids()]);
        const begun = [...new Set(found.flat())].filter((uid) => this.#remove(uid, signal));
        const results = await Promise.all(begun.map((uid) => this.#going.get(uid)));
        metrics.swept(results.filter((isDone) => isDone).length, results.filter((isDone) => isDone === false).length);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("search for orphaned pods failed", { error });
      }
      await sleepQuietly(clock, SWEEP_MS, signal);
    }
    await Promise.all(this.#going.values());
  }

  /** Whether it begins to remove the Pod; what it comes to is in `#going`. */
  #remove(uid: string, signal: AbortSignal): boolean {
    if (this.#isKnown(uid) || this.#going.has(uid) || signal.aborted) return false;
    const going = this.#removeAll(uid, signal)
      .then(
        () => true,
        (error: unknown) => {
          if (!isAbort(error, signal)) warn(this.#parts.log, uid, error);
          return false;
        },
      )
      .finally(() => this.#going.delete(uid));
    this.#going.set(uid, going);
    return true;
  }

  async #removeAll(uid: string, signal: AbortSignal): Promise<void> {
    const { runtime, volumes, cgroups, files, log } = this.#parts;
    const found = await lookAtPod(runtime, uid, signal);
    const pod = podFromLabels(found);
    if (found.containers.length + found.sandboxes.length > 0) this.#parts.metrics.orphaned();
    log.info("removing an orphaned pod", { uid, pod: pod.metadata.name, containers: found.containers.length });
    await killPod(this.#parts, pod, found, graceOf(found), signal);
    if (this.#isKnown(uid)) return;
    for (const { id } of found.containers) await runtime.removeContainer(id, signal);
    for (const { id } of found.sandboxes) await runtime.removePodSandbox(id, signal);
    await volumes.unmount(uid, signal);
    await cgroups.remove(uid);
    await files.removePod(uid);
    this.#parts.users?.release(uid);
    await files.removeLogs(uid);
  }
}

function warn(log: Logger, uid: string, error: unknown): void {
  log.warn("orphaned pod could not be removed; retrying", { uid, error });
}

/** The Pod's metadata, as far as labels have it. */
function podFromLabels({ uid, sandboxes, containers }: RuntimePod) {
  const labels = (sandboxes[0] ?? containers[0])?.labels ?? {};
  return { metadata: { uid, name: labels[POD_NAME] ?? "", namespace: labels[POD_NAMESPACE] ?? "" } };
}

function graceOf({ containers }: RuntimePod): number {
  const seconds = containers.map(({ annotations }) => Number(annotations[TERMINATION_GRACE] ?? LONGEST_GRACE_SECONDS));
  return Math.min(LONGEST_GRACE_SECONDS, ...seconds);
}

async function sleepQuietly(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  }
}
