import { expect, it } from "vitest";
import { lineOf, stepsOf, syntaxFault } from "./yaml-line.ts";

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

it.each([
  ["a: [1\nb: 2\n", 1, /flow/i],
  ["a: 1\n  b: 2\n", 0, /nested mappings/i],
  ["a: 1\na: 2\n", 1, /unique/i],
  ["only words", 0, /fields/],
])("%j is not the YAML of an object: line %s", (broken, line, message) => {
  expect(syntaxFault(broken)).toEqual({ line, message: expect.stringMatching(message) });
});

it("finds no fault in an object", () => {
  expect(syntaxFault(text)).toBeUndefined();
});
