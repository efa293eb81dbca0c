/**
 * How far pulls are: which images are being pulled, since when, and what the runtime has received meanwhile.
 *
 * 1. A layer that the runtime no longer lists is complete: its size counts as received.
 * 2. The runtime does not say for which image it receives a layer: of pulls at the same time, each shows all that has
 *    come since it began.
 */
import type { core } from "#api";
import { type Clock, childController, isAbort } from "#base";
import type { ReceivedContent, Runtime } from "../runtime/runtime.ts";

export interface OngoingPull {
  readonly image: string;
  readonly namespace: string;
  readonly pod: string;
  readonly tookMs: number;
  readonly receivedBytes: number;
  /** Of the layers that are known so far. */
  readonly totalBytes: number;
  readonly layers: number;
  readonly completeLayers: number;
  /** Others that are pulled at the same time. */
  readonly others: number;
}

export interface PullProgress {
  /** Looks from time to time while the work goes on. */
  during<T>(image: string, pod: core.Pod, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  ongoing(signal?: AbortSignal): Promise<readonly OngoingPull[]>;
}

const LOOK_MS = 1000;

interface Begun {
  readonly image: string;
  readonly pod: core.Pod;
  readonly atMs: number;
  readonly seen: Map<string, ReceivedContent>;
}

export function pullProgress(runtime: Pick<Runtime, "images">, clock: Clock): PullProgress {
  const begun = new Set<Begun>();
  const watch = async (pull: Begun, signal: AbortSignal) => {
    try {
      for (;;) {
        await clock.sleep(LOOK_MS, signal);
        look(pull, (await runtime.images.receiving?.(signal)) ?? []);
      }
    } catch (error) {
      // What the runtime does not tell is not shown; the pull itself tells what is wrong.
      if (!isAbort(error, signal)) pull.seen.clear();
    }
  };
  return {
    async during(image, pod, work, signal) {
      const pull = { image, pod, atMs: clock.monotonic(), seen: new Map() };
      begun.add(pull);
      using watching = childController(signal);
      const watched = watch(pull, watching.signal);
      try {
        return await work();
      } finally {
        begun.delete(pull);
        watching.abort();
        await watched;
      }
    },
    async ongoing(signal) {
      const receiving = begun.size === 0 ? [] : ((await runtime.images.receiving?.(signal)) ?? []);
      return [...begun].map((pull) => {
        const { image, pod, atMs, seen } = pull;
        const now = look(pull, receiving);
        const all = [...seen.values()];
        const sum = (of: (each: ReceivedContent) => number) => all.reduce((total, each) => total + of(each), 0);
        return {
          image,
          namespace: pod.metadata.namespace ?? "",
          pod: pod.metadata.name ?? "",
          tookMs: Math.round(clock.monotonic() - atMs),
          receivedBytes: sum(({ receivedBytes }) => receivedBytes),
          totalBytes: sum(({ totalBytes }) => totalBytes),
          layers: all.length,
          completeLayers: all.filter(({ ref }) => !now.has(ref)).length,
          others: begun.size - 1,
        };
      });
    },
  };
}

/** Returns what is being received. */
function look({ seen }: Begun, receiving: readonly ReceivedContent[]): ReadonlySet<string> {
  const now = new Set(receiving.map(({ ref }) => ref));
  for (const [ref, known] of seen) if (!now.has(ref)) seen.set(ref, { ...known, receivedBytes: known.totalBytes });
  for (const each of receiving) seen.set(each.ref, each);
  return now;
}
