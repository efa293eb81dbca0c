/** Compares attachments with what the driver says is published, where it can list that. */
import type { CsiDriver } from "../../csi/index.ts";
import type { DriverAccess } from "../calls/driver-access.ts";
import type { Volume } from "../calls/volumes.ts";
import { sourceOf, type VolumeAttachment } from "./plan.ts";

export interface Published {
  readonly access: DriverAccess;
  readonly volumeOf: (name: string) => Volume | undefined;
  readonly nodeIdOf: (attachment: VolumeAttachment) => string;
  readonly signal: AbortSignal;
}

/** The names of attachments that are attached only in their status, or only at the driver. */
export async function wronglyPublished(
  attachments: readonly VolumeAttachment[],
  { access, volumeOf, nodeIdOf, signal }: Published,
): Promise<readonly string[]> {
  const settled = attachments.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.attached,
  );
  if (settled.length === 0) return [];
  const published = new Map<string, readonly string[]>();
  for (const node of access.nodes() ?? [undefined]) {
    const driver = access.at(node);
    if (!(await access.abilities(driver, signal)).listPublished) return [];
    for await (const [volume, nodes] of entriesOf(driver, access, signal)) published.set(volume, nodes);
  }
  return settled
    .filter((attachment) => {
      const nodes = published.get(handleOf(attachment, volumeOf) ?? "");
      // A volume that is not listed may be on a node that is away, or be beyond what the driver lists.
      return nodes !== undefined && !nodes.includes(nodeIdOf(attachment));
    })
    .map(({ metadata }) => metadata.name ?? "");
}

async function* entriesOf(driver: CsiDriver, access: DriverAccess, signal: AbortSignal) {
  let startingToken = "";
  do {
    const { entries, nextToken } = await driver.Controller.ListVolumes({ startingToken }, access.limits(signal));
    for (const { volume, status } of entries)
      if (volume !== null) yield [volume.volumeId, status?.publishedNodeIds ?? []] as const;
    startingToken = nextToken;
  } while (startingToken !== "");
}

function handleOf(attachment: VolumeAttachment, volumeOf: (name: string) => Volume | undefined): string | undefined {
  try {
    return sourceOf(attachment, volumeOf).spec.csi?.volumeHandle;
  } catch {
    // An attachment without a volume is reported when it is attached or detached.
    return undefined;
  }
}
