/**
 * All FlowSchemas and PriorityLevelConfigurations, compiled for classifying requests.
 *
 *     PriorityLevelConfigurations ──► levels with their seats ┐
 *     FlowSchemas ──► sorted by precedence ───────────────────┴──► classify
 *
 * 1. Levels and schemas `exempt` and `catch-all` always exist: without their objects, with their default specs.
 * 2. A schema whose level does not exist is not used. A level that was deleted serves the requests that it has, and
 *    goes when it is idle.
 * 3. Every change compiles everything again: changes are rare, requests are not.
 */
import type { flowcontrol } from "#api";
import { MemoMap } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { dealHand, flowHash } from "./dealer.ts";
import { byPrecedence, CompiledSchema, type SubjectMatcher } from "./flow-schema.ts";
import { Level, type LevelOptions } from "./level.ts";
import type { SchemaSamples } from "./measures/metrics.ts";
import { flowSchemas, MANDATORY, priorityLevels } from "./objects/default-objects.ts";
import { borrow, seatLimits } from "./seat-shares.ts";
import type { Schema } from "./ticket.ts";

/** A schema may have any number of flows. */
const MAX_HANDS = 4096;
const NO_HAND: readonly number[] = [];

/** A schema and its level. */
export class Route implements Schema {
  readonly definition: CompiledSchema;
  readonly level: Level;
  readonly samples: SchemaSamples;
  /** Headers of the answers to its requests. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #hands = new MemoMap<string, readonly number[]>(MAX_HANDS);

  constructor(definition: CompiledSchema, level: Level, samples: SchemaSamples) {
    this.definition = definition;
    this.level = level;
    this.samples = samples;
    this.headers = {
      "x-kubernetes-pf-flowschema-uid": definition.uid,
      "x-kubernetes-pf-prioritylevel-uid": level.uid,
    };
  }

  get name(): string {
    return this.definition.name;
  }

  /** The queues that a flow may use. */
  hand(distinguisher: string): readonly number[] {
    const known = this.#hands.get(distinguisher);
    if (known !== undefined) return known;
    const { queuing } = this.level;
    if (queuing.type !== "queue") return NO_HAND;
    const hand = dealHand(flowHash(this.name, distinguisher), queuing.queues, queuing.handSize);
    this.#hands.set(distinguisher, hand);
    return hand;
  }
}

interface Candidate {
  readonly route: Route;
  readonly subject: SubjectMatcher;
}

export interface ConfigurationOptions extends LevelOptions {
  /** The seats of all levels together. */
  readonly total: number;
}

export class Configuration {
  readonly #options: ConfigurationOptions;
  readonly #levels = new Map<string, Level>();
  #routes: readonly Route[] = [];
  /** Schemas that match a topic for some user, by topic. Until schemas change. */
  #candidates = new WeakMap<object, readonly Candidate[]>();
  /** By user and topic. Until schemas change. */
  #known = new WeakMap<UserInfo, WeakMap<object, Route>>();

  constructor(options: ConfigurationOptions) {
    this.#options = options;
    this.digest([], []);
  }

  /** Sorted by name. */
  get levels(): readonly Level[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Every request matches a schema, at the latest `catch-all`. */
  classify(user: UserInfo, info: RequestInfo): Route {
    const { topic } = info;
    if (topic === undefined)
      return this.#routes.find(({ definition }) => definition.matches(user, info)) ?? this.#catchAll();
    return this.#known.get(user)?.get(topic) ?? this.#find(user, topic, info);
  }

  #find(user: UserInfo, topic: object, info: RequestInfo): Route {
    const candidates = this.#candidates.get(topic) ?? this.#collect(topic, info);
    const route = candidates.find(({ subject }) => subject(user))?.route ?? this.#catchAll();
    const ofUser = this.#known.get(user) ?? new WeakMap<object, Route>();
    this.#known.set(user, ofUser.set(topic, route));
    return route;
  }

  digest(levels: readonly flowcontrol.PriorityLevelConfiguration[], schemas: readonly flowcontrol.FlowSchema[]): void {
    const wanted = new Map(levels.filter(isSound).map((level) => [level.metadata.name ?? "", level]));
    const present = new Set(wanted.keys());
    for (const name of MANDATORY) {
      const spec = priorityLevels.get(name);
      if (!wanted.has(name) && spec !== undefined) wanted.set(name, { metadata: { name }, spec });
    }
    for (const [name, { metadata, spec }] of wanted) {
      const level = this.#levels.get(name) ?? new Level(name, this.#options);
      this.#levels.set(name, level);
      level.configure(metadata.uid ?? "", spec ?? { type: "Limited" });
    }
    for (const [name, level] of this.#levels) {
      if (wanted.has(name)) continue;
      if (level.queue.isIdle) this.#levels.delete(name);
      else level.quiescing = true;
    }
    this.#routes = this.#compile(schemas, present);
    this.#candidates = new WeakMap();
    this.#known = new WeakMap();
    const limits = seatLimits(
      new Map([...this.#levels].map(([name, { shares }]) => [name, shares])),
      this.#options.total,
    );
    for (const [name, level] of this.#levels) {
      const own = limits.get(name);
      if (own !== undefined) level.limit(own);
    }
    this.rebalance();
  }

  /** Lends and borrows seats, by the demand since the last time. */
  rebalance(): void {
    for (const level of this.#levels.values()) level.review();
    const { levels, fairFraction } = borrow(
      new Map(
        [...this.#levels].map(([name, { exempt, limits, stats, queue }]) => [
          name,
          { exempt, limits, demand: stats, current: queue.limit },
        ]),
      ),
    );
    this.#options.metrics.fairFraction.set(fairFraction);
    const spare = Math.max(1, Math.round(this.#options.total / 10));
    for (const [name, lending] of levels) this.#levels.get(name)?.seat(lending, spare);
  }

  #catchAll(): Route {
    const catchAll = this.#routes.findLast(({ name }) => name === "catch-all");
    if (catchAll === undefined) throw new Error("there is no flow schema catch-all");
    return catchAll;
  }

  #collect(topic: object, info: RequestInfo): readonly Candidate[] {
    const candidates = this.#routes.flatMap((route) =>
      route.definition.subjects(info).map((subject) => ({ route, subject })),
    );
    this.#candidates.set(topic, candidates);
    return candidates;
  }

  #compile(schemas: readonly flowcontrol.FlowSchema[], present: ReadonlySet<string>): readonly Route[] {
    const compiled = schemas.map((schema) => new CompiledSchema(schema)).filter(({ level }) => present.has(level));
    compiled.sort(byPrecedence);
    const imagined = (name: string) => {
      const spec = flowSchemas.get(name);
      return spec === undefined || compiled.some((schema) => schema.name === name)
        ? []
        : [new CompiledSchema({ metadata: { name }, spec })];
    };
    return [...imagined("exempt"), ...compiled, ...imagined("catch-all")].flatMap((schema) => {
      const level = this.#levels.get(schema.level);
      return level === undefined
        ? []
        : [new Route(schema, level, this.#options.metrics.ofSchema(schema.name, level.name))];
    });
  }
}

/** Levels that validation would refuse are ignored. */
function isSound({ metadata, spec }: flowcontrol.PriorityLevelConfiguration): boolean {
  const exempt = spec?.type === "Exempt";
  return exempt === (metadata.name === "exempt") && exempt === (spec?.limited === undefined);
}
