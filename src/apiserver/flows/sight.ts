/**
 * Which records a user sees: those about objects that they may get.
 *
 * 1. A user who may get everything sees everything. This is decided once, as for a watch.
 * 2. A work is visible to who may get the object that it is about. One about no single object, such as the rules of a
 *    kernel, is visible only to users who see everything. A claim is visible to who made it.
 * 3. The names of other users, the roles that allowed them, and what a work has read are visible only to users who see
 *    everything.
 * 4. Rights in a namespace do not reach the records of a former one of the same name: rights in all namespaces do.
 */
import { type Clock, TtlMap } from "#base";
import type { FlowRecord, ObjectName, RequestRecord, WorkRecord } from "#flows";
import { resourceAttributes } from "../authz/attributes.ts";
import { type Authorizer, isAllowed } from "../authz/authorizer.ts";
import type { UserInfo } from "../identity/user.ts";
import { type BeginningOf, isSince } from "./beginning.ts";

/** How long a decision is valid. */
const DECISION_MS = 10_000;
const MAX_DECISIONS = 4096;

export interface SightOptions {
  readonly authorize: Authorizer;
  readonly user: UserInfo;
  readonly clock: Clock;
  readonly beginningOf: BeginningOf;
}

export type Sight = (record: FlowRecord) => readonly FlowRecord[] | Promise<readonly FlowRecord[]>;

/** Undefined: everything is visible. */
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

  constructor(options: SightOptions) {
    this.#options = options;
    this.#decisions = new TtlMap(MAX_DECISIONS, options.clock);
  }

  async of(record: FlowRecord): Promise<readonly FlowRecord[]> {
    if (record.type === "work") return this.#work(record);
    if (!(await this.#maySee(record, record))) return [];
    return [record.type === "delivery" ? record : this.#shown(record)];
  }

  async #work({ read: _, ...record }: WorkRecord): Promise<readonly FlowRecord[]> {
    const { claimed, claimedBy, resource, about } = record;
    if (claimed) return claimedBy === this.#options.user.name ? [record] : [];
    if (resource === undefined) return [];
    const slash = about.indexOf("/");
    const object = { resource, namespace: slash === -1 ? "" : about.slice(0, slash), name: about.slice(slash + 1) };
    return (await this.#maySee(record, object)) ? [record] : [];
  }

  #shown(record: RequestRecord): RequestRecord {
    const { user, authorization: _, ...rest } = record;
    if (user === this.#options.user.name) return record;
    return { ...rest, user: user.startsWith("system:") ? user : "", actor: record.actor === user ? "" : record.actor };
  }

  async #maySee(record: FlowRecord, object: ObjectName): Promise<boolean> {
    if (!(await this.#mayGet(object))) return false;
    const beginning = this.#options.beginningOf(object.resource === "namespaces" ? object.name : object.namespace);
    if (beginning === undefined || isSince(record, beginning)) return true;
    return this.#mayGet({ ...object, namespace: "" });
  }

  async #mayGet({ resource, namespace, name }: ObjectName): Promise<boolean> {
    // Most roles are about all objects of a namespace: single names need no decision of their own.
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
