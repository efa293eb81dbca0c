/** What snapshots need in a cluster before their controllers run. What exists is left as it is. */
import { type Client, createUnlessThere } from "#client";
import { installDefinitions } from "../definitions/index.ts";
import { snapshotKinds, type VolumeSnapshotClass } from "../objects/kinds.ts";
import { annotations } from "../objects/names.ts";
import { snapshotRoles } from "./roles.ts";

/** The default class of a driver. */
export function defaultSnapshotClass(driver: string, name = "standard"): VolumeSnapshotClass {
  const { apiVersion, kind } = snapshotKinds.VolumeSnapshotClass;
  const metadata = { name, annotations: { [annotations.defaultClass]: "true" } };
  return { apiVersion, kind, metadata, driver, deletionPolicy: "Delete" };
}

/** `client`: an administrator's. */
export async function installSnapshots(client: Client, driver: string, signal: AbortSignal): Promise<void> {
  for (const { resource, object } of snapshotRoles()) {
    const { namespace } = object.metadata;
    const objects = client.of(resource);
    await createUnlessThere(namespace === undefined ? objects : objects.in(namespace), object, { signal });
  }
  await installDefinitions(client, signal);
  await createUnlessThere(client.of(snapshotKinds.VolumeSnapshotClass), defaultSnapshotClass(driver), { signal });
}
