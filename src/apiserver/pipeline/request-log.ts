/**
 * A record in the log for each request, with the keys of kube-apiserver's own.
 *
 * 1. It stands around the whole pipeline, and only where the log is verbose enough: otherwise requests pay nothing.
 * 2. A stream is logged when it ends, with the time that it lasted.
 */
import { formatMs } from "#api";
import { type Clock, type Logger, settle } from "#base";
import { type ApiResponse, type Handle, isStream } from "../http/exchange.ts";
import { withLife } from "../http/stream-life.ts";
import type { Next } from "./compose.ts";
import { type Arrived, RequestExchange } from "./exchange.ts";

/** The verbosity from which on kube-apiserver logs requests. */
export const LOGGED_FROM = 3;
/** The verbosity from which on the user is named: names may be those of people. */
const USER_FROM = 6;
const MAX_ID_CHARS = 64;

export function logRequests(answer: Next<Arrived>, clock: Clock, log: Logger): Handle {
  const logged = (exchange: RequestExchange, { status, headers }: ApiResponse, startMs: number, failure?: unknown) => {
    const { original } = exchange;
    const id = headers["audit-id"];
    log.verbose(LOGGED_FROM, "HTTP", {
      verb: verbOf(exchange),
      URI: original.target ?? original.path,
      latency: formatMs(clock.monotonic() - startMs),
      userAgent: original.headers["user-agent"] ?? "",
      "audit-ID": typeof id === "string" ? id.slice(0, MAX_ID_CHARS) : "",
      srcIP: original.remoteAddress,
      ...(log.enabled(USER_FROM) && { user: exchange.user.name }),
      resp: status,
      error: failure,
    });
  };
  return (request) => {
    const exchange = new RequestExchange(request);
    const startMs = clock.monotonic();
    return settle(
      () => answer(exchange),
      (response) => {
        if (isStream(response)) {
          return withLife(response, { ended: (failure) => logged(exchange, response, startMs, failure) });
        }
        logged(exchange, response, startMs);
        return response;
      },
      (error) => {
        throw error;
      },
    );
  };
}

/** The method, but lists, watches and applies by their names. A request that was not understood has no info. */
function verbOf({ original: { method, headers }, info }: RequestExchange): string {
  const verb = (info as RequestExchange["info"] | undefined)?.verb;
  if (verb === "list" || verb === "watch") return verb.toUpperCase();
  return method === "PATCH" && headers["content-type"]?.startsWith("application/apply-patch") ? "APPLY" : method;
}
