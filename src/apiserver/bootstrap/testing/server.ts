/** The parts of an API server below its pipeline, on a store of memory: for tests of what works on its verbs. */
import { randomUUID } from "node:crypto";
import { builtIn, type KubeObject } from "#api";
import { type Clock, MetricsRegistry, type Random, realClock, seededRandom, silentLogger } from "#base";
import { openMemoryStore, type Store } from "#store";
import { type AllocatorOptions, type Allocators, allocators } from "../../allocate/index.ts";
import { assembleApiServer } from "../../assembly/assemble.ts";
import { ALLOW } from "../../authz/verdict.ts";
import { ANONYMOUS } from "../../identity/user.ts";
import type { Loopback } from "../../loopback/loopback.ts";
import { serverRequest } from "../../loopback/server-request.ts";
import { passThrough } from "../../pipeline/compose.ts";
import { allWrites } from "../../rest/all-writes.ts";
import type { AnyDraft } from "../../rest/draft.ts";
import { noAdmission } from "../../rest/no-admission.ts";
import type { Resource } from "../../rest/resource.ts";
import type { Resources } from "../../rest/resources.ts";
import type { ServerContext } from "../../rest/server-context.ts";
import { createDraft } from "../../rest/write/create.ts";

export interface TestServer extends AsyncDisposable {
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly loopback: Loopback;
  readonly allocation: Allocators;
  resource(group: string, plural: string): Resource;
  get(group: string, plural: string, key: string): KubeObject | undefined;
  all(group: string, plural: string): readonly KubeObject[];
  /** `object` as JSON has it. */
  create(group: string, plural: string, object: object, dryRun?: boolean): Promise<KubeObject>;
}

export interface TestServerOptions extends Pick<Partial<AllocatorOptions>, "serviceCidrs" | "nodePorts"> {
  /** Shared with others, who close it. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: Random;
}

export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { clock = realClock(), random = seededRandom(1), serviceCidrs, nodePorts } = options;
  const store = options.store ?? openMemoryStore({ clock });
  const server = await assembleApiServer({
    store,
    sharedStore: options.store !== undefined,
    clock,
    random,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    newUid: randomUUID,
    kinds: builtIn,
    resumableChanges: 0,
    historyWindowMs: 0,
    allocation: (foundation) => allocators({ ...foundation, serviceCidrs, nodePorts }),
    authorization: () => ({ authorize: () => ALLOW, writeAccess: allWrites }),
    admission: () => noAdmission,
    front: () => ({
      authenticate: () => ANONYMOUS,
      audit: passThrough,
      fairness: passThrough,
      connectors: { virtual: new Map(), subresources: new Map() },
      routes: { health: {} },
    }),
  });
  const { context, resources, allocation, loopback } = server;
  if (allocation === undefined) throw new Error("the server has no allocators");
  const resource = (group: string, plural: string) => {
    const found = resources.find(group, "v1", plural);
    if (found === undefined) throw new Error(`${plural} are not served`);
    return found;
  };
  return {
    context,
    resources,
    loopback,
    allocation,
    resource,
    get: (group, plural, key) => resource(group, plural).cache.get(key)?.object,
    all: (group, plural) => [...resource(group, plural).cache.snapshot().entries()].map(([, stored]) => stored.object),
    create: async (group, plural, object, dryRun = false) => {
      const { kind } = resource(group, plural);
      const draft = {
        kind: kind.kind,
        apiVersion: group === "" ? "v1" : `${group}/v1`,
        ...structuredClone(object),
      } as unknown as AnyDraft;
      const request = serverRequest(context, resource(group, plural), { namespace: draft.metadata.namespace ?? "" });
      return (await createDraft(request, draft, dryRun)).stored.object;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      if (options.store === undefined) await store.close();
    },
  };
}
