/** Asks an API server whether it is ready: GET /readyz over TLS, verified by the cluster's authority. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { Clock } from "#base";
import { endOf } from "./balancer.ts";
import type { Report } from "./members.ts";

export type Check = (address: string, signal: AbortSignal) => Promise<Report>;

const TIMEOUT_MS = 1_000;

/**
 * 1. A server that answers but refuses to say (401, 403) lives. One with a certificate of others does not count.
 * 2. One that has greeted, and then takes its time, lives and waits for something, such as etcd: its connections are
 *    not cut, so that clients get its errors. A process that stands still does not greet.
 */
export function readyzCheck({ caPem, clock }: { readonly caPem: string | undefined; readonly clock: Clock }): Check {
  return async (address, signal) => {
    const { host, port } = endOf(address);
    const agent = new Agent({ keepAlive: false });
    const timeout = new AbortController();
    const timer = clock.timer(TIMEOUT_MS, () => timeout.abort());
    let hasGreeted = false;
    try {
      const call = request({
        host,
        port,
        path: "/readyz",
        agent,
        ca: caPem,
        signal: AbortSignal.any([signal, timeout.signal]),
      });
      call.once("socket", (socket) =>
        socket.once("secureConnect", () => {
          hasGreeted = true;
        }),
      );
      call.end();
      const [response] = (await once(call, "response")) as [IncomingMessage];
      response.on("error", () => {}); // only its status counts
      response.destroy();
      return (response.statusCode ?? 500) < 500 ? "ready" : "not ready";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return "refused";
      return hasGreeted && timeout.signal.aborted ? "not ready" : "no answer";
    } finally {
      timer.cancel();
      agent.destroy();
    }
  };
}
