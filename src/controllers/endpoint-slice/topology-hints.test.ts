import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { Endpoint } from "./endpoint.ts";
import { addHints, asksForHints, removeHints } from "./topology-hints.ts";
import { sharesMayChange, zoneShares } from "./zone-shares.ts";

const MODE = "service.kubernetes.io/topology-mode";
const OLD_MODE = "service.kubernetes.io/topology-aware-hints";

describe("a Service asks for hints", () => {
  it.each([
    [{}, false],
    [{ [MODE]: "Auto" }, true],
    [{ [MODE]: "auto" }, true],
    [{ [MODE]: "AUTO" }, false],
    [{ [MODE]: "Disabled" }, false],
    [{ [OLD_MODE]: "Auto" }, true],
    [{ [OLD_MODE]: "Disabled", [MODE]: "Auto" }, false],
  ])("%j: %s", (annotations, want) => {
    expect(asksForHints({ metadata: { name: "web", annotations } })).toBe(want);
  });
});

interface NodeParts {
  readonly zone?: string;
  readonly cpu?: string;
  readonly ready?: boolean;
  readonly role?: string;
}

function node({ zone, cpu = "4", ready = true, role }: NodeParts): core.Node {
  const labels = {
    ...(zone !== undefined && { "topology.kubernetes.io/zone": zone }),
    ...(role !== undefined && { [`node-role.kubernetes.io/${role}`]: "" }),
  };
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }] as const;
  return { metadata: { name: "n", labels }, status: { conditions, ...(cpu !== "" && { allocatable: { cpu } }) } };
}

describe("the shares of zones", () => {
  it.each<{ name: string; given: readonly NodeParts[]; want: Record<string, number> | undefined }>([
    { name: "no nodes", given: [], want: undefined },
    { name: "one zone", given: [{ zone: "a" }, { zone: "a" }], want: undefined },
    { name: "two alike", given: [{ zone: "b" }, { zone: "a" }], want: { a: 0.5, b: 0.5 } },
    {
      name: "by processors",
      given: [
        { zone: "a", cpu: "500m" },
        { zone: "a", cpu: "1" },
        { zone: "b", cpu: "4500m" },
      ],
      want: { a: 0.25, b: 0.75 },
    },
    { name: "one without a zone", given: [{ zone: "a" }, { zone: "b" }, {}], want: undefined },
    { name: "one without processors", given: [{ zone: "a" }, { zone: "b", cpu: "" }], want: undefined },
    {
      name: "those that do not count may say what they like",
      given: [{ zone: "a" }, { zone: "b" }, { ready: false }, { role: "control-plane" }, { role: "master", zone: "c" }],
      want: { a: 0.5, b: 0.5 },
    },
  ])("$name", ({ given, want }) => {
    const shares = zoneShares(given.map(node));
    expect(shares && Object.fromEntries(shares)).toEqual(want);
    if (shares !== undefined) expect([...shares.keys()]).toEqual([...shares.keys()].sort());
  });

  it.each<[string, NodeParts, boolean]>([
    ["nothing", {}, false],
    ["zone", { zone: "b" }, true],
    ["cpu", { cpu: "3" }, true],
    ["readiness", { ready: false }, true],
    ["role", { role: "control-plane" }, true],
  ])("may change with a node: %s", (_, change, want) => {
    expect(sharesMayChange(node({ zone: "a" }), node({ zone: "a", ...change }))).toBe(want);
  });
});

const AB = new Map([
  ["a", 0.5],
  ["b", 0.5],
]);
const ABC = new Map(["a", "b", "c"].map((zone) => [zone, 1 / 3]));

let made = 0;
/** "aab-": two of zone a, one of b, one of none; in upper case: not ready. */
function slice(zones: string, hints = ""): { readonly endpoints: readonly Endpoint[] } {
  const endpoints = [...zones].map((letter, at): Endpoint => {
    const zone = letter.toLowerCase();
    const hint = hints[at] ?? "-";
    return {
      addresses: [`10.0.0.${++made}`],
      conditions: { ready: zone === letter },
      ...(zone !== "-" && { zone }),
      ...(hint !== "-" && { hints: { forZones: [{ name: hint }] } }),
    };
  });
  return { endpoints };
}

const hintsOf = ({ endpoints }: { readonly endpoints?: readonly Endpoint[] }) =>
  (endpoints ?? []).map(({ hints }) => hints?.forZones?.map(({ name }) => name).join("+") ?? "-").join("");

describe("hints", () => {
  it.each([
    { name: "each for its own zone", shares: AB, given: "aabb", want: "aabb" },
    { name: "some for the zone that has too few", shares: AB, given: "aaab", want: "baab" },
    { name: "for a zone that has none", shares: AB, given: "aaaa", want: "bbaa" },
    { name: "for the one of three", shares: ABC, given: "aaabbc", want: "caabbc" },
    { name: "a difference of one is borne", shares: AB, given: "aaaabbb", want: "aaaabbb" },
    { name: "one of two is not", shares: AB, given: "aaaaabb", want: "baaaabb" },
    { name: "none for who is not ready, nor by it", shares: AB, given: "aabbAB", want: "aabb--" },
    {
      name: "more for who has more processors",
      shares: new Map([
        ["a", 0.75],
        ["b", 0.25],
      ]),
      given: "aaaabbbb",
      want: "aaaaaabb",
    },
    { name: "of a zone without nodes, as they are", shares: AB, given: "aacc", want: "aacc" },
  ])("$name", ({ shares, given, want }) => {
    const { create, why } = addHints({ create: [slice(given)], update: [], unchanged: [] }, shares);
    expect([create.map(hintsOf), why]).toEqual([[want], undefined]);
  });

  it.each([
    {
      name: "nodes that say too little",
      shares: undefined,
      given: "aabb",
      why: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
    },
    {
      name: "too few endpoints",
      shares: ABC,
      given: "abA",
      why: "Insufficient number of endpoints (2 endpoints, 3 zones)",
    },
    {
      name: "too much for one of them",
      shares: AB,
      given: "aaabb",
      why: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (5 endpoints, 2 zones)",
    },
    {
      name: "an endpoint that is nowhere",
      shares: AB,
      given: "aab-",
      why: "One or more endpoints do not have a zone specified",
    },
  ])("there are none: $name", ({ shares, given, why }) => {
    const [bare, hinted] = [slice(""), slice(given, given)];
    const after = addHints({ create: [], update: [], unchanged: [hinted, bare] }, shares);
    expect(after).toMatchObject({ create: [], unchanged: [bare], why });
    expect(after.update.map(hintsOf)).toEqual(["-".repeat(given.length)]);
  });

  it.each([
    {
      name: "those that hold are kept",
      unchanged: [["aab", "aba"]],
      update: "b",
      want: { unchanged: ["aba"], update: ["b"] },
    },
    {
      name: "those for a zone that is gone are not",
      unchanged: [["aab", "acb"]],
      update: "b",
      want: { unchanged: [], update: ["b", "aab"] },
    },
    {
      name: "nor where one is missing",
      unchanged: [["aab", "a-b"]],
      update: "b",
      want: { unchanged: [], update: ["b", "aab"] },
    },
    {
      name: "nor those that leave a zone too few",
      unchanged: [["aaa", "aaa"]],
      update: "a",
      want: { unchanged: [], update: ["b", "baa"] },
    },
    {
      name: "those that are new make up for others",
      unchanged: [["aa", "aa"]],
      update: "aa",
      want: { unchanged: ["aa"], update: ["bb"] },
    },
  ])("of slices that need not be written: $name", ({ unchanged, update, want }) => {
    const given = {
      create: [],
      update: [slice(update)],
      unchanged: unchanged.map(([zones = "", hints]) => slice(zones, hints)),
    };
    const after = addHints(given, AB);
    expect({ unchanged: after.unchanged.map(hintsOf), update: after.update.map(hintsOf) }).toEqual(want);
  });

  it("are taken away where there are some", () => {
    const [plain, hinted] = [slice("ab"), slice("ab", "ab")];
    const after = removeHints({ create: [], update: [], unchanged: [plain, hinted] });
    expect([after.unchanged, after.update.map(hintsOf)]).toEqual([[plain], ["--"]]);
  });

  it("whatever there is: all that are ready have one, or none has; and nothing is written twice", () => {
    const zones = fc.constantFrom("a", "b", "c", "A", "-");
    const slices = fc.array(fc.array(zones, { maxLength: 12 }), { maxLength: 4 });
    const cpus = fc.record({
      a: fc.integer({ min: 1, max: 9 }),
      b: fc.integer({ min: 1, max: 9 }),
      c: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(slices, cpus, (all, cpu) => {
        const nodes = Object.entries(cpu).flatMap(([zone, cores]) =>
          cores > 0 ? [node({ zone, cpu: `${cores}` })] : [],
        );
        const shares = zoneShares(nodes);
        const first = addHints({ create: all.map((each) => slice(each.join(""))), update: [], unchanged: [] }, shares);
        const endpoints = first.create.flatMap((each) => each.endpoints);
        const isHinted = ({ hints }: Endpoint) => hints?.forZones?.length === 1;
        const want = first.why === undefined;
        expect(endpoints.every((each) => isHinted(each) === (want && each.conditions?.ready === true))).toBe(true);
        const again = addHints({ create: [], update: [], unchanged: first.create }, shares);
        expect([again.update, again.why]).toEqual([[], first.why]);
      }),
      { numRuns: 500 },
    );
  });
});
