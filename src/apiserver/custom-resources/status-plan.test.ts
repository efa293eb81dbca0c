import { describe, expect, it } from "vitest";
import { asDefinition, type Definition } from "./definition.ts";
import { isServable, planStatus } from "./status-plan.ts";
import { type DefinitionOptions, definition } from "./testing/index.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

function stored(options: DefinitionOptions = {}, status: object = {}): Definition {
  const { spec, ...rest } = definition(options);
  const { plural, kind } = spec.names;
  const names = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...spec.names };
  const base = { acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] };
  return asDefinition({
    ...rest,
    spec: { ...spec, names: { ...names, plural } },
    status: { ...base, ...status },
  } as never);
}

function plan(target: Definition, others: readonly Definition[] = []) {
  return planStatus(target, { all: [target, ...others], now: NOW });
}

const conditions = (status: ReturnType<typeof plan>) =>
  (status.conditions ?? []).map(({ type, status: is, reason, message }) => `${type} ${is} ${reason}: ${message}`);

const accepted = (options: DefinitionOptions) => {
  const fresh = stored(options);
  return { ...fresh, status: plan(fresh) };
};

describe("the status of a definition", () => {
  it("accepts names that are free, and establishes", () => {
    const status = plan(stored());
    expect(conditions(status)).toEqual([
      "NamesAccepted True NoConflicts: no conflicts found",
      "Established True InitialNamesAccepted: the initial names have been accepted",
    ]);
    expect(status).toMatchObject({
      acceptedNames: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      storedVersions: ["v1"],
    });
    expect(status.conditions?.[0]?.lastTransitionTime).toBe("2030-01-01T00:00:00Z");
  });

  it("is the one that it was when all is said", () => {
    const settled = accepted({});
    expect(plan(settled)).toBe(settled.status);
  });

  it.each([
    { names: { kind: "Gadget", listKind: "WidgetList" }, want: 'KindConflict: "Gadget" is already in use' },
    { names: { kind: "Other", shortNames: ["gd"] }, want: 'ShortNamesConflict: "gd" is already in use' },
    { names: { kind: "Other", listKind: "GadgetList" }, want: 'ListKindConflict: "GadgetList" is already in use' },
    { names: { kind: "Other", singular: "gd" }, want: 'SingularConflict: "gd" is already in use' },
  ])("waits for names that another has: $want", ({ names, want }) => {
    const other = accepted({ plural: "gadgets", kind: "Gadget", names: { shortNames: ["gd"] } });
    const status = plan(stored({ names }), [other]);
    expect(conditions(status)).toEqual([
      `NamesAccepted False ${want}`,
      "Established False NotAccepted: not all names are accepted",
    ]);
    expect(isServable({ ...stored({ names }), status })).toBe(false);
  });

  it("keeps being established when a new name is taken, under the old one", () => {
    const other = accepted({ plural: "gadgets", kind: "Gadget" });
    const before = accepted({});
    const renamed = { ...before, spec: { ...before.spec, names: { ...before.spec.names, kind: "Gadget" } } };
    const status = plan(renamed, [other]);
    expect(conditions(status)).toEqual([
      'NamesAccepted False KindConflict: "Gadget" is already in use',
      "Established True InitialNamesAccepted: the initial names have been accepted",
    ]);
    expect(status.acceptedNames?.kind).toBe("Widget");
    expect(isServable({ ...renamed, status })).toBe(true);
  });

  it("does not establish with certificates that cannot be read", () => {
    const caBundle = Buffer.from("no certificate").toString("base64");
    const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url: "https://example.com/", caBundle } };
    const { spec, ...rest } = stored();
    const converting = { ...rest, spec: { ...spec, conversion: { strategy: "Webhook", webhook } } } as Definition;
    expect(conditions(plan(converting))).toContain(
      "Established False InvalidCABundle: The conversion webhook CABundle is invalid",
    );
  });

  it("tells of a schema without structure, as long as there is one", () => {
    const loose = stored();
    const { spec } = loose;
    const open = { ...loose, spec: { ...spec, preserveUnknownFields: true } };
    const status = plan(open);
    expect(conditions(status)).toContain(
      "NonStructuralSchema True Violations: spec.preserveUnknownFields: Invalid value: true: must be false",
    );
    expect(conditions(plan({ ...loose, status })).join()).not.toContain("NonStructuralSchema");
  });

  it("tells whether a group of the project was agreed on", () => {
    const approved = stored({ group: "things.k8s.io" });
    const annotations = { "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1" };
    expect(conditions(plan({ ...approved, metadata: { ...approved.metadata, annotations } }))).toContain(
      "KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation: approved in https://github.com/kubernetes/kubernetes/pull/1",
    );
  });
});
