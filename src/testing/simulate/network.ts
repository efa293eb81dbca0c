/**
 * The ways between the components and the API server. Each message takes its time, and those that arrive at the same
 * time arrive in any order.
 *
 *     component ──► on its way ──► API server ──► on its way ──► component
 *                                      └── watch: events on their way, in order --►
 *
 * 1. The events of one watch keep their order. Those of different watches overtake each other.
 * 2. A partition separates an actor (a node, a controller) or a whole component from the API server: what it asks for
 *    is refused, or never answered; its watches are silent, then break.
 */
import type { KubeObject } from "#api";
import type { ApiResponse, Handle, ApiRequest as Request } from "../../apiserver/http/exchange.ts";
import { unreachable } from "../../client/transport/transport.ts";
import type { Decisions } from "./decisions.ts";
import { Delivery } from "./delivery.ts";
import type { Call, History } from "./history.ts";
import type { SimulationClock } from "./simulation-clock.ts";

/** The longest time of most messages, of some, and of few. */
export interface Latency {
  readonly usualMs: number;
  readonly someMs: number;
  readonly fewMs: number;
}

export type Separation = "refused" | "silent";

export interface LateWatches {
  /** An actor, or a component. */
  readonly of: string;
  /** Default: of all resources. */
  readonly resource?: string | undefined;
  readonly ms: number;
}

export interface NetworkOptions {
  readonly clock: SimulationClock;
  readonly decisions: Decisions;
  readonly history: History;
  readonly latency: Latency;
}

export class Network {
  readonly #options: NetworkOptions;
  readonly #separated = new Map<string, Separation>();
  readonly #late = new Set<LateWatches>();
  readonly #open = new Set<Delivery>();
  /** The uids of the objects that a component has seen. */
  readonly #seen = new Map<string, Set<string>>();
  #watches = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** The way of one life of a component. */
  between(component: string, handle: Handle): Handle {
    return (request) => this.#send(component, handle, request);
  }

  hasSeen(component: string, uid: string): boolean {
    return this.#seen.get(component)?.has(uid) === true;
  }

  separate(whom: string, how: Separation): void {
    this.#separated.set(whom, how);
    if (how === "refused") this.#break(whom);
  }

  reconnect(whom: string): void {
    const how = this.#separated.get(whom);
    this.#separated.delete(whom);
    if (how === "silent") this.#break(whom);
  }

  /** Returns a function that ends it. */
  delay(late: LateWatches): () => void {
    this.#late.add(late);
    return () => void this.#late.delete(late);
  }

  async #send(component: string, handle: Handle, request: Request): Promise<ApiResponse> {
    const { history } = this.#options;
    const actor = actorOf(request.user?.name ?? component);
    const { method, path, query, value } = request;
    const call = history.asked({ actor, component, method, path, query, body: value });
    await this.#hop();
    await this.#unlessSeparated(call, request);
    const answer = await handle(request);
    if (!("stream" in answer)) {
      const about = answered(answer, call);
      // Who asks whether an object exists has not seen it as one of his own.
      if (method !== "GET" || call.about.name === "") this.#see(component, about.object);
      await this.#hop();
      await this.#unlessSeparated(call, request);
      history.answered(call, answer.status, about);
      return answer;
    }
    await this.#hop();
    history.answered(call, answer.status, {});
    return this.#watched(call, answer);
  }

  #watched(call: Call, answer: Extract<ApiResponse, { stream: unknown }>): ApiResponse {
    const { clock, history } = this.#options;
    const { actor, component, about } = call;
    const stream: typeof answer.stream = async (sink) => {
      const number = this.#watches++;
      const delivery = new Delivery({
        clock,
        sink,
        lists: call.query.get("sendInitialEvents") === "true",
        whom: [actor, component],
        delayMs: () => this.#delay(this.#lateOf(actor, component, about.resource)),
        isSilent: () => this.#separation(actor, component) !== undefined,
        arrived: (object) => this.#see(component, object as KubeObject),
        delivered: (type, object) => history.delivered(actor, number, type, object as KubeObject),
      });
      this.#open.add(delivery);
      try {
        await delivery.run((to) => answer.stream(to));
      } finally {
        this.#open.delete(delivery);
      }
    };
    return { ...answer, stream };
  }

  #see(component: string, object: KubeObject | undefined): void {
    const seen = this.#seen.get(component) ?? new Set<string>();
    this.#seen.set(component, seen);
    const { items } = (object ?? {}) as { readonly items?: readonly KubeObject[] };
    for (const each of items ?? [object]) if (each?.metadata?.uid !== undefined) seen.add(each.metadata.uid);
  }

  #lateOf(actor: string, component: string, resource: string): number {
    let ms = 0;
    for (const late of this.#late)
      if ((late.of === actor || late.of === component) && (late.resource ?? resource) === resource)
        ms = Math.max(ms, late.ms);
    return ms;
  }

  #separation(actor: string, component: string): Separation | undefined {
    return this.#separated.get(actor) ?? this.#separated.get(component);
  }

  async #unlessSeparated(call: Call, request: Request): Promise<void> {
    const how = this.#separation(call.actor, call.component);
    if (how === undefined) return;
    this.#options.history.lost(call, how);
    if (how === "refused") throw unreachable("the API server", new Error("connection refused"));
    const { signal } = request;
    await new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  #break(whom: string): void {
    for (const delivery of [...this.#open]) if (delivery.concerns(whom)) delivery.break();
  }

  /** The time of a message. */
  #delay(lateMs = 0): number {
    const { decisions, latency } = this.#options;
    const { usualMs, someMs, fewMs } = latency;
    const kind = decisions.next();
    const below = kind < 0.9 ? usualMs : kind < 0.99 ? someMs : fewMs;
    return decisions.integer(Math.max(below, lateMs) + 1);
  }

  #hop(): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.timer(this.#delay(), resolve));
  }
}

/** `deployment-controller`, `node-1`, `kube-scheduler`. */
export function actorOf(user: string): string {
  return user.slice(user.lastIndexOf(":") + 1);
}

function answered({ status, body, value }: Exclude<ApiResponse, { stream: unknown }>, { about }: Call) {
  if (about.resource === "" && status < 400) return {};
  if (status < 400) return { object: value === undefined ? parsed(body) : (value() as KubeObject) };
  const { reason } = (value?.() ?? parsed(body) ?? {}) as { readonly reason?: string };
  return { reason };
}

function parsed(body: readonly Buffer[]): KubeObject | undefined {
  const text = Buffer.concat(body).toString();
  return text.startsWith("{") ? (JSON.parse(text) as KubeObject) : undefined;
}
