import { equalJson, type Json, type KubeObject } from "#api";

/** Whether two states of an object are equal. */
export function isSame(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return a === b || equalJson((a ?? null) as unknown as Json, (b ?? null) as unknown as Json);
}
