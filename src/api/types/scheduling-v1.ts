/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface PriorityClass {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
}

export interface PriorityClassList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly PriorityClass[];
}
