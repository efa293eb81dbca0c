import { describe, expect, it } from "vitest";
import { defaultFeatures, isStatusError } from "#api";
import { deleteOptions, patchOptions, wholeNumber, writeOptions } from "./options.ts";
import { listOptions, watchOptions } from "./read/list-options.ts";

type Read = (query: URLSearchParams) => unknown;

const create: Read = (query) => writeOptions("CreateOptions", query);
const update: Read = (query) => writeOptions("UpdateOptions", query);
const patch: Read = (query) => patchOptions(query, false);
const apply: Read = (query) => patchOptions(query, true);
const remove: Read = (query) => deleteOptions(query, undefined);
const removeWith =
  (body: object): Read =>
  (query) =>
    deleteOptions(query, body as never);

const watchRead = (query: URLSearchParams) => watchOptions(query, defaultFeatures);

describe("options that are taken", () => {
  const plain = { dryRun: false, fieldManager: "", fieldValidation: "Warn" };
  const listed = { limit: undefined, continue: "", resourceVersion: undefined, match: "" };
  const watched = {
    resourceVersion: undefined,
    allowBookmarks: false,
    sendInitialEvents: undefined,
    timeoutSeconds: undefined,
  };
  const deleted = {
    dryRun: false,
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    preconditions: {},
    ignoreStoreReadError: false,
  };
  const cases: { name: string; read: Read; query: string; want: unknown }[] = [
    { name: "create", read: create, query: "", want: plain },
    {
      name: "create",
      read: create,
      query: "dryRun=All&fieldManager=me&fieldValidation=Strict",
      want: { dryRun: true, fieldManager: "me", fieldValidation: "Strict" },
    },
    {
      name: "update",
      read: update,
      query: "dryRun=&fieldValidation=Ignore",
      want: { ...plain, fieldValidation: "Ignore" },
    },
    { name: "patch", read: patch, query: "", want: { ...plain, force: false } },
    {
      name: "apply",
      read: apply,
      query: "fieldManager=me&force=true",
      want: { ...plain, fieldManager: "me", force: true },
    },
    { name: "delete", read: remove, query: "", want: deleted },
    {
      name: "delete",
      read: remove,
      query: "gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All",
      want: { ...deleted, dryRun: true, gracePeriodSeconds: 5, propagationPolicy: "Orphan" },
    },
    { name: "delete", read: remove, query: "orphanDependents=true", want: { ...deleted, propagationPolicy: "Orphan" } },
    {
      name: "delete",
      read: remove,
      query: "orphanDependents=false",
      want: { ...deleted, propagationPolicy: "Background" },
    },
    {
      name: "delete with a body that counts more",
      read: removeWith({ gracePeriodSeconds: 1, preconditions: { uid: "u", resourceVersion: "7" } }),
      query: "gracePeriodSeconds=5",
      want: { ...deleted, gracePeriodSeconds: 1, preconditions: { uid: "u", resourceVersion: "7" } },
    },
    { name: "list", read: listOptions, query: "", want: listed },
    {
      name: "list",
      read: listOptions,
      query: "limit=5&resourceVersion=7",
      want: { ...listed, limit: 5, resourceVersion: 7 },
    },
    { name: "list", read: listOptions, query: "limit=-1", want: listed },
    { name: "list", read: listOptions, query: "limit=0", want: listed },
    {
      name: "list",
      read: listOptions,
      query: "continue=x&resourceVersion=0",
      want: { ...listed, continue: "x", resourceVersion: 0 },
    },
    {
      name: "list",
      read: listOptions,
      query: "resourceVersion=7&resourceVersionMatch=Exact",
      want: { ...listed, resourceVersion: 7, match: "Exact" },
    },
    { name: "watch", read: watchRead, query: "", want: watched },
    { name: "watch", read: watchRead, query: "resourceVersion=0", want: { ...watched, resourceVersion: 0 } },
    { name: "watch", read: watchRead, query: "timeoutSeconds=0", want: watched },
    { name: "watch", read: watchRead, query: "allowWatchBookmarks", want: { ...watched, allowBookmarks: true } },
    {
      name: "watch",
      read: watchRead,
      query: "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&timeoutSeconds=9",
      want: { ...watched, sendInitialEvents: true, allowBookmarks: true, timeoutSeconds: 9 },
    },
    {
      name: "watch",
      read: watchRead,
      query: "sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
      want: { ...watched, sendInitialEvents: false },
    },
  ];
  it.each(cases)("$name ?$query", ({ read, query, want }) => {
    expect(read(new URLSearchParams(query))).toEqual(want);
  });
});

describe("options that are refused", () => {
  const invalid = (kind: string, ...faults: string[]) =>
    `${kind}.meta.k8s.io "" is invalid: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`;
  const needsMatch =
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
  const cases: { name: string; read: Read; query: string; code: number; want: string }[] = [
    {
      name: "create",
      read: create,
      query: "dryRun=Some",
      code: 422,
      want: invalid("CreateOptions", 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
    },
    {
      name: "update",
      read: update,
      query: "fieldValidation=strict",
      code: 422,
      want: invalid(
        "UpdateOptions",
        'fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"',
      ),
    },
    {
      name: "apply",
      read: apply,
      query: "",
      code: 422,
      want: invalid("PatchOptions", "fieldManager: Required value: is required for apply patch"),
    },
    {
      name: "patch",
      read: patch,
      query: "force=true",
      code: 422,
      want: invalid("PatchOptions", "force: Forbidden: may not be specified for non-apply patch"),
    },
    {
      name: "delete",
      read: remove,
      query: "propagationPolicy=Later",
      code: 422,
      want: invalid(
        "DeleteOptions",
        'propagationPolicy: Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", "nil"',
      ),
    },
    {
      name: "delete",
      read: remove,
      query: "propagationPolicy=Orphan&orphanDependents=true",
      code: 422,
      want: invalid(
        "DeleteOptions",
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ),
    },
    {
      name: "delete",
      read: remove,
      query: "gracePeriodSeconds=soon",
      code: 400,
      want: 'strconv.ParseInt: parsing "soon": invalid syntax',
    },
    {
      name: "list",
      read: listOptions,
      query: "limit=many",
      code: 400,
      want: 'strconv.ParseInt: parsing "many": invalid syntax',
    },
    {
      name: "watch",
      read: watchRead,
      query: "limit=many",
      code: 400,
      want: 'strconv.ParseInt: parsing "many": invalid syntax',
    },
    {
      name: "list",
      read: listOptions,
      query: "resourceVersionMatch=Exact",
      code: 422,
      want: invalid(
        "ListOptions",
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      ),
    },
    {
      name: "list",
      read: listOptions,
      query: "resourceVersionMatch=Exact&resourceVersion=0",
      code: 422,
      want: invalid(
        "ListOptions",
        'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ),
    },
    {
      name: "list",
      read: listOptions,
      query: "resourceVersionMatch=Foo&resourceVersion=5",
      code: 422,
      want: invalid(
        "ListOptions",
        'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
      ),
    },
    {
      name: "list",
      read: listOptions,
      query: "sendInitialEvents=true",
      code: 422,
      want: invalid("ListOptions", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
    },
    {
      name: "list",
      read: listOptions,
      query: "continue=x&resourceVersion=5",
      code: 400,
      want: "specifying resource version is not allowed when using continue",
    },
    {
      name: "list",
      read: listOptions,
      query: "resourceVersion=abc",
      code: 400,
      want: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    },
    {
      name: "watch",
      read: watchRead,
      query: "resourceVersion=abc",
      code: 500,
      want: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    },
    {
      name: "watch",
      read: watchRead,
      query: "sendInitialEvents=true",
      code: 422,
      want: invalid("ListOptions", needsMatch),
    },
    {
      name: "watch",
      read: watchRead,
      query: "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1",
      code: 422,
      want: invalid(
        "ListOptions",
        needsMatch,
        'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"',
      ),
    },
    {
      name: "watch",
      read: watchRead,
      query: "resourceVersionMatch=NotOlderThan",
      code: 422,
      want: invalid(
        "ListOptions",
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    },
  ];
  it.each(cases)("$name ?$query", ({ read, query, code, want }) => {
    try {
      read(new URLSearchParams(query));
      expect.unreachable();
    } catch (error) {
      expect(isStatusError(error) && [error.code, error.message]).toEqual([code, want]);
    }
  });
});

describe("whole numbers", () => {
  it.each([
    [null, undefined],
    ["", undefined],
    ["7", 7],
    ["-7", -7],
    ["+7", 7],
  ])("%s is %s", (text, want) => {
    expect(wholeNumber(text)).toBe(want);
  });
});
