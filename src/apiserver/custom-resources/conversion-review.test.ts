import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "#api";
import { answersTo, type ConversionFailure, reviewOf, reviewVersion } from "./conversion-review.ts";

const object = (name: string, more: JsonObject = {}): JsonObject => ({
  kind: "Widget",
  apiVersion: "example.com/v1",
  metadata: { name, namespace: "default", uid: `uid-${name}`, generation: 3, labels: { a: "1" }, ...more },
  spec: { size: 1 },
});
const question = { uid: "u", desiredAPIVersion: "example.com/v2", objects: [object("x")] };
const converted = (more: JsonObject = {}): JsonObject => ({
  ...object("x"),
  apiVersion: "example.com/v2",
  spec: { length: 1 },
  ...more,
});
const answer = (response: Json, more: JsonObject = {}): JsonObject => ({
  kind: "ConversionReview",
  apiVersion: "apiextensions.k8s.io/v1",
  response,
  ...more,
});
const success = (...convertedObjects: Json[]) => answer({ uid: "u", result: { status: "Success" }, convertedObjects });
const metadata = (more: JsonObject): JsonObject => ({ metadata: { ...(object("x").metadata as JsonObject), ...more } });

describe("the question", () => {
  it("is asked in the first version that both know", () => {
    expect(reviewVersion(["v2", "v1beta1", "v1"])).toBe("v1beta1");
    expect(reviewVersion(["v9"])).toBeUndefined();
    expect(reviewOf("v1", question)).toEqual({
      kind: "ConversionReview",
      apiVersion: "apiextensions.k8s.io/v1",
      request: question,
    });
  });
});

describe("an answer", () => {
  it("gives the objects, with all of their metadata but labels and annotations put back", () => {
    const changed = metadata({ generation: 99, labels: { b: "2" }, annotations: { c: "3" }, managedFields: [] });
    expect(answersTo(question, "v1", success(converted(changed)))).toEqual([
      {
        ok: true,
        object: {
          kind: "Widget",
          apiVersion: "example.com/v2",
          metadata: {
            name: "x",
            namespace: "default",
            uid: "uid-x",
            generation: 3,
            labels: { b: "2" },
            annotations: { c: "3" },
          },
          spec: { length: 1 },
        },
      },
    ]);
  });

  it("counts for each object by itself", () => {
    const two = { ...question, objects: [object("x"), object("y")] };
    const second = { ...object("y"), apiVersion: "example.com/v2" };
    expect(answersTo(two, "v1", success(converted({ kind: "Gadget" }), second))).toMatchObject([
      { ok: false },
      { ok: true },
    ]);
  });

  const ABOUT = "conversion webhook for example.com/v1, Kind=Widget";
  it.each<{ name: string; given: Json; want: string; failure: ConversionFailure }>([
    {
      name: "nothing",
      given: null,
      failure: "malformed_response",
      want: `${ABOUT} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`,
    },
    {
      name: "another kind",
      given: answer({}, { kind: "Review" }),
      failure: "malformed_response",
      want: `${ABOUT} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=Review`,
    },
    {
      name: "no response",
      given: answer(null),
      failure: "malformed_response",
      want: `${ABOUT} failed: no response provided`,
    },
    {
      name: "to another question",
      given: answer({ uid: "w" }),
      failure: "malformed_response",
      want: `${ABOUT} failed: expected response.uid="u", got "w"`,
    },
    {
      name: "no result",
      given: answer({ uid: "u" }),
      failure: "malformed_response",
      want: `${ABOUT} failed: response.result.status was '', not 'Success'`,
    },
    {
      name: "a refusal",
      given: answer({ uid: "u", result: { status: "Failed", message: "no way" } }),
      failure: "malformed_response",
      want: `${ABOUT} failed: no way`,
    },
    { name: "too few", given: success(), failure: "partial_response", want: `${ABOUT} returned 0 objects, expected 1` },
    {
      name: "no object",
      given: success("x"),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object at index 0: Object 'Kind' is missing in '"x"'`,
    },
    {
      name: "another version",
      given: success(converted({ apiVersion: "example.com/v3" })),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)`,
    },
    {
      name: "another kind of object",
      given: success(converted({ kind: "Gadget" })),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object at index 0: invalid kind (expected Widget, received Gadget)`,
    },
    {
      name: "another name",
      given: success(converted(metadata({ name: "y" }))),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object: must have the same name: x != y`,
    },
    {
      name: "another namespace",
      given: success(converted(metadata({ namespace: "n" }))),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object: must have the same namespace: default != n`,
    },
    {
      name: "another uid",
      given: success(converted(metadata({ uid: "" }))),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid object: must have the same UID: uid-x != `,
    },
    {
      name: "labels that are none",
      given: success(converted(metadata({ labels: [] }))),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid metadata: invalid metadata.labels of type []interface {} in converted object`,
    },
    {
      name: "a number for a label",
      given: success(converted(metadata({ labels: { a: 1 } }))),
      failure: "invalid_converted_object",
      want: `${ABOUT} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
    },
  ])("is refused: $name", ({ given, want, failure }) => {
    expect(answersTo(question, "v1", given)).toEqual([{ ok: false, message: want, failure }]);
  });

  it("is refused for labels that nobody could set", () => {
    const [bad] = answersTo(question, "v1", success(converted(metadata({ labels: { "a b": "c" } }))));
    expect(bad).toMatchObject({
      ok: false,
      message: expect.stringContaining("returned invalid metadata: metadata.labels: Invalid value"),
    });
  });

  it("in the beta form is not held to kind and uid", () => {
    const response = { uid: "other", result: { status: "Success" }, convertedObjects: [converted()] };
    expect(answersTo(question, "v1beta1", { response })).toMatchObject([{ ok: true }]);
  });
});
