/** The default class: the newest that is marked as default, and of those created at the same time the first by name. */
import type { KubeObject } from "#api";

export function newestDefault<T extends KubeObject>(
  classes: Iterable<T>,
  annotations: readonly string[],
): T | undefined {
  let newest: T | undefined;
  for (const each of classes) {
    if (!annotations.some((key) => each.metadata.annotations?.[key] === "true")) continue;
    if (newest === undefined || isBefore(each, newest)) newest = each;
  }
  return newest;
}

function isBefore({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  const [made, other] = [a.creationTimestamp ?? "", b.creationTimestamp ?? ""];
  return made === other ? (a.name ?? "") < (b.name ?? "") : made > other;
}
