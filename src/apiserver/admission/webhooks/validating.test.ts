import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { ALLOW, NO_OPINION } from "../../authz/verdict.ts";
import { connectors } from "../../connect/index.ts";
import { configMap, namespace } from "../../testing/index.ts";
import { type DynamicServer, dynamicServer } from "../dynamic/testing/index.ts";
import {
  type AdmissionWebhook,
  admissionWebhook,
  allowing,
  answering,
  CONFIG_MAPS,
  configure,
  type Review,
} from "./testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

let server: DynamicServer;
let hook: AdmissionWebhook;

beforeEach(async () => {
  server = await dynamicServer();
  hook = await admissionWebhook();
});

afterEach(async () => {
  await server.close();
  await hook.close();
});

const post = (name = "a", path = MAPS, metadata: object = {}) =>
  server.request("POST", path, { body: configMap(name, {}, { ...metadata }) });

describe("the question", () => {
  it("tells all about the request", async () => {
    await configure(server, "validating", "v", hook);
    const user = { name: "ann", uid: "7", groups: ["system:masters"], extra: { scope: ["x"] } };
    await server.request("POST", `${MAPS}?fieldManager=me&dryRun=All`, { body: configMap("a", { k: "v" }), user });
    const [review] = hook.reviews;
    expect(review).toMatchObject({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" });
    const { uid, object, ...request } = review?.request ?? { uid: "", object: {} };
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(object).toMatchObject({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "a", namespace: "default" },
      data: { k: "v" },
    });
    expect(request).toEqual({
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      requestKind: { group: "", version: "v1", kind: "ConfigMap" },
      requestResource: { group: "", version: "v1", resource: "configmaps" },
      name: "a",
      namespace: "default",
      operation: "CREATE",
      userInfo: {
        username: "ann",
        uid: "7",
        groups: ["system:masters", "system:authenticated"],
        extra: { scope: ["x"] },
      },
      oldObject: null,
      dryRun: true,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", dryRun: ["All"], fieldManager: "me" },
    });
  });

  it("is asked about deletions, of one or of many, with their options", async () => {
    await post("a");
    await post("b");
    await configure(server, "validating", "v", hook);
    await server.request("DELETE", `${MAPS}/a`, { body: { propagationPolicy: "Orphan", gracePeriodSeconds: 3 } });
    await server.request("DELETE", MAPS);
    expect(
      hook.reviews.map(({ request }) => [request.operation, request.name, request.object, request.options]),
    ).toEqual([
      [
        "DELETE",
        "a",
        null,
        { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", gracePeriodSeconds: 3, propagationPolicy: "Orphan" },
      ],
      ["DELETE", "a", null, { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" }],
      ["DELETE", "b", null, { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" }],
    ]);
    expect(hook.reviews.map(({ request }) => (request.oldObject.metadata as JsonObject).name)).toEqual(["a", "a", "b"]);
  });

  it("is asked about connections, with what they are to be like", async () => {
    const { resources, context } = server;
    const authorize = () => ALLOW;
    const authenticateToken = async () => undefined;
    const rulesFor = () => ({ resourceRules: [], nonResourceRules: [], incomplete: false });
    await server.close();
    server = await dynamicServer({
      connectors: connectors({ context, resources, authorize, authenticateToken, rulesFor } as never),
    });
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CONNECT"], resources: ["pods/exec"] };
    await configure(server, "validating", "v", hook, { rules: [rule] });
    hook.behave((review) => answering(review, { allowed: false }));
    const path = "/api/v1/namespaces/default/pods/p/exec?container=c&stdin=true&command=sh&command=-c";
    expect((await server.request("POST", path)).json.message).toBe(
      'admission webhook "v.example.com" denied the request without explanation',
    );
    expect(hook.reviews[0]?.request).toMatchObject({
      kind: { group: "", version: "v1", kind: "PodExecOptions" },
      subResource: "exec",
      name: "p",
      operation: "CONNECT",
      object: { kind: "PodExecOptions", apiVersion: "v1", container: "c", stdin: true, command: ["sh", "-c"] },
      options: null,
    });
  });
});

describe("a denial", () => {
  const by = 'admission webhook "v.example.com" denied the request';
  it.each<{ result: JsonObject | undefined; want: JsonObject }>([
    { result: undefined, want: { code: 400, message: `${by} without explanation` } },
    { result: { message: "no" }, want: { code: 400, message: `${by}: no` } },
    { result: { reason: "Forbidden" }, want: { code: 400, reason: "Forbidden", message: `${by}: Forbidden` } },
    { result: { code: 403, message: "no" }, want: { code: 403, message: `${by}: no` } },
    { result: { code: 200, status: "Success" }, want: { code: 400, status: "Failure" } },
    {
      result: { code: 422, reason: "Invalid", message: "no", details: { causes: [{ field: "a", message: "b" }] } },
      want: { code: 422, reason: "Invalid", details: { causes: [{ field: "a", message: "b" }] } },
    },
    { result: { code: 418, reason: "Teapot", message: "short and stout" }, want: { code: 418, reason: "Teapot" } },
  ])("is passed on: $result", async ({ result, want }) => {
    await configure(server, "validating", "v", hook);
    hook.behave((review) => answering(review, { allowed: false, ...(result && { status: result }) }));
    const { status, json } = await post();
    expect(json).toMatchObject({ kind: "Status", ...want });
    expect(status).toBe(want.code);
    expect((await server.request("GET", `${MAPS}/a`)).status).toBe(404);
  });

  it("of several is the first, and all are asked at once", async () => {
    const other = await admissionWebhook();
    await configure(server, "validating", "v", hook);
    await configure(server, "validating", "w", other);
    const { promise, resolve } = Promise.withResolvers<void>();
    other.behave((review) => {
      resolve();
      return answering(review, { allowed: false, status: { message: "second" } });
    });
    hook.behave((review) => answering(review, { allowed: false, status: { message: "first" } }));
    const answer = post();
    await promise;
    expect((await answer).json.message).toBe(`${by}: first`);
    await other.close();
  });
});

describe("an answer that does not count", () => {
  const called = 'failed calling webhook "v.example.com": failed to call webhook: ';
  const invalid = 'failed calling webhook "v.example.com": received invalid webhook response: ';
  const answers: {
    name: string;
    answer: (review: Review) => JsonObject | string | { status: number; text: string };
    why: string;
  }[] = [
    {
      name: "garbage",
      answer: () => "<html>",
      why: `${called}couldn't get version/kind; json parse error: invalid character '<' looking for beginning of value`,
    },
    { name: "nothing in it", answer: () => "{}", why: `${invalid}webhook response was absent` },
    {
      name: "without a kind",
      answer: ({ request }) => ({ response: { uid: request.uid, allowed: true } }),
      why: `${invalid}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
    },
    {
      name: "another kind",
      answer: () => ({ kind: "Pod", apiVersion: "v1" }),
      why: `${called}no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"`,
    },
    {
      name: "to another question",
      answer: (review) => answering(review, { uid: "x", allowed: true }),
      why: `${invalid}expected response.uid="UID", got "x"`,
    },
    {
      name: "of wrong types",
      answer: (review) => answering(review, { allowed: "yes" }),
      why: `${called}json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool`,
    },
    {
      name: "a patch",
      answer: (review) => allowing(review, { patch: "W10=" }),
      why: `${invalid}validating webhook may not return response.patch`,
    },
    {
      name: "a type of patch",
      answer: (review) => allowing(review, { patchType: "JSONPatch" }),
      why: `${invalid}validating webhook may not return response.patchType`,
    },
    {
      name: "an error",
      answer: () => ({ status: 500, text: "boom" }),
      why: `${called}an error on the server ("boom") has prevented the request from succeeding`,
    },
    {
      name: "a wrong path",
      answer: () => ({ status: 404, text: "" }),
      why: `${called}the server could not find the requested resource`,
    },
  ];

  it.each(answers)("$name refuses the request, where the webhook has to be asked", async ({ answer, why }) => {
    await configure(server, "validating", "v", hook);
    hook.behave(answer);
    const { json } = await post();
    const message = `Internal error occurred: ${why.replace("UID", hook.reviews[0]?.request.uid ?? "")}`;
    expect(json).toMatchObject({ code: 500, reason: "InternalError", message });
  });

  it.each(answers)("$name is passed over, where it need not be", async ({ answer }) => {
    await configure(server, "validating", "v", hook, { failurePolicy: "Ignore" });
    hook.behave(answer);
    expect((await post()).status).toBe(201);
    expect(server.annotations()).toEqual({
      "failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "v.example.com",
    });
  });
});

describe("a webhook out of reach", () => {
  const failed = 'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post ';

  it("has its time and no more, and nobody else waits", async () => {
    await configure(server, "validating", "v", hook, {
      timeoutSeconds: 2,
      rules: [{ ...CONFIG_MAPS, operations: ["CREATE"] }],
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    hook.behave(() => {
      resolve();
      return undefined;
    });
    const answer = post();
    await promise;
    expect((await server.request("GET", "/api/v1/namespaces/default")).status).toBe(200);
    expect((await server.request("POST", "/api/v1/namespaces", { body: namespace("other") })).status).toBe(201);
    await server.clock.advance(2_000);
    expect((await answer).json).toMatchObject({
      code: 500,
      message: `${failed}"${hook.url}?timeout=2s": context deadline exceeded`,
    });
  });

  it("is passed over after its time, where it need not be asked", async () => {
    await configure(server, "validating", "v", hook, { timeoutSeconds: 2, failurePolicy: "Ignore" });
    const { promise, resolve } = Promise.withResolvers<void>();
    hook.behave(() => {
      resolve();
      return undefined;
    });
    const answer = post();
    await promise;
    await server.clock.advance(2_000);
    expect((await answer).status).toBe(201);
  });

  it("is not trusted without its authority", async () => {
    await configure(server, "validating", "v", { url: hook.url, caBundle: "" });
    expect((await post()).json.message).toBe(
      `${failed}"${hook.url}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
  });

  it("is not trusted under another name", async () => {
    const stranger = await admissionWebhook(["elsewhere.example.com"]);
    await configure(server, "validating", "v", { ...stranger, url: stranger.url.replace("127.0.0.1", "localhost") });
    expect((await post()).json.message).toContain(
      "tls: failed to verify certificate: x509: certificate is valid for elsewhere.example.com, not localhost",
    );
    await stranger.close();
  });

  it("is told of in words that people know", async () => {
    const { url, caBundle, port } = hook;
    await hook.close();
    await configure(server, "validating", "v", { url, caBundle });
    expect((await post()).json.message).toBe(
      `${failed}"${url}?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });
});

describe("a Service", () => {
  const clientConfig = (port: number) => ({
    clientConfig: { service: { name: "hook", namespace: "default", path: "/v", port }, caBundle: hook.caBundle },
  });
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hook" },
    spec: { ports: [{ port: 443, targetPort: 1 }] },
  };

  it("is found by its endpoints, and shows a certificate of its name", async () => {
    await hook.close();
    hook = await admissionWebhook(["hook.default.svc"]);
    await configure(server, "validating", "v", hook, clientConfig(443));
    await server.request("POST", "/api/v1/namespaces/default/services", { body: service });
    const slice = {
      kind: "EndpointSlice",
      apiVersion: "discovery.k8s.io/v1",
      metadata: { name: "hook-1", namespace: "default", labels: { "kubernetes.io/service-name": "hook" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"] }],
      ports: [{ name: "", port: hook.port, protocol: "TCP" }],
    };
    // Not through the API, which has no endpoints on the loopback device.
    const key = "/registry/discovery.k8s.io/endpointslices/default/hook-1";
    await server.store.create(key, Buffer.from(JSON.stringify(slice)));
    await server.settle();
    expect((await post()).text).toContain('"name":"a"');
    expect(hook.reviews).toHaveLength(1);
  });

  it.each([
    { name: "that is not there", made: false, port: 443, why: 'service "hook" not found' },
    { name: "without the port", made: true, port: 8443, why: 'no service port 8443 found for service "hook"' },
    { name: "without endpoints", made: true, port: 443, why: 'no endpoints available for service "hook"' },
  ])("$name cannot be asked", async ({ made, port, why }) => {
    await configure(server, "validating", "v", hook, clientConfig(port));
    if (made) await server.request("POST", "/api/v1/namespaces/default/services", { body: service });
    expect((await post()).json.message).toContain(
      `failed to call webhook: Post "https://hook.default.svc:${port}/v?timeout=10s": ${why}`,
    );
  });
});

describe("which requests a webhook is about", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "x" }] },
  };
  const requests: Record<string, () => Promise<unknown>> = {
    map: () => post("a", MAPS, { labels: { on: "1" } }),
    pod: () => server.request("POST", "/api/v1/namespaces/default/pods", { body: pod }),
    namespace: () =>
      server.request("POST", "/api/v1/namespaces", { body: namespace("other", { labels: { team: "b" } }) }),
    status: () =>
      server.request("PATCH", "/api/v1/namespaces/default/pods/p/status", {
        body: { status: { phase: "Running" } },
        headers: { "content-type": "application/merge-patch+json" },
      }),
    class: () =>
      server.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        body: { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "c" }, value: 1 },
      }),
  };
  const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
  it.each<{ name: string; given: object; want: string[] }>([
    { name: "everything but subresources", given: { rules: [all] }, want: ["map", "pod", "namespace", "class"] },
    {
      name: "also subresources",
      given: { rules: [{ ...all, resources: ["*/*"] }] },
      want: ["map", "pod", "namespace", "status", "class"],
    },
    { name: "one subresource", given: { rules: [{ ...all, resources: ["pods/status"] }] }, want: ["status"] },
    {
      name: "all of a resource",
      given: { rules: [{ ...all, resources: ["pods", "pods/*"] }] },
      want: ["pod", "status"],
    },
    { name: "a group", given: { rules: [{ ...all, apiGroups: ["scheduling.k8s.io"] }] }, want: ["class"] },
    { name: "a version", given: { rules: [{ ...all, apiVersions: ["v2"] }] }, want: [] },
    {
      name: "an operation",
      given: { rules: [{ ...all, resources: ["*/*"], operations: ["UPDATE"] }] },
      want: ["status"],
    },
    { name: "what is in namespaces", given: { rules: [{ ...all, scope: "Namespaced" }] }, want: ["map", "pod"] },
    { name: "what is not", given: { rules: [{ ...all, scope: "Cluster" }] }, want: ["namespace", "class"] },
    {
      name: "objects by their labels",
      given: { rules: [all], objectSelector: { matchLabels: { on: "1" } } },
      want: ["map"],
    },
    {
      name: "namespaces by their labels, and what is in none",
      given: { rules: [all], namespaceSelector: { matchLabels: { team: "b" } } },
      want: ["namespace", "class"],
    },
    {
      name: "namespaces by their labels",
      given: {
        rules: [all],
        namespaceSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["a"] }] },
      },
      want: ["map", "pod", "class"],
    },
    {
      name: "by conditions",
      given: {
        rules: [all],
        matchConditions: [
          { name: "named", expression: "has(object.metadata.labels)" },
          { name: "resource", expression: "request.resource.resource != 'namespaces'" },
        ],
      },
      want: ["map"],
    },
  ])("$name", async ({ given, want }) => {
    await configure(server, "validating", "v", hook, given);
    const asked: string[] = [];
    for (const [name, request] of Object.entries(requests)) {
      const before = hook.reviews.length;
      await request();
      if (hook.reviews.length > before) asked.push(name);
    }
    expect(asked.sort()).toEqual([...want].sort());
  });

  it("follows what a configuration says now", async () => {
    await configure(server, "validating", "v", hook);
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v";
    await post("a");
    await server.request("PATCH", path, {
      body: [{ op: "replace", path: "/webhooks/0/rules/0/resources/0", value: "secrets" }],
      headers: { "content-type": "application/json-patch+json" },
    });
    await post("b");
    await server.request("DELETE", path);
    await post("c");
    expect(hook.reviews).toHaveLength(1);
  });

  it("is not asked about what decides whom to ask", async () => {
    const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
    await configure(server, "validating", "v", hook, { rules: [rule] });
    hook.behave((review) => answering(review, { allowed: false }));
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v";
    expect((await post()).status).toBe(400);
    expect((await server.request("DELETE", path)).status).toBe(200);
    expect((await post()).status).toBe(201);
  });
});

describe("conditions", () => {
  const condition = (expression: string) => ({ matchConditions: [{ name: "c", expression }] });
  it.each([
    { policy: "Fail", status: 403, calls: 0 },
    { policy: "Ignore", status: 201, calls: 0 },
  ])("that fail are left to the failure policy: $policy", async ({ policy, status, calls }) => {
    await configure(server, "validating", "v", hook, { failurePolicy: policy, ...condition("object.none == 1") });
    const answer = await post();
    expect([answer.status, hook.reviews.length]).toEqual([status, calls]);
    if (status === 403)
      expect(answer.json.message).toBe(
        `configmaps "a" is forbidden: expression 'object.none == 1' resulted in error: no such key: none`,
      );
  });

  it("may ask for rights, also of an authorizer that takes its time", async () => {
    await server.close();
    let asked = 0;
    server = await dynamicServer({
      authorize: async ({ verb, name }) => {
        asked++;
        return verb === "breakglass" && name === "a" ? ALLOW : NO_OPINION;
      },
    });
    const expression =
      "!authorizer.requestResource.check('breakglass').allowed() || !authorizer.requestResource.check('breakglass').allowed()";
    await configure(server, "validating", "v", hook, condition(expression));
    await post("a");
    await post("b");
    expect(hook.reviews.map(({ request }) => request.name)).toEqual(["b"]);
    expect(asked).toBe(2);
  });
});

describe("a dry run", () => {
  it("is not sent to who would do something", async () => {
    await configure(server, "validating", "v", hook);
    // Such a webhook can only have been stored by an older server.
    const key = "/registry/admissionregistration.k8s.io/validatingwebhookconfigurations/v";
    const entry = await server.store.get(key);
    if (entry === undefined) throw new Error("not stored");
    const text = entry.value.toString().replace('"sideEffects":"None"', '"sideEffects":"Some"');
    await server.store.update(key, Buffer.from(text), entry.revision);
    await server.settle();
    const { json } = await server.request("POST", `${MAPS}?dryRun=All`, { body: configMap("a") });
    expect(json).toMatchObject({ code: 400, message: 'admission webhook "v.example.com" does not support dry run' });
    expect([hook.reviews.length, (await post()).status]).toEqual([0, 201]);
  });
});
