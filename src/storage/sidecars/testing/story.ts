/** A cluster on virtual time with sidecars and their accounts, and the objects that stories of volumes need. */
import { type core, kinds, type storage } from "#api";
import type { Controller } from "#controllers";
import { persistentVolumeBinder } from "../../../controllers/persistent-volume/index.ts";
import { testControllers } from "../../../controllers/testing/index.ts";
import { sidecarAccounts } from "../accounts.ts";

export const NODE_KEY = "topology.example.com/node";

export interface StoryOptions {
  readonly driverName?: string | undefined;
  readonly nodes?: readonly string[] | undefined;
}

export async function volumeStory(sidecars: readonly Controller[], options: StoryOptions = {}) {
  const { driverName = "example.com", nodes = [] } = options;
  const cluster = await testControllers([persistentVolumeBinder({}), ...sidecars]);
  const { client, settle, clock } = cluster;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  await client.of(kinds.Namespace).create({ metadata: { name: "kube-system" } });
  for (const { resource, object } of sidecarAccounts()) {
    const { namespace } = object.metadata;
    await (namespace === undefined ? client.of(resource) : client.of(resource).in(namespace)).create(object);
  }
  for (const name of nodes) {
    await client.of(kinds.Node).create({ metadata: { name, labels: { [NODE_KEY]: name } } });
    const driver = { name: driverName, nodeID: `id-${name}`, topologyKeys: [NODE_KEY] };
    await client.of(kinds.CSINode).create({ metadata: { name }, spec: { drivers: [driver] } });
  }
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const volumes = client.of(kinds.PersistentVolume);
  await settle();
  return {
    ...cluster,
    claims,
    volumes,
    async addClass(more: Partial<storage.StorageClass> = {}) {
      const metadata = { name: "fast" };
      await client.of(kinds.StorageClass).create({ metadata, provisioner: driverName, ...more });
    },
    async addClaim(name = "data", spec: core.PersistentVolumeClaimSpec = {}, annotations = {}) {
      const resources = { requests: { storage: "1Gi" } };
      const wanted = { accessModes: ["ReadWriteOnce" as const], storageClassName: "fast", resources, ...spec };
      const made = await claims.create({ metadata: { name, annotations }, spec: wanted });
      await settle();
      return made;
    },
    /** Lets time pass in small steps, so that retries happen. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 500) {
        await clock.advance(Math.min(500, left));
        await settle();
      }
    },
    async events() {
      const { items } = await client.of(kinds.Event).list();
      return items.map(({ reason, note }) => `${reason}: ${note}`);
    },
    async reasons() {
      const { items } = await client.of(kinds.Event).list();
      return items.map(({ reason }) => reason);
    },
  };
}
