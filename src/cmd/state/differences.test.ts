/** What changed between two states. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { objectChanges } from "./differences.ts";

function pod(name: string, more: object = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, ...more } as KubeObject;
}

describe("differences of two states", () => {
  it.each<[string, KubeObject[], KubeObject[], string[]]>([
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
});
