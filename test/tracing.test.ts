/**
 * Traces of `kubectl apply` on simulated nodes: one trace from the request to the status of the Pods, whichever
 * processes its parts run in, and nothing lost but spans where the collector is away.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { realClock } from "#base";
import type { FlowRecord } from "#flows";
import { kubeconfigFor, loadAuthority, readKubeconfig, writeKubeconfig } from "#pki";
import { type AdmissionWebhook, admissionWebhook } from "../src/apiserver/admission/webhooks/testing/index.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../src/store/testing/etcd-server.ts";
import {
  type CollectedSpan,
  type Collector,
  grpcCollector,
  httpCollector,
  treeOf,
} from "../src/tracing/testing/index.ts";
import { freePort } from "./support/free-port.ts";
import { Home } from "./support/k8ts.ts";
import { deployment } from "./support/manifests.ts";
import { startSimulated } from "./support/simulated.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");
const APPS = "/apis/apps/v1/namespaces/{:namespace}";
const PODS = "/api/v1/namespaces/{:namespace}/pods";
/** Batches leave every 5 s. */
const EXPORTED = { timeout: 40_000, interval: 100 };

/** From the request to the kubelet's report, each the parent of the next one. */
const CHAIN = [
  `apiserver: POST ${APPS}/deployments`,
  "kube-controller-manager: Reconcile apps/deployments",
  `apiserver: POST ${APPS}/replicasets`,
  "kube-controller-manager: Reconcile apps/replicasets",
  `apiserver: POST ${PODS}`,
  "kube-scheduler: Schedule pods",
  `apiserver: POST ${PODS}/{:name}/binding`,
  "kubelet: Report status of pods",
  `apiserver: PATCH ${PODS}/{:name}/status`,
];

/** How many spans of the chain follow each other in one trace. */
function longest(spans: readonly CollectedSpan[], chain: readonly string[]): number {
  const follow = (from: readonly CollectedSpan[], depth: number): number => {
    const found = from.filter(({ service, name }) => `${service}: ${name}` === chain[depth]);
    if (found.length === 0) return depth;
    const below = spans.filter((span) =>
      found.some(({ traceId, spanId }) => span.traceId === traceId && span.parentSpanId === spanId),
    );
    return follow(below, depth + 1);
  };
  return follow(spans, 0);
}

function traceOf({ spans }: Collector, name: string): string {
  return spans.find((span) => span.name === name)?.traceId ?? "";
}

function configure(home: Home, { endpoint }: Collector): string {
  const file = join(home.dir, "tracing.yaml");
  const fields = ["apiVersion: apiserver.config.k8s.io/v1", "kind: TracingConfiguration", `endpoint: ${endpoint}`];
  writeFileSync(file, [...fields, "samplingRatePerMillion: 1000000"].join("\n"));
  return `--tracing-config-file=${file}`;
}

async function expectChain(collector: Collector, chain: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    const shown = treeOf(collector.spans, traceOf(collector, `POST ${APPS}/deployments`)).join("\n");
    expect(longest(collector.spans, chain), shown).toBe(chain.length);
  }, EXPORTED);
}

describe.skipIf(program === undefined)("a rollout in one process, with a webhook", () => {
  const home = new Home();
  const kubectl = new CommandLine(program, () => home);
  let collector: Collector;
  let hook: AdmissionWebhook;

  beforeAll(async () => {
    collector = await httpCollector();
    hook = await admissionWebhook();
    await startSimulated(home, 2, configure(home, collector));
    await kubectl
      .given({
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: { name: "looks" },
        webhooks: [
          {
            name: "looks.example.com",
            clientConfig: { url: hook.url, caBundle: hook.caBundle },
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] }],
          },
        ],
      })
      .ok("apply", "-f", "-");
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await hook.close();
    await collector[Symbol.asyncDispose]();
  });

  it("is one trace, through webhook, controllers, scheduler and kubelets", async () => {
    await vi.waitFor(async () => {
      await kubectl.given(deployment("web", "example/web", { replicas: 2 })).ok("apply", "-f", "-");
      expect(hook.reviews.length).toBeGreaterThan(0);
    }, EXPORTED);
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    await expectChain(collector, CHAIN);
    const root = CHAIN[0] ?? "";
    await expectChain(collector, [
      root,
      "apiserver: Create",
      "apiserver: Call validating webhook",
      "apiserver: HTTP POST",
    ]);
    await expectChain(collector, [root, "apiserver: Create", "apiserver: Create store"]);
    const http = collector.spans.find(({ name }) => name === "HTTP POST");
    expect(hook.headers[0]?.traceparent).toBe(`00-${http?.traceId}-${http?.spanId}-01`);
  });

  it("every part lies within its parent's beginning", () => {
    const traceId = traceOf(collector, `POST ${APPS}/deployments`);
    const own = collector.spans.filter((span) => span.traceId === traceId);
    const byId = new Map(own.map((span) => [span.spanId, span]));
    expect(own.length).toBeGreaterThan(30);
    for (const span of own) {
      const parent = byId.get(span.parentSpanId);
      // All clocks are one here; a work's own is read in whole milliseconds.
      if (parent !== undefined) expect(span.startMs, span.name).toBeGreaterThanOrEqual(parent.startMs - 1.5);
      expect(span.endMs, span.name).toBeGreaterThanOrEqual(span.startMs);
    }
  });

  it("is the flow of the same name, with the same ids", async () => {
    const traceId = traceOf(collector, `POST ${APPS}/deployments`);
    const { stdout } = await home.k8ts("flow", traceId, "--format", "json");
    const records = JSON.parse(stdout) as FlowRecord[];
    const ids = new Set(collector.spans.filter((span) => span.traceId === traceId).map(({ spanId }) => spanId));
    const traced = records.filter(({ type }) => type !== "delivery");
    expect(traced.length).toBeGreaterThan(10);
    expect(traced.filter(({ span }) => span?.traceId !== traceId || !ids.has(span.spanId))).toEqual([]);
    expect(new Set(traced.map(({ type }) => type))).toEqual(new Set(["request", "work"]));
    const { stdout: rendered } = await home.k8ts("flow", traceId, "--format", "otlp");
    expect(rendered).toContain(traceId);
    const { code, stderr } = await home.k8ts("flow", "f".repeat(32));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("no records of trace") });
  });

  it("a collector that hangs is waited for by nobody", async () => {
    collector.answer = "hang";
    const before = collector.requests;
    await kubectl.given(deployment("later", "example/web", { replicas: 2 })).ok("apply", "-f", "-");
    await kubectl.ok("rollout", "status", "deployment/later", "--timeout=60s");
    await vi.waitFor(() => expect(collector.requests).toBeGreaterThan(before), EXPORTED);
    await kubectl.ok("delete", "deployment", "later");
    collector.answer = "take";
  });
});

describe.skipIf(program === undefined)("a rollout through several processes, over gRPC", () => {
  const home = new Home();
  const kubectl = new CommandLine(program, () => home);
  const pki = (file: string) => join(home.dataDir, "pki", file);
  let collector: Collector;

  const identity = async (user: string): Promise<string> => {
    const [certPem, keyPem] = [readFileSync(pki("ca.crt"), "utf8"), readFileSync(pki("ca.key"), "utf8")];
    const authority = await loadAuthority({ certPem, keyPem, clock: realClock() });
    const client = await authority.issue({ commonName: user, usages: ["client"] });
    const { server } = await readKubeconfig(join(home.dataDir, "kubeconfig"));
    const file = join(home.dir, `${user.replaceAll(":", "-")}.conf`);
    await writeKubeconfig(file, kubeconfigFor({ name: user, server, caPem: certPem, client }));
    return `--kubeconfig=${file}`;
  };

  beforeAll(async () => {
    collector = await grpcCollector();
    const traced = configure(home, collector);
    await startSimulated(home, 1, "--controllers=", "--no-scheduler", traced);
    const serving = async () => ["--bind-address=127.0.0.1", `--secure-port=${await freePort()}`];
    const keys = [`--root-ca-file=${pki("ca.crt")}`, `--service-account-private-key-file=${pki("sa.key")}`];
    const manager = [await identity("system:kube-controller-manager"), ...keys, "--use-service-account-credentials"];
    home.start("controller-manager", ...manager, traced, ...(await serving()));
    home.start("scheduler", await identity("system:kube-scheduler"), traced, ...(await serving()));
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
  });

  it("is one trace", async () => {
    await kubectl.ok("create", "deployment", "web", "--image=example/web", "--replicas=2");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    await expectChain(collector, CHAIN);
  });
});

describe.skipIf(program === undefined || findEtcd() === undefined)("on etcd (needs etcd)", () => {
  const home = new Home();
  const kubectl = new CommandLine(program, () => home);
  let collector: Collector;
  let etcd: EtcdServer;

  beforeAll(async () => {
    collector = await httpCollector();
    etcd = await startEtcd({ members: 1, tls: false, dir: mkdtempSync(join(tmpdir(), "k8ts-test-etcd-")) });
    const store = ["--store", "etcd", "--etcd-servers", etcd.endpoints.join()];
    const up = await home.k8ts("up", ...store, "--nodes", "0", "--port", "0", configure(home, collector), "--detach");
    expect(up).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await etcd?.stop();
    await collector[Symbol.asyncDispose]();
  });

  it("calls of etcd are parts of the request", async () => {
    await kubectl.ok("create", "configmap", "traced");
    const chain = ["POST /api/v1/namespaces/{:namespace}/configmaps", "Create", "Create etcd3", "etcdserverpb.KV/Txn"];
    await vi.waitFor(() => {
      const named = chain.map((name) => `apiserver: ${name}`);
      expect(
        longest(collector.spans, named),
        treeOf(collector.spans, traceOf(collector, chain[0] ?? "")).join("\n"),
      ).toBe(4);
    }, EXPORTED);
  });
});
