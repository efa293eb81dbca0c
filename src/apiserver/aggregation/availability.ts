/**
 * Keeps the condition Available of every APIService up to date.
 *
 *     APIServices, Services, EndpointSlices --► queue ──► plan ──► (probes the extension server) ══► status
 *     every 30 s ···►───────────────────────────┘
 *
 * 1. It runs in the background; every check has a deadline, and a server that hangs blocks at most one worker.
 * 2. A check sends a few probes at once: one answer is enough, whichever endpoint gives it.
 */
import { type ConditionFacts, type core, type discovery, equalJson, isStatusError, type Json } from "#api";
import { addressText, type MetricsRegistry } from "#base";
import { follow } from "../loopback/follow.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import type { Resource } from "../rest/resource.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { change } from "../rest/write/change.ts";
import { type ApiService, asApiService, availableOf, basePathOf, type ServiceAt, serviceOf } from "./api-service.ts";
import {
  FAILED_CHECK,
  failedDiscovery,
  faultOf,
  LOCAL,
  PASSED,
  type Surroundings,
  withAvailable,
} from "./availability-plan.ts";
import type { Backends } from "./backends.ts";
import { fetchDocument } from "./fetch-document.ts";
import { Reconciler, Unfinished } from "./reconciler.ts";

const BACKOFF = { initialMs: 100, maxMs: 30_000 };
const WORKERS = 5;
const RECHECK_MS = 30_000;
const ATTEMPTS = 5;
/** Any response counts; its body is not read. */
const LIMITS = { timeoutMs: 5_000, maxBytes: 0 };
const SERVICE_NAME = "kubernetes.io/service-name";

export interface AvailabilityOptions {
  readonly context: ServerContext;
  readonly apiServices: Resource;
  readonly services: Resource;
  readonly slices: Resource;
  /** Backends for probes, which do not verify certificates: only the fact of a response is used. */
  readonly backends: Backends;
  readonly metrics: MetricsRegistry;
}

export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #work: Reconciler;
  /** APIServices by the Service behind them. */
  readonly #behind = new Map<string, Set<string>>();
  readonly #gauge;
  readonly #total;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    const { clock, random, log } = options.context;
    this.#work = new Reconciler({ task: "availability", clock, random, log, backoff: BACKOFF, concurrency: WORKERS });
    this.#gauge = options.metrics.gauge({
      name: "aggregator_unavailable_apiservice",
      help: "Whether an APIService is unavailable, by its name.",
      labels: ["name"],
    });
    this.#total = options.metrics.counter({
      name: "aggregator_unavailable_apiservice_total",
      help: "How often an APIService became unavailable, by its name and the reason.",
      labels: ["name", "reason"],
    });
  }

  /** Until its signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { context, apiServices, services, slices, metrics } = this.#options;
    const { revision } = context.feed;
    const service = (key: string) => this.#changedService(key);
    const ends = [
      follow(apiServices, revision, {
        clear: () => this.#behind.clear(),
        set: (name, object) => this.#changed(name, asApiService(object)),
        delete: (name) => this.#gone(name),
      }),
      follow(services, revision, { clear: () => {}, set: service, delete: service }),
      follow(slices, revision, {
        clear: () => {},
        set: (_, object) => service(serviceKey(object as discovery.EndpointSlice)),
        // The deleted slice's Service is unknown: all APIServices of its namespace are checked.
        delete: (key) => this.#changedNamespace(key.slice(0, key.indexOf("/") + 1)),
      }),
      metrics.collect(() => this.#measure()),
    ];
    try {
      await this.#work.run(signal, (name, ending) => this.#check(name, ending));
    } finally {
      for (const end of ends) end();
    }
  }

  #changed(name: string, service: ApiService): void {
    this.#gone(name);
    const at = serviceOf(service);
    if (at !== undefined) {
      const key = `${at.namespace}/${at.name}`;
      this.#behind.set(key, (this.#behind.get(key) ?? new Set()).add(name));
    }
    this.#work.add(name);
  }

  #gone(name: string): void {
    for (const [key, names] of this.#behind) if (names.delete(name) && names.size === 0) this.#behind.delete(key);
  }

  #changedService(key: string): void {
    for (const name of this.#behind.get(key) ?? []) this.#work.add(name);
  }

  #changedNamespace(prefix: string): void {
    for (const key of this.#behind.keys()) if (key.startsWith(prefix)) this.#changedService(key);
  }

  async #check(name: string, signal: AbortSignal): Promise<void> {
    const service = this.#find(name);
    if (service === undefined) return;
    const at = serviceOf(service);
    const facts = at === undefined ? LOCAL : await this.#factsOf(name, service, at, signal);
    if (at !== undefined) this.#work.addAfter(name, RECHECK_MS);
    await this.#write(name, service, facts);
    if (facts.reason === FAILED_CHECK) throw new Unfinished(facts.message);
  }

  async #factsOf(name: string, service: ApiService, at: ServiceAt, signal: AbortSignal): Promise<ConditionFacts> {
    const fault = this.#options.backends.isLocal(at) ? undefined : faultOf(at, this.#surroundings(at));
    if (fault !== undefined) return fault;
    // One that is part of this server cannot fail to be reached: one attempt tells.
    const attempts = this.#options.backends.isLocal(at) ? 1 : ATTEMPTS;
    const failure = await this.#ask(name, service, attempts, signal);
    return failure === undefined ? PASSED : failedDiscovery(failure);
  }

  #surroundings({ namespace, name }: ServiceAt): Surroundings {
    const { services, slices } = this.#options;
    const stored = services.cache.get(services.suffix(namespace, name));
    const near = [...slices.readable({ from: `${namespace}/`, before: `${namespace}0` })];
    return {
      service: stored && (services.read(stored) as core.Service),
      slices: near
        .map((slice) => slices.read(slice) as discovery.EndpointSlice)
        .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === name),
    };
  }

  /** Undefined: it responds. */
  async #ask(name: string, service: ApiService, attempts: number, signal: AbortSignal): Promise<string | undefined> {
    const enough = new AbortController();
    const stop = () => enough.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.any(Array.from({ length: attempts }, () => this.#attempt(name, service, enough.signal)));
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const last: unknown = (error as AggregateError).errors.at(-1);
      return last instanceof Error ? last.message : String(last);
    } finally {
      enough.abort();
      signal.removeEventListener("abort", stop);
    }
  }

  async #attempt(name: string, service: ApiService, signal: AbortSignal): Promise<void> {
    const { backends, context } = this.#options;
    const reached = backends.reach(name, service);
    const path = basePathOf(name);
    const url = `https://${addressText(reached.address)}${path}`;
    const question = { path, accept: "application/json, */*" };
    let status: number;
    try {
      ({ status } = await fetchDocument(reached, question, LIMITS, context.clock, signal));
    } catch (error) {
      throw new Error(`failing or missing response from ${url}: ${(error as Error).message}`, { cause: error });
    }
    if (status < 200 || status > 299)
      throw new Error(`failing or missing response from ${url}: bad status from ${url}: ${status}`);
  }

  async #write(name: string, seen: ApiService, facts: ConditionFacts): Promise<void> {
    const { context, apiServices } = this.#options;
    const now = context.clock.now();
    if (withAvailable(seen, facts, now) === seen.status) return;
    if (facts.status !== "True" && availableOf(seen)?.status !== facts.status)
      this.#total.labels(name, facts.reason).inc();
    try {
      await change(serverRequest(context, apiServices, { name, subresource: "status" }), {
        dryRun: false,
        propose: (current) => {
          const service = asApiService(current as NonNullable<typeof current>);
          const status = withAvailable(service, facts, now);
          const draft = structuredClone({ ...service, status }) as unknown as AnyDraft;
          // The APIService may have changed since the check: then another check is queued.
          return { draft, unchanged: !isSame(service, seen) || status === service.status };
        },
      });
    } catch (error) {
      if (!isStatusError(error, "NotFound")) throw error;
    }
  }

  #find(name: string): ApiService | undefined {
    const { apiServices } = this.#options;
    const stored = apiServices.cache.get(name);
    return stored && asApiService(apiServices.read(stored));
  }

  #measure(): void {
    const { apiServices } = this.#options;
    this.#gauge.clear();
    for (const stored of apiServices.readable()) {
      const service = asApiService(apiServices.read(stored));
      this.#gauge.labels(service.metadata.name ?? "").set(availableOf(service)?.status === "True" ? 0 : 1);
    }
  }
}

function isSame(a: ApiService, b: ApiService): boolean {
  return a.metadata.uid === b.metadata.uid && equalJson((a.spec ?? null) as Json, (b.spec ?? null) as Json);
}

function serviceKey({ metadata }: discovery.EndpointSlice): string {
  return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ""}`;
}
