/** The whole chain on virtual time: load ──► simulated nodes ──► metrics API ──► autoscaler ──► Deployment ──► Pods. */
import { afterEach, describe, expect, it } from "vitest";
import { type autoscaling, type KubeObject, kinds } from "#api";
import { namespaced } from "#client";
import type { LocalExtension } from "../../apiserver/aggregation/index.ts";
import { type Autoscaled, autoscaler, CUSTOM, labels, startAutoscaled, web } from "./testing/autoscaled.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(load: () => number, custom?: LocalExtension): Promise<Autoscaled> {
  const cluster = await startAutoscaled(load, custom);
  open.push(() => cluster.close());
  return cluster;
}

interface Farm extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly replicas: number; readonly selector: string };
}

const condition = ({ status }: autoscaling.HorizontalPodAutoscaler, type: string) =>
  status?.conditions?.find((each) => each.type === type);

describe("a Deployment with an autoscaler", () => {
  it("grows with its load and shrinks after the window: 1, 4, 1", async () => {
    let load = 80;
    const cluster = await start(() => load);
    const { client, live, replicas, hpa, events } = cluster;
    await client.of(kinds.Deployment).create(web);
    await client.of(kinds.HorizontalPodAutoscaler).create(autoscaler());
    await live(90_000);
    expect(await replicas()).toBe(1);
    expect((await hpa()).status).toMatchObject({
      currentReplicas: 1,
      desiredReplicas: 1,
      currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40 } } }],
    });
    // 400m shared by Pods that shall use 100m each.
    load = 400;
    await live(90_000);
    expect(await replicas()).toBe(4);
    expect(await events()).toContain(
      "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
    );
    load = 50;
    await live(240_000);
    // A higher recommendation of the last 5 minutes holds it.
    expect(await replicas()).toBe(4);
    expect(condition(await hpa(), "AbleToScale")).toMatchObject({ status: "True", reason: "ScaleDownStabilized" });
    await live(120_000);
    expect(await replicas()).toBe(1);
    expect(await events()).toContain("SuccessfulRescale: New size: 1; reason: All metrics below target");
    expect(condition(await hpa(), "ScalingActive")).toMatchObject({ status: "True", reason: "ValidMetricFound" });
  });

  it("says what is missing", async () => {
    const { client, live, hpa, events, writes } = await start(() => 100);
    await client.of(kinds.HorizontalPodAutoscaler).create(autoscaler());
    await live(20_000);
    const gone = 'deployments.apps "web" not found';
    expect(condition(await hpa(), "AbleToScale")).toMatchObject({
      status: "False",
      reason: "FailedGetScale",
      message: `the HPA controller was unable to get the target's current scale: ${gone}`,
    });
    expect(await events()).toContain(`FailedGetScale: ${gone}`);
    const bare = { containers: [{ name: "main", image: "img" }] };
    const template = { metadata: { labels }, spec: bare };
    await client.of(kinds.Deployment).create({ ...web, spec: { selector: { matchLabels: labels }, template } });
    await live(120_000);
    expect(condition(await hpa(), "ScalingActive")).toMatchObject({
      status: "False",
      reason: "FailedGetResourceMetric",
      message: expect.stringContaining("missing request for cpu in container main of Pod web-"),
    });
    const before = writes();
    await live(60_000);
    // Events repeat as a series; the status does not change.
    expect(writes() - before).toBeLessThanOrEqual(20);
  });

  it("two autoscalers of the same Pods scale nothing", async () => {
    const { client, live, replicas, hpa } = await start(() => 1000);
    await client.of(kinds.Deployment).create(web);
    const hpas = client.of(kinds.HorizontalPodAutoscaler);
    await hpas.create(autoscaler());
    await hpas.create({ ...autoscaler(), metadata: { name: "other", namespace: "default" } });
    await live(120_000);
    expect(await replicas()).toBeLessThanOrEqual(4);
    expect(condition(await hpa(), "ScalingActive")).toMatchObject({
      status: "False",
      reason: "AmbiguousSelector",
      message: "pods by selector app=web are controlled by multiple HPAs: [{other default} {web default}]",
    });
  });

  it("scales custom resources by external and object metrics", async () => {
    const asked: string[] = [];
    let queue = 30;
    const custom: LocalExtension = ({ path }) => {
      asked.push(path);
      const answer = (value: object) => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(value)),
      });
      const list = (name: string, value: string) => ({
        items: [{ describedObject: { name }, value, timestamp: "2030-01-01T00:00:00Z" }],
      });
      if (path.includes("/queue")) return answer(list("", String(queue)));
      if (path.includes("/hits")) return answer(list("front", "250"));
      return answer({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "x", resources: [] });
    };
    const { client, live, hpa } = await start(() => 10, custom);
    for (const group of ["custom.metrics.k8s.io", "external.metrics.k8s.io"])
      await client.of(kinds.APIService).create({
        metadata: { name: `v1beta1.${group}` },
        spec: { group, version: "v1beta1", service: CUSTOM, groupPriorityMinimum: 100, versionPriority: 100 },
      });
    await client.of(kinds.CustomResourceDefinition).create({
      metadata: { name: "farms.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "farms", singular: "farm", kind: "Farm" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            subresources: {
              status: {},
              scale: {
                specReplicasPath: ".spec.replicas",
                statusReplicasPath: ".status.replicas",
                labelSelectorPath: ".status.selector",
              },
            },
          },
        ],
      },
    });
    await live(10_000);
    const farms = client.of<Farm>(namespaced("example.com/v1", "Farm", "farms")).in("default");
    const made = await farms.create({
      apiVersion: "example.com/v1",
      kind: "Farm",
      metadata: { name: "web", namespace: "default" },
      spec: { replicas: 2 },
    });
    await farms.updateStatus({ ...made, status: { replicas: 2, selector: "app=farm" } });
    const scaleTargetRef = { apiVersion: "example.com/v1", kind: "Farm", name: "web" };
    await client.of(kinds.HorizontalPodAutoscaler).create(
      autoscaler({
        scaleTargetRef,
        metrics: [
          {
            type: "External",
            external: {
              metric: { name: "queue", selector: { matchLabels: { lane: "fast" } } },
              target: { type: "AverageValue", averageValue: "5" },
            },
          },
          {
            type: "Object",
            object: {
              describedObject: { apiVersion: "v1", kind: "Service", name: "front" },
              metric: { name: "hits" },
              target: { type: "AverageValue", averageValue: "100" },
            },
          },
        ],
      }),
    );
    await live(5_000);
    // 30 by 5 each is more than 250 by 100 each; but no more than 4 at a time from 2.
    expect((await farms.get("web")).spec).toMatchObject({ replicas: 4 });
    expect(condition(await hpa(), "ScalingLimited")).toMatchObject({ status: "True", reason: "ScaleUpLimit" });
    expect(asked).toContain("/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=lane%3Dfast");
    expect(asked).toContain("/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/services/front/hits");
    await live(15_000);
    expect((await farms.get("web")).spec).toMatchObject({ replicas: 6 });
    queue = 1000;
    await live(30_000);
    expect((await farms.get("web")).spec).toMatchObject({ replicas: 8 });
    expect(condition(await hpa(), "ScalingLimited")).toMatchObject({ status: "True", reason: "TooManyReplicas" });
  });
});
