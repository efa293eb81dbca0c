import { describe, expect, it } from "vitest";
import { defaultFeatures } from "../features/index.ts";
import { at, fieldErrorText } from "../machinery/errors/field-error.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { APIService as APIServiceObject, APIServiceSpec } from "../types/apiregistration-v1.ts";
import { APIService } from "./api-service.ts";

const service = { namespace: "ns", name: "api", port: 443 };
const spec = { group: "a.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10, service };
const root = at();

function errorsOf(given: Partial<APIServiceSpec>, name?: string): readonly string[] {
  const whole = { ...spec, ...given };
  const object = { metadata: { name: name ?? `${whole.version}.${whole.group}` }, spec: whole } as APIServiceObject;
  return (APIService.validate?.(object, root) ?? []).map(fieldErrorText);
}

describe("validation of an APIService", () => {
  it.each<{ name: string; given?: Partial<APIServiceSpec>; called?: string; want: readonly string[] }>([
    { name: "one that is right", want: [] },
    { name: "the core group", given: { group: "" }, want: [] },
    {
      name: "another name",
      called: "v2.b",
      want: ['metadata.name: Invalid value: "v2.b": must be `spec.version+"."+spec.group`: "v1.a.example.com"'],
    },
    {
      name: "no group",
      given: { group: "", version: "v2" },
      want: ["spec.group: Required value: only v1 may have an empty group and it better be legacy kube"],
    },
    {
      name: "priorities out of range",
      given: { groupPriorityMinimum: 20001, versionPriority: 0 },
      want: [
        "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
      ],
    },
    {
      name: "a Service without a name",
      given: { service: { port: 0 } },
      want: [
        "spec.service.namespace: Required value",
        "spec.service.name: Required value",
        "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
      ],
    },
    {
      name: "two wishes about certificates",
      given: { insecureSkipTLSVerify: true, caBundle: "YWJj" },
      want: ["spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"],
    },
  ])("$name", ({ given = {}, called, want }) => {
    expect(errorsOf(given, called)).toEqual(want);
  });

  it("of a local one: there is no certificate to look at", () => {
    const { service: _, ...local } = spec;
    const object = {
      metadata: { name: "v1.a.example.com" },
      spec: { ...local, caBundle: "YWJj", insecureSkipTLSVerify: true },
    };
    expect((APIService.validate?.(object, root) ?? []).map(fieldErrorText)).toEqual([
      'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
      "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
    ]);
  });

  it("of a status", () => {
    const object = { metadata: {}, spec, status: { conditions: [{ type: "Available", status: "Maybe" }] } };
    const { status } = APIService.subresources ?? {};
    const errors = typeof status === "object" ? (status.validate?.(object, object, root) ?? []) : [];
    expect(errors.map(fieldErrorText)).toEqual([
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
    ]);
  });
});

describe("an APIService that is new", () => {
  const facts = { features: defaultFeatures, now: Date.UTC(2030, 0, 1), user: { name: "u", groups: [], extra: {} } };

  it("can be had at once if it is local", () => {
    const draft: Draft<APIServiceObject> = { metadata: {}, spec: { groupPriorityMinimum: 1, versionPriority: 1 } };
    APIService.create?.prepare?.(draft, facts);
    expect(draft.status?.conditions).toEqual([
      {
        type: "Available",
        status: "True",
        lastTransitionTime: "2030-01-01T00:00:00Z",
        reason: "Local",
        message: "Local APIServices are always available",
      },
    ]);
  });

  it("waits for its check if it is not", () => {
    const draft = structuredClone({ metadata: {}, spec }) as Draft<APIServiceObject>;
    APIService.create?.prepare?.(draft, facts);
    expect(draft.status).toBeUndefined();
  });
});
