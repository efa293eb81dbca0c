import { describe, expect, it } from "vitest";
import { driverParameters, type SecretUse, secretReference } from "./secrets.ts";

const PREFIX = "csi.storage.k8s.io/";
const claim = { metadata: { name: "data", namespace: "shop", annotations: { team: "blue" } } };
const token = (name: string) => ["$", "{", name, "}"].join("");

/** Parameters that name a secret; `of` undefined: for all uses. */
const named = (of: SecretUse | undefined, name: string, namespace: string) => {
  const key = `${PREFIX}${of === undefined ? "" : `${of}-`}secret`;
  return { [`${key}-name`]: name, [`${key}-namespace`]: namespace };
};
const read = (use: SecretUse, parameters: Record<string, string>) =>
  secretReference(use, parameters, { volumeName: "pv-1", claim });

const AB = { name: "a", namespace: "b" };
const TEMPLATE = `${token("pvc.name")}-${token("pvc.annotations['team']")}-${token("pv.name")}`;

describe("the secret of a class", () => {
  it.each<[string, SecretUse, Record<string, string>, { name: string; namespace: string } | undefined]>([
    ["none", "node-stage", {}, undefined],
    ["of another use", "node-stage", named("node-publish", "a", "b"), undefined],
    ["direct", "node-stage", named("node-stage", "a", "b"), AB],
    ["of all uses", "provisioner", named(undefined, "a", "b"), AB],
    [
      "by templates",
      "node-stage",
      named("node-stage", TEMPLATE, token("pvc.namespace")),
      { name: "data-blue-pv-1", namespace: "shop" },
    ],
  ])("%s", (_, use, parameters, want) => {
    expect(read(use, parameters)).toEqual(want);
  });

  it.each<[string, SecretUse, Record<string, string>, string]>([
    ["a name alone", "node-stage", named("node-stage", "a", ""), "both must be specified"],
    ["an unknown token", "node-stage", named("node-stage", token("pvc.uid"), "b"), "invalid tokens: [pvc.uid]"],
    ["an annotation at deletion", "provisioner", named("provisioner", TEMPLATE, "b"), "invalid tokens: [pvc.annot"],
    ["the claim as namespace", "node-stage", named("node-stage", "a", token("pvc.name")), "invalid tokens: [pvc.name]"],
    ["no valid name", "node-stage", named("node-stage", "A b", "b"), "is not valid"],
  ])("is refused: %s", (_, use, parameters, why) => {
    expect(() => read(use, parameters)).toThrow(why);
  });
});

describe("parameters of a driver", () => {
  it("are those without the reserved prefix", () => {
    const parameters = { tier: "gold", [`${PREFIX}fstype`]: "xfs", ...named(undefined, "a", "b") };
    expect(driverParameters(parameters)).toEqual({ tier: "gold" });
  });

  it("with the prefix have to be known", () => {
    expect(() => driverParameters({ [`${PREFIX}typo`]: "x" })).toThrow(`unknown parameter key "${PREFIX}typo"`);
  });
});
