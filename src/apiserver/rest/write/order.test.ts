/**
 * What a mutating policy or webhook can reach by each kind of write. Each mutator adds the same three things: a label,
 * a field of the spec and a field of the status. The wanted results follow from the documented order: managedFields
 * before admission, preparation after it.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject, KubeObject, ManagedFields } from "#api";
import { type DynamicServer, dynamicServer } from "../../admission/dynamic/testing/index.ts";
import { mutate, patching, setting } from "../../admission/policies/testing/index.ts";
import {
  type AdmissionWebhook,
  admissionWebhook,
  patching as answer,
  configure,
  type Review,
} from "../../admission/webhooks/testing/index.ts";
import { deployment } from "../../testing/index.ts";
import { WRITE_ORDER } from "./order.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const WEB = `${DEPLOYMENTS}/web`;
const DEPLOYMENT_RULE = {
  apiGroups: ["apps"],
  apiVersions: ["v1"],
  operations: ["*"],
  resources: ["deployments", "deployments/status"],
};

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

it("is the order of Kubernetes", () => {
  expect(WRITE_ORDER.map(({ name }) => name)).toEqual([
    "decode",
    "default",
    "own (managedFields)",
    "mutate (admission)",
    "match (namespace, resourceVersion)",
    "guard (rights)",
    "prepare",
    "allocate",
    "validate (kind)",
    "validate (admission)",
    "store",
  ]);
});

const asPolicy = (mutation: object) => () =>
  mutate(server, { matchConstraints: { resourceRules: [DEPLOYMENT_RULE] }, mutations: [mutation] });

/** Adds what is in `objects` to whatever is there. */
function additions({ metadata, status }: JsonObject): readonly JsonObject[] {
  return [
    ...((metadata as JsonObject).labels === undefined ? [{ op: "add", path: "/metadata/labels", value: {} }] : []),
    { op: "add", path: "/metadata/labels/seen", value: "1" },
    { op: "add", path: "/spec/minReadySeconds", value: 5 },
    ...(status === undefined ? [{ op: "add", path: "/status", value: {} }] : []),
    { op: "add", path: "/status/collisionCount", value: 7 },
  ];
}

const asWebhook = async (behave = (review: Review) => answer(review, ...additions(review.request.object))) => {
  await configure(server, "mutating", "m", hook, { rules: [DEPLOYMENT_RULE] });
  hook.behave(behave);
};

const mutators: Readonly<Record<string, () => Promise<void>>> = {
  "an ApplyConfiguration policy": asPolicy(
    setting(`Object{
      metadata: Object.metadata{labels: {"seen": "1"}},
      spec: Object.spec{minReadySeconds: 5},
      status: Object.status{collisionCount: 7}}`),
  ),
  "a JSONPatch policy": asPolicy(
    patching(`
      (has(object.metadata.labels) ? [] : [JSONPatch{op: "add", path: "/metadata/labels", value: {}}]) +
      (has(object.status) ? [] : [JSONPatch{op: "add", path: "/status", value: {}}]) +
      [JSONPatch{op: "add", path: "/metadata/labels/seen", value: "1"},
       JSONPatch{op: "add", path: "/spec/minReadySeconds", value: 5},
       JSONPatch{op: "add", path: "/status/collisionCount", value: 7}]`),
  ),
  "a webhook": asWebhook,
};

const send = (method: string, path: string, body: object, type = "application/json") =>
  server.request(method, `${path}?fieldManager=client`, { body, headers: { "content-type": type } });
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY = "application/apply-patch+yaml";

const made = (metadata: object = {}) => ({ ...deployment("web"), metadata: { name: "web", ...metadata } });
const labels = { labels: { own: "1" } };
const status = { replicas: 1 };

interface Row {
  readonly name: string;
  /** By `maker`, before the mutator is there. */
  readonly existing?: boolean;
  given(): ReturnType<typeof send>;
  readonly want: Want;
}

interface Want {
  readonly generation: number;
  readonly labels?: object;
  readonly minReadySeconds?: number;
  readonly status: object;
  /** Who owns which of the fields that this test is about. */
  readonly owners: Readonly<Record<string, readonly string[]>>;
}

const REACHES_SPEC = { labels: { own: "1", seen: "1" }, minReadySeconds: 5, status: {} };
const CHANGED: Want = {
  ...REACHES_SPEC,
  generation: 2,
  owners: { "maker Update": ["spec.replicas"], "client Update": ["metadata.labels.own"] },
};
const REACHES_STATUS = { generation: 1, status: { collisionCount: 7, replicas: 1 } };
const REPORTED: Want = {
  ...REACHES_STATUS,
  owners: { "maker Update": ["spec.replicas"], "client Update status": ["status.replicas"] },
};

const rows: readonly Row[] = [
  {
    name: "create",
    given: () => send("POST", DEPLOYMENTS, { ...made(labels), status }),
    want: { ...REACHES_SPEC, generation: 1, owners: { "client Update": ["metadata.labels.own", "spec.replicas"] } },
  },
  {
    name: "an apply that creates",
    given: () => send("PATCH", WEB, { ...made(labels), status }, APPLY),
    want: { ...REACHES_SPEC, generation: 1, owners: { "client Apply": ["metadata.labels.own", "spec.replicas"] } },
  },
  { name: "PUT", existing: true, given: () => send("PUT", WEB, { ...made(labels), status }), want: CHANGED },
  {
    name: "a merge patch",
    existing: true,
    given: () => send("PATCH", WEB, { metadata: labels, status }, MERGE),
    want: CHANGED,
  },
  {
    name: "a strategic merge patch",
    existing: true,
    given: () => send("PATCH", WEB, { metadata: labels, status }, STRATEGIC),
    want: CHANGED,
  },
  {
    name: "a JSON patch",
    existing: true,
    given: () => send("PATCH", WEB, [{ op: "add", path: "/metadata/labels", value: labels.labels }], JSON_PATCH),
    want: CHANGED,
  },
  {
    name: "an apply",
    existing: true,
    given: () => send("PATCH", WEB, { kind: "Deployment", apiVersion: "apps/v1", metadata: labels, status }, APPLY),
    want: {
      ...CHANGED,
      owners: { "maker Update": ["spec.replicas"], "client Apply": ["metadata.labels.own"] },
    },
  },
  {
    name: "a patch that changes nothing",
    existing: true,
    given: () => send("PATCH", WEB, {}, MERGE),
    want: { ...CHANGED, labels: { seen: "1" }, owners: { "maker Update": ["spec.replicas"] } },
  },
  {
    name: "PUT of the status",
    existing: true,
    given: () => send("PUT", `${WEB}/status`, { ...made(labels), status }),
    want: REPORTED,
  },
  {
    name: "a merge patch of the status",
    existing: true,
    given: () => send("PATCH", `${WEB}/status`, { spec: { replicas: 3 }, status }, MERGE),
    want: REPORTED,
  },
  {
    name: "a strategic merge patch of the status",
    existing: true,
    given: () => send("PATCH", `${WEB}/status`, { status }, STRATEGIC),
    want: REPORTED,
  },
  {
    name: "a JSON patch of the status",
    existing: true,
    given: () => send("PATCH", `${WEB}/status`, [{ op: "add", path: "/status", value: status }], JSON_PATCH),
    want: REPORTED,
  },
  {
    name: "an apply of the status",
    existing: true,
    given: () =>
      send("PATCH", `${WEB}/status`, { kind: "Deployment", apiVersion: "apps/v1", metadata: {}, status }, APPLY),
    want: {
      ...REACHES_STATUS,
      owners: { "maker Update": ["spec.replicas"], "client Apply status": ["status.replicas"] },
    },
  },
];

describe.each(Object.keys(mutators))("%s reaches, by", (mutator) => {
  it.each(rows)("$name", async ({ existing, given, want }) => {
    if (existing) await server.request("POST", `${DEPLOYMENTS}?fieldManager=maker`, { body: made() });
    await mutators[mutator]?.();
    const { status: code, text } = await given();
    expect([200, 201], text).toContain(code);
    const stored = (await server.request("GET", WEB)).json as unknown as Deployment;
    expect({
      generation: stored.metadata.generation,
      labels: stored.metadata.labels,
      minReadySeconds: stored.spec.minReadySeconds,
      status: stored.status,
      owners: ownersOf(stored.metadata.managedFields),
    }).toEqual({ labels: undefined, minReadySeconds: undefined, ...want });
  });
});

interface Deployment extends KubeObject {
  readonly spec: { readonly minReadySeconds?: number };
  readonly status: JsonObject;
}

const FIELDS = [
  "metadata.labels.own",
  "metadata.labels.seen",
  "spec.minReadySeconds",
  "spec.replicas",
  "status.collisionCount",
  "status.replicas",
];

function ownersOf(entries: ManagedFields = []): Want["owners"] {
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, subresource].filter((part) => part !== undefined).join(" "),
      FIELDS.filter((path) => {
        const names = path.split(".").map((name) => `f:${name}`);
        return names.reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], fieldsV1) !== undefined;
      }),
    ]),
  );
}

describe("admission", () => {
  it("is shown what the client sent, before it is prepared", async () => {
    await send("POST", DEPLOYMENTS, made());
    await asWebhook((review) => answer(review));
    await send("PUT", WEB, { ...made(), status });
    await send("PUT", `${WEB}/status`, { ...made(), spec: { ...made().spec, replicas: 3 } });
    expect(hook.reviews.map(({ request }) => request.object)).toMatchObject([{ status }, { spec: { replicas: 3 } }]);
    for (const { request } of hook.reviews) {
      expect(request.object.metadata).not.toHaveProperty("uid");
      expect(request.oldObject.metadata).toHaveProperty("uid");
    }
  });

  it("is asked before a resourceVersion is found to be old", async () => {
    await send("POST", DEPLOYMENTS, made());
    await asWebhook((review) => answer(review));
    const { status: code } = await send("PUT", WEB, made({ resourceVersion: "1" }));
    expect([code, hook.reviews.length]).toEqual([409, 1]);
  });

  it("sees an apply that changes nothing, and may change it", async () => {
    const applied = { ...made(labels), status };
    await send("PATCH", WEB, applied, APPLY);
    await asWebhook();
    const { metadata } = await send("PATCH", WEB, applied, APPLY);
    expect(metadata).toMatchObject({ generation: 2, labels: { own: "1", seen: "1" } });
  });

  it("that undoes a change leaves the object as it was stored", async () => {
    await send("POST", DEPLOYMENTS, made());
    const before = await server.request("GET", WEB);
    await asWebhook((review) => answer(review, { op: "replace", path: "/spec/replicas", value: 1 }));
    await server.clock.advance(5_000);
    const { text } = await send("PATCH", WEB, { spec: { replicas: 3 } }, MERGE);
    expect(text).toBe(before.text);
  });

  it.each<{ name: string; path: string; value: JsonObject[] | string; want: RegExp }>([
    {
      name: "moves the object",
      path: "/metadata/namespace",
      value: "other",
      want: /^the namespace of the provided object does not match the namespace sent on the request$/,
    },
    {
      name: "renames the object",
      path: "/metadata/name",
      value: "other",
      want: /metadata.name: Invalid value: "other": field is immutable/,
    },
    {
      name: "names another resourceVersion",
      path: "/metadata/resourceVersion",
      value: "1",
      want: /the object has been modified/,
    },
  ])("that $name on update is refused", async ({ path, value, want }) => {
    await send("POST", DEPLOYMENTS, made());
    await asWebhook((review) => answer(review, { op: "add", path, value }));
    const { json } = await send("PATCH", WEB, { metadata: labels }, MERGE);
    expect(json.message).toMatch(want);
  });

  it.each(["generation", "uid", "creationTimestamp"])("cannot take %s away", async (field) => {
    await send("POST", DEPLOYMENTS, made());
    const before = await server.request("GET", WEB);
    await asWebhook((review) => answer(review, { op: "remove", path: `/metadata/${field}` }));
    const { status: code, metadata } = await send("PATCH", WEB, { metadata: labels }, MERGE);
    expect([code, metadata[field as "uid"]]).toEqual([200, before.metadata[field as "uid"]]);
  });

  it("that breaks managedFields on update is warned of, and they stay", async () => {
    await send("POST", DEPLOYMENTS, made());
    const broken = [{ manager: "m", operation: "Update", apiVersion: "apps/v1", fieldsType: "other", fieldsV1: {} }];
    await asWebhook((review) => answer(review, { op: "add", path: "/metadata/managedFields", value: broken }));
    const { metadata, headers } = await send("PATCH", WEB, { metadata: labels }, MERGE);
    expect(ownersOf(metadata.managedFields)).toEqual({ "client Update": ["metadata.labels.own", "spec.replicas"] });
    expect(String(headers.warning)).toContain(".metadata.managedFields was in an invalid state after admission");
  });

  it("sees owner references once, and what it repeats is removed with a warning", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u" };
    const twice = { ownerReferences: [owner, owner] };
    const sent = await send("POST", DEPLOYMENTS, made(twice));
    expect(String(sent.headers.warning)).toContain("contains duplicate entries; API server dedups");
    const patched = await send("PATCH", WEB, { metadata: twice }, MERGE);
    expect(patched.metadata.ownerReferences).toEqual([owner]);
    expect(String(patched.headers.warning)).toContain("after mutating admission happens");
  });
});

it("a policy cannot change the stored object that a status patch of a Pod shares", async () => {
  const pod = {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "registry.example/app:1" }], tolerations: [{ key: "a" }] },
  };
  const path = "/api/v1/namespaces/default/pods";
  await server.request("POST", path, { body: pod });
  const before = (await server.request("GET", `${path}/p`)).json as JsonObject;
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods/status"] };
  await mutate(server, {
    matchConstraints: { resourceRules: [rule] },
    mutations: [
      setting(`Object{spec: Object.spec{priorityClassName: "x"}, status: Object.status{reason: "set"}}`),
      patching(`[JSONPatch{op: "add", path: "/spec/tolerations/0/operator", value: "Exists"},
        JSONPatch{op: "add", path: "/spec/containers/0/image", value: "other"}]`),
    ],
  });
  const { json } = await send("PATCH", `${path}/p/status`, { status: { message: "sent" } }, STRATEGIC);
  expect(json).toMatchObject({ spec: before.spec as object, status: { message: "sent", reason: "set" } });
  expect((json as JsonObject).spec).toEqual(before.spec);
});
