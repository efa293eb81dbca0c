/**
 * What a controller wants done, as data. A pure function of the cached state creates a plan, and the runtime executes
 * it.
 *
 * 1. Steps are executed in order: the writes of a step concurrently, the next step only after all of them succeeded.
 * 2. The writes of a step start slowly, 1, 2, 4, 8 … at a time, because a failure mostly applies to all of them.
 * 3. `finally` returns writes that follow in any case, given the failures: mostly the status.
 */
import type { JsonObject, KubeObject } from "#api";
import type { RecordedEvent, ResourceOf } from "#client";

// biome-ignore lint/suspicious/noExplicitAny: plans contain writes of any type
export type AnyResource = ResourceOf<any>;

export type Write =
  | { readonly verb: "create"; readonly resource: AnyResource; readonly object: KubeObject }
  | {
      readonly verb: "update";
      readonly resource: AnyResource;
      readonly object: KubeObject;
      /** A subresource to PUT to. The status has its own verb. */
      readonly subresource?: string;
    }
  /** A PUT to the status subresource. */
  | { readonly verb: "updateStatus"; readonly resource: AnyResource; readonly object: KubeObject }
  | {
      readonly verb: "patch";
      readonly resource: AnyResource;
      readonly object: KubeObject;
      /** Default: a strategic merge patch. */
      readonly type?: "merge" | "strategic";
      readonly patch: JsonObject;
      readonly subresource?: string;
    }
  | {
      readonly verb: "delete";
      readonly resource: AnyResource;
      readonly object: KubeObject;
      readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
      readonly gracePeriodSeconds?: number;
      /** With a precondition on resourceVersion. The uid is a precondition in any case. */
      readonly unchanged?: boolean;
    };

export interface Plan {
  /** Executed in order; the writes of a step concurrently. */
  readonly steps?: readonly (readonly Write[])[];
  finally?(failures: readonly Failure[]): readonly Write[];
  readonly events?: readonly RecordedEvent[];
  /** The Events about a write that was executed. */
  eventFor?(write: Write, outcome: Outcome): RecordedEvent | readonly RecordedEvent[] | undefined;
  /** Everything has been executed, as far as it goes. */
  done?(failures: readonly Failure[]): void;
  /** Reconciles again after this time. */
  readonly againAfterMs?: number | undefined;
}

export type Outcome =
  | { readonly ok: true; readonly object: KubeObject | undefined }
  | { readonly ok: false; readonly error: unknown };

export interface Failure {
  readonly write: Write;
  readonly error: unknown;
}
