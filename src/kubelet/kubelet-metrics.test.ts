/** What the kubelet counts while Pods come, run, fail and go. */
import { afterEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { MetricsRegistry, silentLogger, VirtualClock } from "#base";
import { sizeLabel } from "./images/index.ts";
import { nodeStartup } from "./node/index.ts";
import { type TestKubelet, testKubelet } from "./testing/index.ts";
import { type VolumeUsage, VolumeUsages, volumeStatsMetrics } from "./volumes/index.ts";

const WEB: core.Pod = {
  metadata: { name: "web", namespace: "default" },
  spec: {
    nodeName: "node-1",
    terminationGracePeriodSeconds: 1,
    initContainers: [{ name: "first", image: "img:1" }],
    containers: [{ name: "main", image: "img:1" }],
  },
};

let kubelet: TestKubelet | undefined;
afterEach(async () => {
  await kubelet?.close();
  kubelet = undefined;
});

/** Values by series, without zeros and buckets. */
function values(metrics: MetricsRegistry): Record<string, number> {
  const lines = metrics.text().split("\n");
  const samples = lines.flatMap((line) => {
    const at = line.lastIndexOf(" ");
    const value = Number(line.slice(at + 1));
    return line.startsWith("#") || line.includes("_bucket{") || value === 0 ? [] : [[line.slice(0, at), value]];
  });
  return Object.fromEntries(samples);
}

describe("a Pod", () => {
  it("is measured from its first sight to its end", async () => {
    kubelet = await testKubelet({
      script: { container: ({ name }) => (name === "first" ? { exit: { afterMs: 2000, code: 0 } } : {}) },
    });
    await kubelet.create(WEB);
    await kubelet.clock.advance(5000);
    expect(values(kubelet.metrics())).toMatchObject({
      kubelet_started_pods_total: 1,
      'kubelet_started_containers_total{container_type="init_container"}': 1,
      'kubelet_started_containers_total{container_type="container"}': 1,
      kubelet_containers_per_pod_count_sum: 1,
      kubelet_pod_start_duration_seconds_count: 1,
      kubelet_pod_start_total_duration_seconds_count: 1,
      kubelet_pod_start_sli_duration_seconds_count: 1,
      'kubelet_pod_worker_duration_seconds_count{operation_type="create"}': 1,
      kubelet_pod_worker_start_duration_seconds_count: 1,
      'kubelet_desired_pods{static=""}': 1,
      'kubelet_active_pods{static=""}': 1,
      'kubelet_working_pods{lifecycle="sync",config="desired",static=""}': 1,
      'kubelet_runtime_operations_total{operation_type="run_podsandbox"}': 1,
      'kubelet_runtime_operations_total{operation_type="create_container"}': 2,
      'kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""}': 1,
      'kubelet_image_pull_duration_seconds_count{image_size_in_bytes="0-10MB"}': 1,
    });
    const found = values(kubelet.metrics());
    expect(found.kubelet_pod_status_sync_duration_seconds_count).toBeGreaterThan(1);
    expect(found.kubelet_pleg_relist_duration_seconds_count).toBeGreaterThan(1);
    // Two seconds of an init container are in the whole, and not in the SLI.
    const total = found.kubelet_pod_start_total_duration_seconds_sum ?? 0;
    expect(total - (found.kubelet_pod_start_sli_duration_seconds_sum ?? 0)).toBeGreaterThanOrEqual(2);

    await kubelet.client
      .of<core.Pod>({ apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true })
      .in("default")
      .delete("web");
    await kubelet.clock.advance(5000);
    const after = values(kubelet.metrics());
    expect(after['kubelet_pod_worker_duration_seconds_count{operation_type="kill"}']).toBe(1);
    expect(after).not.toHaveProperty('kubelet_desired_pods{static=""}');
  });

  it("that cannot start is counted with its reason", async () => {
    kubelet = await testKubelet({ script: { pull: () => ({ error: "no such image" }) } });
    await kubelet.create({
      ...WEB,
      spec: { ...WEB.spec, initContainers: [], containers: [{ name: "main", image: "no:1" }] },
    });
    await kubelet.clock.advance(1000);
    expect(values(kubelet.metrics())).toMatchObject({
      'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"}': 1,
      'kubelet_runtime_operations_errors_total{operation_type="pull_image"}': 1,
    });
  });

  it("that is rejected is counted with the reason", async () => {
    kubelet = await testKubelet({ admit: () => ({ reason: "OutOfcpu", message: "no" }) });
    await kubelet.create(WEB);
    expect(values(kubelet.metrics())).toMatchObject({ 'kubelet_admission_rejections_total{reason="OutOfcpu"}': 1 });
  });

  it("of nobody is counted when it is found", async () => {
    kubelet = await testKubelet();
    await kubelet.create(WEB);
    await kubelet.clock.advance(5000);
    const { client, server } = kubelet;
    await client
      .of<core.Pod>({ apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true })
      .in("default")
      .delete("web", { gracePeriodSeconds: 0 });
    await kubelet.restart();
    await kubelet.clock.advance(5000);
    await server.settle();
    expect(values(kubelet.metrics())).toMatchObject({ kubelet_orphaned_runtime_pods_total: 1 });
  });
});

it.each([
  [0, "N/A"],
  [1, "0-10MB"],
  [10 * 1024 ** 2, "0-10MB"],
  [10 * 1024 ** 2 + 1, "10MB-100MB"],
  [2 * 1024 ** 3, "1GB-5GB"],
  [101 * 1024 ** 3, "GT100GB"],
])("an image of %i bytes has the label %s", (bytes, label) => {
  expect(sizeLabel(bytes)).toBe(label);
});

it("the start of a node is measured in parts", async () => {
  const [metrics, clock] = [new MetricsRegistry(), new VirtualClock()];
  const startMs = clock.now();
  const startup = nodeStartup(metrics, clock, { machineMs: startMs - 60_000, kubeletMs: startMs - 2000 });
  startup.registering();
  await clock.advance(1000);
  startup.registered();
  await clock.advance(3000);
  startup.ready();
  await clock.advance(9000);
  startup.ready();
  expect(values(metrics)).toEqual({
    kubelet_node_startup_pre_kubelet_duration_seconds: 58,
    kubelet_node_startup_pre_registration_duration_seconds: 2,
    kubelet_node_startup_registration_duration_seconds: 1,
    kubelet_node_startup_post_registration_duration_seconds: 3,
    kubelet_node_startup_duration_seconds: 64,
  });
});

describe("the usage of volumes", () => {
  const pod: core.Pod = {
    metadata: { name: "web", namespace: "default", uid: "u" },
    spec: { containers: [], volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] },
  };
  const usage: VolumeUsage = {
    name: "data",
    claim: { name: "data", namespace: "default" },
    atMs: 0,
    capacityBytes: 100,
    usedBytes: 40,
    abnormal: true,
    message: "it is bad",
    isLocal: false,
  };

  it("is measured at the first question, then every minute, and shown by claim", async () => {
    const [metrics, clock, stop] = [new MetricsRegistry(), new VirtualClock(), new AbortController()];
    let measured = 0;
    const warnings: string[] = [];
    const usages = new VolumeUsages({
      volumes: {
        usage: async () => {
          measured++;
          return [{ ...usage, usedBytes: 40 + measured }];
        },
      },
      pods: () => [pod],
      clock,
      log: silentLogger,
      onAbnormal: (_, { name, message }) => void warnings.push(`${name}: ${message}`),
      signal: stop.signal,
    });
    volumeStatsMetrics(metrics, { pods: () => [pod, pod], kept: (each) => usages.kept(each) }, true);
    const running = usages.run(stop.signal);
    expect(await usages.of(pod, stop.signal)).toEqual([{ ...usage, usedBytes: 41 }]);
    expect(await usages.of(pod, stop.signal)).toEqual([{ ...usage, usedBytes: 41 }]);
    await clock.advance(60_000);
    const claim = '{namespace="default",persistentvolumeclaim="data"}';
    expect(values(metrics)).toEqual({
      [`kubelet_volume_stats_capacity_bytes${claim}`]: 100,
      [`kubelet_volume_stats_used_bytes${claim}`]: 42,
      [`kubelet_volume_stats_health_status_abnormal${claim}`]: 1,
    });
    expect(warnings).toEqual(["data: it is bad", "data: it is bad"]);
    stop.abort();
    await expect(running).rejects.toThrow();
  });

  it("of a driver that hangs is not waited for", async () => {
    const [clock, stop] = [new VirtualClock(), new AbortController()];
    const hanging = Promise.withResolvers<readonly VolumeUsage[]>();
    const usages = new VolumeUsages({
      volumes: { usage: () => hanging.promise },
      pods: () => [pod],
      clock,
      log: silentLogger,
      signal: stop.signal,
    });
    const asking = usages.of(pod, stop.signal);
    await clock.advance(1000);
    expect(await asking).toEqual([]);
    hanging.resolve([usage]);
    await clock.advance(1);
    expect(await usages.of(pod, stop.signal)).toEqual([usage]);
  });
});
