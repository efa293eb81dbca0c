import { expect, it } from "vitest";
import { lineOf, stepsOf } from "./yaml-line.ts";

const text = `metadata:
  labels:
    a.b/c: x
spec:
  replicas: -1
  containers:
    - name: a
      image: b
    - name: c
`;

it.each([
  ["spec.replicas", 4],
  ["spec.containers[0].image", 7],
  ["spec.containers[1]", 8],
  ["spec.containers[1].image", 8],
  ["metadata.labels[a.b/c]", 2],
  ["spec.nothing", 3],
  ["nothing", undefined],
])("%s is on line %s", (path, line) => {
  expect(lineOf(text, path)).toBe(line);
});

it("reads paths", () => {
  expect(stepsOf('spec.a[3].b["x.y"]')).toEqual(["spec", "a", 3, "b", "x.y"]);
});
