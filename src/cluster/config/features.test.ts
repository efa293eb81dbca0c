import { describe, expect, it } from "vitest";
import { ClusterError } from "./errors.ts";
import { featureNotes, readFeatures } from "./features.ts";

describe("features from flags", () => {
  it("are refused in upstream's words", () => {
    expect(() => readFeatures({ gates: "Nonsense=true" })).toThrow(ClusterError);
    expect(() => readFeatures({ gates: "Nonsense=true" })).toThrow(/^unrecognized feature gate: Nonsense$/);
  });

  it.each([
    { name: "nothing is set", flags: {}, want: [] },
    { name: "a gate is set to its default", flags: { gates: "MemoryQoS=false" }, want: [] },
    { name: "a gate acts", flags: { gates: "ContainerStopSignals=true" }, want: [] },
    {
      name: "a gate does nothing",
      flags: { gates: "MemoryQoS=true" },
      want: ["feature gate MemoryQoS has no effect in this component"],
    },
    {
      name: "a version is given that changes nothing",
      flags: { emulatedVersion: "1.35", emulationForwardCompatible: true, minCompatibilityVersion: "1.34" },
      want: [
        "--emulation-forward-compatible has no effect in this component",
        "--min-compatibility-version changes only what /version reports",
      ],
    },
  ])("$name", ({ flags, want }) => {
    expect(featureNotes(readFeatures(flags), flags, ["kube-apiserver"])).toEqual(want);
  });
});
