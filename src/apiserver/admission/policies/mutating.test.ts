import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFINITIONS, definition, widget } from "../../custom-resources/testing/index.ts";
import { configMap, deployment } from "../../testing/index.ts";
import { type DynamicServer, dynamicServer } from "../dynamic/testing/index.ts";
import { admissionWebhook, allowing, patching as answer, configure } from "../webhooks/testing/index.ts";
import { CONFIG_MAPS, mutate, patching, setting, validate } from "./testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const ABOUT_DEPLOYMENTS = {
  matchConstraints: { resourceRules: [{ ...CONFIG_MAPS, apiGroups: ["apps"], resources: ["deployments"] }] },
};

let server: DynamicServer;
beforeEach(async () => {
  server = await dynamicServer();
});
afterEach(() => server.close());

const post = (name = "a", metadata: object = {}) =>
  server.request("POST", MAPS, { body: configMap(name, { k: "v" }, { ...metadata }) });
const label = (name: string) => setting(`Object{metadata: Object.metadata{labels: {"${name}": "1"}}}`);

describe("an apply configuration", () => {
  it("sets what it names, keeps the rest, and nobody owns what it adds", async () => {
    await mutate(server, { mutations: [label("added")] });
    const { metadata } = await post("a", { labels: { own: "1" } });
    expect(metadata.labels).toEqual({ added: "1", own: "1" });
    expect(JSON.stringify(metadata.managedFields)).not.toContain("f:added");
  });

  it("merges lists by their keys, and the result is defaulted", async () => {
    const expression = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
      Object.spec.template.spec.containers{name: "main", imagePullPolicy: "Never"},
      Object.spec.template.spec.containers{name: "side", image: object.metadata.name + ":1"}]}}}}`;
    await mutate(server, { ...ABOUT_DEPLOYMENTS, mutations: [setting(expression)] });
    const { json } = await server.request("POST", DEPLOYMENTS, { body: deployment("d") });
    expect(json).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              { name: "main", image: "registry.example/app:1", imagePullPolicy: "Never" },
              { name: "side", image: "d:1", imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" },
            ],
          },
        },
      },
    });
  });

  it.each<{ name: string; expression: string; why: string }>([
    {
      name: "a field that there is not",
      expression: "Object{spec: Object.spec{nope: 1}}",
      why: "error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema",
    },
    {
      name: "a value of another type",
      expression: "Object{spec: Object.spec{replicas: 'x'}}",
      why: "error applying patch: failed to convert patch object to typed object: .spec.replicas: expected numeric (int or float), got string",
    },
    {
      name: "a type of another place",
      expression: "Object{spec: Object.status{replicas: 1}}",
      why: `type mismatch: unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type`,
    },
    {
      name: "what is only set as a whole",
      expression: "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}",
      why: "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector",
    },
    {
      name: "what cannot be evaluated",
      expression: "Object{spec: object.none}",
      why: "expression 'Object{spec: object.none}' resulted in error: no such key: none",
    },
  ])("with $name is refused", async ({ expression, why }) => {
    await mutate(server, { ...ABOUT_DEPLOYMENTS, mutations: [setting(expression)] });
    const { status, json } = await server.request("POST", DEPLOYMENTS, { body: deployment("d") });
    const message = `policy 'p' with binding 'p' denied request: ${why}`;
    expect(status).toBe(403);
    expect(json).toMatchObject({
      code: 403,
      reason: "Invalid",
      message,
      details: { name: "d", group: "apps", kind: "deployments", causes: [{ message }] },
    });
  });
});

describe("a JSON patch", () => {
  const patch = (operations: string) => ({ mutations: [patching(operations)] });
  it.each<{ name: string; operations: string; want: object }>([
    {
      name: "adds",
      operations: `[JSONPatch{op: "add", path: "/data/x", value: object.metadata.name}]`,
      want: { k: "v", x: "a" },
    },
    { name: "replaces", operations: `[JSONPatch{op: "replace", path: "/data/k", value: "w"}]`, want: { k: "w" } },
    { name: "moves", operations: `[JSONPatch{op: "move", from: "/data/k", path: "/data/l"}]`, want: { l: "v" } },
    {
      name: "removes",
      operations: `[JSONPatch{op: "remove", path: "/data/k"}, JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("l"), value: "w"}]`,
      want: { l: "w" },
    },
    { name: "adds maps", operations: `[JSONPatch{op: "add", path: "/data", value: {"a": "b"}}]`, want: { a: "b" } },
    {
      name: "does nothing after a test that fails",
      operations: `[JSONPatch{op: "test", path: "/data/k", value: "w"}, JSONPatch{op: "remove", path: "/data"}]`,
      want: { k: "v" },
    },
    {
      name: "goes on after a test that holds",
      operations: `[JSONPatch{op: "test", path: "/data/k", value: "v"}, JSONPatch{op: "add", path: "/data/k", value: "w"}]`,
      want: { k: "w" },
    },
    {
      name: "may depend",
      operations: `object.metadata.name == "b" ? [JSONPatch{op: "remove", path: "/data"}] : []`,
      want: { k: "v" },
    },
  ])("$name", async ({ operations, want }) => {
    await mutate(server, patch(operations));
    expect((await post()).json.data).toEqual(want);
  });

  it("adds objects", async () => {
    const operations = `[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "x", image: "y", ports: [Object.spec.template.spec.containers.ports{containerPort: 80}]}}]`;
    await mutate(server, { ...ABOUT_DEPLOYMENTS, ...patch(operations) });
    const { json } = await server.request("POST", DEPLOYMENTS, { body: deployment("d") });
    expect(json).toMatchObject({
      spec: {
        template: { spec: { containers: [{}, { name: "x", ports: [{ containerPort: 80, protocol: "TCP" }] }] } },
      },
    });
  });

  it.each<{ name: string; operations: string; code: number; why: string }>([
    {
      name: "that does not apply",
      operations: `[JSONPatch{op: "replace", path: "/data/none", value: "x"}]`,
      code: 403,
      why: "policy 'p' with binding 'p' denied request: JSON Patch: replace operation does not apply: doc is missing key: /data/none: missing value",
    },
    {
      name: "of a field that there is not",
      operations: `[JSONPatch{op: "add", path: "/nope", value: "x"}]`,
      code: 500,
      why: 'Internal error occurred: strict decoding error: unknown field "nope"',
    },
    {
      name: "of a type of another place",
      operations: `[JSONPatch{op: "add", path: "/data", value: Object.data{x: Object.other{}}}]`,
      code: 403,
      why: `policy 'p' with binding 'p' denied request: type mismatch: unexpected type name "Object.other", expected "Object.data.x", which matches field name path from root Object type`,
    },
  ])("$name is refused", async ({ operations, code, why }) => {
    await mutate(server, patch(operations));
    expect((await post()).json).toMatchObject({ code, message: why });
  });
});

describe("mutations", () => {
  it("see each other's results, and what validates sees the last one", async () => {
    await mutate(server, {
      mutations: [
        label("one"),
        setting(`Object{metadata: Object.metadata{labels: {"two": object.metadata.labels.one}}}`),
      ],
    });
    await mutate(
      server,
      { mutations: [setting(`Object{metadata: Object.metadata{labels: {"three": object.metadata.labels.two}}}`)] },
      {},
      "q",
    );
    await validate(server, { validations: [{ expression: "!has(object.metadata.labels.three)", message: "seen" }] });
    expect((await post()).json.message).toContain("denied request: seen");
  });

  it.each<{ name: string; spec: object; labels: object | undefined }>([
    {
      name: "not met",
      spec: { matchConditions: [{ name: "c", expression: "object.metadata.name != 'a'" }] },
      labels: undefined,
    },
    {
      name: "met",
      spec: { matchConditions: [{ name: "c", expression: "object.metadata.name == 'a'" }] },
      labels: { x: "1" },
    },
    {
      name: "that fail, to be passed over",
      spec: { failurePolicy: "Ignore", matchConditions: [{ name: "c", expression: "object.none == 1" }] },
      labels: undefined,
    },
  ])("have conditions: $name", async ({ spec, labels }) => {
    await mutate(server, { mutations: [label("x")], ...spec });
    expect((await post()).metadata.labels).toEqual(labels);
  });

  it("with conditions that fail are refused", async () => {
    await mutate(server, { mutations: [label("x")], matchConditions: [{ name: "c", expression: "object.none == 1" }] });
    expect((await post()).json).toMatchObject({
      code: 403,
      reason: "Invalid",
      message:
        "policy 'p' with binding 'p' denied request: expression 'object.none == 1' resulted in error: no such key: none",
    });
  });

  it("that fail are passed over, where the policy says so", async () => {
    await mutate(server, { failurePolicy: "Ignore", mutations: [setting("Object{nope: 1}"), label("x")] });
    expect((await post()).metadata.labels).toEqual({ x: "1" });
  });

  it("use variables, parameters, the namespace and rights", async () => {
    await server.request("POST", MAPS, { body: configMap("params", { value: "p" }) });
    const expression = `Object{metadata: Object.metadata{labels: {
      "v": variables.v, "p": string(params.data.value), "n": namespaceObject.metadata.labels.team,
      "a": string(authorizer.requestResource.check("get").allowed())}}}`;
    await mutate(
      server,
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        variables: [{ name: "v", expression: "object.metadata.name + '1'" }],
        mutations: [setting(expression)],
      },
      { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
    );
    expect((await post()).metadata.labels).toEqual({ v: "a1", p: "p", n: "a", a: "true" });
  });

  it("say what is wrong with their parameters", async () => {
    await mutate(
      server,
      { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, mutations: [label("x")] },
      { paramRef: { name: "none", parameterNotFoundAction: "Deny" } },
    );
    expect((await post()).json).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message:
        "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    });
  });

  it("change custom resources", async () => {
    await server.request("POST", DEFINITIONS, {
      body: definition({ versions: [{ name: "v1", storage: true }, { name: "v2" }] }),
    });
    await server.settle();
    const rules = {
      resourceRules: [{ ...CONFIG_MAPS, apiGroups: ["example.com"], apiVersions: ["v2"], resources: ["widgets"] }],
    };
    await mutate(server, {
      matchConstraints: rules,
      mutations: [patching(`[JSONPatch{op: "add", path: "/spec/seen", value: object.apiVersion}]`)],
    });
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const { json } = await server.request("POST", path, { body: widget("w", { a: 1 }) });
    expect(json).toMatchObject({ apiVersion: "example.com/v1", spec: { a: 1, seen: "example.com/v2" } });
  });

  it("leave what is deleted alone", async () => {
    await post();
    await mutate(server, { mutations: [setting("Object{nope: 1}")] });
    expect((await server.request("DELETE", `${MAPS}/a`)).status).toBe(200);
  });
});

describe("a second look", () => {
  it.each([
    { policy: "Never", want: { hook: "1" } },
    { policy: "IfNeeded", want: { hook: "1", saw: "1" } },
  ])("after a webhook has changed the object, if wanted: $policy", async ({ policy, want }) => {
    const hook = await admissionWebhook();
    hook.behave((review) =>
      hook.reviews.length === 1
        ? answer(review, { op: "add", path: "/metadata/labels", value: { hook: "1" } })
        : allowing(review),
    );
    await configure(server, "mutating", "m", hook);
    const expression = `has(object.metadata.labels) ? Object{metadata: Object.metadata{labels: {"saw": "1"}}} : Object{}`;
    await mutate(server, { reinvocationPolicy: policy, mutations: [setting(expression)] });
    expect((await post()).metadata.labels).toEqual(want);
    await hook.close();
  });
});
