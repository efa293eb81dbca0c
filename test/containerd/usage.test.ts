/** What real containers use, as `kubectl top` shows it: measured by kubelets, through the resource metrics API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { promtool, remarksOf } from "../metrics/promtool.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;

/** Usage is asked for, and autoscalers look, more often than every 15 s. Kubelets measure anew every 10 s, and for new Pods. */
const QUICK = ["--metric-resolution", "4s", "--horizontal-pod-autoscaler-sync-period", "2s"];

describe.skipIf(why !== "")(`usage on real nodes${why && `: ${why}`}`, { concurrent: true }, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0", ...QUICK);
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const top = (...args: string[]) =>
    machine.kubectl("top", ...args, "--no-headers").catch((error: Error) => error.message);

  // Volumes are measured once a minute: who asks before the file is written, waits for the next time.
  it.sequential("the kubelet shows all figures of a Pod: in its summary, as metrics, with volumes", {
    timeout: 180_000,
  }, async ({ expect }) => {
    const script =
      "head -c 3000000 /dev/zero > /cache/part; mv /cache/part /cache/file; while true; do wget -q -O /dev/null localhost:1; sleep 1; done";
    await machine.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "words" },
      data: { greeting: "hello" },
    });
    await machine.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "figures" },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sh", "-c", script],
            resources: { limits: { cpu: "100m", memory: "64Mi" } },
            volumeMounts: [
              { name: "cache", mountPath: "/cache" },
              { name: "words", mountPath: "/words" },
            ],
            readinessProbe: { exec: { command: ["test", "-s", "/cache/file"] }, periodSeconds: 1 },
          },
        ],
        volumes: [
          { name: "cache", emptyDir: {} },
          { name: "words", configMap: { name: "words" } },
        ],
      },
    });
    await machine.kubectl("wait", "--for=condition=Ready", "pod/figures", "--timeout=90s");
    const raw = (path: string) => machine.kubectl("get", "--raw", `/api/v1/nodes/node-1/proxy${path}`);

    const isOurs = ({ podRef }: PodSummary) => podRef.name === "figures";
    const text = await until(
      () => raw("/stats/summary"),
      (answer) => {
        const found = (JSON.parse(answer) as Summary).pods.find(isOurs);
        const used = found?.volume.find(({ name }) => name === "cache")?.usedBytes ?? 0;
        return found?.cpu.usageNanoCores !== undefined && used >= 3_000_000;
      },
      90_000,
    );
    const { node, pods } = JSON.parse(text) as Summary;
    expect(node).toMatchObject({
      nodeName: "node-1",
      systemContainers: [{ name: "pods", memory: { workingSetBytes: expect.any(Number) } }],
      fs: { capacityBytes: expect.any(Number), inodesUsed: expect.any(Number) },
      runtime: { imageFs: { usedBytes: expect.any(Number) }, containerFs: { usedBytes: expect.any(Number) } },
    });
    const pod = pods.find(isOurs);
    expect(pod).toMatchObject({
      cpu: { usageCoreNanoSeconds: expect.any(Number) },
      memory: { workingSetBytes: expect.any(Number), pageFaults: expect.any(Number) },
      network: { name: "eth0", interfaces: [{ name: "eth0" }] },
      process_stats: { process_count: expect.any(Number) },
      volume: expect.arrayContaining([
        expect.objectContaining({ name: "cache", capacityBytes: expect.any(Number), inodesUsed: 2 }),
        expect.objectContaining({ name: "words" }),
      ]),
    });
    const cache = pod?.volume.find(({ name }) => name === "cache");
    expect(cache?.usedBytes).toBeGreaterThanOrEqual(3_000_000);
    expect(pod?.["ephemeral-storage"].usedBytes).toBeGreaterThanOrEqual(3_000_000);

    const cadvisor = await raw("/metrics/cadvisor");
    const main = cadvisor
      .split("\n")
      .filter((line) => line.includes('container="main"') && line.includes('pod="figures"'));
    const value = (name: string, more = "") =>
      Number(main.find((line) => line.startsWith(`${name}{`) && line.includes(more))?.split(" ")[1]);
    expect(value("container_cpu_usage_seconds_total", 'cpu="total"')).toBeGreaterThan(0);
    expect(value("container_memory_working_set_bytes")).toBeGreaterThan(0);
    expect(value("container_spec_memory_limit_bytes")).toBe(64 * 1024 ** 2);
    expect(value("container_spec_cpu_quota")).toBe(10_000);
    expect(value("container_cpu_cfs_periods_total")).toBeGreaterThan(0);
    expect(value("container_memory_failures_total", 'failure_type="pgfault",scope="container"')).toBeGreaterThan(0);
    expect(value("container_processes")).toBeGreaterThan(0);
    expect(value("container_file_descriptors")).toBeGreaterThan(0);
    expect(cadvisor).toMatch(/^container_network_receive_bytes_total\{.*pod="figures",interface="eth0"\} \d+ \d+$/m);
    expect(cadvisor).toMatch(/^machine_cpu_cores\{.*\} \d+$/m);

    const own = await raw("/metrics");
    for (const line of [
      /^kubelet_running_pods [1-9]/m,
      /^kubelet_runtime_operations_total\{operation_type="create_container"\} [1-9]/m,
      /^kubelet_pleg_relist_duration_seconds_count [1-9]/m,
      /^kubelet_started_containers_total\{container_type="container"\} [1-9]/m,
      /^kubelet_pod_start_sli_duration_seconds_count [1-9]/m,
      /^kubelet_node_startup_duration_seconds [1-9]/m,
      /^kubelet_cgroup_version [12]$/m,
      /^kubelet_certificate_manager_client_ttl_seconds [1-9]/m,
      /^rest_client_requests_total\{code="200",method="GET",host="[^"]+"\} [1-9]/m,
      /^storage_operation_duration_seconds_count\{volume_plugin="kubernetes.io\/empty-dir",operation_name="volume_mount",status="success",migrated="false"\} [1-9]/m,
      /^kubernetes_build_info\{.*git_version="v1\.36\.\d+\+k8ts.*"/m,
      /^process_cpu_seconds_total [\d.]+$/m,
    ])
      expect(own).toMatch(line);
    expect(await raw("/metrics/probes")).toMatch(/^prober_probe_total\{.*result="successful".*pod="figures"/m);
    expect(await raw("/metrics/slis")).toContain('kubernetes_healthcheck{name="syncloop",type="healthz"} 1\n');
    expect(await raw("/metrics/resource")).toMatch(/^pod_cpu_usage_seconds_total\{.*pod="figures"\} [\d.]+ \d+$/m);
    const pages = [cadvisor, own, await raw("/metrics/resource"), await raw("/metrics/probes")];
    if (promtool !== undefined) for (const page of pages) expect(remarksOf(page)).toEqual([]);
    // Prometheus refuses a page that shows a series twice.
    for (const page of pages) {
      const series = page.split("\n").flatMap((line) => /^\w+(\{.*\})?/.exec(line)?.[0] ?? []);
      expect(series.filter((each, at) => series.indexOf(each) !== at)).toEqual([]);
    }
  });

  it("kubectl autoscale scales 1 → 4 under load, and back to 1 after the window", { timeout: 400_000 }, async ({
    expect,
  }) => {
    const labels = { app: "web" };
    const command = ["sh", "-c", 'while true; do [ "$LOAD" = on ] || sleep 1; done'];
    const resources = { requests: { cpu: "50m" }, limits: { cpu: "100m" } };
    const env = [{ name: "LOAD", value: "on" }];
    const container = { name: "main", image: "localhost/busybox:1", command, env, resources };
    await machine.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 0, containers: [container] },
        },
      },
    });
    await machine.kubectl("autoscale", "deployment", "web", "--cpu=50%", "--min=1", "--max=4");
    const behavior = { scaleDown: { stabilizationWindowSeconds: 5 } };
    await machine.kubectl("patch", "hpa", "web", "--type=merge", "-p", JSON.stringify({ spec: { behavior } }));
    const replicas = () => machine.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}");
    expect(await replicas()).toBe("1");
    const is = (count: string) => (text: string) => text === count;
    await until(replicas, is("4"), 150_000);
    await machine.kubectl("set", "env", "deployment/web", "LOAD=off");
    await until(replicas, is("1"), 180_000);
    expect(await machine.kubectl("describe", "hpa", "web")).toContain("New size: 1; reason: All metrics below target");
    await machine.kubectl("delete", "hpa,deployment", "web");
  });

  it("a busy Pod is seen within 20 s, and its node", { timeout: 180_000 }, async ({ expect }) => {
    const busy = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "busy" },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sh", "-c", "while true; do :; done"],
            resources: { limits: { cpu: "200m", memory: "64Mi" } },
          },
        ],
      },
    };
    await machine.apply(busy);
    await machine.kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=90s");
    // The first figures of a container are 2 s old or older; a kubelet shows a measurement for 10 s.
    const seen = await until(
      () => top("pods"),
      (text) => /^busy +\d+m +\d+Mi/m.test(text),
      20_000,
    );
    const cpu = Number(/^busy +(\d+)m/m.exec(seen)?.[1]);
    expect(cpu).toBeGreaterThan(50);
    expect(cpu).toBeLessThan(400);
    await until(
      () => top("nodes"),
      (text) => /^node-1 +\d+m +\d+% +\d+Mi +\d+%/m.test(text),
      60_000,
    );
  });

  it("the kubelet says what it is, and how it was started", async ({ expect }) => {
    const raw = (path: string) => machine.kubectl("get", "--raw", `/api/v1/nodes/node-1/proxy${path}`);
    const statusz = await raw("/statusz");
    expect(statusz).toContain("\nkubelet statusz\nWarning: ");
    expect(statusz).toMatch(/\nBinary version: 1\.36\.\d+\+k8ts/);
    expect(statusz).toMatch(/\nPaths: .*\/containerLogs .*\/metrics \/metrics\/cadvisor /);
    const flagz = await raw("/flagz");
    expect(flagz).toContain("\nkubelet flagz\nWarning: ");
    expect(flagz).toMatch(/\nhostname-override=node-1\n/);
  });
});

interface PodSummary {
  readonly podRef: { readonly name: string };
  readonly cpu: { readonly usageNanoCores?: number };
  readonly volume: readonly { readonly name: string; readonly usedBytes: number }[];
  readonly "ephemeral-storage": { readonly usedBytes: number };
}

interface Summary {
  readonly node: object;
  readonly pods: readonly PodSummary[];
}
