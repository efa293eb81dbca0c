/**
 * APIServices of what this server serves itself: one for each built-in group version, and for each of a definition.
 *
 *     built in ──────────────► wanted ──► plan ══► APIService
 *     definitions --► served ──┘   ▲
 *     APIServices ------------►────┘
 */
import { isConditionTrue, isStatusError, type KubeObject } from "#api";
import {
  asDefinition,
  GROUP as CRD_GROUP,
  PLURAL as CRD_PLURAL,
  type Definition,
} from "../custom-resources/definition.ts";
import { defaultPriority, type ServedVersion } from "../discovery/index.ts";
import { Ensure } from "../loopback/ensure.ts";
import { follow } from "../loopback/follow.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { deleteWith } from "../rest/write/delete.ts";
import { type ApiService, AUTOMANAGED, asApiService, GROUP, nameFor, PLURAL } from "./api-service.ts";
import { Reconciler } from "./reconciler.ts";
import { type Keeping, planRegistration, type Wanted } from "./registration-plan.ts";

const BACKOFF = { initialMs: 5, maxMs: 60_000 };
const WORKERS = 5;

export interface RegistrationOptions {
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly apiServices: Resource;
  readonly builtIn: readonly ServedVersion[];
}

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #ensure: Ensure;
  readonly #wanted = new Map<string, Wanted>();
  /** By definition: the APIServices that it needs. */
  readonly #ofDefinitions = new Map<string, ReadonlySet<string>>();
  readonly #seenTo = new Set<string>();
  readonly #there: ReadonlySet<string>;
  readonly #work: Reconciler;

  /** When the caches have caught up with the store. */
  constructor(options: RegistrationOptions) {
    this.#options = options;
    const { context, resources, apiServices, builtIn } = options;
    const { clock, random, log } = context;
    this.#ensure = new Ensure(context, resources);
    this.#work = new Reconciler({ task: "registration", clock, random, log, backoff: BACKOFF, concurrency: WORKERS });
    // The group of APIServices itself is always served.
    for (const { group, version } of builtIn) if (group !== GROUP) this.#want(group, version, "onstart");
    this.#there = new Set([...apiServices.readable()].map(({ object }) => object.metadata.name ?? ""));
  }

  /** Reconciles everything once. To be called before the first request. */
  async sync(): Promise<void> {
    const definitions = this.#definitions();
    for (const stored of definitions?.readable() ?? []) this.#define(asDefinition(stored.object));
    const names = [...new Set([...this.#wanted.keys(), ...this.#there])];
    // One that fails is tried again by `run`.
    await Promise.all(names.map((name) => this.#reconcile(name).catch(() => this.#work.add(name))));
  }

  /** Until its signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { context, apiServices } = this.#options;
    const { revision } = context.feed;
    const add = (name: string) => this.#work.add(name);
    const ends = [follow(apiServices, revision, { clear: () => {}, set: add, delete: add })];
    const definitions = this.#definitions();
    if (definitions !== undefined) ends.push(this.#followDefinitions(definitions, revision));
    try {
      await this.#work.run(signal, (name) => this.#reconcile(name));
    } finally {
      for (const end of ends) end();
    }
  }

  #definitions(): Resource | undefined {
    return this.#options.resources.find(CRD_GROUP, "v1", CRD_PLURAL);
  }

  #followDefinitions(definitions: Resource, revision: number): () => void {
    return follow(definitions, revision, {
      clear: () => {
        for (const name of [...this.#ofDefinitions.keys()]) this.#undefine(name);
      },
      set: (_, object) => this.#define(asDefinition(object)),
      delete: (name) => this.#undefine(name),
    });
  }

  #define(definition: Definition): void {
    const { metadata, spec } = definition;
    const name = metadata.name ?? "";
    const established = isConditionTrue(definition, "Established");
    const versions = established ? spec.versions.filter(({ served }) => served) : [];
    const needed = new Set(versions.map((version) => nameFor(spec.group, version.name)));
    const before = this.#ofDefinitions.get(name) ?? new Set();
    this.#ofDefinitions.set(name, needed);
    for (const version of versions) this.#want(spec.group, version.name, "true");
    for (const gone of before.difference(needed)) this.#unwant(gone);
  }

  #undefine(name: string): void {
    const needed = this.#ofDefinitions.get(name) ?? new Set();
    this.#ofDefinitions.delete(name);
    for (const gone of needed) this.#unwant(gone);
  }

  #want(group: string, version: string, keeping: Keeping): void {
    const name = nameFor(group, version);
    if (this.#wanted.has(name)) return;
    const { group: groupPriorityMinimum, version: versionPriority } = defaultPriority(group, version);
    const spec = { ...(group !== "" && { group }), version, groupPriorityMinimum, versionPriority };
    this.#wanted.set(name, { keeping, spec });
    this.#work.add(name);
  }

  /** Unless another definition needs it too, or it is built in. */
  #unwant(name: string): void {
    if (this.#wanted.get(name)?.keeping !== "true") return;
    if ([...this.#ofDefinitions.values()].some((needed) => needed.has(name))) return;
    this.#wanted.delete(name);
    this.#work.add(name);
  }

  async #reconcile(name: string): Promise<void> {
    const { apiServices } = this.#options;
    const stored = apiServices.cache.get(name);
    if (stored !== undefined && !apiServices.canRead(stored)) return;
    await this.#take(name, stored && asApiService(apiServices.read(stored)));
    this.#seenTo.add(name);
  }

  async #take(name: string, found: ApiService | undefined): Promise<void> {
    const step = this.#plan(name, found);
    const wanted = this.#wanted.get(name);
    if (step === "leave") return;
    if (step === "delete") return this.#delete(found);
    if (wanted === undefined) return;
    const { keeping, spec } = wanted;
    await this.#ensure.one({
      group: GROUP,
      plural: PLURAL,
      object: { metadata: { name, labels: { [AUTOMANAGED]: keeping } }, spec } as KubeObject,
      revise: (current) =>
        this.#plan(name, asApiService(current)) === "update" ? ({ ...current, spec } as KubeObject) : undefined,
    });
  }

  #plan(name: string, found: ApiService | undefined) {
    const [wanted, wasSeenTo, wasThere] = [this.#wanted.get(name), this.#seenTo.has(name), this.#there.has(name)];
    return planRegistration({ wanted, found, wasSeenTo, wasThere });
  }

  async #delete(found: ApiService | undefined): Promise<void> {
    const { context, apiServices } = this.#options;
    const { name = "", uid } = found?.metadata ?? {};
    try {
      await deleteWith(serverRequest(context, apiServices, { name }), {
        dryRun: false,
        gracePeriodSeconds: undefined,
        propagationPolicy: undefined,
        preconditions: uid === undefined ? {} : { uid },
        ignoreStoreReadError: false,
      });
    } catch (error) {
      // Another server was faster, or the object has been replaced.
      if (!isStatusError(error, "NotFound") && !isStatusError(error, "Conflict")) throw error;
    }
  }
}
