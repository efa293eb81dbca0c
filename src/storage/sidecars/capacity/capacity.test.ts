/** Storage capacities on virtual time, with the provisioner that uses them up. */
import { afterEach, expect, it } from "vitest";
import { kinds } from "#api";
import { PROVISIONER_ACCOUNT, provisioner } from "../provisioner/index.ts";
import { onEachNode, scriptedDriver } from "../testing/scripted-driver.ts";
import { NODE_KEY, volumeStory } from "../testing/story.ts";
import { capacities } from "./index.ts";
import { capacityOwner } from "./owner.ts";

const NAME = "example.com";
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(...names: readonly string[]) {
  const scripts = new Map(names.map((name) => [name, scriptedDriver({ node: { key: NODE_KEY, name } })]));
  const { controllers: drivers } = onEachNode(NAME, NODE_KEY, scripts);
  const sidecars = [...provisioner({ drivers }), capacities({ drivers, account: PROVISIONER_ACCOUNT })];
  const story = await volumeStory(sidecars, { nodes: names });
  open.push(() => story.close());
  const objects = story.client.of(kinds.CSIStorageCapacity).in("kube-system");
  return {
    ...story,
    scripts,
    objects,
    async rooms() {
      const { items } = await objects.list();
      const rows = items.map(({ storageClassName, nodeTopology, capacity }) =>
        [storageClassName, nodeTopology?.matchLabels?.[NODE_KEY], capacity].join(" "),
      );
      return rows.sort();
    },
  };
}

const WAIT = { volumeBindingMode: "WaitForFirstConsumer" } as const;

it("there is one for each node and each class that waits", async () => {
  const { addClass, settle, rooms, client } = await cluster("a", "b");
  await addClass(WAIT);
  await addClass({ metadata: { name: "now" } });
  await addClass({ ...WAIT, metadata: { name: "other" }, provisioner: "other.example.com" });
  await settle();
  expect(await rooms()).toEqual(["fast a 100Gi", "fast b 100Gi"]);
  await client.of(kinds.StorageClass).delete("fast");
  await settle();
  expect(await rooms()).toEqual([]);
});

it("they follow volumes and nodes", async () => {
  const { addClass, addClaim, claims, settle, pass, rooms, client } = await cluster("a", "b");
  await addClass(WAIT);
  await settle();
  await addClaim("data", {}, { "volume.kubernetes.io/selected-node": "a" });
  await pass(2_000);
  expect(await rooms()).toEqual(["fast a 99Gi", "fast b 100Gi"]);
  await claims.delete("data");
  await pass(2_000);
  expect(await rooms()).toEqual(["fast a 100Gi", "fast b 100Gi"]);
  await client.of(kinds.Node).delete("b");
  await settle();
  expect(await rooms()).toEqual(["fast a 100Gi"]);
});

it("they are measured every minute, and written only if they have changed", async () => {
  const { addClass, settle, pass, rooms, scripts, writes } = await cluster("a");
  await addClass(WAIT);
  await settle();
  const before = writes();
  await pass(121_000);
  expect(scripts.get("a")?.called("GetCapacity")).toBe(3);
  expect(writes()).toBe(before);
  await scripts.get("a")?.driver.Controller.CreateVolume({ name: "x", capacityRange: { requiredBytes: 2 ** 30 } });
  await pass(60_000);
  expect(await rooms()).toEqual(["fast a 99Gi"]);
});

it("one that somebody has deleted comes back", async () => {
  const { addClass, settle, pass, rooms, objects } = await cluster("a");
  await addClass(WAIT);
  await settle();
  for (const { metadata } of (await objects.list()).items) await objects.delete(metadata.name ?? "");
  await pass(2_000);
  expect(await rooms()).toEqual(["fast a 100Gi"]);
});

it("they have the owner that the provisioner was deployed as, also those of an earlier one", async () => {
  const script = scriptedDriver({ node: { key: NODE_KEY, name: "a" } });
  const { controllers: drivers } = onEachNode(NAME, NODE_KEY, new Map([["a", script]]));
  const owner = (uid: string) => ({ apiVersion: "apps/v1", kind: "StatefulSet", name: "csi", uid, controller: true });
  const capacity = (uid: string) => capacities({ drivers, account: PROVISIONER_ACCOUNT, ownedBy: owner(uid) });
  const story = await volumeStory([capacity("one")], { nodes: ["a"] });
  open.push(() => story.close());
  const objects = story.client.of(kinds.CSIStorageCapacity).in("kube-system");
  await story.addClass(WAIT);
  await story.settle();
  const [made] = (await objects.list()).items;
  expect(made?.metadata.ownerReferences).toEqual([owner("one")]);
  if (made === undefined) throw new Error("there is no capacity");
  await objects.update({ ...made, metadata: { ...made.metadata, ownerReferences: [owner("two")] } });
  await story.pass(61_000);
  expect((await objects.list()).items.map(({ metadata }) => metadata.ownerReferences)).toEqual([[owner("one")]]);
});

it("the owner is so many controllers above the Pod", async () => {
  const { client } = await cluster("a");
  const controlled = (kind: string, name: string, uid: string) => ({
    metadata: { name: "csi", ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid, controller: true }] },
  });
  const template = { metadata: { labels: { app: "csi" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const { metadata } = await client
    .of(kinds.ReplicaSet)
    .in("kube-system")
    .create({
      ...controlled("Deployment", "csi", "d"),
      spec: { selector: { matchLabels: { app: "csi" } }, template },
    });
  const { uid = "" } = metadata;
  const pod = { ...controlled("ReplicaSet", "csi", uid), spec: template.spec };
  const { metadata: own } = await client.of(kinds.Pod).in("kube-system").create(pod);
  const at = (level: number) => capacityOwner(client, { namespace: "kube-system", name: "csi" }, level);
  expect(await at(0)).toEqual({ apiVersion: "v1", kind: "Pod", name: "csi", uid: own.uid, controller: true });
  expect(await at(1)).toMatchObject({ kind: "ReplicaSet", uid });
  expect(await at(2)).toMatchObject({ kind: "Deployment", name: "csi", uid: "d" });
  await expect(at(3)).rejects.toThrow("Deployment csi has no controller");
});
