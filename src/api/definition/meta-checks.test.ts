import { describe, expect, it } from "vitest";
import { kinds, optionalKinds } from "../facts/index.ts";
import type { MetaChecks } from "../machinery/kind.ts";
import { keyOf } from "./define-kind.ts";
import { metaChecksOf, unusualKinds } from "./meta-checks.ts";

describe("the validations of metadata that a kind asks for", () => {
  it.each<[string, MetaChecks]>([
    ["apps/v1/Deployment", { create: true, update: ["update"], status: ["update"], plainFinalizers: false }],
    ["v1/ConfigMap", { create: true, update: ["update", "create"], status: ["update"], plainFinalizers: false }],
    ["v1/PersistentVolume", { create: true, update: ["create", "create"], status: ["update"], plainFinalizers: false }],
    ["coordination.k8s.io/v1/Lease", { create: true, update: ["update"], status: ["update"], plainFinalizers: true }],
    [
      "internal.apiserver.k8s.io/v1alpha1/StorageVersion",
      { create: true, update: [], status: [], plainFinalizers: false },
    ],
    ["policy/v1/PodDisruptionBudget", { create: false, update: [], status: [], plainFinalizers: false }],
  ])("%s", (key, want) => expect(metaChecksOf(key)).toEqual(want));

  it("are named for kinds that exist", () => {
    const known = new Set([...kinds(), ...optionalKinds()].map(keyOf));
    expect(unusualKinds().filter((key) => !known.has(key))).toEqual([]);
  });
});
