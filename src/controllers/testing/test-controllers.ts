/**
 * Controllers at work on an API server in memory, on virtual time and seeded chance.
 *
 * 1. `settle` waits until nothing is left to do without time going on; `clock.advance` lets time go on.
 * 2. `refuse` makes requests of the controllers fail; those of the test's own client pass.
 */
import type { KubeObject, StatusError } from "#api";
import { MetricsRegistry, type Random, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, inProcess } from "#client";
import { type TestServer, type TestServerOptions, testServer } from "../../apiserver/testing/index.ts";
import { type Controller, runControllers } from "../runtime/index.ts";

export interface TestControllersOptions extends TestServerOptions {
  /** A cluster that is there already, for a second set of controllers. */
  readonly server?: TestServer;
  readonly selection?: readonly string[];
}

type Request = Parameters<TestServer["handle"]>[0];

export interface TestControllers {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** An administrator's. */
  readonly client: Client;
  /** All requests of the controllers so far. */
  requests(): readonly Request[];
  /** How many of them were writes. */
  writes(): number;
  refuse(refusal: (request: Request) => StatusError | undefined): void;
  settle(): Promise<void>;
  /** Ends the controllers, as a crash between two writes would. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters"] };
/** Until roles are enforced in tests, everyone may do everything. */
const MASTERS = ["system:masters"];

export async function testControllers(
  controllers: readonly Controller[],
  options: TestControllersOptions = {},
): Promise<TestControllers> {
  const server = options.server ?? (await testServer(options));
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
  const clientOf = (name: string) =>
    new Client({
      transport: inProcess(handle, { name, groups: MASTERS }),
      clock,
      userAgent: `kube-controller-manager/${name}`,
    });
  const tasks = new TaskGroup();
  tasks.run("controllers", (signal) =>
    runControllers(
      {
        controllers,
        ...(options.selection !== undefined && { selection: options.selection }),
        client: clientOf("system:kube-controller-manager"),
        clientOf: (account) => clientOf(`system:serviceaccount:kube-system:${account}`),
        instance: "test",
        clock,
        random,
        log: options.log ?? silentLogger,
        metrics: new MetricsRegistry(),
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
