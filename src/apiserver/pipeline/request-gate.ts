/**
 * Requests while the server shuts down: those under way are finished, new ones are sent elsewhere (429).
 *
 * 1. Health and metrics are answered to the end, and so is this process itself.
 * 2. Long-running requests are not awaited: they end by other means.
 */
import { lastly } from "#base";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { Step } from "./compose.ts";
import type { Received } from "./exchange.ts";

const EXEMPT = ["/readyz", "/livez", "/healthz", "/metrics"];

const TURNED_AWAY: ApiResponse = {
  status: 429,
  headers: {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "retry-after": "5",
    connection: "close",
  },
  body: [Buffer.from("The apiserver is shutting down, please try again later.\n")],
};

export class RequestGate {
  #underWay = 0;
  #drained: PromiseWithResolvers<void> | undefined;

  readonly step: Step<Received> = (exchange, next) => {
    if (isExempt(exchange.original)) return next(exchange);
    if (this.#drained !== undefined) return TURNED_AWAY;
    if (isLongRunning(exchange.info)) return next(exchange);
    this.#underWay++;
    return lastly(
      () => next(exchange),
      () => this.#ended(),
    );
  };

  /** Turns new requests away. Resolves when those under way have their answers. */
  close(): Promise<void> {
    this.#drained ??= Promise.withResolvers();
    if (this.#underWay === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  #ended(): void {
    this.#underWay--;
    if (this.#underWay === 0) this.#drained?.resolve();
  }
}

function isExempt({ path, remoteAddress }: ApiRequest): boolean {
  return remoteAddress === undefined || EXEMPT.some((prefix) => path.startsWith(prefix));
}
