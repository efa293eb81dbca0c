import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type storage } from "#api";
import { testControllers } from "../testing/index.ts";
import { attributesClassProtection, classesOfClaim } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const fast: storage.VolumeAttributesClass = {
  metadata: { name: "fast" },
  driverName: "d.example.com",
  parameters: { iops: "9" },
};
const claim: core.PersistentVolumeClaim = {
  metadata: { name: "data", namespace: "default" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    volumeAttributesClassName: "fast",
  },
};

async function cluster() {
  const running = await testControllers([attributesClassProtection]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const classes = client.of(kinds.VolumeAttributesClass);
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  await classes.create(fast);
  await settle();
  const names = async () => (await classes.list()).items.map(({ metadata }) => metadata.name);
  return { ...running, classes, claims, names };
}

describe("a VolumeAttributesClass", () => {
  it("has its finalizer, and goes at once if nothing names it", async () => {
    const { classes, settle, names } = await cluster();
    expect((await classes.get("fast")).metadata.finalizers).toEqual(["kubernetes.io/vac-protection"]);
    await classes.delete("fast");
    await settle();
    expect(await names()).toEqual([]);
  });

  it("stays while a claim names it", async () => {
    const { classes, claims, settle, names } = await cluster();
    await claims.create(claim);
    await settle();
    await classes.delete("fast");
    await settle();
    expect(await names()).toEqual(["fast"]);
    await claims.delete("data");
    await settle();
    expect(await names()).toEqual([]);
  });
});

it("a claim names the class that it has, asks for and changes to", () => {
  const status = {
    currentVolumeAttributesClassName: "slow",
    modifyVolumeStatus: { status: "InProgress", targetVolumeAttributesClassName: "other" },
  } as const;
  expect(classesOfClaim({ ...claim, status })).toEqual(["fast", "slow", "other"]);
  expect(classesOfClaim({ metadata: {} })).toEqual([]);
});
