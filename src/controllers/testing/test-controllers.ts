/**
 * Controllers on an in-memory API server, with virtual time and seeded randomness.
 *
 * 1. `settle` waits until nothing is left to do without time passing; `clock.advance` lets time pass.
 * 2. `refuse` makes requests of the controllers fail, but not those of the test's own client.
 * 3. Each controller writes as its own service account with the permissions of a new cluster.
 */
import { type core, defaultFeatures, type Kind, type KubeObject, type StatusError } from "#api";
import { MetricsRegistry, type Random, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, type InProcessUser, inProcess } from "#client";
import { DEFAULT_MODES } from "../../apiserver/authz/index.ts";
import { bindPod } from "../../apiserver/connect/binding.ts";
import type { Connector } from "../../apiserver/connect/connector.ts";
import { type TestServer, type TestServerOptions, testServer } from "../../apiserver/testing/index.ts";
import { type Controller, controllerMetrics, runControllers } from "../runtime/index.ts";
import { ensureRoles, identities, type Rights, rightsOn } from "./identities.ts";

export interface TestControllersOptions extends TestServerOptions {
  /** An existing cluster, for a second set of controllers. */
  readonly server?: TestServer | undefined;
  /** Default: the RBAC rules of a new cluster; everything on a server without RBAC objects. */
  readonly rights?: Rights;
  readonly selection?: readonly string[] | undefined;
}

type Request = Parameters<TestServer["handle"]>[0];

export interface TestControllers {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** An administrator's client. */
  readonly client: Client;
  /** All requests of the controllers so far. */
  requests(): readonly Request[];
  /** The number of writes among them. */
  writes(): number;
  refuse(refusal: (request: Request) => StatusError | undefined): void;
  settle(): Promise<void>;
  /** Stops the controllers, like a crash between two writes. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters"] };

export async function testControllers(
  controllers: readonly Controller[],
  options: TestControllersOptions = {},
): Promise<TestControllers> {
  const server = options.server ?? (await freshServer(options));
  const { manager, of } = identities(rightsOn(server));
  const { clock } = server;
  const random = seededRandom(options.seed ?? 1);
  const seen: Request[] = [];
  let refusal: (request: Request) => StatusError | undefined = () => undefined;
  const handle: TestServer["handle"] = async (request) => {
    seen.push(request);
    const refused = refusal(request);
    if (refused !== undefined) return refusedAnswer(refused);
    return server.handle(request);
  };
  const clientOf = (user: InProcessUser) =>
    new Client({ transport: inProcess(handle, user), clock, userAgent: `kube-controller-manager/${user.name}` });
  const tasks = new TaskGroup();
  tasks.run("controllers", (signal) =>
    runControllers(
      {
        controllers,
        selection: options.selection,
        enabled: options.features?.enabled,
        client: clientOf(manager),
        clientOf: (account) => clientOf(of(account)),
        instance: "test",
        clock,
        random,
        log: options.log ?? silentLogger,
        metrics: controllerMetrics(new MetricsRegistry()),
      },
      signal,
    ),
  );
  const client = new Client({ transport: inProcess(server.handle, ADMIN), clock });
  const stop = () => tasks.stop();
  await server.settle();
  return {
    server,
    clock,
    random,
    client,
    requests: () => seen,
    writes: () => seen.filter(({ method }) => method !== "GET").length,
    refuse: (next) => {
      refusal = next;
    },
    settle: () => server.settle(),
    stop,
    async close() {
      await stop();
      await client.close();
      if (options.server === undefined) await server.close();
    },
  };
}

async function freshServer({ rights = "roles", ...options }: TestControllersOptions): Promise<TestServer> {
  const subresources = new Map<string, Connector>();
  const connectors = { virtual: new Map(), subresources };
  const server = await testServer({ connectors, ...(rights === "roles" && { modes: DEFAULT_MODES }), ...options });
  const pods = server.resources.find("", "v1", "pods");
  const bindings = server.resources.find("", "v1", "bindings");
  // Tests bind Pods like a scheduler.
  if (pods !== undefined && bindings !== undefined)
    subresources.set("pods/binding", bindPod(pods, bindings.kind as Kind as Kind<core.Binding>));
  if (rights === "roles") await ensureRoles(server, (options.features ?? defaultFeatures).enabled);
  return server;
}

function refusedAnswer(error: StatusError) {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: error.reason,
    code: error.code,
    message: error.message,
  };
  return {
    status: error.code,
    headers: { "content-type": "application/json" },
    body: [Buffer.from(JSON.stringify(status satisfies KubeObject | object))],
  };
}
