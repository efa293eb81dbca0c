/**
 * What a controller wants done: decisions as data. A plan is made by a pure function of what the caches show and is carried out by the runtime.
 *
 * 1. `writes` are carried out in order: each step's writes at once, the next step only after all of them succeeded.
 * 2. A create that fails for one reason would mostly fail for all: the writes of a step start slowly, 1, 2, 4, 8 … at a time.
 * 3. `finally` says what is written in any case, given what went wrong: mostly the status.
 */
import type { JsonObject, KubeObject } from "#api";
import type { RecordedEvent, ResourceOf } from "#client";

// biome-ignore lint/suspicious/noExplicitAny: a plan speaks of resources of any type, which a type parameter for each write would only repeat
export type AnyResource = ResourceOf<any>;

export type Write =
  | { readonly verb: "create"; readonly resource: AnyResource; readonly object: KubeObject }
  | {
      readonly verb: "update";
      readonly resource: AnyResource;
      readonly object: KubeObject;
      /** By a PUT to this one. Its status has a verb of its own. */
      readonly subresource?: string;
    }
  /** The status of the object, by a PUT to its status subresource. */
  | { readonly verb: "updateStatus"; readonly resource: AnyResource; readonly object: KubeObject }
  | {
      readonly verb: "patch";
      readonly resource: AnyResource;
      readonly object: KubeObject;
      /** A strategic merge patch for built-in kinds, else a merge patch. */
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
      /** Only if nothing has changed since. The uid is checked in any case. */
      readonly unchanged?: boolean;
    };

export interface Plan {
  /** One after the other; writes of one step at once. */
  readonly steps?: readonly (readonly Write[])[];
  finally?(failures: readonly Failure[]): readonly Write[];
  readonly events?: readonly RecordedEvent[];
  /** Events about writes, told when these have been carried out. */
  told?(write: Write, outcome: Outcome): RecordedEvent | undefined;
  /** Looks again after this time, whatever happens. */
  readonly againAfterMs?: number;
}

export type Outcome =
  | { readonly ok: true; readonly object: KubeObject | undefined }
  | { readonly ok: false; readonly error: unknown };

export interface Failure {
  readonly write: Write;
  readonly error: unknown;
}
