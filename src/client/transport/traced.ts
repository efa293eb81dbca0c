/**
 * A transport that names the trace of each request to the API server, and knows the works that requests belong to by
 * their header `k8ts-cause`.
 *
 * 1. Requests that belong to no work, such as watches, the renewal of leases and Events, are sent as they are: the API
 *    server decides whether they begin a trace.
 */
import { CAUSE_HEADER, causeId, readCause } from "#flows";
import { CAUSE_SPAN_HEADER, type Tracer, type Work, type WorkFacts } from "#tracing";
import type { Transport, TransportResponse } from "./transport.ts";

/** The transport itself if there is no tracer: then requests pay nothing. `verb`: what its works do, `Reconcile`. */
export function traced(transport: Transport, tracer: Tracer | undefined, verb: string): Transport {
  if (tracer === undefined) return transport;
  return {
    send: async (request) => {
      const header = request.headers[CAUSE_HEADER];
      const sending = sendingOf(tracer, header, verb);
      if (sending === undefined) return transport.send(request);
      try {
        const headers = { ...request.headers, ...sending.work.headers() };
        const response = await transport.send({ ...request, headers });
        return learned(response, tracer);
      } finally {
        sending.answered();
      }
    },
    close: () => transport.close(),
  };
}

interface Sending {
  readonly work: Work;
  answered(): void;
}

function sendingOf(tracer: Tracer, header: string | undefined, verb: string): Sending | undefined {
  const id = causeId(header);
  if (id === undefined) return undefined;
  const { activeWork } = tracer;
  if (activeWork !== undefined) {
    describe(activeWork, header);
    return { work: activeWork, answered: () => {} };
  }
  return tracer.works.sends(id, () => factsOf(header, verb));
}

/** What a component says of its work, for works that it runs in a span of their own. */
function describe({ span }: Work, header: string | undefined): void {
  const cause = readCause(header);
  if (cause !== undefined) span.set({ "k8ts.decided": cause.decided });
}

function factsOf(header: string | undefined, verb: string): WorkFacts | undefined {
  const cause = readCause(header);
  if (cause === undefined) return undefined;
  const { actor, about, resource, decided, woken, startedAt, calls } = cause;
  return {
    name: resource === undefined ? verb : `${verb} ${resource}`,
    woken,
    startMs: startedAt,
    attributes: {
      "k8ts.actor": actor,
      "k8ts.about": about,
      "k8ts.decided": decided,
      "k8ts.woken": woken.join(","),
      "k8s.resource": resource,
    },
    events: calls.map(({ to, what, afterMs, tookMs, failed }) => ({
      name: `${to}: ${what}`,
      atMs: startedAt + afterMs,
      attributes: { "k8ts.took_ms": tookMs, "error.message": failed },
    })),
  };
}

function learned(response: TransportResponse, tracer: Tracer): TransportResponse {
  tracer.revisions.learn(response.headers[CAUSE_SPAN_HEADER]);
  return response;
}
