/**
 * What somebody sees of the records: those about objects that they may get.
 *
 * 1. Who may get everything sees everything, and is asked for once, as for a watch.
 * 2. Works are about the objects that woke them and that they wrote: they are seen with the first of these that is.
 * 3. Others' names, and by which role they were allowed, are no part of the objects: only who sees everything sees
 *    them. So is what a work read.
 */
import { type Clock, LruMap, TtlMap } from "#base";
import type { FlowRecord, ObjectName, RequestRecord, WorkRecord } from "#flows";
import { resourceAttributes } from "../authz/attributes.ts";
import { type Authorizer, isAllowed } from "../authz/authorizer.ts";
import type { UserInfo } from "../identity/user.ts";

/** A decision holds for this long. */
const DECISION_MS = 10_000;
const MAX_DECISIONS = 4096;
const MAX_WAITING = 1024;

export interface SightOptions {
  readonly authorize: Authorizer;
  readonly user: UserInfo;
  readonly clock: Clock;
}

export type Sight = (record: FlowRecord) => readonly FlowRecord[] | Promise<readonly FlowRecord[]>;

/** Undefined: everything is seen. */
export async function sightOf(options: SightOptions): Promise<Sight | undefined> {
  const { authorize, user } = options;
  const everything = resourceAttributes(user, "get", { apiGroup: "*", apiVersion: "*", resource: "*" });
  if (await isAllowed(authorize, everything)) return undefined;
  const sight = new PartialSight(options);
  return (record) => sight.of(record);
}

class PartialSight {
  readonly #options: SightOptions;
  readonly #decisions: TtlMap<string, boolean>;
  readonly #revisions = new Set<number>();
  readonly #waiting = new LruMap<string, WorkRecord>(MAX_WAITING);

  constructor(options: SightOptions) {
    this.#options = options;
    this.#decisions = new TtlMap(MAX_DECISIONS, options.clock);
  }

  async of(record: FlowRecord): Promise<readonly FlowRecord[]> {
    if (record.type === "work") {
      const { read: _, ...rest } = record;
      return this.#work(rest);
    }
    if (!(await this.#mayGet(record))) return [];
    if (record.type === "delivery") return [record];
    if (record.written !== undefined) this.#revisions.add(record.written.revision);
    const work = this.#waiting.get(record.cause ?? "");
    if (work === undefined) return [this.#shown(record)];
    this.#waiting.delete(work.id);
    return [work, this.#shown(record)];
  }

  #work(record: WorkRecord): readonly FlowRecord[] {
    if (record.woken.some((revision) => this.#revisions.has(revision))) return [record];
    this.#waiting.set(record.id, record);
    return [];
  }

  #shown(record: RequestRecord): RequestRecord {
    const { user, authorization: _, ...rest } = record;
    if (user === this.#options.user.name) return record;
    return { ...rest, user: user.startsWith("system:") ? user : "", actor: record.actor === user ? "" : record.actor };
  }

  async #mayGet({ resource, namespace, name }: ObjectName): Promise<boolean> {
    // Most roles speak of all objects of a namespace: their names need not be asked for one by one.
    if (await this.#asked(resource, namespace, "")) return true;
    return name !== "" && this.#asked(resource, namespace, name);
  }

  async #asked(resource: string, namespace: string, name: string): Promise<boolean> {
    const { authorize, user } = this.#options;
    const key = `${resource} ${namespace} ${name}`;
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const slash = resource.indexOf("/");
    const about = { apiGroup: slash === -1 ? "" : resource.slice(0, slash), resource: resource.slice(slash + 1) };
    const allowed = await isAllowed(
      authorize,
      resourceAttributes(user, "get", { ...about, apiVersion: "*", namespace, name }),
    );
    this.#decisions.set(key, allowed, DECISION_MS);
    return allowed;
  }
}
