/**
 * What both webhook plugins share: the webhooks of the current configurations, connections to them, and the authorizer.
 */
import { readFileSync } from "node:fs";
import type { JsonObject } from "#api";
import { serviceResolver } from "../../outbound/service-resolver.ts";
import { webhookClient } from "../../outbound/webhook-client.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { Deciding, Followed, Hooks } from "../dynamic/index.ts";
import type { Caller } from "./call.ts";
import { Clients } from "./clients.ts";
import { identities } from "./identities.ts";
import { type Concerned, concernedBy, webhooksIn } from "./webhook.ts";

const GROUP = "admissionregistration.k8s.io";

export interface Webhooks {
  readonly caller: Caller;
  /** The webhooks whose rules match the request, in their order. */
  about(attributes: AdmissionAttributes): readonly Concerned[];
  deciding(): Deciding;
  /** The time that webhooks take is not a delay of this server: the request notes it. */
  timed<T>(attributes: AdmissionAttributes, calls: () => Promise<T>): Promise<T>;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

const NONE: readonly Concerned[] = [];

/** `plural`: the resource of the configurations. */
export function webhooks(plural: string, services: PluginServices, configuration: JsonObject | undefined): Webhooks {
  const { resources, storage, authorize } = services;
  const configurations = resources.find(GROUP, "v1", plural);
  if (configurations === undefined) throw new Error(`${plural} are not served`);
  const identityFor = identities(configuration, (path) => readFileSync(path, "utf8"));
  const clients = new Clients((config) => {
    return webhookClient({
      config,
      clock: storage.clock,
      resolve: serviceResolver(resources, () => storage.random),
      identity: identityFor(config),
      tracer: storage.tracer,
      egress: storage.egress,
      onFailedConnection: services.metrics?.connectionFailed,
    });
  });
  const hooks = new Followed([configurations], () => {
    const all = webhooksIn(configurations);
    clients.keep(all.map(({ spec }) => spec.clientConfig));
    return new Hooks((target, operation) => concernedBy(all, target, operation, resources));
  });
  return {
    caller: { clients, newUid: storage.newUid, metrics: services.metrics, tracer: storage.tracer },
    about: (attributes) => hooks.current?.about(attributes) ?? NONE,
    deciding: () => new Deciding(authorize),
    timed: async ({ life }, calls) => {
      const startMs = storage.clock.monotonic();
      try {
        return await calls();
      } finally {
        if (life !== undefined) life.waitedMs += storage.clock.monotonic() - startMs;
      }
    },
    warn: (message, details) => storage.log.warn(message, details),
  };
}

/** Webhook and policy configurations are not sent to webhooks: a bad one could never be repaired. */
export function isExempt({ resource: { kind } }: AdmissionAttributes): boolean {
  return kind.group === GROUP;
}
