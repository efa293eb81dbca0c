import { describe, expect, it } from "vitest";
import { withoutEffect } from "./effects.ts";
import { defaultFeatures, type FeatureFlags, parseFeatures } from "./features.ts";
import { gates, specAt } from "./gates.ts";

describe("gates that are set", () => {
  it.each<{ name: string; flags: FeatureFlags; on?: string[]; off?: string[] }>([
    { name: "nothing is set", flags: {}, on: ["PodLevelResources"], off: ["ContainerStopSignals"] },
    { name: "an alpha gate", flags: { gates: "ContainerStopSignals=true" }, on: ["ContainerStopSignals"] },
    { name: "a beta gate", flags: { gates: "PodDeletionCost=false" }, off: ["PodDeletionCost"] },
    { name: "spaces and other words", flags: { gates: " MemoryQoS = T ," }, on: ["MemoryQoS"] },
    { name: "with the component", flags: { gates: "kube:MemoryQoS=1" }, on: ["MemoryQoS"] },
    { name: "of a configuration file", flags: { gates: { MemoryQoS: true } }, on: ["MemoryQoS"] },
    {
      name: "all of a stage, but for one",
      flags: { gates: "ContainerStopSignals=false,AllAlpha=true" },
      on: ["MemoryQoS", "PodLevelResources"],
      off: ["ContainerStopSignals"],
    },
    { name: "all betas off", flags: { gates: "AllBeta=false" }, off: ["PodDeletionCost"], on: ["ImageVolume"] },
    { name: "the default of a locked gate", flags: { gates: "ImageVolume=true" }, on: ["ImageVolume"] },
    {
      name: "the defaults of another version",
      flags: { emulatedVersion: "1.33" },
      on: ["InPlacePodVerticalScaling"],
      off: ["DynamicResourceAllocation", "ImageVolume", "GenericWorkload"],
    },
    {
      name: "a gate that was not locked then",
      flags: { emulatedVersion: "kube=1.34", gates: "ImageVolume=true" },
      on: ["ImageVolume"],
    },
  ])("$name", ({ flags, on = [], off = [] }) => {
    const features = parseFeatures(flags);
    expect(on.filter((gate) => !features.enabled(gate))).toEqual([]);
    expect(off.filter((gate) => features.enabled(gate))).toEqual([]);
  });

  it.each<{ flags: FeatureFlags; words: string }>([
    { flags: { gates: "Nonsense=true" }, words: "unrecognized feature gate: Nonsense" },
    { flags: { gates: "MemoryQoS" }, words: "missing bool value for MemoryQoS" },
    {
      flags: { gates: "MemoryQoS=yes" },
      words: 'invalid value of MemoryQoS=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
    },
    {
      flags: { gates: "ImageVolume=false" },
      words: "cannot set feature gate ImageVolume to false, feature is locked to true",
    },
    {
      flags: { gates: "GenericWorkload=true", emulatedVersion: "1.34" },
      words: "cannot set feature gate GenericWorkload to true, feature is PreAlpha at emulated version 1.34",
    },
    {
      flags: { gates: "GangScheduling=true" },
      words: "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
    },
    {
      flags: { gates: "ImageVolume=false,NodeSwap=false" },
      words:
        "[cannot set feature gate ImageVolume to false, feature is locked to true, cannot set feature gate NodeSwap to false, feature is locked to true]",
    },
    { flags: { gates: "wardle:A=true" }, words: "component not registered: wardle" },
    {
      flags: { gates: "kube:MemoryQoS=true,PodsAPI=true" },
      words: "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
    },
    {
      flags: { emulatedVersion: "1.32" },
      words:
        "[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, 1.32]]",
    },
    { flags: { emulatedVersion: "1.37" }, words: "emulation version 1.37 is not between [1.33, 1.36.0]" },
    { flags: { emulatedVersion: "1.35.2" }, words: "patch version not allowed, got: kube=1.35.2" },
    { flags: { emulatedVersion: "new" }, words: 'could not parse "new" as version' },
    { flags: { emulatedVersion: "1" }, words: 'illegal version string "1"' },
    { flags: { emulatedVersion: "wardle=1.2" }, words: "component not registered: wardle" },
    {
      flags: { emulatedVersion: "1.34,kube=1.35" },
      words: "duplicate version flag, kube=1.34 and kube=1.35",
    },
    {
      flags: { emulatedVersion: "1.34", minCompatibilityVersion: "1.35" },
      words: "minCompatibilityVersion version 1.35 is not between [1.33, 1.34]",
    },
    {
      flags: { emulationForwardCompatible: true },
      words:
        "ServerRunOptions.EmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version",
    },
  ])("refuses $flags", ({ flags, words }) => {
    expect(() => parseFeatures(flags)).toThrow(new Error(words));
  });

  it("warns of gates that will go, and of alpha features of another version", () => {
    expect(parseFeatures({ gates: "ImageVolume=true,KMSv1=true" }).warnings).toEqual([
      "Setting GA feature gate ImageVolume=true. It will be removed in a future release.",
      "Setting deprecated feature gate KMSv1=true. It will be removed in a future release.",
    ]);
    expect(parseFeatures({ gates: "MemoryQoS=true", emulatedVersion: "1.35" }).warnings).toEqual([
      "component has alpha features enabled in emulated version, this is unsupported: features=[MemoryQoS]",
    ]);
  });

  it("reports gates that do nothing here, unless they are at their default", () => {
    const sentences = (gates: string) => withoutEffect(parseFeatures({ gates }), ["kube-apiserver"]);
    expect(sentences("MemoryQoS=false,HostnameOverride=false")).toEqual([]);
    expect(sentences("MemoryQoS=true")).toEqual(["feature gate MemoryQoS has no effect in this component"]);
    expect(sentences("PodsAPI=true,MemoryQoS=true")).toEqual([
      "feature gates MemoryQoS, PodsAPI have no effect in this component",
    ]);
  });

  it.each([
    {
      component: "kube-controller-manager",
      gates: ["ClusterTrustBundle", "StorageVersionAPI", "StorageVersionMigrator"],
    },
    { component: "kube-apiserver", gates: ["ClusterTrustBundle", "PodCertificateRequest", "GenericWorkload"] },
  ] as const)("knows that $gates act in $component", ({ component, gates }) => {
    const features = parseFeatures({ gates: gates.map((gate) => `${gate}=true`).join(",") });
    expect([features.changed.length, withoutEffect(features, [component])]).toEqual([gates.length, []]);
  });

  it("has no answer for a gate that does not exist", () => {
    expect(() => defaultFeatures.enabled("Nonsense")).toThrow('feature "Nonsense" is not registered in FeatureGate');
  });

  it("derives the minimal compatible version", () => {
    const oldest = (emulatedVersion?: string) => parseFeatures({ emulatedVersion }).minCompatibility.minor;
    expect([oldest(), oldest("1.34"), oldest("1.33")]).toEqual([35, 33, 33]);
  });
});

describe("the table of gates", () => {
  const all = [...gates.values()];

  it("has stages in order, none of them going back", () => {
    const rank = { ALPHA: 0, BETA: 1, "": 2, DEPRECATED: 3 };
    for (const { name, specs } of all) {
      const minors = specs.map(({ since }) => since.minor);
      expect(minors, name).toEqual([...new Set(minors)].toSorted((a, b) => a - b));
      const ranks = specs.map(({ stage }) => rank[stage]);
      expect(ranks, name).toEqual(ranks.toSorted());
      expect(minors.at(-1), name).toBeLessThanOrEqual(36);
    }
  });

  it("has no gate that is on by default and needs one that is not, at any version that can be emulated", () => {
    for (const minor of [33, 34, 35, 36]) expect(() => parseFeatures({ emulatedVersion: `1.${minor}` })).not.toThrow();
    expect(all.flatMap(({ needs }) => needs).filter((need) => !gates.has(need))).toEqual([]);
  });

  it("locks only gates that no longer are alpha or beta", () => {
    const early = all.flatMap(({ name, specs }) =>
      specs.filter(({ stage, locked }) => locked && (stage === "ALPHA" || stage === "BETA")).map(() => name),
    );
    expect(early).toEqual([]);
    const gate = gates.get("ImageVolume");
    expect(gate && specAt(gate, { major: 1, minor: 30 })).toBeUndefined();
  });
});
