/**
 * The garbage collector: deletes objects whose owners are gone, and finishes foreground deletion and orphaning, for
 * every kind.
 *
 *     discovery ──► an informer for each resource --► OwnerGraph ──► uids ──► plan
 *
 * 1. Nothing is decided before every resource has been listed once: an unknown owner is not an absent one.
 * 2. Before an object is deleted because its owner is absent from the graph, the API server is asked for the owner. An
 *    owner of a kind that is not served is not known to be absent.
 * 3. Informers of this process are shared; for all other resources only metadata is watched.
 */
import { isStatusError, type KubeObject, kinds, type OwnerReference } from "#api";
import { type Clock, TaskGroup } from "#base";
import {
  type Client,
  type Discovered,
  type DiscoveredResource,
  type Informer,
  Informers,
  repeatedDiscovery,
  revisionOf,
} from "#client";
import { type ControllerContext, defineController, type Enqueue } from "../runtime/index.ts";
import { type Node, OwnerGraph, uidOf } from "./graph.ts";
import { planFor } from "./plan.ts";

/** Kinds that neither own nor are owned, and change often. */
const IGNORED = new Set(["events", "events.events.k8s.io"]);
const REDISCOVER_MS = 30_000;
const GATHER_MS = 300;
/** How long an absent owner is cached. */
const ABSENT_MS = 10_000;

export const garbageCollector = defineController({
  name: "garbage-collector-controller",
  account: "generic-garbage-collector",
  concurrency: 20,
  bind(context) {
    const collector = new Collector(context);
    return {
      sources: [],
      reconcile: (uid) => collector.reconcile(uid),
      run: (signal, enqueue) => collector.run(signal, enqueue),
    };
  },
});

interface Followed {
  readonly resource: DiscoveredResource;
  readonly informer: Informer<KubeObject>;
  leave(): void;
}

class Collector {
  readonly #context: ControllerContext;
  readonly #graph = new OwnerGraph();
  readonly #followed = new Map<string, Followed>();
  readonly #absent: RecentlyAbsent;
  readonly #discover: ReturnType<typeof repeatedDiscovery>;
  /** What is followed as of now. */
  #found: Discovered | undefined;
  #enqueue: Enqueue = () => {};

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#absent = new RecentlyAbsent(context.clock);
    this.#discover = repeatedDiscovery(context.client);
  }

  async reconcile(uid: string) {
    const { plan, look = [] } = await planFor(uid, this.#graph, (reference, node) => this.#isAbsent(reference, node));
    for (const each of look) this.#enqueue(each);
    return plan;
  }

  /** Follows all resources as they appear and disappear. */
  async run(signal: AbortSignal, enqueue: Enqueue): Promise<void> {
    const { client, clock, random, log, informers } = this.#context;
    const tasks = new TaskGroup({ parent: signal });
    const metadata = new Informers({ client, clock, random, log, tasks, metadataOnly: true });
    const definitions = informers.of(kinds.CustomResourceDefinition);
    let changed = Promise.withResolvers<void>();
    const leave = definitions.onChange(() => changed.resolve());
    try {
      while (!signal.aborted) {
        await this.#follow(metadata, signal);
        if (this.#enqueue !== enqueue) {
          await Promise.race([this.#synced(), ended(signal)]);
          this.#enqueue = enqueue;
          for (const uid of this.#graph.uids()) enqueue(uid);
        }
        await Promise.race([changed.promise, clock.sleep(REDISCOVER_MS, signal)]);
        // CustomResourceDefinitions often arrive many at once.
        await clock.sleep(GATHER_MS, signal);
        changed = Promise.withResolvers();
      }
    } finally {
      leave();
      for (const each of this.#followed.values()) each.leave();
      await tasks.stop();
    }
  }

  async #synced(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ informer }) => informer.synced));
  }

  async #follow(metadata: Informers, signal: AbortSignal): Promise<void> {
    const { log, informers } = this.#context;
    let found: Discovered;
    try {
      found = await this.#discover({ signal });
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("discovery failed; known resources are still followed", { error });
      return;
    }
    if (found === this.#found) return;
    this.#found = found;
    const wanted = new Map(found.resources.filter(isFollowed).map((each) => [keyOf(each), each]));
    for (const [key, { resource, informer, leave }] of this.#followed) {
      if (wanted.has(key) || found.unknownGroups.has(resource.group)) continue;
      this.#followed.delete(key);
      leave();
      for (const object of informer.cache.list()) this.#gone(object);
      metadata.end(resource);
    }
    for (const [key, resource] of wanted) {
      if (this.#followed.has(key)) continue;
      const informer: Informer<KubeObject> = (informers.has(resource) ? informers : metadata).of(resource);
      const leave = informer.onChange(({ type, object }) => {
        if (type === "deleted") this.#gone(object);
        else for (const uid of this.#graph.set({ resource, object })) this.#enqueue(uid, 0, revisionOf(object));
      });
      this.#followed.set(key, { resource, informer, leave });
    }
  }

  #gone(object: KubeObject): void {
    for (const uid of this.#graph.delete(uidOf(object))) this.#enqueue(uid, 0, revisionOf(object));
  }

  async #isAbsent(reference: OwnerReference, { object }: Node): Promise<boolean> {
    const { namespace = "" } = object.metadata;
    const key = `${namespace}/${reference.uid}/${reference.name}`;
    if (this.#absent.has(key)) return true;
    const group = reference.apiVersion.includes("/") ? reference.apiVersion.split("/", 1)[0] : "";
    const { resource } =
      [...this.#followed.values()].find(
        (each) => each.resource.group === group && each.resource.kind === reference.kind,
      ) ?? {};
    if (resource === undefined) throw new Error(`unknown kind of an owner: ${reference.apiVersion} ${reference.kind}`);
    // Namespaced owners are in the namespace of their dependents; a cluster-scoped dependent cannot have one.
    if (resource.namespaced && namespace === "") return false;
    const found = await this.#find(this.#context.client, resource, namespace, reference.name);
    const absent = found === undefined || uidOf(found) !== reference.uid;
    if (absent) this.#absent.add(key);
    return absent;
  }

  async #find(client: Client, resource: DiscoveredResource, namespace: string, name: string) {
    const all = client.metadataOf(resource);
    try {
      return await (resource.namespaced ? all.in(namespace) : all).get(name);
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return undefined;
      throw error;
    }
  }
}

/** Uids are never reused, so entries are dropped only to save memory. */
class RecentlyAbsent {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    return (this.#until.get(key) ?? 0) > this.#clock.monotonic();
  }

  add(key: string): void {
    const now = this.#clock.monotonic();
    for (const [each, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(each);
    }
    this.#until.set(key, now + ABSENT_MS);
  }
}

function isFollowed({ group, plural, verbs }: DiscoveredResource): boolean {
  const name = group === "" ? plural : `${plural}.${group}`;
  return !IGNORED.has(name) && ["delete", "list", "watch"].every((verb) => verbs.includes(verb));
}

function keyOf({ apiVersion, plural }: DiscoveredResource): string {
  return `${apiVersion}/${plural}`;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
