/**
 * A scheduler on an in-memory API server, with virtual time, seeded randomness and the RBAC rules of kube-scheduler.
 *
 * 1. `settle` waits until nothing is left to do without time going on; `clock.advance` lets time go on.
 * 2. `refuse` answers requests of the scheduler in place of the server, or lets them pass; those of the test's own
 *    client always pass.
 */
import {
  type core,
  type Features,
  type KubeObject,
  kinds,
  parseFeatures,
  parseRuntimeConfig,
  type StatusError,
  servedKinds,
} from "#api";
import { type Logger, MetricsRegistry, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, inProcess } from "#client";
import { staticTokens } from "../../apiserver/authn/token-file.ts";
import { forApi } from "../../apiserver/authn/verdict.ts";
import { alwaysAllow } from "../../apiserver/authz/always.ts";
import { bootstrap } from "../../apiserver/bootstrap/index.ts";
import type { Connector } from "../../apiserver/connect/connector.ts";
import { connectors } from "../../apiserver/connect/connectors.ts";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { Explanations } from "../cycle/explanations.ts";
import { schedulerMetrics } from "../cycle/metrics.ts";
import type { PluginFactory, SchedulerConfiguration } from "../framework/index.ts";
import { runScheduler } from "../run-scheduler.ts";

type Request = Parameters<TestServer["handle"]>[0];

export interface TestSchedulerOptions {
  /** An existing cluster, for a second scheduler. */
  readonly server?: TestServer;
  readonly seed?: number;
  readonly configuration?: SchedulerConfiguration;
  readonly plugins?: readonly PluginFactory[];
  readonly log?: Logger;
  /** Feature gates of the server and the scheduler, `A` or `A=false`: with any of them, all alpha and beta kinds are served. */
  readonly gates?: readonly string[];
}

export interface TestScheduler {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  /** An administrator's client. */
  readonly client: Client;
  readonly registry: MetricsRegistry;
  readonly explanations: Explanations;
  requests(): readonly Request[];
  /** Called with each request before it is answered; a StatusError is the answer, a promise is awaited. */
  meddle(with_: (request: Request) => StatusError | undefined | Promise<StatusError | undefined>): void;
  addNode(node: core.Node): Promise<void>;
  addPod(pod: core.Pod): Promise<void>;
  /** The nodes of pods by name; undefined if they have none. */
  places(): Promise<Readonly<Record<string, string | undefined>>>;
  pod(name: string): Promise<core.Pod>;
  /** The Events about a pod: `reason: note`. */
  events(name: string): Promise<readonly string[]>;
  settle(): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters"] };
const SCHEDULER = { name: "system:kube-scheduler", groups: ["system:authenticated"] };

export async function schedulingServer(seed = 1, gates: readonly string[] = []): Promise<TestServer> {
  const subresources = new Map<string, Connector>();
  const virtual = new Map<string, Connector>();
  const features = featuresOf(gates);
  const alpha = { runtimeConfig: parseRuntimeConfig("api/alpha=true,api/beta=true"), enabled: features.enabled };
  const server = await testServer({
    seed,
    features,
    ...(gates.length > 0 && { kinds: servedKinds(alpha) }),
    modes: [{ type: "RBAC", name: "rbac" }],
    connectors: { subresources, virtual },
  });
  const { context, resources } = server;
  await bootstrap(context, resources, { enabled: features.enabled });
  const { authorize, rulesFor } = alwaysAllow();
  const authenticateToken = forApi(["api"], staticTokens(new Map()));
  const made = connectors({ context, resources, authenticateToken, authorize, rulesFor });
  for (const [name, connector] of made.subresources) subresources.set(name, connector);
  for (const [name, connector] of made.virtual) virtual.set(name, connector);
  return server;
}

export async function testScheduler(options: TestSchedulerOptions = {}): Promise<TestScheduler> {
  const { configuration, plugins, seed = 1, log = silentLogger, gates = [] } = options;
  const server = options.server ?? (await schedulingServer(seed, gates));
  const { clock } = server;
  const seen: Request[] = [];
  let meddle: Parameters<TestScheduler["meddle"]>[0] = () => undefined;
  const handle: TestServer["handle"] = async (request) => {
    seen.push(request);
    const refused = await meddle(request);
    return refused === undefined ? server.handle(request) : answerOf(refused);
  };
  const registry = new MetricsRegistry();
  const explanations = new Explanations();
  const own = new Client({ transport: inProcess(handle, SCHEDULER), clock, userAgent: "kube-scheduler" });
  const tasks = new TaskGroup();
  tasks.run("scheduler", (signal) =>
    runScheduler(
      {
        client: own,
        configuration,
        plugins,
        instance: "test",
        clock,
        random: seededRandom(seed),
        log,
        metrics: schedulerMetrics(registry),
        explanations,
        features: featuresOf(gates),
      },
      signal,
    ),
  );
  const client = new Client({ transport: inProcess(server.handle, ADMIN), clock });
  const settle = () => server.settle();
  await settle();
  const stop = async () => {
    await tasks.stop();
    await own.close();
  };
  return {
    server,
    clock,
    client,
    registry,
    explanations,
    requests: () => seen,
    meddle: (next) => {
      meddle = next;
    },
    addNode: async (node) => void (await client.of(kinds.Node).create(withoutUid(node))),
    addPod: async (pod) => void (await client.of(kinds.Pod).create(withoutUid(pod))),
    async places() {
      const { items } = await client.of(kinds.Pod).list();
      return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name ?? "", spec?.nodeName]));
    },
    pod: (name) => client.of(kinds.Pod).in("default").get(name),
    async events(name) {
      const { items } = await client.of(kinds.Event).list();
      return items.filter(({ regarding }) => regarding?.name === name).map(({ reason, note }) => `${reason}: ${note}`);
    },
    settle,
    stop,
    async close() {
      await stop();
      await client.close();
      if (options.server === undefined) await server.close();
    },
  };
}

/** The server assigns them. */
function withoutUid<T extends KubeObject>(object: T): T {
  const { uid: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function answerOf({ reason, code, message }: StatusError) {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code, message };
  return { status: code, headers: { "content-type": "application/json" }, body: [Buffer.from(JSON.stringify(status))] };
}

function featuresOf(gates: readonly string[]): Features {
  return parseFeatures({ gates: gates.map((gate) => (gate.includes("=") ? gate : `${gate}=true`)).join() });
}
