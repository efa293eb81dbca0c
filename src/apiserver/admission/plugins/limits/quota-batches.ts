/**
 * Charges quotas: the usage of the writes of one namespace is added up, and written to the quotas before any of these
 * writes is stored.
 *
 *     writes ──► batch of their namespace ──► charge each in turn ══► status of the quotas (CAS) ──► answer each
 *                        ▲                                                   │
 *                        └──────── another writer was first ◄───────────┘
 *
 * 1. Each namespace has one batch under way; writes that arrive meanwhile form the next. A thousand writes cost a few
 *    updates of their quotas.
 * 2. A write is admitted only after its usage is stored: no two writes, on whatever server, count on the same
 *    remainder.
 * 3. Usage that was charged for a write that then failed is given back by the quota controller only.
 */
import {
  type Charged,
  charge,
  conflict,
  type core,
  type LimitedResource,
  type QuotaEvaluator,
  type QuotaState,
  type QuotaWrite,
  quotaState,
  usedTexts,
} from "#api";
import type { StoredObject } from "../../../cache/stored-object.ts";
import { serverRequest } from "../../../loopback/server-request.ts";
import type { AnyDraft } from "../../../rest/draft.ts";
import { shown } from "../../../rest/read/fresh.ts";
import type { Resource } from "../../../rest/resource.ts";
import { storeCall } from "../../../rest/store-call.ts";
import { own } from "../../../rest/write/ownership.ts";
import { persist } from "../../../rest/write/persist.ts";
import type { PluginServices } from "../../chain/plugin-services.ts";

/** How often another writer may be first. */
const MAX_TRIES = 10;

export interface Charge {
  readonly write: QuotaWrite;
  readonly evaluator: QuotaEvaluator;
  readonly dryRun: boolean;
}

export type ChargeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly forbidden: boolean; readonly error?: unknown };

interface Waiting extends Charge {
  readonly now: number;
  readonly answer: (outcome: ChargeOutcome) => void;
}

const OK: ChargeOutcome = { ok: true };

export class QuotaBatches {
  readonly #services: PluginServices;
  readonly #limited: readonly LimitedResource[];
  /** Writes that wait for the batch of their namespace that is under way. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(services: PluginServices, limited: readonly LimitedResource[]) {
    this.#services = services;
    this.#limited = limited;
  }

  hasQuotas(namespace: string): boolean {
    for (const _ of this.#stored(namespace)) return true;
    return false;
  }

  /** Never rejects: errors are outcomes. */
  charge(namespace: string, one: Charge, now: number): Promise<ChargeOutcome> {
    const { promise, resolve } = Promise.withResolvers<ChargeOutcome>();
    const waiting = { ...one, now, answer: resolve };
    const others = this.#waiting.get(namespace);
    if (others !== undefined) others.push(waiting);
    else {
      this.#waiting.set(namespace, [waiting]);
      void this.#run(namespace);
    }
    return promise;
  }

  async #run(namespace: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(namespace) ?? [];
      if (batch.length === 0) {
        this.#waiting.delete(namespace);
        return;
      }
      this.#waiting.set(namespace, []);
      try {
        await this.#decide(namespace, batch, this.#states(namespace), 1);
      } catch (error) {
        for (const { answer } of batch) answer({ ok: false, why: "", forbidden: false, error });
      }
    }
  }

  /** Decides about each write of the batch, by the quotas that are passed in: the others have been charged already. */
  async #decide(
    namespace: string,
    batch: readonly Waiting[],
    states: readonly QuotaState[],
    tries: number,
  ): Promise<void> {
    let running = states;
    const charged: Waiting[] = [];
    for (const one of batch) {
      const outcome: Charged = charge(running, one.write, one.evaluator, this.#limited, one.now);
      if (!outcome.ok) one.answer(outcome);
      else if (one.dryRun || outcome.quotas === running) one.answer(OK);
      else {
        running = outcome.quotas;
        charged.push(one);
      }
    }
    if (charged.length === 0) return;
    const lost = await this.#store(states, running);
    if (lost.length === 0) {
      for (const { answer } of charged) answer(OK);
    } else if (tries === MAX_TRIES) {
      throw conflict({ group: "", resource: "resourcequotas" }, lost[0] ?? "");
    } else {
      const { storage } = this.#services;
      await shown(storage, await storeCall(() => storage.store.revision()));
      // A deleted quota limits nothing.
      const left = this.#states(namespace).filter(({ quota }) => lost.includes(quota.metadata.name ?? ""));
      await this.#decide(namespace, charged, left, tries + 1);
    }
  }

  /** The names of quotas that another writer changed meanwhile. */
  async #store(before: readonly QuotaState[], after: readonly QuotaState[]): Promise<readonly string[]> {
    const lost: string[] = [];
    for (const [i, state] of after.entries()) {
      if (state === before[i] || (await this.#storeOne(state))) continue;
      lost.push(state.quota.metadata.name ?? "");
    }
    return lost;
  }

  async #storeOne(state: QuotaState): Promise<boolean> {
    const quotas = this.#quotas();
    const { context } = this.#services.loopback;
    const { name = "", namespace = "", resourceVersion } = state.quota.metadata;
    const draft = structuredClone(state.quota) as unknown as AnyDraft;
    Object.assign(draft, { status: { ...state.quota.status, used: usedTexts(state) } });
    await own(serverRequest(context, quotas, { name, namespace, subresource: "status" }), draft, state.quota);
    const suffix = quotas.suffix(namespace, name);
    const { ok } = await persist(context, quotas, suffix, draft, Number(resourceVersion));
    return ok;
  }

  #states(namespace: string): readonly QuotaState[] {
    const quotas = this.#quotas();
    return [...this.#stored(namespace)].map((stored) => quotaState(quotas.read(stored) as core.ResourceQuota));
  }

  #stored(namespace: string): Iterable<StoredObject> {
    const quotas = this.#quotas();
    if (quotas.cache.size === 0) return [];
    return quotas.readable({ from: `${namespace}/`, before: `${namespace}0` });
  }

  #quotas(): Resource {
    const quotas = this.#services.resources.find("", "v1", "resourcequotas");
    if (quotas === undefined) throw new Error("ResourceQuotas are not served");
    return quotas;
  }
}
