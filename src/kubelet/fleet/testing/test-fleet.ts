/** A fleet on an API server in memory, on virtual time, with Node authorizer and NodeRestriction. */
import { type core, kinds, type StatusError } from "#api";
import { type Logger, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, inProcess } from "#client";
import { admitting } from "../../../apiserver/admission/testing/index.ts";
import { DEFAULT_MODES } from "../../../apiserver/authz/index.ts";
import { namespace, type TestServer, testServer } from "../../../apiserver/testing/index.ts";
import { Fleet, type FleetOptions } from "../fleet.ts";
import { type NodesSpec, nodesOf } from "../settings.ts";

export interface TestFleetOptions extends Partial<NodesSpec> {
  readonly server?: TestServer;
  readonly defaults?: FleetOptions["defaults"];
  readonly usage?: FleetOptions["usage"];
  /** Which requests of the nodes fail, and how. */
  readonly refuse?: (method: string, path: string) => StatusError | undefined;
}

export interface TestFleet {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly fleet: Fleet;
  /** Writes of the nodes so far, as `METHOD path`. */
  readonly writes: readonly string[];
  /** Warnings and errors in the fleet's log. */
  readonly complaints: readonly unknown[];
  pod(name: string, spec?: Partial<core.PodSpec>, more?: Partial<core.Pod["metadata"]>): Promise<core.Pod>;
  get(name: string): Promise<core.Pod | undefined>;
  node(name?: string): Promise<core.Node>;
  /** Ends the nodes as a crash would. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters"] };

export async function testFleet(options: TestFleetOptions = {}): Promise<TestFleet> {
  const server = options.server ?? (await nodeServer());
  const { clock } = server;
  const writes: string[] = [];
  const complaints: unknown[] = [];
  const complain: Logger["warn"] = (message, fields) => void complaints.push({ message, ...fields });
  const handle: TestServer["handle"] = (request) => {
    const refused = options.refuse?.(request.method, request.path);
    if (refused !== undefined) return Promise.resolve(answerOf(refused));
    if (request.method !== "GET") writes.push(`${request.method} ${request.path}`);
    return server.handle(request);
  };
  const fleet = new Fleet({
    nodes: nodesOf({ count: 1, ...options }),
    clientOf: (name) =>
      new Client({
        transport: inProcess(handle, {
          name: `system:node:${name}`,
          groups: ["system:nodes", "system:authenticated"],
        }),
        clock,
        userAgent: "kubelet",
      }),
    facts: { version: "v1.36.4", architecture: "amd64" },
    defaults: options.defaults,
    usage: options.usage,
    clock,
    random: seededRandom(1),
    log: { ...silentLogger, warn: complain, error: complain },
  });
  const tasks = new TaskGroup();
  tasks.run("fleet", (signal) => fleet.run(signal));
  const client = new Client({ transport: inProcess(server.handle, ADMIN), clock });
  await server.settle();
  if (options.refuse === undefined) await fleet.ready;
  const pods = client.of(kinds.Pod).in("default");
  return {
    server,
    clock,
    client,
    fleet,
    writes,
    complaints,
    async pod(name, spec = {}, more = {}) {
      const containers = [{ name: "c", image: "img" }];
      const made = await pods.create({
        metadata: { name, ...more },
        spec: { nodeName: "node-1", containers, automountServiceAccountToken: false, ...spec },
      });
      await server.settle();
      return made;
    },
    async get(name) {
      await server.settle();
      return (await pods.list({ fieldSelector: `metadata.name=${name}` })).items[0];
    },
    async node(name = "node-1") {
      await server.settle();
      return client.of(kinds.Node).get(name);
    },
    stop: () => tasks.stop(),
    async close() {
      await tasks.stop();
      await client.close();
      if (options.server === undefined) await server.close();
    },
  };
}

function answerOf({ code, reason, message }: StatusError) {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message };
  const headers = { "content-type": "application/json" };
  return { status: code, headers, body: [Buffer.from(JSON.stringify(body))] };
}

/** An API server with the namespaces and the ServiceAccount that nodes need. */
export async function nodeServer(): Promise<TestServer> {
  const server = await testServer({ modes: DEFAULT_MODES, admission: admitting({ enable: ["NodeRestriction"] }) });
  for (const name of ["default", "kube-node-lease"])
    await server.request("POST", "/api/v1/namespaces", { body: namespace(name) });
  await server.request("POST", "/api/v1/namespaces/default/serviceaccounts", {
    body: { metadata: { name: "default" } },
  });
  return server;
}
