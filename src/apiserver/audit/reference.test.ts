/** Events beside those of a real control plane, for the same requests. Skipped where the reference is absent. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { auditedServer } from "./testing.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "shared", "reference", "audit");
const POD = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "aud" },
  spec: { containers: [{ name: "c", image: "registry.example/img:1" }] },
};
const PODS = "/api/v1/namespaces/audit-demo/pods";

describe.skipIf(!existsSync(folder))("audit events of a real control plane", () => {
  it("have the same fields with the same values, but for what differs each time", async () => {
    const want = readFileSync(join(folder, "events.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    const { server, events } = await auditedServer(readFileSync(join(folder, "policy.yaml"), "utf8"), {
      tokens: new Map([
        ["admin", { name: "admin", uid: "admin", groups: ["system:masters"] }],
        ["jane", { name: "jane", uid: "jane-uid", groups: ["devs"] }],
      ]),
    });
    await server.request("POST", "/api/v1/namespaces", {
      body: { kind: "Namespace", apiVersion: "v1", metadata: { name: "audit-demo" } },
    });
    const headers = { authorization: "Bearer admin", "user-agent": "refclient/1.0" };
    const as = (more: Record<string, string> = {}) => ({ user: null, headers: { ...headers, ...more } });
    const merge = { "content-type": "application/merge-patch+json" };
    await server.request("POST", PODS, { ...as(), body: POD });
    await server.request("GET", `${PODS}/aud`, as());
    await server.request("GET", `${PODS}?limit=1`, as());
    await server.request("PATCH", `${PODS}/aud`, { ...as(merge), body: { metadata: { labels: { a: "b" } } } });
    await server.request("PATCH", `${PODS}/aud/status`, { ...as(merge), body: { status: { phase: "Running" } } });
    await server.request("PATCH", `${PODS}/aud?fieldManager=me`, {
      ...as({ "content-type": "application/apply-patch+yaml" }),
      body: "apiVersion: v1\nkind: Pod\nmetadata: {name: aud, labels: {x: y1}}\n",
    });
    const watch = await server.watch(`${PODS}?watch=1&timeoutSeconds=1`, as());
    await server.clock.advance(1_000);
    expect(watch.ended).toBe(true);
    await server.request("GET", `${PODS}/missing`, as());
    await server.request("DELETE", `${PODS}/aud`, as());
    await server.request("GET", PODS, as({ authorization: "Bearer jane" }));
    await server.request("GET", PODS, as({ "impersonate-user": "bob", "impersonate-group": "g1" }));
    await server.request("GET", PODS, as({ authorization: "Bearer wrong" }));
    await server.request("DELETE", `${PODS}/aud?gracePeriodSeconds=0`, as());
    await server.request("DELETE", PODS, as());
    await server.close();

    // Logs come from nodes, which this server has none of.
    const comparable = want.filter(({ requestURI }) => !String(requestURI).endsWith("/log"));
    expect(events.map(outline)).toEqual(comparable.map(outline));
    for (const [i, event] of events.entries()) expect(Object.keys(event)).toEqual(Object.keys(comparable[i] ?? {}));
  });
});

/** Without times, ids and what admission plugins and other settings put into the Pod. */
function outline(event: JsonObject): JsonObject {
  const { auditID: _id, requestReceivedTimestamp: _r, stageTimestamp: _s, annotations: _a, ...rest } = event;
  const { requestObject, responseObject } = rest;
  const decision = (event.annotations as JsonObject | undefined)?.["authorization.k8s.io/decision"] ?? "none";
  return {
    ...rest,
    decision,
    ...(requestObject !== undefined && { requestObject: withoutLabels(requestObject as JsonObject) }),
    ...(responseObject !== undefined && { responseObject: Object.keys(responseObject as JsonObject).sort() }),
  };
}

function withoutLabels(object: JsonObject): JsonObject {
  const { labels: _, ...metadata } = (object.metadata ?? {}) as JsonObject;
  return { ...object, ...(object.metadata !== undefined && { metadata }) };
}
