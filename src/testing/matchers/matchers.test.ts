import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type admissionregistration, type apps, type core, kinds } from "#api";
import {
  beGone,
  beReady,
  eventually,
  matchers,
  satisfy,
  serveWebhook,
  startCluster,
  type TestCluster,
} from "../index.ts";
import type { ClusterMatchers } from "./matchers.ts";

declare module "vitest" {
  interface Matchers<T> extends ClusterMatchers<T> {}
}

expect.extend(matchers);

function deployment(name: string, replicas: number, spec: Partial<core.PodSpec> = {}): apps.Deployment {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
  return { metadata: { name, namespace: "default" }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

describe("matchers", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  beforeEach(() => cluster.reset());
  afterAll(() => cluster.stop());

  it("move time until something is true", async () => {
    await cluster.client.of(kinds.Deployment).create(deployment("web", 2));
    const web = cluster.object(kinds.Deployment, "web");
    await expect(web).toEventually(beReady());
    await expect(cluster.object(kinds.Node, "node-1")).toEventually(beReady());
    await expect(web).toEventually(satisfy<apps.Deployment>("to have two", ({ status }) => status?.replicas === 2));
    await cluster.client.of(kinds.Deployment).in("default").delete("web");
    await expect(web).toEventually(beGone());
  });

  it("explain what did not happen: status, reasons and the flow", async () => {
    await cluster.client.of(kinds.Deployment).create(deployment("web", 1, { nodeSelector: { disk: "ssd" } }));
    const failure = await eventually(cluster.object(kinds.Deployment, "web"), beReady(), { within: "1m" }).catch(
      (error: Error) => error.message,
    );
    expect(failure).toMatch(/^expected Deployment default\/web to be ready: that did not happen: not within 60000 ms/);
    expect(failure).toContain('"unavailableReplicas":1');
    expect(failure).toContain("didn't match Pod's node affinity/selector");
    expect(failure).toMatch(/flow:\n.*deployment-controller/s);
  });

  it("say how they are used", async () => {
    await expect(expect("web").toEventually(beReady())).rejects.toThrow("cluster.object(kind, name)");
  });
});

describe("a function as a webhook", () => {
  it("changes and refuses objects", async () => {
    await using cluster = await startCluster({ nodes: 0 });
    const seen: unknown[] = [];
    await using webhook = await serveWebhook(({ name }) => {
      seen.push(name);
      return name === "bad" ? { allowed: false, status: { message: "no" } } : { allowed: true };
    });
    const configuration: admissionregistration.ValidatingWebhookConfiguration = {
      metadata: { name: "check" },
      webhooks: [
        {
          name: "check.example.com",
          clientConfig: webhook.clientConfig,
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    };
    await cluster.client.of(kinds.ValidatingWebhookConfiguration).create(configuration);
    await cluster.settle();
    const configMaps = cluster.client.of(kinds.ConfigMap).in("default");
    await configMaps.create({ metadata: { name: "good" } });
    await expect(configMaps.create({ metadata: { name: "bad" } })).rejects.toThrow(
      'admission webhook "check.example.com" denied the request: no',
    );
    expect(seen).toEqual(expect.arrayContaining(["good", "bad"]));
  });
});
