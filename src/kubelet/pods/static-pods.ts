/**
 * Static Pods of a node, and their mirrors.
 *
 * 1. A changed manifest is another Pod of the same name: it starts when the previous one is gone.
 * 2. Mirrors are updated when something changes, and every 30 s.
 */
import type { core } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import type { Client } from "#client";
import type { PodWorkers } from "./pod-workers.ts";
import { carryOutMirrors, mirrorPlan, StaticSources } from "./sources/index.ts";

export interface StaticPodsOptions {
  readonly nodeName: string;
  readonly manifests?: { readonly path?: string | undefined; readonly url?: string | undefined } | undefined;
  readonly node: () => core.Node | undefined;
  readonly client: Client;
  readonly workers: PodWorkers;
  readonly mirrors: () => readonly core.Pod[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StaticPods {
  /** Whether the manifests have been read once. */
  hasRead(): boolean;
  /** A Pod is gone: one of the same name may be waiting. */
  gone(): void;
  /** A mirror has changed. */
  check(): void;
  run(signal: AbortSignal): Promise<void>;
  runMirrors(signal: AbortSignal): Promise<void>;
}

const CHECK_MS = 30_000;

export function staticPods(options: StaticPodsOptions): StaticPods {
  const { nodeName, manifests, node, client, workers, mirrors, clock, log } = options;
  const waiting = new Map<string, core.Pod>();
  let hasRead = manifests === undefined;
  let hurry = () => {};

  const start = (pod: core.Pod) => {
    const isTaken = workers.list().some((worker) => nameOf(worker.pod) === nameOf(pod));
    if (isTaken) waiting.set(nameOf(pod), pod);
    else workers.set(pod);
  };
  const sources = new StaticSources({
    nodeName,
    ...manifests,
    clock,
    log,
    onSet: (pod) => {
      start(pod);
      hurry();
    },
    onRemove: (uid) => {
      for (const [name, pod] of waiting) if (pod.metadata.uid === uid) waiting.delete(name);
      workers.remove(uid);
      hurry();
    },
  });

  return {
    hasRead: () => hasRead,
    gone() {
      for (const [name, pod] of [...waiting]) {
        waiting.delete(name);
        start(pod);
      }
    },
    check: () => hurry(),
    async run(signal) {
      if (manifests === undefined) return;
      await sources.read(signal);
      hasRead = true;
      hurry();
      await sources.run(signal);
    },
    async runMirrors(signal) {
      for (;;) {
        const soon = new AbortController();
        hurry = () => soon.abort();
        if (hasRead) await carryOutMirrors(client, mirrorPlan(sources.pods(), mirrors(), node()), log, signal);
        try {
          await clock.sleep(CHECK_MS, AbortSignal.any([signal, soon.signal]));
        } catch (error) {
          if (signal.aborted && isAbort(error, signal)) return;
        }
      }
    },
  };
}

function nameOf({ metadata }: core.Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
