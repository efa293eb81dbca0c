/**
 * Reconciles what is served, and the status of definitions, with the definitions.
 *
 *     definitions --► queue ──► plan of the status ──► served ══► status
 *                       └───► (deleted) ──► cleanup ══► gone
 *
 * 1. One definition at a time: which of two gets a name that both ask for is decided once.
 * 2. A definition is Established in its status only after it is served here.
 */
import { isStatusError } from "#api";
import { processQueue, WorkQueue } from "#base";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { change } from "../rest/write/change.ts";
import { cleanUp, DELETING } from "./cleanup.ts";
import {
  asDefinition,
  CLEANUP_FINALIZER,
  conditionsOf,
  type Definition,
  isTerminating,
  nameOf,
  withCondition,
} from "./definition.ts";
import type { ServedDefinitions } from "./served-definitions.ts";
import { isServable, isSettled, planStatus } from "./status-plan.ts";

const CLEANUPS_AT_ONCE = 32;
const SERVED_WITHIN_MS = 2_000;
const BACKOFF = { initialMs: 20, maxMs: 60_000 };

export interface ControllerOptions {
  readonly context: ServerContext;
  readonly definitions: Resource;
  readonly resources: Resources;
  readonly served: ServedDefinitions;
}

export class DefinitionController {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #cleanups: WorkQueue;
  /** Callers that wait until a definition has been reconciled, by its name. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { clock, random } = options.context;
    this.#queue = new WorkQueue({ clock, random, backoff: BACKOFF });
    this.#cleanups = new WorkQueue({ clock, random, backoff: BACKOFF });
  }

  /** Serves every definition that its stored status allows to be served. */
  async sync(): Promise<void> {
    const { context, served, definitions } = this.#options;
    for (const stored of definitions.readable()) {
      const definition = asDefinition(stored.object);
      if (served.as(nameOf(definition), stored.revision) !== undefined || !isServable(definition)) continue;
      await served.update(definition).catch((error: unknown) => context.feed.reportUnreadable(stored.key, error));
    }
    for (const name of served.names()) if (definitions.cache.get(name) === undefined) served.remove(name);
    served.publishAll();
  }

  /** Waits, up to a limit, until the latest state of a definition has been reconciled. */
  async reconciled(name: string): Promise<void> {
    const { context, definitions, served } = this.#options;
    const stored = definitions.cache.get(name);
    if (stored === undefined || served.as(name, stored.revision) !== undefined) return;
    const waiting = this.#waiting.get(name) ?? Promise.withResolvers<void>();
    this.#waiting.set(name, waiting);
    const timer = context.clock.timer(SERVED_WITHIN_MS, () => this.#done(name));
    await waiting.promise.finally(() => timer.cancel());
  }

  #done(name: string): void {
    this.#waiting.get(name)?.resolve();
    this.#waiting.delete(name);
  }

  /** Runs until its signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#follow();
    const { log } = this.#options.context;
    const process = (
      queue: WorkQueue,
      concurrency: number,
      work: (name: string, signal: AbortSignal) => Promise<void>,
    ) =>
      processQueue(
        queue,
        {
          signal,
          concurrency,
          onFailure: (error, name) => {
            log.warn("a CustomResourceDefinition could not be reconciled; trying again", { name, error });
            return "retry";
          },
        },
        work,
      );
    try {
      await Promise.all([
        process(this.#queue, 1, (name) => this.#reconcile(name).finally(() => this.#done(name))),
        process(this.#cleanups, CLEANUPS_AT_ONCE, (name, ending) => this.#cleanUp(name, ending)),
      ]);
    } finally {
      stop();
      this.#queue.close();
      for (const name of [...this.#waiting.keys()]) this.#done(name);
      this.#cleanups.close();
    }
  }

  /** Enqueues the unsettled definitions, then every one that changes. */
  #follow(): () => void {
    const { context, definitions } = this.#options;
    let stop: (() => void) | undefined;
    const fill = () => {
      stop?.();
      for (const name of this.#unsettled()) this.#queue.add(name);
      stop = definitions.cache.watch({}, context.feed.revision, {
        event: ({ stored }) => this.#queue.add(stored.key.slice(definitions.cache.prefix.length)),
        expired: () => queueMicrotask(fill),
      });
    };
    fill();
    return () => stop?.();
  }

  /** Names to reconcile, without parsing definitions that are known to be settled. */
  *#unsettled(): Generator<string> {
    const { served, definitions } = this.#options;
    for (const [name, stored] of definitions.cache.snapshot().entries()) {
      const known = served.as(name, stored.revision);
      if (known === undefined || !isSettled(known)) yield name;
    }
    for (const name of served.names()) if (definitions.cache.get(name) === undefined) yield name;
  }

  async #reconcile(name: string): Promise<void> {
    const { served } = this.#options;
    const definition = this.#find(name);
    if (definition === undefined) {
      served.remove(name);
      this.#addOthersOf(name);
      return;
    }
    const status = this.#plan(definition);
    const planned = status === definition.status ? definition : { ...definition, status };
    if (isServable(planned)) await served.update(planned);
    else served.remove(name);
    if (planned !== definition) {
      await this.#write(name, (current) => {
        const next = this.#plan(current);
        return next === current.status ? undefined : { ...current, status: next };
      });
      this.#addOthersOf(name);
    }
    if (isTerminating(definition)) this.#cleanups.add(name);
  }

  async #cleanUp(name: string, signal: AbortSignal): Promise<void> {
    const { context } = this.#options;
    if (!(await this.#setTerminating(name, DELETING))) return;
    const definition = this.#find(name);
    if (definition === undefined) return;
    const outcome = await cleanUp(definition, { context, signal, instances: () => this.#instances(definition) });
    await this.#setTerminating(name, outcome);
    if (outcome.status !== "False") throw new Error(outcome.message);
  }

  /**
   * Sets the condition Terminating; when its status is False, removes the finalizer. Returns false if nothing is to be
   * deleted.
   */
  async #setTerminating(name: string, facts: Parameters<typeof withCondition>[2]): Promise<boolean> {
    let found = false;
    await this.#write(name, (current) => {
      found = isTerminating(current);
      if (!found) return undefined;
      const before = conditionsOf(current);
      const conditions = withCondition(before, "Terminating", facts, this.#options.context.clock.now());
      const ended = facts?.status === "False";
      if (conditions === before && !ended) return undefined;
      const finalizers = (current.metadata.finalizers ?? []).filter((it) => !ended || it !== CLEANUP_FINALIZER);
      return {
        ...current,
        metadata: { ...current.metadata, finalizers },
        status: { ...current.status, conditions },
      };
    });
    return found;
  }

  async #instances(definition: Definition): Promise<Resource> {
    const { served, resources } = this.#options;
    const found = served.get(nameOf(definition));
    if (found === undefined) throw new Error(`${nameOf(definition)} is not served`);
    return found.stored(await resources.join(found.prefix));
  }

  /**
   * Writes the status and the finalizers that `next` returns; undefined: no change. A definition that is gone is not
   * written.
   */
  async #write(name: string, next: (current: Definition) => Definition | undefined): Promise<void> {
    const { context, definitions } = this.#options;
    try {
      await change(serverRequest(context, definitions, { name, subresource: "status" }), {
        dryRun: false,
        propose: (current) => {
          const before = asDefinition(current as NonNullable<typeof current>);
          const after = next(before);
          const draft = structuredClone(after ?? before) as unknown as AnyDraft;
          return { draft, unchanged: after === undefined };
        },
      });
    } catch (error) {
      if (!isStatusError(error, "NotFound")) throw error;
    }
  }

  #plan(definition: Definition) {
    const now = this.#options.context.clock.now();
    return planStatus(definition, { all: this.#ofGroup(definition.spec.group), now });
  }

  #find(name: string): Definition | undefined {
    const stored = this.#options.definitions.cache.get(name);
    return stored && asDefinition(stored.object);
  }

  /** All definitions of a group. The name of a definition ends with its group. */
  *#ofGroup(group: string): Generator<Definition> {
    for (const stored of this.#options.definitions.readable()) {
      if (groupOf(nameOf(asDefinition(stored.object))) === group) yield asDefinition(stored.object);
    }
  }

  /** Names may have become free: definitions of the group that wait for one are reconciled again. */
  #addOthersOf(name: string): void {
    for (const definition of this.#ofGroup(groupOf(name))) {
      const waits = conditionsOf(definition).some(({ type, status }) => type === "NamesAccepted" && status !== "True");
      if (waits && nameOf(definition) !== name) this.#queue.add(nameOf(definition));
    }
  }
}

function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}
