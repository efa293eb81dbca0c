/** kubectl top and kubectl autoscale on simulated nodes, with the resource metrics API of `k8ts up`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { Home } from "../support/k8ts.ts";
import { QUICK_FIGURES, startSimulated } from "../support/simulated.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);
/** Rounds of measuring, and looks of the autoscaler. */
const ROUNDS = { timeout: 90_000, interval: 300 };

beforeAll(async () => {
  if (program === undefined) return;
  home = new Home();
  await startSimulated(home, 2, ...QUICK_FIGURES);
});
afterAll(() => home?.[Symbol.asyncDispose]());

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" }, annotations: { "simulated.k8ts.io/cpu-usage": "180m" } },
      spec: {
        containers: [{ name: "main", image: "web:1", resources: { requests: { cpu: "200m", memory: "64Mi" } } }],
      },
    },
  },
};

const labels = { app: "worker" };
const workerSpec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "worker:1" }] } },
};
const byQueue = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "worker" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "worker" },
    maxReplicas: 10,
    metrics: [
      {
        type: "External",
        external: {
          metric: { name: "queue", selector: { matchLabels: { lane: "fast" } } },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
    ],
  },
};

describe.skipIf(program === undefined)("usage and autoscaling (needs kubectl)", { concurrent: true }, () => {
  it("kubectl top shows nodes and Pods, and autoscale acts on it", { timeout: 240_000 }, async ({ expect }) => {
    await kubectl.given(deployment).ok("create", "-f", "-");
    expect(await kubectl.ok("autoscale", "deployment", "web", "--cpu=50%", "--min=1", "--max=3")).toContain(
      "autoscaled",
    );
    const top = (...args: string[]) =>
      kubectl.ok("top", ...args, "--no-headers").catch((error: Error) => error.message);
    await expect.poll(() => top("nodes"), ROUNDS).toMatch(/^node-1 +\d+m +\d+% +\d+Mi +\d+%/m);
    await expect.poll(() => top("pods", "-l", "app=web"), ROUNDS).toMatch(/^web-\S+ +1(79|80)m +32Mi/m);
    expect(await kubectl.ok("get", "apiservice", "v1beta1.metrics.k8s.io")).toMatch(
      /kube-system\/k8ts-metrics-server +True/,
    );
    expect(await kubectl.ok("get", "podmetrics", "-l", "app=web")).toMatch(/NAME +CPU +MEMORY +WINDOW/);
    expect(await kubectl.ok("explain", "podmetrics.containers")).toContain("usage");
    await expect
      .poll(() => kubectl.ok("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"), ROUNDS)
      .toBe("3");
    await expect.poll(() => kubectl.ok("get", "hpa", "web"), ROUNDS).toMatch(/cpu: 90%\/50% +1 +3 +3/);
    expect(await kubectl.ok("describe", "hpa", "web")).toContain("SuccessfulRescale");
    const why = await home.k8ts("why", "hpa/web");
    expect(why.stdout).toContain("hpa/web wants 3 replicas of deployment/web");
    expect(why.stdout).toContain("with a target of 50%");
    expect(why.stdout).toContain("condition ScalingLimited, TooManyReplicas");
  });

  it("scales by an external metric that an adapter of its own process serves", { timeout: 180_000 }, async ({
    expect,
  }) => {
    const config = join(home.dir, "adapter.yaml");
    writeFileSync(config, "scripted: {external: [{metric: queue, labels: {lane: fast}, value: 30}]}");
    const adapter = home.start(
      ...["metrics-adapter", "--kubeconfig", join(home.dataDir, "kubeconfig"), "--config", config],
      ...["--bind-address", "127.0.0.1", "--secure-port", String(await freePort()), "--register", "localhost"],
    );
    const apis = () => kubectl.ok("get", "apiservices").catch((error: Error) => error.message);
    await expect.poll(apis, ROUNDS).toMatch(/v1beta1\.external\.metrics\.k8s\.io +kube-system\/\S+ +True/);
    const path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=lane%3Dfast";
    expect(await kubectl.ok("get", "--raw", path)).toContain('"value":"30"');
    await kubectl.given({ ...deployment, metadata: { name: "worker" }, spec: workerSpec }).ok("create", "-f", "-");
    await kubectl.given(byQueue).ok("create", "-f", "-");
    const replicas = () => kubectl.ok("get", "deployment", "worker", "-o", "jsonpath={.spec.replicas}");
    await expect.poll(replicas, ROUNDS).toBe("3");
    // The file is followed.
    writeFileSync(config, "scripted: {external: [{metric: queue, labels: {lane: fast}, value: 50}]}");
    await expect.poll(replicas, ROUNDS).toBe("5");
    expect((await home.k8ts("why", "hpa/worker")).stdout).toContain("external metric queue");
    adapter.process.kill("SIGTERM");
    expect((await adapter.ended()).code).toBe(0);
    await expect.poll(apis, ROUNDS).not.toContain("external.metrics");
  });

  it("viewers may read metrics, others may not", async ({ expect }) => {
    await kubectl.ok("create", "serviceaccount", "reader");
    const may = (...args: string[]) =>
      kubectl
        .ok("auth", "can-i", "list", "pods.metrics.k8s.io", "--as=system:serviceaccount:default:reader", ...args)
        .catch(() => "no");
    expect(await may()).toContain("no");
    await kubectl.ok("create", "rolebinding", "reader", "--clusterrole=view", "--serviceaccount=default:reader");
    await expect.poll(() => may(), ROUNDS).toContain("yes");
  });
});
