import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ALLOW, NO_OPINION } from "../../authz/verdict.ts";
import { DEFINITIONS, definition, widget } from "../../custom-resources/testing/index.ts";
import { configMap, namespace } from "../../testing/index.ts";
import { type DynamicServer, dynamicServer } from "../dynamic/testing/index.ts";
import { bind, CONFIG_MAPS, validate } from "./testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

let server: DynamicServer;
beforeEach(async () => {
  server = await dynamicServer();
});
afterEach(() => server.close());

const post = (name = "a", data: Record<string, string> = {}, query = "") =>
  server.request("POST", MAPS + query, { body: configMap(name, data, { labels: { on: "1" } }) });
const denied = (why: string, name = "a") =>
  `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ${why}`;
const told = async (name?: string, data?: Record<string, string>) => (await post(name, data)).json.message;

describe("expressions", () => {
  it.each<[expression: string, want: boolean]>([
    ["object.metadata.name == 'a' && oldObject == null", true],
    ["object.metadata.labels.on == '2'", false],
    ["has(object.data) && object.data.exists(k, k == 'k')", true],
    [
      "request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
      true,
    ],
    ["request.requestKind.version == 'v1' && !has(request.subResource) && request.namespace == 'default'", true],
    ["request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups && !request.dryRun", true],
    ["request.options.kind == 'CreateOptions'", true],
    ["namespaceObject.metadata.name == 'default' && namespaceObject.metadata.labels.team == 'a'", true],
    ["authorizer.group('').resource('pods').check('get').allowed()", true],
    ["authorizer.requestResource.check('anything').reason() == ''", true],
    ["authorizer.serviceAccount('default', 'x').group('').resource('pods').check('get').allowed()", false],
    ["object.kind == 'ConfigMap' && object.apiVersion == 'v1'", true],
    ["quantity('1Gi').isGreaterThan(quantity('1Mi')) && url('https://x/y').getHost() == 'x'", true],
    ["object.metadata.?annotations.?none.orValue('') == ''", true],
  ])("%s: %s", async (expression, want) => {
    await validate(server, { validations: [{ expression }] });
    const answer = await post("a", { k: "v" });
    expect(answer.json.message ?? "").toBe(want ? "" : denied(`failed expression: ${expression}`));
  });

  it.each<[expression: string, why: string]>([
    ["object.none == 1", "no such key: none"],
    ["int(object.data.k) > 1", "type conversion error from 'string' to 'int'"],
    ["[1, 2][2] == 1", "index out of bounds: 2"],
    ["1 / int(object.data.zero) == 1", "division by zero"],
  ])("%s fails", async (expression, why) => {
    await validate(server, { validations: [{ expression }] });
    expect(await told("a", { k: "v", zero: "0" })).toContain(`expression '${expression}' resulted in error: ${why}`);
  });

  it("that fail are passed over, where the policy says so", async () => {
    await validate(server, { failurePolicy: "Ignore", validations: [{ expression: "object.none == 1" }] });
    expect((await post()).status).toBe(201);
  });

  it("see both states of an update, and the last one of a deletion", async () => {
    await post("a", { k: "1" });
    await validate(server, {
      validations: [
        { expression: "request.operation != 'UPDATE' || object.data.k == oldObject.data.k", message: "k stays" },
        {
          expression: "request.operation != 'DELETE' || (object == null && oldObject.data.k == '2')",
          message: "it stays",
        },
      ],
    });
    const patch = (data: object) =>
      server.request("PATCH", `${MAPS}/a`, {
        body: { data },
        headers: { "content-type": "application/merge-patch+json" },
      });
    expect((await patch({ k: "2" })).json.message).toBe(denied("k stays"));
    expect((await patch({ l: "2" })).status).toBe(200);
    expect((await server.request("DELETE", `${MAPS}/a`)).json.message).toBe(denied("it stays"));
  });
});

describe("a denial", () => {
  it.each([
    { reason: undefined, code: 422, want: "Invalid" },
    { reason: "Forbidden", code: 403, want: "Forbidden" },
    { reason: "RequestEntityTooLarge", code: 413, want: "RequestEntityTooLarge" },
  ])("has the reason that the policy gives: $reason", async ({ reason, code, want }) => {
    await validate(server, { validations: [{ expression: "false", message: "no", ...(reason && { reason }) }] });
    const { status, json } = await post();
    expect(status).toBe(code);
    expect(json).toMatchObject({
      code,
      reason: want,
      message: denied("no"),
      details: {
        name: "a",
        kind: "configmaps",
        causes: [{ message: "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no" }],
      },
    });
  });

  it.each<{ name: string; validation: object; want: string }>([
    {
      name: "of an expression",
      validation: { messageExpression: "'name is ' + object.metadata.name" },
      want: "name is a",
    },
    {
      name: "that fails: the plain one",
      validation: { message: " plain ", messageExpression: "object.none" },
      want: "plain",
    },
    { name: "of nothing but space", validation: { message: "plain", messageExpression: "' '" }, want: "plain" },
    { name: "of two lines", validation: { message: "plain", messageExpression: "'a\\nb'" }, want: "plain" },
    {
      name: "too long",
      validation: { message: "plain", messageExpression: `object.data.long + object.data.long` },
      want: "plain",
    },
    { name: "none at all", validation: {}, want: "failed expression: object.metadata.name != 'a'" },
  ])("has a message: $name", async ({ validation, want }) => {
    const messageExpression =
      "messageExpression" in validation
        ? { messageExpression: `string(${(validation as { messageExpression: string }).messageExpression})` }
        : {};
    await validate(server, {
      validations: [{ expression: " object.metadata.name != 'a' ", ...validation, ...messageExpression }],
    });
    expect(await told("a", { long: "x".repeat(3000) })).toBe(denied(want));
  });

  it("is the first of several, by the names of policies", async () => {
    await validate(server, { validations: [{ expression: "false", message: "second" }] }, {}, "q");
    await validate(server, { validations: [{ expression: "true" }, { expression: "false", message: "first" }] });
    expect(await told()).toBe(denied("first"));
  });
});

describe("actions", () => {
  const spec = { validations: [{ expression: "true" }, { expression: "false", message: "no" }] };
  it("warn", async () => {
    await validate(server, spec, { validationActions: ["Warn"] });
    const { status, headers } = await post();
    expect([status, headers.warning]).toEqual([
      201,
      [`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no"`],
    ]);
  });

  it("note for audit", async () => {
    await validate(server, spec, { validationActions: ["Audit", "Warn"] });
    expect((await post()).status).toBe(201);
    expect(server.annotations()).toEqual({
      "validation.policy.admission.k8s.io/validation_failure":
        '[{"message":"no","policy":"p","binding":"p","expressionIndex":1,"validationActions":["Audit","Warn"]}]',
    });
  });
});

describe("audit annotations", () => {
  const annotations = (...valueExpressions: string[]) => ({
    auditAnnotations: valueExpressions.map((valueExpression, i) => ({ key: `k${i}`, valueExpression })),
  });
  it("are noted, unless they are empty or null", async () => {
    await validate(server, annotations("' ' + object.metadata.name + ' '", "''", "null"));
    await post();
    expect(server.annotations()).toEqual({ "p/k0": "a" });
  });

  it("of several bindings are joined, each once", async () => {
    const paramKind = { apiVersion: "v1", kind: "Namespace" };
    const named = (name: string) => ({ paramRef: { name, parameterNotFoundAction: "Allow" } });
    const expression = "params == null ? 'none' : string(params.metadata.name)";
    await validate(server, { paramKind, ...annotations(expression) }, named("default"));
    const also = { second: named("default"), third: {}, fourth: named("nowhere") };
    for (const [name, ref] of Object.entries(also))
      await bind(server, "validating", { validationActions: ["Deny"], ...ref }, name, "p");
    expect((await post()).status).toBe(201);
    expect(server.annotations()).toEqual({ "p/k0": "default, none" });
  });

  it("that fail refuse the request, or are left out", async () => {
    await validate(server, annotations("string(object.none)"));
    expect(await told()).toBe(denied("expression 'string(object.none)' resulted in error: no such key: none"));
    await server.close();
    server = await dynamicServer();
    await validate(server, { failurePolicy: "Ignore", ...annotations("string(object.none)") });
    expect((await post()).status).toBe(201);
  });
});

describe("which requests a policy is about", () => {
  const no = { validations: [{ expression: "false", message: "no" }] };
  const rule = (more: object) => ({ matchConstraints: { resourceRules: [{ ...CONFIG_MAPS, ...more }] } });
  it.each<{ name: string; policy?: object; binding?: object; refused: boolean }>([
    { name: "its rules", refused: true },
    { name: "other operations", policy: rule({ operations: ["DELETE"] }), refused: false },
    { name: "names", policy: rule({ resourceNames: ["b", "a"] }), refused: true },
    { name: "other names", policy: rule({ resourceNames: ["b"] }), refused: false },
    {
      name: "excluded",
      policy: {
        matchConstraints: {
          resourceRules: [CONFIG_MAPS],
          excludeResourceRules: [{ ...CONFIG_MAPS, resourceNames: ["a"] }],
        },
      },
      refused: false,
    },
    {
      name: "excluded by another name",
      policy: {
        matchConstraints: {
          resourceRules: [CONFIG_MAPS],
          excludeResourceRules: [{ ...CONFIG_MAPS, resourceNames: ["b"] }],
        },
      },
      refused: true,
    },
    {
      name: "another namespace",
      policy: { matchConstraints: { resourceRules: [CONFIG_MAPS], namespaceSelector: { matchLabels: { team: "b" } } } },
      refused: false,
    },
    {
      name: "a binding's namespace",
      binding: { matchResources: { namespaceSelector: { matchLabels: { team: "a" } } } },
      refused: true,
    },
    {
      name: "a binding's other namespace",
      binding: { matchResources: { namespaceSelector: { matchLabels: { team: "b" } } } },
      refused: false,
    },
    {
      name: "a binding's objects",
      binding: { matchResources: { objectSelector: { matchLabels: { on: "2" } } } },
      refused: false,
    },
    {
      name: "a binding's rules",
      binding: { matchResources: { resourceRules: [{ ...CONFIG_MAPS, resources: ["secrets"] }] } },
      refused: false,
    },
    {
      name: "a condition that is met",
      policy: { matchConditions: [{ name: "c", expression: "object.metadata.name == 'a'" }] },
      refused: true,
    },
    {
      name: "one of two that is not",
      policy: {
        matchConditions: [
          { name: "c", expression: "object.none == 1" },
          { name: "d", expression: "false" },
        ],
      },
      refused: false,
    },
  ])("$name", async ({ policy = {}, binding = {}, refused }) => {
    await validate(server, { ...no, ...policy }, binding);
    expect((await post()).status).toBe(refused ? 422 : 201);
  });

  it("a condition that fails refuses, or passes over", async () => {
    const matchConditions = [{ name: "c", expression: "object.none == 1" }];
    await validate(server, { ...no, matchConditions });
    expect(await told()).toBe(denied("expression 'object.none == 1' resulted in error: no such key: none"));
    await server.close();
    server = await dynamicServer();
    await validate(server, { ...no, matchConditions, failurePolicy: "Ignore" });
    expect((await post()).status).toBe(201);
  });

  it("not without a binding, and only while there is one", async () => {
    await validate(server, no);
    expect((await post()).status).toBe(422);
    await server.request("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/p");
    expect((await post()).status).toBe(201);
  });

  it("not about policies, and questions that are never stored; but about webhooks", async () => {
    const everything = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
    await validate(server, { ...no, matchConstraints: { resourceRules: [everything] } });
    const group = "/apis/admissionregistration.k8s.io/v1";
    const configuration = { body: { metadata: { name: "w" }, webhooks: [] } };
    expect((await server.request("POST", `${group}/validatingwebhookconfigurations`, configuration)).status).toBe(422);
    expect((await server.request("DELETE", `${group}/validatingadmissionpolicies/p`)).status).toBe(200);
  });

  it("in the version that its rules name", async () => {
    const rules = {
      apiGroups: ["autoscaling"],
      apiVersions: ["v2"],
      operations: ["*"],
      resources: ["horizontalpodautoscalers"],
    };
    const expression =
      "object.apiVersion == 'autoscaling/v2' && request.kind.version == 'v2' && request.requestKind.version == 'v1' && object.spec.metrics[0].resource.target.averageUtilization == 5";
    await validate(server, {
      matchConstraints: { resourceRules: [rules] },
      validations: [{ expression }, { expression: "false", message: "seen" }],
    });
    const body = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h" },
      spec: {
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" },
        targetCPUUtilizationPercentage: 5,
      },
    };
    const { json } = await server.request("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", {
      body,
    });
    expect(json.message).toContain("denied request: seen");
  });
});

describe("variables", () => {
  it("are worked out when they are needed, and may use those before them", async () => {
    await validate(server, {
      variables: [
        { name: "n", expression: "size(object.data)" },
        { name: "twice", expression: "variables.n * 2" },
        { name: "broken", expression: "object.none" },
      ],
      validations: [
        { expression: "variables.twice < 4", messageExpression: "string(variables.twice) + ' is too much'" },
        { expression: "variables.n < 3 || variables.broken == 1" },
      ],
    });
    expect(await told("a", { a: "1" })).toBeUndefined();
    expect(await told("b", { a: "1", b: "2" })).toBe(denied("4 is too much", "b"));
    expect(await told("c", { a: "1", b: "2", c: "3" })).toBe(denied("6 is too much", "c"));
  });

  it("that fail say which", async () => {
    await validate(server, {
      variables: [{ name: "v", expression: "object.none" }],
      validations: [{ expression: "variables.v == 1" }],
    });
    expect(await told()).toBe(
      denied(
        `expression 'variables.v == 1' resulted in error: composited variable "v" fails to evaluate: no such key: none`,
      ),
    );
  });
});

describe("parameters", () => {
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  const rules = { matchConditions: [{ name: "c", expression: "object.metadata.name == 'a'" }] };
  const spec = {
    paramKind,
    ...rules,
    validations: [
      { expression: "params != null && params.data.max == 'yes'", messageExpression: "'by ' + params.metadata.name" },
    ],
  };
  const ref = (more: object) => ({ paramRef: { parameterNotFoundAction: "Deny", ...more } });
  const given = async () => {
    await server.request("POST", "/api/v1/namespaces", { body: namespace("other") });
    await server.request("POST", MAPS, { body: configMap("own", { max: "no" }, { labels: { params: "1" } }) });
    await server.request("POST", "/api/v1/namespaces/other/configmaps", {
      body: configMap("theirs", { max: "yes" }, { labels: { params: "1" } }),
    });
    await server.request("POST", "/api/v1/namespaces/other/configmaps", {
      body: configMap("more", { max: "no" }, { labels: { params: "1" } }),
    });
  };

  it.each<{ name: string; ref: object; want: string }>([
    { name: "in the object's namespace", ref: { name: "own" }, want: "by own" },
    { name: "in another one", ref: { name: "theirs", namespace: "other" }, want: "" },
    {
      name: "all that are selected",
      ref: { selector: { matchLabels: { params: "1" } }, namespace: "other" },
      want: "by more",
    },
    { name: "all of a namespace", ref: { selector: {} }, want: "by own" },
    {
      name: "that are not there",
      ref: { name: "none" },
      want: "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    },
    { name: "that need not be there", ref: { name: "none", parameterNotFoundAction: "Allow" }, want: "" },
  ])("$name", async ({ ref: more, want }) => {
    await given();
    await validate(server, spec, ref(more));
    expect((await told()) ?? "").toBe(want === "" ? "" : denied(want));
  });

  it("may be left out", async () => {
    await validate(server, { ...spec, validations: [{ expression: "params == null" }] });
    expect((await post()).status).toBe(201);
  });

  it("of several bindings count each for itself", async () => {
    await given();
    await validate(server, spec, ref({ name: "theirs", namespace: "other" }));
    await bind(server, "validating", { validationActions: ["Deny"], ...ref({ name: "own" }) }, "second", "p");
    expect(await told()).toBe(denied("by own").replace("binding 'p'", "binding 'second'"));
  });

  it("may be custom resources, from when they are there", async () => {
    const policy = {
      paramKind: { apiVersion: "example.com/v1", kind: "Widget" },
      validations: [{ expression: "params.spec.ok == true" }],
    };
    await validate(server, policy, ref({ name: "w" }));
    expect(await told()).toBe(
      `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Widget'`,
    );
    await server.request("POST", DEFINITIONS, { body: definition() });
    await server.settle();
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    expect((await server.request("POST", path, { body: widget("w", { ok: true }) })).status).toBe(201);
    expect((await post()).status).toBe(201);
  });

  it.each([
    {
      kind: "Namespace",
      ref: { name: "x", namespace: "y" },
      why: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
    },
  ])("$kind: $why", async ({ kind, ref: more, why }) => {
    await validate(server, { ...spec, paramKind: { apiVersion: "v1", kind } }, ref(more));
    expect(await told()).toBe(denied(`failed to configure binding: ${why}`));
  });

  it("have to be in a namespace that is named, for what is in none", async () => {
    const matchConstraints = {
      resourceRules: [{ ...CONFIG_MAPS, apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"] }],
    };
    await validate(server, { paramKind, matchConstraints, validations: [{ expression: "true" }] }, ref({ name: "x" }));
    const body = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "c" }, value: 1 };
    expect(
      (await server.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", { body })).json.message,
    ).toContain("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  });
});

describe("budgets", () => {
  const data = { list: "x,".repeat(2_000) };
  const squared = "object.data.list.split(',').map(x, object.data.list.split(',').map(y, x + y).size()).size() > 0";
  it("end what costs too much", async () => {
    await validate(server, { validations: [{ expression: squared }] });
    expect(await told("a", data)).toBe(
      denied(`expression '${squared}' resulted in error: operation cancelled: actual cost limit exceeded`),
    );
  });

  it("end what costs too much together", async () => {
    const costly = "object.data.list.split(',').map(x, [x, x, x, x, x, x].map(y, y + x).size()).size() == 0";
    const validations = Array.from({ length: 60 }, () => ({ expression: `${costly} || true` }));
    await validate(server, { validations });
    expect(await told("a", data)).toBe(
      denied("validation failed due to running out of cost budget, no further validation rules will be run"),
    );
  });

  it("of variables count for who uses them", async () => {
    const variables = Array.from({ length: 40 }, (_, i) => ({ name: `v${i}`, expression: `${squared} ? 1 : 1` }));
    const expression = `${variables.map(({ name }) => `variables.${name} == 1`).join(" || ")}`;
    await validate(server, { variables, validations: [{ expression }] });
    expect(await told("a", data)).toBe(
      denied("validation failed due to running out of cost budget, no further validation rules will be run"),
    );
  });

  it("leave it to the failure policy", async () => {
    await validate(server, { failurePolicy: "Ignore", validations: [{ expression: squared }] });
    expect((await post("a", data)).status).toBe(201);
  });
});

it("waits for an authorizer that takes its time, once for each question", async () => {
  await server.close();
  const asked: string[] = [];
  server = await dynamicServer({
    authorize: async ({ verb, resource }) => {
      asked.push(`${verb} ${resource}`);
      return verb === "get" ? ALLOW : NO_OPINION;
    },
  });
  const check = (verb: string) => `authorizer.group('').resource('pods').check('${verb}').allowed()`;
  await validate(server, {
    validations: [{ expression: `${check("get")} && ${check("get")}` }, { expression: `!${check("list")}` }],
  });
  expect((await post()).status).toBe(201);
  expect(asked).toEqual(["get pods", "list pods"]);
});
