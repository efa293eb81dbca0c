import { describe, expect, it } from "vitest";
import { at, type FieldError } from "./errors/field-error.ts";
import { changedMetaErrors, type KindMetaRules, ownMetaErrors, serverMetaErrors } from "./meta-passes.ts";
import { checkDns1123Subdomain } from "./names/names.ts";
import type { ObjectMeta } from "./schema/object.ts";

const usual: KindMetaRules = {
  namespaced: true,
  qualifiedFinalizers: true,
  ownCreate: true,
  ownUpdate: ["update"],
  validateName: (name) => checkDns1123Subdomain(name),
};
const plain: KindMetaRules = { ...usual, qualifiedFinalizers: false };
const none: KindMetaRules = { ...usual, ownCreate: false, ownUpdate: [] };
const METADATA = at("metadata");
const valid: ObjectMeta = { name: "x", namespace: "n", uid: "u" };

/** How often each field is reported. */
function counted(errors: readonly FieldError[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { field } of errors)
    counts[field.slice("metadata.".length)] = (counts[field.slice("metadata.".length)] ?? 0) + 1;
  return counts;
}

describe("the metadata of a new object", () => {
  it.each<[string, KindMetaRules, ObjectMeta, object, object]>([
    ["is valid", usual, valid, {}, {}],
    ["is asked about by the kind", usual, { ...valid, name: "X" }, { name: 1 }, {}],
    ["is asked about by the server alone", none, { ...valid, labels: { "a b": "" } }, {}, { labels: 1 }],
    ["may have any name that fits a path", none, { ...valid, name: "X y" }, {}, {}],
    ["has a name that fits a path", none, { ...valid, name: "a/b" }, {}, { name: 1 }],
    ["has finalizers with a domain", usual, { ...valid, finalizers: ["x"] }, { "finalizers[0]": 1 }, {}],
    ["may have finalizers without a domain", plain, { ...valid, finalizers: ["x"] }, {}, {}],
    ["may have any finalizers for the server", none, { ...valid, finalizers: ["x"] }, {}, {}],
  ])("%s", (_, rules, meta, own, server) => {
    expect(counted(ownMetaErrors(meta, rules, METADATA))).toEqual(own);
    expect(counted(serverMetaErrors(meta, rules, METADATA))).toEqual(server);
  });
});

describe("changed metadata", () => {
  const bad = { ...valid, labels: { "a b": "" } };
  it.each<[string, KindMetaRules, ObjectMeta, object]>([
    ["is valid", usual, valid, {}],
    ["is reported by the server twice, and by the kind", usual, bad, { labels: 3 }],
    ["is reported by both rules of the kind", { ...usual, ownUpdate: ["create", "update"] }, bad, { labels: 4 }],
    ["is reported by the server alone", none, bad, { labels: 2 }],
    ["cannot have another uid", usual, { ...valid, uid: "v" }, { uid: 2 }],
    [
      "cannot have another uid, of which rules for new objects know nothing",
      { ...usual, ownUpdate: ["create"] },
      { ...valid, uid: "v" },
      { uid: 1 },
    ],
    ["may have any prefix that fits a path", usual, { ...valid, generateName: "X y" }, {}],
    ["has a prefix that fits a path", usual, { ...valid, generateName: "a/b" }, { generateName: 1 }],
    [
      "has a prefix that the rules for new objects accept",
      { ...usual, ownUpdate: ["create"] },
      { ...valid, generateName: "X y" },
      { generateName: 1 },
    ],
    ["has finalizers with a domain", usual, { ...valid, finalizers: ["x"] }, { "finalizers[0]": 1 }],
    ["has finalizers that are names", usual, { ...valid, finalizers: ["a b/c"] }, { finalizers: 1 }],
    ["may have finalizers without a domain", plain, { ...valid, finalizers: ["x"] }, {}],
    ["may have any finalizers for the server", none, { ...valid, finalizers: ["x"] }, {}],
  ])("%s", (_, rules, meta, want) => {
    expect(counted(changedMetaErrors(meta, valid, rules, rules.ownUpdate, METADATA))).toEqual(want);
  });
});
