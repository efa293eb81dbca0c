/** What changed between two states. */
import { describe, expect, it } from "vitest";
import { type Compared, objectChanges } from "./differences.ts";

function pod(name: string, more: object = {}): Compared {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, ...more } as Compared;
}

describe("differences of two states", () => {
  it.each<[string, Compared[], Compared[], string[]]>([
    ["nothing", [pod("a")], [pod("a")], []],
    ["what came", [], [pod("a")], ["added default/a"]],
    ["what went", [pod("a")], [], ["removed default/a"]],
    ["a field", [pod("a", { spec: { n: 1 } })], [pod("a", { spec: { n: 2 } })], ["changed default/a spec.n: 1 → 2"]],
    [
      "a field that came",
      [pod("a", { spec: {} })],
      [pod("a", { spec: { node: "n1" } })],
      ['changed default/a spec.node: undefined → "n1"'],
    ],
    [
      "an item of a list, by its name",
      [pod("a", { spec: { containers: [{ name: "x", image: "1" }] } })],
      [pod("a", { spec: { containers: [{ name: "y" }, { name: "x", image: "2" }] } })],
      [
        'changed default/a spec.containers[x].image: "1" → "2"',
        'changed default/a spec.containers[y]: undefined → {"name":"y"}',
      ],
    ],
    [
      "no times that only moved on, nor what follows from other fields",
      [
        pod("a", {
          status: {
            observedGeneration: 1,
            at: "2026-01-01T00:00:00Z",
            conditions: [{ type: "Ready", at: "2026-01-01T00:00:00Z" }],
          },
        }),
      ],
      [
        pod("a", {
          status: {
            observedGeneration: 2,
            at: "2026-01-01T00:00:01Z",
            conditions: [{ type: "Ready", at: "2026-01-01T00:00:02.5Z" }],
          },
        }),
      ],
      [],
    ],
    [
      "a time that came",
      [pod("a", { status: {} })],
      [pod("a", { status: { startTime: "2026-01-01T00:00:00Z" } })],
      ['changed default/a status.startTime: undefined → "2026-01-01T00:00:00Z"'],
    ],
    [
      "the first annotations, one by one",
      [pod("a")],
      [
        pod("a", {
          metadata: {
            name: "a",
            namespace: "default",
            annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "x" },
          },
        }),
      ],
      ['changed default/a metadata.annotations.note: undefined → "x"'],
    ],
    [
      "no bookkeeping",
      [pod("a", { metadata: { name: "a", namespace: "default", resourceVersion: "1" } })],
      [pod("a", { metadata: { name: "a", namespace: "default", resourceVersion: "2" } })],
      [],
    ],
  ])("%s", (_, before, after, want) => {
    const said = objectChanges(before, after).flatMap(({ name, change, fields }) =>
      fields.length === 0
        ? [`${change} ${name}`]
        : fields.map(
            ({ path, from, to }) => `${change} ${name} ${path}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`,
          ),
    );
    expect(said).toEqual(want);
  });

  it("of bookkeeping are there if they are asked for", () => {
    const [before, after] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"].map((at) => [
      pod("a", { status: { at } }),
    ]);
    expect(objectChanges(before ?? [], after ?? [], { bookkeeping: true })).toHaveLength(1);
  });
});
