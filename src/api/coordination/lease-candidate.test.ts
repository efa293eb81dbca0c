import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { LeaseCandidate } from "./index.ts";
import { compareSemanticVersions, parseSemanticVersion } from "./semantic-version.ts";

const valid = {
  leaseName: "a",
  binaryVersion: "1.36.4",
  emulationVersion: "1.36.0",
  strategy: "OldestEmulationVersion",
};
const candidate = (spec: JsonObject, name = "x") =>
  object("coordination.k8s.io/v1beta1", "LeaseCandidate", { spec }, { name });

describe("LeaseCandidate", () => {
  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: valid, want: [] },
    { spec: { ...valid, strategy: "example.com/mine" }, want: [] },
    { spec: { ...valid, leaseName: "" }, want: ["spec.leaseName: Required value"] },
    { spec: { ...valid, strategy: "" }, want: ["spec.strategy: Required value"] },
    {
      spec: { ...valid, strategy: "Newest" },
      want: ['spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"'],
    },
    {
      spec: { ...valid, binaryVersion: "1.36" },
      want: [
        'spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version',
        'spec.binaryVersion: Invalid value: "1.36": must be greater than or equal to `emulationVersion`',
      ],
    },
    {
      spec: { ...valid, emulationVersion: "1.37.0" },
      want: ['spec.binaryVersion: Invalid value: "1.36.4": must be greater than or equal to `emulationVersion`'],
    },
    {
      spec: { ...valid, emulationVersion: "" },
      want: ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(LeaseCandidate, candidate(spec)))).toEqual(want);
  });

  it("keeps the name of its lease, and may have any name of a key", () => {
    const stored = create(LeaseCandidate, candidate(valid, "Any_Name.1")).object ?? {};
    expect(faults(update(LeaseCandidate, stored, candidate({ ...valid, leaseName: "b" }, "Any_Name.1")))).toEqual([
      'spec.leaseName: Invalid value: "b": field is immutable',
    ]);
  });
});

describe("semantic versions", () => {
  const inOrder = [
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-beta",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
  ];
  it.each(inOrder.slice(1).map((next, i) => [inOrder[i] ?? "", next]))("%s is older than %s", (a, b) => {
    const [one, other] = [parseSemanticVersion(a), parseSemanticVersion(`${b}+build`)];
    expect([compareSemanticVersions(one, other) < 0, compareSemanticVersions(other, one) > 0]).toEqual([true, true]);
    expect(compareSemanticVersions(other, other)).toBe(0);
  });

  it.each(["", "1", "1.2", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.x"])("%s is none", (text) => {
    expect(parseSemanticVersion(text)).toBeUndefined();
  });
});
