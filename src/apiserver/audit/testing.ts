/** Audit for tests: events as objects. */
import type { JsonObject } from "#api";
import { MetricsRegistry } from "#base";
import { type TestServer, type TestServerOptions, testServer } from "../testing/index.ts";
import { type AuditEvent, lineOf, type Piece } from "./event.ts";
import { compilePolicy } from "./policy.ts";
import { parsePolicy } from "./policy-file.ts";
import type { Mode, Sink } from "./sink.ts";
import { auditSteps } from "./step.ts";

/** An event of these pieces. `short`: the event without its objects. */
export function eventOf(pieces: readonly Piece[], short?: string): AuditEvent {
  return {
    writeTo: (receiver) => {
      for (const piece of pieces) receiver.piece(piece);
    },
    truncated: () => (short === undefined ? undefined : eventOf([short])),
  };
}

export function textOf(event: AuditEvent): string {
  return Buffer.concat(lineOf(event)).toString();
}

/** A sink that keeps its events. */
export function keeping(mode: Mode = "batch", fine = true): Sink & { readonly events: JsonObject[] } {
  const events: JsonObject[] = [];
  return {
    mode,
    events,
    push: (event) => void events.push(JSON.parse(textOf(event)) as JsonObject),
    written: async () => fine,
    close: async () => {},
  };
}

export interface AuditedServer {
  readonly server: TestServer;
  readonly events: readonly JsonObject[];
  readonly metrics: MetricsRegistry;
  /** `stage code` of the events since the last call. */
  stages(): readonly string[];
}

/** `policy` as YAML. */
export async function auditedServer(
  policy: string,
  options: TestServerOptions = {},
  sink = keeping(),
): Promise<AuditedServer> {
  const metrics = new MetricsRegistry();
  let ids = 0;
  const { steps: more } = options;
  const server = await testServer({
    ...options,
    steps: async (context, resources) => ({
      ...auditSteps({
        decide: compilePolicy(parsePolicy(policy, "policy.yaml").policy),
        sinks: [sink],
        kindOf: ({ apiGroup, apiVersion, resource }) => resources.find(apiGroup, apiVersion, resource)?.kind,
        newId: () => `id-${ids++}`,
        clock: context.clock,
        metrics,
      }),
      ...(typeof more === "function" ? await more(context, resources) : more),
    }),
  });
  let seen = 0;
  return {
    server,
    events: sink.events,
    metrics,
    stages: () => {
      const fresh = sink.events.slice(seen);
      seen = sink.events.length;
      return fresh.map(({ stage, responseStatus }) => {
        const code = (responseStatus as JsonObject | undefined)?.code;
        return code === undefined ? String(stage) : `${stage} ${code}`;
      });
    },
  };
}
