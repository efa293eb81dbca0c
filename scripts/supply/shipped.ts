/**
 * Which locked packages reach users of k8ts: what npm installs with it, and what the page of the dashboard is bundled
 * from, which npm knows as dependencies of the development only.
 */
import type { LockedPackage, LockFile } from "./lock-file.ts";

/** `bundled`: packages that sources import. Returns places. */
export function shippedPlaces(lock: LockFile, bundled: ReadonlySet<string>): ReadonlySet<string> {
  const byPlace = new Map(lock.packages.map((each) => [each.path, each]));
  const shipped = new Set(lock.packages.filter(({ isDev }) => !isDev).map(({ path }) => path));
  const follow = (each: LockedPackage | undefined) => {
    if (each === undefined || shipped.has(each.path)) return;
    shipped.add(each.path);
    for (const place of each.dependsOn) follow(byPlace.get(place));
  };
  for (const place of lock.roots) {
    const each = byPlace.get(place);
    if (each !== undefined && bundled.has(each.name)) follow(each);
  }
  return shipped;
}
