/** A transport that logs each response, as client-go does from verbosity 6 on. */
import type { Clock, Logger } from "#base";
import type { Transport } from "./transport.ts";

const LOGGED_FROM = 6;

/** The transport itself where the log is not that verbose: then requests pay nothing. */
export function logged(transport: Transport, server: string, clock: Clock, log: Logger): Transport {
  if (!log.enabled(LOGGED_FROM)) return transport;
  const record = (method: string, target: string, startMs: number, outcome: object) =>
    log.verbose(LOGGED_FROM, "Response", {
      verb: method,
      url: `${server}${target}`,
      ...outcome,
      milliseconds: Math.round(clock.monotonic() - startMs),
    });
  return {
    send: async (request) => {
      const startMs = clock.monotonic();
      try {
        const response = await transport.send(request);
        record(request.method, request.target, startMs, { status: response.status });
        return response;
      } catch (error) {
        record(request.method, request.target, startMs, { status: "", error });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
