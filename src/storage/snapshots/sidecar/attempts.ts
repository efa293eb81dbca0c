/** One look at a content: decides, waits for the next attempt, acts, and remembers what has to be repeated. */
import type { KubeObject } from "#api";
import { whenAborted } from "#base";
import type { ControllerContext, Plan, Reconciler, Source } from "#controllers";
import type { Acted } from "./content-worker.ts";
import type { SnapshotterOptions } from "./options.ts";
import { Retries } from "./retries.ts";

export interface Attempted<T extends KubeObject, A extends { readonly kind: string }> {
  readonly sources: readonly Source[];
  get(key: string): T | undefined;
  isOurs(content: T): boolean;
  decide(content: T): A;
  act(content: T, action: A, signal: AbortSignal): Promise<Acted>;
}

export function attempts<T extends KubeObject, A extends { readonly kind: string }>(
  { controllers, retries: limits = {} }: SnapshotterOptions,
  { clock, random }: ControllerContext,
  { sources, get, isOurs, decide, act }: Attempted<T, A>,
): Reconciler {
  const retries = new Retries(limits, random);
  return {
    sources,
    async reconcile(key, now, signal): Promise<Plan | undefined> {
      const content = get(key);
      if (content === undefined || !isOurs(content)) {
        retries.forget(key);
        return undefined;
      }
      const action = decide(content);
      // A mark begins a creation: it waits for the next attempt of it.
      const attempt = action.kind === "mark" ? "create" : action.kind;
      const waitMs = retries.leftMs(key, attempt, now);
      if (waitMs > 0) return { againAfterMs: waitMs };
      const { plan, isDone } = await act(content, action, signal);
      if (!isDone) return { ...plan, againAfterMs: retries.againMs(key, attempt, clock.now()) };
      if (action.kind !== "mark") retries.forget(key);
      return plan;
    },
    async run(signal, enqueue) {
      const leave = controllers.onChange(() => {
        for (const key of retries.hurry()) enqueue(key);
      });
      await new Promise<void>((resolve) => whenAborted(signal, resolve));
      leave();
    },
  };
}
