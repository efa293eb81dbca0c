import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { DEFINITIONS, definition, widget } from "../../custom-resources/testing/index.ts";
import { configMap } from "../../testing/index.ts";
import { type DynamicServer, dynamicServer } from "../dynamic/testing/index.ts";
import {
  type AdmissionWebhook,
  admissionWebhook,
  allowing,
  answering,
  configure,
  encoded,
  patching,
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

const post = (name = "a", body: object = configMap(name, { k: "v" })) => server.request("POST", MAPS, { body });
const label = (name: string, value = "1") => ({ op: "add", path: `/metadata/labels/${name}`, value });
const labels = { op: "add", path: "/metadata/labels", value: {} };

/** Adds its label, whatever there is. */
function labelling(name: (review: Review) => string) {
  return (review: Review) => {
    const has = ((review.request.object.metadata as JsonObject).labels ?? undefined) !== undefined;
    return patching(review, ...(has ? [] : [labels]), label(name(review)));
  };
}

describe("a patch", () => {
  it("changes the object, which is defaulted again, and nobody owns what it adds", async () => {
    await configure(server, "mutating", "m", hook, {
      rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] }],
    });
    hook.behave((review) =>
      patching(
        review,
        { op: "remove", path: "/spec/strategy" },
        { op: "add", path: "/spec/template/spec/containers/-", value: { name: "b", image: "x" } },
      ),
    );
    const spec = {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "x" }] } },
    };
    const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec };
    const { status, json, metadata } = await server.request("POST", "/apis/apps/v1/namespaces/default/deployments", {
      body,
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      spec: {
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } },
        template: { spec: { containers: [{ name: "a" }, { name: "b", imagePullPolicy: "Always" }] } },
      },
    });
    expect(JSON.stringify(metadata.managedFields)).not.toContain('{\\"name\\":\\"b\\"}');
  });

  it("applies to updates and patches, and is seen in their answers", async () => {
    await post();
    await configure(server, "mutating", "m", hook);
    hook.behave(labelling(() => "seen"));
    const patched = await server.request("PATCH", `${MAPS}/a`, {
      body: { data: { k: "w" } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect(patched.json).toMatchObject({ data: { k: "w" }, metadata: { labels: { seen: "1" } } });
    expect(hook.reviews[0]?.request).toMatchObject({
      operation: "UPDATE",
      oldObject: { data: { k: "v" } },
      options: { kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1" },
    });
  });

  it.each<{ name: string; patch: unknown; want: string }>([
    {
      name: "that does not apply",
      patch: [{ op: "remove", path: "/data/none" }],
      want: "Internal error occurred: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
    },
    {
      name: "that replaces what is not there",
      patch: [{ op: "replace", path: "/data/none", value: "x" }],
      want: "Internal error occurred: replace operation does not apply: doc is missing key: /data/none: missing value",
    },
    {
      name: "that makes something else of it",
      patch: [{ op: "replace", path: "/data", value: "text" }],
      want: "Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
    },
    {
      name: "that makes another kind of it",
      patch: [{ op: "replace", path: "/kind", value: "Secret" }],
      want: "Internal error occurred: v1, Kind=Secret cannot be handled as /v1, Kind=ConfigMap",
    },
    {
      name: "that makes it invalid",
      patch: [{ op: "add", path: "/data/..", value: "x" }],
      want: `ConfigMap "a" is invalid: data[..]: Invalid value: "..": must not be '..'`,
    },
    {
      name: "that moves it elsewhere",
      patch: [{ op: "replace", path: "/metadata/namespace", value: "other" }],
      want: "the namespace of the provided object does not match the namespace sent on the request",
    },
    {
      name: "that takes its name away",
      patch: [{ op: "remove", path: "/metadata" }],
      want: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    },
    {
      name: "that is no patch",
      patch: "{}",
      want: 'Internal error occurred: failed calling webhook "m.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    },
    {
      name: "that is nothing",
      patch: "<",
      want: "Internal error occurred: failed calling webhook \"m.example.com\": received undecodable patch in webhook response: invalid character '<' looking for beginning of value",
    },
  ])("$name is refused", async ({ patch, want }) => {
    await configure(server, "mutating", "m", hook);
    hook.behave((review) => allowing(review, { patchType: "JSONPatch", patch: encoded(patch) }));
    expect((await post()).json.message).toBe(want);
    expect((await server.request("GET", `${MAPS}/a`)).status).toBe(404);
  });

  it("cannot change what is deleted", async () => {
    await post();
    await configure(server, "mutating", "m", hook);
    hook.behave((review) => patching(review, label("x")));
    expect((await server.request("DELETE", `${MAPS}/a`)).json.message).toBe(
      'Internal error occurred: admission webhook "m.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  it.each([
    {
      name: "without a type",
      response: { patch: encoded([]) },
      why: "webhook returned response.patch but not response.patchType",
    },
    {
      name: "that is only a type",
      response: { patchType: "JSONPatch" },
      why: "webhook returned response.patchType but not response.patch",
    },
    {
      name: "of no type",
      response: { patch: encoded([]), patchType: "" },
      why: 'webhook returned invalid response.patchType of ""',
    },
  ])("$name makes the answer invalid", async ({ response, why }) => {
    await configure(server, "mutating", "m", hook);
    hook.behave((review) => allowing(review, response));
    expect((await post()).json.message).toBe(
      `Internal error occurred: failed calling webhook "m.example.com": received invalid webhook response: ${why}`,
    );
  });

  it("does not lose managedFields", async () => {
    await configure(server, "mutating", "m", hook);
    hook.behave((review) =>
      patching(review, { op: "replace", path: "/metadata/managedFields/0/operation", value: "Dream" }),
    );
    const { metadata, headers } = await post();
    expect(metadata.managedFields?.[0]?.operation).toBe("Update");
    expect(headers.warning).toEqual([
      expect.stringContaining(".metadata.managedFields was in an invalid state after admission"),
    ]);
  });
});

describe("several webhooks", () => {
  it("see each other's changes, in the order of their names, and the last state is validated", async () => {
    await configure(server, "mutating", "b", hook);
    await configure(server, "mutating", "a", hook, { name: "one.example.com" }, { name: "two.example.com" });
    await configure(server, "validating", "v", hook);
    let calls = 0;
    hook.behave((review) => (++calls > 3 ? allowing(review) : labelling(() => `n${calls}`)(review)));
    expect((await post()).metadata.labels).toEqual({ n1: "1", n2: "1", n3: "1" });
    const seen = hook.reviews.map(({ request }) => Object.keys((request.object.metadata as JsonObject).labels ?? {}));
    expect(seen).toEqual([[], ["n1"], ["n1", "n2"], ["n1", "n2", "n3"]]);
  });

  it.each<{ first: string; second: string; calls: string[] }>([
    { first: "Never", second: "Never", calls: ["a", "b"] },
    { first: "IfNeeded", second: "Never", calls: ["a", "b", "a"] },
    { first: "Never", second: "IfNeeded", calls: ["a", "b"] },
    { first: "IfNeeded", second: "IfNeeded", calls: ["a", "b", "a"] },
  ])("are asked again if they want to: $first, $second", async ({ first, second, calls }) => {
    const other = await admissionWebhook();
    const order: string[] = [];
    const named = (name: string) => (review: Review) => {
      order.push(name);
      const given = (review.request.object.metadata as JsonObject).labels as JsonObject | undefined;
      return given?.[name] === undefined ? labelling(() => name)(review) : allowing(review);
    };
    hook.behave(named("a"));
    other.behave(named("b"));
    await configure(server, "mutating", "a", hook, { reinvocationPolicy: first });
    await configure(server, "mutating", "b", other, { reinvocationPolicy: second });
    await post();
    await other.close();
    expect(order).toEqual(calls);
  });

  it("make the server's own plugins look again", async () => {
    await server.close();
    server = await dynamicServer({ plugins: ["DefaultTolerationSeconds", "Priority", "LimitRanger"] });
    const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
    await configure(server, "mutating", "m", hook, { rules: [pods] });
    hook.behave((review) =>
      patching(
        review,
        { op: "remove", path: "/spec/tolerations" },
        { op: "add", path: "/metadata/labels", value: { x: "y" } },
      ),
    );
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "x" }] },
    };
    const { json } = await server.request("POST", "/api/v1/namespaces/default/pods", { body });
    expect(json).toMatchObject({ metadata: { labels: { x: "y" } }, spec: { priority: 0, tolerations: [{}, {}] } });
    expect(hook.reviews).toHaveLength(1);
  });
});

describe("notes for audit", () => {
  it("say who changed what", async () => {
    await configure(server, "mutating", "m", hook);
    hook.behave((review) => ({
      ...patching(review, labels, label("x")),
      response: {
        ...(patching(review, labels, label("x")).response as JsonObject),
        auditAnnotations: { why: "because" },
        warnings: ["mind the gap"],
      },
    }));
    const { headers } = await post();
    expect(headers.warning).toEqual(['299 - "mind the gap"']);
    expect(server.annotations()).toEqual({
      "m.example.com/why": "because",
      "mutation.webhook.admission.k8s.io/round_0_index_0":
        '{"configuration":"m","webhook":"m.example.com","mutated":true}',
    });
    expect(JSON.parse(server.bodyAnnotations()["patch.webhook.admission.k8s.io/round_0_index_0"] ?? "")).toEqual({
      configuration: "m",
      webhook: "m.example.com",
      patch: [labels, label("x")],
      patchType: "JSONPatch",
    });
  });

  it("say that it was not changed, or not asked", async () => {
    await configure(server, "mutating", "m", hook, { failurePolicy: "Ignore" });
    hook.behave(() => "<");
    expect((await post()).status).toBe(201);
    expect(server.annotations()).toEqual({
      "mutation.webhook.admission.k8s.io/round_0_index_0":
        '{"configuration":"m","webhook":"m.example.com","mutated":false}',
      "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0": "m.example.com",
    });
  });
});

describe("other versions of the object", () => {
  const v1 = { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", metadata: { name: "h" } };
  const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" }, maxReplicas: 3 };
  const scalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const rule = {
    apiGroups: ["autoscaling"],
    apiVersions: ["v2"],
    operations: ["*"],
    resources: ["horizontalpodautoscalers"],
  };

  it("are what a webhook is sent, and its patch comes back", async () => {
    await configure(server, "mutating", "m", hook, { rules: [rule] });
    hook.behave((review) =>
      patching(review, {
        op: "replace",
        path: "/spec/metrics",
        value: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 42 } } },
        ],
      }),
    );
    const { json } = await server.request("POST", scalers("v1"), { body: { ...v1, spec } });
    expect(json).toMatchObject({ apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 42 } });
    expect(hook.reviews[0]?.request).toMatchObject({
      kind: { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" },
      resource: { group: "autoscaling", version: "v2", resource: "horizontalpodautoscalers" },
      requestKind: { group: "autoscaling", version: "v1" },
      object: { apiVersion: "autoscaling/v2" },
    });
  });

  it("are not sent where only the named version counts", async () => {
    await configure(server, "mutating", "m", hook, { rules: [rule], matchPolicy: "Exact" });
    expect((await server.request("POST", scalers("v1"), { body: { ...v1, spec } })).status).toBe(201);
    expect(hook.reviews).toEqual([]);
  });

  it("of custom resources come by their conversion", async () => {
    const versions = [{ name: "v1", storage: true }, { name: "v2" }];
    await server.request("POST", DEFINITIONS, { body: definition({ versions }) });
    await server.settle();
    const widgets = { apiGroups: ["example.com"], apiVersions: ["v2"], operations: ["*"], resources: ["widgets"] };
    await configure(server, "mutating", "m", hook, { rules: [widgets] });
    hook.behave((review) => patching(review, { op: "add", path: "/spec/size", value: 7 }));
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const { json } = await server.request("POST", path, { body: widget("w", { a: 1 }) });
    expect(json).toMatchObject({ apiVersion: "example.com/v1", spec: { a: 1, size: 7 } });
    expect(hook.reviews[0]?.request.object).toMatchObject({ apiVersion: "example.com/v2" });
  });
});

describe("subresources", () => {
  it("are sent as what is spoken there", async () => {
    const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["deployments/scale"] };
    const spec = {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "x" }] } },
    };
    const path = "/apis/apps/v1/namespaces/default/deployments";
    await server.request("POST", path, {
      body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec },
    });
    await configure(server, "mutating", "m", hook, { rules: [rule] });
    hook.behave((review) => patching(review, { op: "replace", path: "/spec/replicas", value: 5 }));
    const { json } = await server.request("PATCH", `${path}/d/scale`, {
      body: { spec: { replicas: 3 } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect(json).toMatchObject({ kind: "Scale", spec: { replicas: 5 } });
    expect(hook.reviews[0]?.request).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      subResource: "scale",
      object: { kind: "Scale", spec: { replicas: 3 } },
    });
  });
});

it("asks in the older version, whose answers are not checked", async () => {
  await configure(server, "mutating", "m", hook, { admissionReviewVersions: ["v0", "v1beta1", "v1"] });
  hook.behave((review) => ({
    response: { ...(patching(review, labels).response as JsonObject), uid: "other", patchType: null },
  }));
  expect((await post()).metadata.labels).toBeUndefined();
  expect(hook.reviews[0]?.apiVersion).toBe("admission.k8s.io/v1beta1");
  hook.behave((review) => answering({ ...review, apiVersion: "admission.k8s.io/v1" }, { allowed: true }));
  expect((await post("b")).json.message).toContain(
    "converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion",
  );
});
