/** Reads what a claim's state depends on: its class, volume, driver, and the Pods that use it. */
import { type core, type KubeObject, kinds, migratedDriver } from "#api";
import type { Client, ResourceOf } from "#client";
import type { ClaimFacts } from "./claim-facts.ts";
import type { PodFacts } from "./facts.ts";

type Claim = core.PersistentVolumeClaim;

export async function claimFacts(
  client: Client,
  claim: Claim,
  events: readonly core.Event[],
  factsOf: (pods: readonly core.Pod[]) => Promise<readonly PodFacts[]>,
): Promise<ClaimFacts> {
  const { namespace = "" } = claim.metadata;
  const { storageClassName = "", volumeName = "" } = claim.spec ?? {};
  const storageClass = await named(client, kinds.StorageClass, storageClassName);
  const volume = await named(client, kinds.PersistentVolume, volumeName);
  const provisioner = volume?.spec?.csi?.driver ?? storageClass?.provisioner;
  const driver = await named(client, kinds.CSIDriver, provisioner && (migratedDriver(provisioner) ?? provisioner));
  const { items: csiNodes } = await client.of(kinds.CSINode).list();
  const { items: nodes } = await client.of(kinds.Node).list();
  const { items: capacities } = await client.of(kinds.CSIStorageCapacity).list();
  const { items: attachments } = await client.of(kinds.VolumeAttachment).list();
  const { items: pods } = await client.of(kinds.Pod).in(namespace).list();
  return {
    claim,
    events,
    storageClass,
    volume,
    driver,
    csiNodes,
    nodes,
    capacities: capacities.filter((each) => each.storageClassName === storageClassName),
    attachments,
    pods: await factsOf(pods.filter((pod) => uses(pod, claim))),
  };
}

async function named<T extends KubeObject>(
  client: Client,
  type: ResourceOf<T>,
  name: string | undefined,
): Promise<T | undefined> {
  if (name === undefined || name === "") return undefined;
  const { items } = await client.of(type).list({ fieldSelector: `metadata.name=${name}` });
  return items[0];
}

/** Also the claim of an ephemeral volume, which is named after its Pod. */
function uses({ metadata, spec, status }: core.Pod, claim: Claim): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
  return (spec?.volumes ?? []).some(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName === claim.metadata.name ||
      (ephemeral !== undefined && `${metadata.name}-${name}` === claim.metadata.name),
  );
}
