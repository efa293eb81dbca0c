/** A cluster at rest writes nothing but signs of life. */
import type { core, KubeObject } from "#api";
import type { Commit } from "../history.ts";
import { nameOf } from "../world.ts";
import type { Broken } from "./invariant.ts";

/** What a write at rest is about; undefined: a sign of life, or the end of an Event. */
export function disturbance({ object, previous }: Commit): Broken | undefined {
  const { kind } = object ?? previous ?? {};
  if (kind === "Lease" || kind === "Event") return undefined;
  if (
    kind === "Node" &&
    object !== undefined &&
    previous !== undefined &&
    withoutTimes(object) === withoutTimes(previous)
  )
    return undefined;
  const about = nameOf((object ?? previous) as KubeObject);
  return { says: `${about} is written, though nothing changes`, about };
}

function withoutTimes(node: core.Node): string {
  const conditions = node.status?.conditions?.map(({ lastHeartbeatTime: _, ...rest }) => rest);
  const { resourceVersion: _, managedFields: __, ...metadata } = node.metadata;
  // Images that have come are reported with the next sign of life.
  const { images: ___, conditions: ____, ...status } = node.status ?? {};
  return JSON.stringify([{ ...node, metadata, status }, conditions]);
}
