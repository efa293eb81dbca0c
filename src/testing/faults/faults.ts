/**
 * What goes wrong between the components of a test cluster and its API server.
 *
 *     component ──► rules: refused, lost, dies ──► watches: late, repeated, broken off ──► API server
 *
 * 1. Everything follows from the seed: the same test has the same faults.
 * 2. A rule concerns the components; the clients of a test only if it names them.
 * 3. An answer that is lost belongs to a request that was carried out; one that is refused was not.
 */
import {
  expired,
  internalError,
  isStatusError,
  StatusError,
  serviceUnavailable,
  tooManyRequests,
  writeJson,
} from "#api";
import { type Clock, type Random, seededRandom } from "#base";
import type { InProcessHandle } from "#client";
import type { ApiResponse } from "../../apiserver/http/exchange.ts";
import {
  closableWatches,
  type Death,
  faultyWatches,
  type Handle,
  Mortal,
  type Request,
  type WatchFaults,
} from "./faulty-handle.ts";
import { isList, isNoWatch, listOfThePast } from "./stale-list.ts";

export const COMPONENTS = ["kube-controller-manager", "kube-scheduler", "kubelet", "operator"] as const;
export type ComponentName = (typeof COMPONENTS)[number];

export interface Selected {
  /** A component, a node, or the name of a user of `cluster.as`. Default: all components. */
  readonly of?: string | undefined;
  readonly method?: string | undefined;
  /** A part of the path, or an expression that it matches. */
  readonly path?: string | RegExp | undefined;
  /** How many requests at most. Default: all. */
  readonly times?: number | undefined;
  /** The probability for each request. Default: 1. */
  readonly chance?: number | undefined;
}

/** Of watches, see `faultyWatches`. */
export type LateWatches = Partial<Pick<WatchFaults, "breaks" | "repeats" | "lateMs">> & Pick<Selected, "of">;

interface Rule {
  readonly selected: Selected;
  left: number;
  readonly matches: (request: Request) => boolean;
  act(handle: Handle, request: Request): Promise<ApiResponse>;
}

interface OpenWatch {
  readonly component: string;
  readonly user: string;
  readonly close: () => void;
}

const REFUSALS: Readonly<Record<number, () => StatusError>> = {
  409: () =>
    new StatusError("Conflict", "the object has been modified; please apply your changes to the latest version"),
  410: () => expired("too old resource version"),
  429: () => tooManyRequests("the server has received too many requests", 1),
  500: () => internalError("a fault of the test"),
  503: () => serviceUnavailable("the server is currently unable to handle the request"),
  504: () => new StatusError("Timeout", "the server was unable to return a response in the time allotted"),
};

export class Faults {
  readonly #clock: Clock;
  #random: Random;
  readonly #onDeath: (component: string, bury: () => void) => void;
  /** Components that are to die, and after how many writes. */
  readonly #kills = new Map<string, { left: number; readonly death: Death }>();
  readonly #rules = new Set<Rule>();
  readonly #watches = new Set<OpenWatch>();
  /** Who has no connection: components, users, nodes. */
  readonly #cutOff = new Set<string>();
  #asleep = 0;
  #late: LateWatches | undefined;

  /** `onDeath` ends a component that has died (`bury` fails what it still waits for), and starts it again. */
  constructor(clock: Clock, random: Random, onDeath: (component: string, bury: () => void) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#onDeath = onDeath;
  }

  /** Requests are refused: 409, 410, 429, 500, 503 or 504. */
  refuse(status: number, selected: Selected = {}): void {
    const refusal = REFUSALS[status];
    if (refusal === undefined) throw new RangeError(`no refusal with the status ${status} is known`);
    this.#add(selected, async () => refused(refusal()));
  }

  /** Requests are carried out, and the caller sees a broken connection in place of the answer. */
  loseAnswers(selected: Selected = {}): void {
    this.#add(selected, async (handle, request) => {
      const answer = await handle(request);
      if ("stream" in answer) return answer;
      return refused(new StatusError("InternalError", "the connection broke before the answer arrived"));
    });
  }

  /** Requests wait before they are carried out, for a random time up to this one: as with a slow store. */
  slow(upToMs: number, selected: Selected = {}): void {
    const act = async (handle: Handle, request: Request) => {
      this.#asleep += 1;
      try {
        await this.#clock.sleep(this.#random.integer(upToMs + 1), request.signal);
      } finally {
        this.#asleep -= 1;
      }
      return handle(request);
    };
    this.#add(selected, act, isNoWatch);
  }

  /** How many requests wait because they are slow: they wait for time to pass. */
  get asleep(): number {
    return this.#asleep;
  }

  /** Lists show what was there so long ago, as a server does whose cache is behind. A list that reaches further back is true. */
  staleLists(agoMs: number, selected: Selected = {}): void {
    this.#add(selected, (handle, request) => listOfThePast(handle, request, agoMs), isList);
  }

  /** A component, a node or a user loses its connection to the API server, until `heal`. */
  partition(of: string): void {
    this.#cutOff.add(of);
    this.closeWatches(of);
  }

  /** Default: all connections. */
  heal(of?: string): void {
    if (of === undefined) this.#cutOff.clear();
    else this.#cutOff.delete(of);
  }

  /** Watches are late (in order each, in any order among each other), repeat events, and break off. */
  watches(late: LateWatches): void {
    this.#late = late;
  }

  /** Open watches end, as when a connection breaks. */
  closeWatches(of?: string): void {
    for (const watch of [...this.#watches]) if (concerns(of, watch.component, watch.user)) watch.close();
  }

  /** Open watches end, and cannot go on where they were: their clients have to list again. */
  expireWatches(of?: string): void {
    const open = [...this.#watches].filter(({ component, user }) => concerns(of, component, user));
    const rest = new Map<string, number>();
    for (const { component } of open) rest.set(component, (rest.get(component) ?? 0) + 1);
    for (const [component, times] of rest)
      this.#add(
        { of: component, times },
        async () => refused(expired("too old resource version")),
        (request) => request.query.get("watch") === "true" && request.query.get("sendInitialEvents") !== "true",
      );
    for (const { close } of open) close();
  }

  /** A component dies at a write, and starts again with what the API has. */
  kill(component: ComponentName, { after = 0, death = "before it is answered" }: KillOptions = {}): void {
    this.#kills.set(component, { left: after, death });
  }

  /** What happens by chance follows from this seed from now on. */
  reseed(seed: number): void {
    this.#random = seededRandom(seed);
  }

  /** Nothing goes wrong any more. */
  clear(): void {
    this.#rules.clear();
    this.#kills.clear();
    this.#cutOff.clear();
    this.#late = undefined;
  }

  /** The connection of one life of a component, with its faults. */
  between(component: string, direct: InProcessHandle): InProcessHandle {
    const handle = direct as Handle;
    const closable = closableWatches(handle, (close, { user }) => {
      const watch = { component, user: user?.name ?? "", close };
      this.#watches.add(watch);
      return () => this.#watches.delete(watch);
    });
    const meddled: Handle = (request) => {
      if (this.#isCutOff(component, request)) throw new Error("the connection to the API server is cut");
      const rule = this.#ruleFor(component, request);
      if (rule !== undefined) return rule.act(handle, request);
      if (request.query.get("watch") !== "true") return handle(request);
      const late = this.#late;
      if (late === undefined || !concerns(late.of, component, request.user?.name)) return closable(request);
      const { breaks = 0, repeats = 0, lateMs = 0 } = late;
      return faultyWatches(closable, { clock: this.#clock, random: this.#random, breaks, repeats, lateMs })(request);
    };
    const mortal = new Mortal(meddled, () => this.#deathOf(component, () => mortal.bury()));
    const living: Handle = (request) =>
      mortal.dead || this.#kills.has(component) ? mortal.handle(request) : meddled(request);
    return living as InProcessHandle;
  }

  #add(selected: Selected, act: Rule["act"], matches: Rule["matches"] = () => true): void {
    this.#rules.add({ selected, left: selected.times ?? Number.POSITIVE_INFINITY, act, matches });
  }

  #ruleFor(component: string, request: Request): Rule | undefined {
    for (const rule of this.#rules) {
      const { of, chance = 1 } = rule.selected;
      if (!concerns(of, component, request.user?.name) || !isSelected(request, rule)) continue;
      if (chance < 1 && this.#random.next() >= chance) continue;
      rule.left -= 1;
      if (rule.left <= 0) this.#rules.delete(rule);
      return rule;
    }
    return undefined;
  }

  #isCutOff(component: string, { user }: Request): boolean {
    for (const of of this.#cutOff) if (concerns(of, component, user?.name)) return true;
    return false;
  }

  #deathOf(component: string, bury: () => void): Death | undefined {
    const kill = this.#kills.get(component);
    if (kill === undefined) return undefined;
    kill.left -= 1;
    if (kill.left >= 0) return undefined;
    this.#kills.delete(component);
    this.#onDeath(component, bury);
    return kill.death;
  }
}

function isSelected(request: Request, { selected, matches }: Rule): boolean {
  const { method, path } = selected;
  if (method !== undefined && method !== request.method) return false;
  if (typeof path === "string" && !request.path.includes(path)) return false;
  if (path instanceof RegExp && !path.test(request.path)) return false;
  return matches(request);
}

export interface KillOptions {
  /** How many writes it still does. Default: none. */
  readonly after?: number;
  /** Default: the write is carried out, and its answer does not arrive. */
  readonly death?: Death;
}

/** `of`: a component, a user, or a node. */
function concerns(of: string | undefined, component: string, user = ""): boolean {
  if (of === undefined) return (COMPONENTS as readonly string[]).includes(component);
  return of === component || of === user || `system:node:${of}` === user;
}

function refused(error: unknown): ApiResponse {
  const { reason, code, message, details } = isStatusError(error) ? error : internalError(String(error));
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code, message, details };
  const after = details?.retryAfterSeconds;
  return {
    status: code,
    headers: {
      "content-type": "application/json",
      ...(after !== undefined && { "retry-after": String(after) }),
    },
    body: [Buffer.from(writeJson(body))],
  };
}
