import { describe, expect, it } from "vitest";
import { int, list, string } from "../values/type.ts";
import { CelError } from "../values/value.ts";
import { record } from "./admission-types.ts";
import { deviceValue } from "./device.ts";
import { admission, deviceSelectors, validationRules } from "./environment.ts";
import { base, evaluate, issuesOf } from "./testing/evaluate.ts";

describe("rules of a CustomResourceDefinition", () => {
  const self = record("Spec", { replicas: int, names: list(string) });

  it("compare an object with what it was", () => {
    const values = { self: { replicas: 3, names: ["b", "a"] }, oldSelf: { replicas: 2 } };
    expect(
      evaluate("self.replicas >= oldSelf.replicas && !self.names.isSorted()", values, validationRules(base, self)),
    ).toBe(true);
  });

  it("may get an optional old object", () => {
    const options = validationRules(base, self, { optionalOldSelf: true });
    expect(issuesOf("oldSelf.hasValue() && oldSelf.value().replicas > 1", options)).toBe("");
    expect(issuesOf("oldSelf.replicas > 1", validationRules(base, self))).toBe("");
  });

  it("have no variables of admission", () => {
    expect(issuesOf("request.name == ''", validationRules(base, self))).toContain("undeclared reference to 'request'");
  });
});

describe("admission", () => {
  const values = {
    object: { metadata: { name: "a", labels: { app: "web" } }, spec: { replicas: 3 } },
    oldObject: null,
    request: {
      operation: "CREATE",
      name: "a",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      userInfo: { username: "ada", groups: ["devs"], extra: { key: ["x"] } },
    },
    namespaceObject: {
      metadata: { name: "web", labels: { tier: "front" }, creationTimestamp: "2024-01-01T00:00:00Z" },
    },
    params: { max: 5 },
  };

  it.each([
    "object.spec.replicas < params.max",
    "oldObject == null",
    "request.operation == 'CREATE' && request.kind.kind == 'Deployment' && 'devs' in request.userInfo.groups",
    "request.userInfo.extra['key'][0] == 'x' && !has(request.subResource)",
    "namespaceObject.metadata.labels['tier'] == 'front'",
    "namespaceObject.metadata.creationTimestamp < timestamp('2025-01-01T00:00:00Z')",
    "object.metadata.?labels.?app.orValue('') == 'web'",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
  ])("%s", (expression) => {
    expect(evaluate(expression, values, admission(base, { params: true }))).toBe(true);
  });

  it("has params and an authorizer only where they are given", () => {
    expect(issuesOf("params.max > 1", admission(base))).toContain("undeclared reference to 'params'");
    expect(issuesOf("authorizer.path('/').check('get').allowed()", admission(base, { authorizer: false }))).toContain(
      "undeclared reference to 'authorizer'",
    );
  });

  it("knows the variables that a policy composes", () => {
    const options = admission(base, { variables: new Map([["limit", { json: "limit", type: int }]]) });
    expect(evaluate("variables.limit + 1", { variables: { limit: 2 } }, options)).toBe(3n);
    expect(issuesOf("variables.other", options)).toContain("undefined field 'other'");
  });

  it("makes patches", () => {
    const expression = `[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("k8s.io/my~label"), value: "x"}]`;
    expect(evaluate(expression, values, admission(base, { patches: true }))).toEqual([
      { op: "add", path: "/metadata/labels/k8s.io~1my~0label", value: "x" },
    ]);
    expect(issuesOf(`JSONPatch{nope: 1}`, admission(base, { patches: true }))).toContain("undefined field 'nope'");
  });
});

describe("objects that policies make", () => {
  const patches = admission(base, { patches: true });

  it.each([
    ["Object{}", {}],
    ["Object{spec: Object.spec{replicas: 1 + 2}}", { spec: { replicas: 3n } }],
    ["Object{a: [Object.a{b: 'x'}], c: {'d': 'e'}, ?f: optional.none()}", { a: [{ b: "x" }], c: { d: "e" } }],
    ["Object{a: [1, 2]}.a.sum()", 3n],
    ["Object{spec: Object.spec{n: 3}} == Object{spec: Object.spec{n: 1 + 2}}", true],
    ["Object{a: 1} == Object{a: 2} || has(Object{a: 1}.b)", false],
  ])("%s", (expression, want) => {
    expect(evaluate(expression, {}, patches)).toEqual(want);
  });

  it("are available only to expressions that construct patches", () => {
    expect(issuesOf("Object{}", admission(base))).toContain("undeclared reference to 'Object'");
    expect(issuesOf("Objects{}", patches)).toContain("undeclared reference to 'Objects'");
  });

  it("has no `variables` where nothing is composed", () => {
    expect(issuesOf("variables.a == 1", admission(base))).toContain("undeclared reference to 'variables'");
  });
});

describe("what is not there", () => {
  it.each([
    ["object.metadata.name", "error: no such key: metadata"],
    ["has(object.metadata)", false],
    ["object.?metadata.?name.orValue('none')", "none"],
  ])("%s of null", (expression, want) => {
    expect(evaluate(expression, { object: null }, admission(base))).toBe(want);
  });
});

describe("selectors of devices", () => {
  const device = deviceValue({
    driver: "gpu.example.com",
    attributes: {
      model: { string: "a100" },
      cores: { int: 8 },
      virtual: { bool: false },
      "example.com/firmware": { version: "1.2.3" },
    },
    capacity: { memory: { value: "64Gi" } },
  });
  const values = { device: device instanceof CelError ? null : device };

  it.each([
    "device.driver == 'gpu.example.com' && !device.allowMultipleAllocations",
    "device.attributes['gpu.example.com'].model == 'a100'",
    "device.attributes['example.com'].firmware.isGreaterThan(semver('1.0.0'))",
    "device.capacity['gpu.example.com'].memory.compareTo(quantity('32Gi')) > 0",
    "!('x' in device.attributes) && !has(device.attributes['x'].y) && device.attributes['x'].size() == 0",
    "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.cores > 4 && gpu.model.startsWith('a'))",
  ])("%s", (expression) => {
    expect(evaluate(expression, values, deviceSelectors(base))).toBe(true);
  });

  it("fail on what a device does not have", () => {
    expect(evaluate("device.attributes['gpu.example.com'].speed > 1", values, deviceSelectors(base))).toBe(
      "error: no such key: speed",
    );
  });

  it.each([
    [{ version: "x" }, "attribute a: parse semantic version: No Major.Minor.Patch elements found"],
    [{}, "attribute a: unsupported attribute value"],
  ])("cannot read %j", (attribute, why) => {
    expect(deviceValue({ driver: "d", attributes: { a: attribute } })).toEqual(new CelError(why));
  });
});
