/**
 * Custom resources for the API server as a whole: see README.md.
 *
 *     load (before the feed) ──► sync (before the first request) ──► run
 */
import { forbidden } from "#api";
import type { MetricsRegistry } from "#base";
import type { Store } from "#store";
import { StoredObject } from "../cache/stored-object.ts";
import type { Loopback } from "../loopback/loopback.ts";
import { serviceResolver } from "../outbound/service-resolver.ts";
import { webhookClient } from "../outbound/webhook-client.ts";
import { fresh } from "../rest/read/fresh.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { Admission, StorageContext } from "../rest/server-context.ts";
import { type Converter, noConverter, WebhookConverter } from "./converter.ts";
import { asDefinition, DEFINITIONS_PREFIX, type Definition, GROUP, PLURAL } from "./definition.ts";
import { DefinitionController } from "./definition-controller.ts";
import { type ConversionMetrics, conversionMetrics } from "./metrics.ts";
import { type Documents, Publication } from "./publication.ts";
import { ServedDefinitions } from "./served-definitions.ts";
import { isServable } from "./status-plan.ts";

export interface CustomResourcesOptions {
  readonly storage: StorageContext;
  /** For the status of definitions, from `sync` on. */
  readonly loopback: Loopback;
  readonly resources: Resources;
  /** Discovery and OpenAPI. */
  readonly documents: readonly Documents[];
  readonly metrics: MetricsRegistry;
}

export interface CustomResources {
  /**
   * Reads the stored definitions, so that the feed loads their instances with all other objects. Throws what the store
   * throws.
   */
  load(store: Store): Promise<void>;
  /** Serves what is established at the feed's revision. To be called before the first request. */
  sync(): Promise<void>;
  /** Runs until its signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * For a request for an unknown resource: waits for a definition that another server may have established a moment
   * ago.
   */
  appearing(group: string, plural: string): Promise<void>;
  /** The definition of a resource, if its objects are converted without a webhook. */
  plainDefinition(resource: Resource): Definition | undefined;
  /** Wraps admission: refuses to create instances of a definition that is being deleted. */
  guarding(admission: Admission): Admission;
}

export function customResources(options: CustomResourcesOptions): CustomResources {
  const { storage, loopback, resources, documents } = options;
  const { log } = storage;
  const metrics = conversionMetrics(options.metrics, storage.clock);
  const isBuiltIn = builtInVersions(resources);
  const served = new ServedDefinitions({
    resources,
    publication: new Publication(documents, isBuiltIn),
    converterFor: (definition) => converterFor(definition, storage, resources, metrics),
  });
  const definitions = resources.find(GROUP, "v1", PLURAL);
  /** Undefined where definitions are not served. */
  const controller = lazily(
    () => definitions && new DefinitionController({ context: loopback.context, definitions, resources, served }),
  );
  return {
    load: async (store) => {
      if (definitions === undefined) return;
      const { entries } = await store.list(DEFINITIONS_PREFIX);
      for (const entry of entries) {
        try {
          const definition = asDefinition(new StoredObject(entry).object);
          if (isServable(definition)) served.add(definition);
        } catch (error) {
          log.error("a stored CustomResourceDefinition cannot be served", { key: entry.key, error });
        }
      }
    },
    sync: async () => controller()?.sync(),
    run: async (signal) => controller()?.run(signal),
    appearing: async (group, plural) => {
      if (!storage.sharedStore) return;
      await fresh(storage);
      await controller()?.reconciled(`${plural}.${group}`);
    },
    plainDefinition: ({ forms, groupResource }) => {
      if (forms === undefined) return undefined;
      const definition = served.get(`${groupResource.resource}.${groupResource.group}`)?.definition;
      return definition?.spec.conversion?.strategy === "Webhook" ? undefined : definition;
    },
    guarding: (admission) => ({
      mutate: (attributes) => {
        const { operation, resource, name } = attributes;
        if (operation === "CREATE" && served.isTerminating(resource)) throw terminating(resource.groupResource, name);
        return admission.mutate(attributes);
      },
      validate: (attributes) => admission.validate(attributes),
      looks: (attributes, phase) => admission.looks?.(attributes, phase) !== false,
    }),
  };
}

function terminating(resource: Parameters<typeof forbidden>[0], name: string) {
  return forbidden(resource, name, "create not allowed while custom resource definition is terminating");
}

function converterFor(
  { spec, metadata }: Definition,
  { clock, random, newUid, tracer, egress }: StorageContext,
  resources: Resources,
  metrics: ConversionMetrics,
): Converter {
  const { strategy = "None", webhook } = spec.conversion ?? {};
  if (strategy !== "Webhook" || webhook?.clientConfig === undefined) return noConverter;
  const converter = new WebhookConverter({
    client: webhookClient({
      config: webhook.clientConfig,
      clock,
      resolve: serviceResolver(resources, () => random),
      tracer,
      egress,
    }),
    reviewVersions: webhook.conversionReviewVersions,
    newUid,
    onCall: metrics.onCall,
  });
  return metrics.measured(metadata.name ?? "", converter);
}

/** The groups and versions that were served before any definition. */
function builtInVersions(resources: Resources): (group: string, version: string) => boolean {
  const versions = new Set([...resources.all()].map(({ kind }) => `${kind.group}/${kind.version}`));
  return (group, version) => versions.has(`${group}/${version}`);
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
