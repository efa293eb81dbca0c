/** Hashes of Pod templates, for names: the same template always gets the same name. */
import type { core, Json } from "#api";
import { fnv32a, safeName } from "./fnv.ts";
import { goDump } from "./go-dump.ts";

export { fnv32, fnv32a, safeName } from "./fnv.ts";

/** `collisions`: how often a name of this owner was taken; each one gives another hash. */
export function templateHash(template: core.PodTemplateSpec | undefined, collisions: number | undefined): string {
  const dump = goDump(template as unknown as Json | undefined, "v1.PodTemplateSpec");
  if (collisions === undefined) return safeName(fnv32a(dump));
  const salt = new Uint8Array(8);
  new DataView(salt.buffer).setUint32(0, collisions, true);
  return safeName(fnv32a(dump, salt));
}
