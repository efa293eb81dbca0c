import type { Draft, Json, KubeObject } from "#api";

/** An object of any kind while it is being written. */
export type AnyDraft = Draft<KubeObject> & { [field: string]: Json | undefined };
