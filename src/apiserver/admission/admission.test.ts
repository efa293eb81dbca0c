import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { configMap, namespace, testServer } from "../testing/index.ts";
import { admitting } from "./testing/index.ts";

/** A server with the chain of a real one, and a namespace `a`. */
async function started() {
  const server = await testServer({ admission: admitting() });
  const post = (path: string, body: object) => server.request("POST", path, { body: body as JsonObject });
  await post("/api/v1/namespaces", namespace("a"));
  return { server, post };
}

const pod = (spec: object = {}) => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "x" }], ...spec },
});

describe("admission", () => {
  it("refuses what has no namespace, and what is in one that goes away", async () => {
    const { server, post } = await started();
    expect(await post("/api/v1/namespaces/none/configmaps", configMap("x"))).toMatchObject({
      status: 404,
      json: { message: 'namespaces "none" not found' },
    });
    await server.request("DELETE", "/api/v1/namespaces/a");
    expect(await post("/api/v1/namespaces/a/configmaps", configMap("x"))).toMatchObject({
      status: 403,
      json: { details: { causes: [{ reason: "NamespaceTerminating" }] } },
    });
    await server.close();
  });

  it("keeps the namespaces that every cluster needs", async () => {
    const { server, post } = await started();
    await post("/api/v1/namespaces", namespace("kube-system"));
    expect(await server.request("DELETE", "/api/v1/namespaces/kube-system")).toMatchObject({
      status: 403,
      json: { message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted' },
    });
    await server.close();
  });

  it("gives a Pod its account, token, priority and tolerations", async () => {
    const { server, post } = await started();
    await post("/api/v1/namespaces/a/serviceaccounts", {
      metadata: { name: "bot" },
      imagePullSecrets: [{ name: "pull" }],
    });
    const { status, json } = await post("/api/v1/namespaces/a/pods", pod({ serviceAccountName: "bot" }));
    expect(status).toBe(201);
    const { spec } = json as unknown as { spec: JsonObject };
    expect(spec).toMatchObject({
      serviceAccountName: "bot",
      serviceAccount: "bot",
      imagePullSecrets: [{ name: "pull" }],
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      tolerations: [
        { key: "node.kubernetes.io/not-ready", effect: "NoExecute", tolerationSeconds: 300 },
        { key: "node.kubernetes.io/unreachable", effect: "NoExecute", tolerationSeconds: 300 },
      ],
      containers: [{ volumeMounts: [{ mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }] }],
      volumes: [{ projected: { sources: [{ serviceAccountToken: { path: "token" } }, {}, {}] } }],
    });
    await server.close();
  });

  const refused: { name: string; spec: object; says: string }[] = [
    {
      name: "an account that is not there",
      spec: { serviceAccountName: "nobody" },
      says: "error looking up service account a/nobody",
    },
    {
      name: "a class that is not there",
      spec: { priorityClassName: "none" },
      says: "no PriorityClass with name none was found",
    },
    {
      name: "a priority of its own",
      spec: { priority: 5 },
      says: "the integer value of priority (5) must not be provided",
    },
  ];
  it.each(refused)("refuses a Pod with $name", async ({ spec, says }) => {
    const { server, post } = await started();
    expect(await post("/api/v1/namespaces/a/pods", pod(spec))).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining(says) },
    });
    await server.close();
  });

  it("leaves a Pod without a token where it wants none, and keeps its own tolerations", async () => {
    const { server, post } = await started();
    const tolerations = [{ operator: "Exists" }];
    const { json } = await post("/api/v1/namespaces/a/pods", pod({ automountServiceAccountToken: false, tolerations }));
    const { spec } = json as unknown as { spec: JsonObject };
    expect(spec).toMatchObject({ tolerations });
    expect(spec).not.toHaveProperty("volumes");
    await server.close();
  });

  it.each([{ spec: {} }, { spec: { containers: null } }])(
    "leaves a Pod without containers to validation: $spec",
    async ({ spec }) => {
      const { server, post } = await started();
      expect(await post("/api/v1/namespaces/a/pods", { metadata: { name: "p" }, spec })).toMatchObject({
        status: 422,
        json: { message: 'Pod "p" is invalid: spec.containers: Required value' },
      });
      await server.close();
    },
  );

  it("keeps a Pod's priority where an update leaves it out", async () => {
    const { server, post } = await started();
    const { json } = await post("/api/v1/namespaces/a/pods", pod({ automountServiceAccountToken: false }));
    const { priority, preemptionPolicy, ...spec } = (json as unknown as { spec: JsonObject }).spec;
    const { name } = (json as unknown as { metadata: { name: string } }).metadata;
    const body = { metadata: { name }, spec };
    expect(await server.request("PUT", `/api/v1/namespaces/a/pods/${name}`, { body })).toMatchObject({
      status: 200,
      json: { spec: { priority, preemptionPolicy } },
    });
    await server.close();
  });

  it("lets one PriorityClass be the default, and uses it", async () => {
    const { server, post } = await started();
    const path = "/apis/scheduling.k8s.io/v1/priorityclasses";
    await post(path, { metadata: { name: "usual" }, value: 7, globalDefault: true });
    expect(await post(path, { metadata: { name: "other" }, value: 8, globalDefault: true })).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining("PriorityClass usual is already marked as default") },
    });
    const { json } = await post("/api/v1/namespaces/a/pods", pod());
    expect(json).toMatchObject({ spec: { priority: 7, priorityClassName: "usual" } });
    await server.close();
  });

  it("protects volumes, claims and classes, and new nodes from pods", async () => {
    const { server, post } = await started();
    const claim = {
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    expect((await post("/api/v1/namespaces/a/persistentvolumeclaims", claim)).json).toMatchObject({
      metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
    });
    const attributes = { metadata: { name: "v" }, driverName: "d.example.com", parameters: { a: "1" } };
    expect((await post("/apis/storage.k8s.io/v1/volumeattributesclasses", attributes)).json).toMatchObject({
      metadata: { finalizers: ["kubernetes.io/vac-protection"] },
    });
    expect((await post("/api/v1/nodes", { metadata: { name: "n" } })).json).toMatchObject({
      spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] },
    });
    await server.close();
  });
});
