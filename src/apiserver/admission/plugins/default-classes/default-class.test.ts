import { describe, expect, it } from "vitest";
import { admit, claimObject } from "../../testing/index.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class.ts";

const storage = (
  name: string,
  day: number,
  annotation = "storageclass.kubernetes.io/is-default-class",
  is = "true",
) => ({
  kind: "StorageClass",
  apiVersion: "storage.k8s.io/v1",
  metadata: { name, creationTimestamp: `2030-01-0${day}T00:00:00Z`, annotations: { [annotation]: is } },
});
const ingress = (name: string) => ({
  kind: "IngressClass",
  apiVersion: "networking.k8s.io/v1",
  metadata: { name, annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
});

const claims = [
  { name: "no class at all", cluster: [], claim: claimObject(), is: undefined },
  {
    name: "a class that is not the default",
    cluster: [storage("x", 1, undefined, "false")],
    claim: claimObject(),
    is: undefined,
  },
  { name: "the default", cluster: [storage("x", 1)], claim: claimObject(), is: "x" },
  {
    name: "the default by the annotation of old",
    cluster: [storage("x", 1, "storageclass.beta.kubernetes.io/is-default-class")],
    claim: claimObject(),
    is: "x",
  },
  {
    name: "the newest of several",
    cluster: [storage("x", 1), storage("z", 3), storage("y", 2)],
    claim: claimObject(),
    is: "z",
  },
  {
    name: "the first of those of one time",
    cluster: [storage("y", 1), storage("x", 1)],
    claim: claimObject(),
    is: "x",
  },
  { name: "its own", cluster: [storage("x", 1)], claim: claimObject({ storageClassName: "" }), is: "" },
];

describe("DefaultStorageClass gives a claim", () => {
  it.each(claims)("$name", async ({ cluster, claim, is }) => {
    const { object } = await admit(defaultStorageClass, { resource: "persistentvolumeclaims", object: claim, cluster });
    expect((object.spec as { storageClassName?: string }).storageClassName).toBe(is);
  });
});

const ingresses = [
  { name: "the default", object: { metadata: { name: "i" }, spec: {} }, is: "x" },
  { name: "its own", object: { metadata: { name: "i" }, spec: { ingressClassName: "own" } }, is: "own" },
  {
    name: "none besides its annotation",
    object: { metadata: { name: "i", annotations: { "kubernetes.io/ingress.class": "old" } }, spec: {} },
    is: undefined,
  },
];

describe("DefaultIngressClass gives an Ingress", () => {
  it.each(ingresses)("$name", async ({ object: proposed, is }) => {
    const attempt = {
      resource: "ingresses.networking.k8s.io",
      object: proposed,
      cluster: [ingress("y"), ingress("x")],
    };
    const { object } = await admit(defaultIngressClass, attempt);
    expect((object.spec as { ingressClassName?: string }).ingressClassName).toBe(is);
  });
});
