import { describe, expect, it } from "vitest";
import { at, type FieldError } from "./errors/field-error.ts";
import { checkDns1123Subdomain } from "./names/names.ts";
import { type MetaRules, validateAnnotations, validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";
import type { ObjectMeta } from "./schema/object.ts";

const namespaced: MetaRules = { namespaced: true, validateName: (name) => checkDns1123Subdomain(name) };
const cluster: MetaRules = { ...namespaced, namespaced: false };
const qualified: MetaRules = { ...namespaced, qualifiedFinalizers: true };
const METADATA = at("metadata");
const said = (errors: readonly FieldError[]) => errors.map(({ field, type, detail }) => `${field}: ${type}: ${detail}`);
const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };

describe("metadata of a new object", () => {
  const cases: { name: string; meta: ObjectMeta; rules?: MetaRules; want: RegExp[] }[] = [
    { name: "a name in a namespace", meta: { name: "x", namespace: "n" }, want: [] },
    { name: "a name in none", meta: { name: "x" }, rules: cluster, want: [] },
    { name: "no name", meta: { namespace: "n" }, want: [/^metadata\.name: .*name or generateName is required/] },
    { name: "a bad name", meta: { name: "X", namespace: "n" }, want: [/^metadata\.name: /] },
    {
      name: "a bad prefix",
      meta: { name: "x", generateName: "X", namespace: "n" },
      want: [/^metadata\.generateName: /],
    },
    { name: "no namespace", meta: { name: "x" }, want: [/^metadata\.namespace: /] },
    { name: "a bad namespace", meta: { name: "x", namespace: "a.b" }, want: [/^metadata\.namespace: /] },
    {
      name: "a namespace too many",
      meta: { name: "x", namespace: "n" },
      rules: cluster,
      want: [/^metadata\.namespace: .*not allowed on this type/],
    },
    {
      name: "a negative generation",
      meta: { name: "x", namespace: "n", generation: -1 },
      want: [/^metadata\.generation: .*must be greater than or equal to 0/],
    },
    { name: "a bad label", meta: { name: "x", namespace: "n", labels: { "a b": "c" } }, want: [/^metadata\.labels: /] },
    {
      name: "a bad annotation",
      meta: { name: "x", namespace: "n", annotations: { "a b": "c" } },
      want: [/^metadata\.annotations: /],
    },
    { name: "an owner", meta: { name: "x", namespace: "n", ownerReferences: [owner] }, want: [] },
    {
      name: "an owner with nothing",
      meta: { name: "x", namespace: "n", ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
      want: [
        /ownerReferences.*apiVersion: .*version must not be empty/,
        /kind: .*must not be empty/,
        /name: .*must not be empty/,
        /uid: .*must not be empty/,
      ],
    },
    {
      name: "an owner of no version",
      meta: { name: "x", namespace: "n", ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
      want: [/apiVersion: .*version must not be empty/],
    },
    {
      name: "an event as owner",
      meta: { name: "x", namespace: "n", ownerReferences: [{ ...owner, kind: "Event" }] },
      want: [/Kind=Event is disallowed from being an owner/],
    },
    {
      name: "two that control",
      meta: {
        name: "x",
        namespace: "n",
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: "q", controller: true },
        ],
      },
      want: [
        /^metadata\.ownerReferences: .*Only one reference can have Controller set to true\. Found "true" in references for Pod\/p and Pod\/q/,
      ],
    },
    {
      name: "finalizers",
      meta: { name: "x", namespace: "n", finalizers: ["example.com/f", "kubernetes", "orphan"] },
      want: [],
    },
    { name: "a finalizer without a domain", meta: { name: "x", namespace: "n", finalizers: ["mine"] }, want: [] },
    {
      name: "a finalizer without the domain that it needs",
      meta: { name: "x", namespace: "n", finalizers: ["orphan", "mine"] },
      rules: qualified,
      want: [/^metadata\.finalizers\[1\]: .*neither a standard finalizer name nor is it fully qualified/],
    },
    {
      name: "a bad finalizer without the domain that it needs",
      meta: { name: "x", namespace: "n", finalizers: ["a b"] },
      rules: qualified,
      want: [/^metadata\.finalizers: /, /^metadata\.finalizers\[0\]: .*neither a standard/],
    },
    {
      name: "a bad finalizer",
      meta: { name: "x", namespace: "n", finalizers: ["a b"] },
      want: [/^metadata\.finalizers: /],
    },
    {
      name: "finalizers that exclude each other",
      meta: { name: "x", namespace: "n", finalizers: ["orphan", "foregroundDeletion"] },
      want: [/finalizer orphan and foregroundDeletion cannot be both set/],
    },
  ];
  it.each(cases)("$name", ({ meta, rules = namespaced, want }) => {
    expect(said(validateObjectMeta(meta, rules, METADATA))).toEqual(want.map((each) => expect.stringMatching(each)));
  });
});

describe("metadata of a changed object", () => {
  const old: ObjectMeta = {
    name: "x",
    namespace: "n",
    uid: "u",
    generation: 2,
    creationTimestamp: "2030-01-01T00:00:00Z",
  };
  const leaving: ObjectMeta = {
    ...old,
    deletionTimestamp: "2030-01-02T00:00:00Z",
    deletionGracePeriodSeconds: 0,
    finalizers: ["a.b/c", "a.b/d"],
  };
  const cases: { name: string; before?: ObjectMeta; after: ObjectMeta; want: RegExp[] }[] = [
    { name: "nothing", after: old, want: [] },
    { name: "labels", after: { ...old, labels: { a: "b" } }, want: [] },
    { name: "a bad label", after: { ...old, labels: { "a b": "b" } }, want: [/metadata\.labels/] },
    { name: "its name", after: { ...old, name: "y" }, want: [/^metadata\.name: .*field is immutable/] },
    { name: "its namespace", after: { ...old, namespace: "m" }, want: [/^metadata\.namespace: .*field is immutable/] },
    { name: "its uid", after: { ...old, uid: "v" }, want: [/^metadata\.uid: .*field is immutable/] },
    {
      name: "when it was made",
      after: { ...old, creationTimestamp: "2031-01-01T00:00:00Z" },
      want: [/^metadata\.creationTimestamp: /],
    },
    {
      name: "a mark of deletion",
      after: { ...old, deletionTimestamp: "2031-01-01T00:00:00Z" },
      want: [/^metadata\.deletionTimestamp: /],
    },
    {
      name: "its generation, back",
      after: { ...old, generation: 1 },
      want: [/^metadata\.generation: .*must not be decremented/],
    },
    { name: "its generation, forth", after: { ...old, generation: 3 }, want: [] },
    { name: "finalizers", after: { ...old, finalizers: ["a.b/c"] }, want: [] },
    {
      name: "a finalizer without a domain",
      after: { ...old, finalizers: ["mine"] },
      want: [/^metadata\.finalizers\[0\]: .*neither a standard/],
    },
    {
      name: "a finalizer less while it leaves",
      before: leaving,
      after: { ...leaving, finalizers: ["a.b/c"] },
      want: [],
    },
    {
      name: "finalizers more while it leaves",
      before: leaving,
      after: { ...leaving, finalizers: ["a.b/c", "z/z", "a.b/d", "y/y"] },
      want: [
        /^metadata\.finalizers: .*no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"y\/y", "z\/z"\}/,
      ],
    },
  ];
  it.each(cases)("$name", ({ before = old, after, want }) => {
    expect(said(validateObjectMetaUpdate(after, before, qualified, METADATA))).toEqual(
      want.map((each) => expect.stringMatching(each)),
    );
  });
});

describe("annotations", () => {
  const limit = 256 * 1024;
  it.each([
    { name: "up to the limit", annotations: { a: "x".repeat(limit - 1) }, faults: 0 },
    { name: "beyond it", annotations: { a: "x".repeat(limit) }, faults: 1 },
    { name: "beyond it in bytes", annotations: { a: "ü".repeat(limit / 2) }, faults: 1 },
    { name: "in capital letters", annotations: { "Example.COM/A": "" }, faults: 0 },
    { name: "none", annotations: undefined, faults: 0 },
  ])("$name", ({ annotations, faults }) => {
    expect(validateAnnotations(annotations, METADATA)).toHaveLength(faults);
  });
});
