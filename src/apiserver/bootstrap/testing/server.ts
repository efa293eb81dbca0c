/** The parts of an API server below its pipeline, on a store of memory: for tests of what works on its verbs. */
import { randomUUID } from "node:crypto";
import { builtIn, type KubeObject } from "#api";
import { type Clock, type Random, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { openMemoryStore, type Store } from "#store";
import { type AllocatorOptions, type Allocators, allocators } from "../../allocate/index.ts";
import { StoreFeed } from "../../cache/feed.ts";
import { serverRequest } from "../../loopback/server-request.ts";
import { allWrites } from "../../rest/all-writes.ts";
import type { AnyDraft } from "../../rest/draft.ts";
import { noAdmission } from "../../rest/no-admission.ts";
import { type Resource, STORE_PREFIX } from "../../rest/resource.ts";
import { Resources } from "../../rest/resources.ts";
import type { ServerContext } from "../../rest/server-context.ts";
import { createDraft } from "../../rest/write/create.ts";

export interface TestServer extends AsyncDisposable {
  readonly context: ServerContext;
  readonly resources: Resources;
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
  const { clock = realClock(), random = seededRandom(1), ...rest } = options;
  const store = options.store ?? openMemoryStore({ clock });
  const log = silentLogger;
  const tasks = new TaskGroup();
  const feed = new StoreFeed({ store, prefix: STORE_PREFIX, clock, log });
  const resources = new Resources(feed);
  for (const kind of builtIn) resources.add(kind);
  const allocation = allocators({ context: () => context, resources, feed, clock, log, ...rest });
  const context: ServerContext = {
    store,
    feed,
    clock,
    random,
    log,
    admission: noAdmission,
    access: allWrites,
    allocators: allocation.byResource,
    newUid: randomUUID,
    sharedStore: options.store !== undefined,
  };
  await feed.load();
  tasks.run("feed", (signal) => feed.run(signal));
  const resource = (group: string, plural: string) => {
    const found = resources.find(group, "v1", plural);
    if (found === undefined) throw new Error(`${plural} are not served`);
    return found;
  };
  return {
    context,
    resources,
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
      await tasks.stop();
      if (options.store === undefined) await store.close();
    },
  };
}
