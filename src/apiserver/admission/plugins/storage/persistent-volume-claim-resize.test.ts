import { expect, it } from "vitest";
import { admit, claimObject } from "../../testing/index.ts";
import { persistentVolumeClaimResize as plugin } from "./persistent-volume-claim-resize.ts";

const claim = (storage: string, storageClassName = "grows", phase = "Bound") =>
  claimObject({ storageClassName, resources: { requests: { storage } } }, { status: { phase } });
const storageClass = (name: string, allowVolumeExpansion: boolean) => ({
  kind: "StorageClass",
  apiVersion: "storage.k8s.io/v1",
  metadata: { name },
  allowVolumeExpansion,
});
const cluster = [storageClass("grows", true), storageClass("stays", false)];
const NOT =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

it.each([
  { name: "the same size", object: claim("1Gi"), old: claim("1024Mi"), why: "" },
  { name: "more", object: claim("2Gi"), old: claim("1Gi"), why: "" },
  {
    name: "more before it is bound",
    object: claim("2Gi"),
    old: claim("1Gi", "grows", "Pending"),
    why: "Only bound persistent volume claims can be expanded",
  },
  { name: "more of a class that stays", object: claim("2Gi", "stays"), old: claim("1Gi", "stays"), why: NOT },
  { name: "more of no class", object: claim("2Gi", ""), old: claim("1Gi", ""), why: NOT },
  { name: "more of another class", object: claim("2Gi"), old: claim("1Gi", "stays"), why: NOT },
])("$name", async ({ object, old, why }) => {
  expect(await admit(plugin, { resource: "persistentvolumeclaims", object, old, cluster })).toMatchObject({ why });
});
