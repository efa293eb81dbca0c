/**
 * API aggregation for the API server as a whole: see README.md.
 *
 *     documents (from the start) ──► sync (before the first request) ──► serve, run
 */
import type { Kind } from "#api";
import type { MetricsRegistry } from "#base";
import { type ServedVersion, servedVersions } from "../discovery/index.ts";
import type { ApiResponse } from "../http/exchange.ts";
import { follow } from "../loopback/follow.ts";
import type { Loopback } from "../loopback/loopback.ts";
import { serviceIpResolver, serviceResolver } from "../outbound/service-resolver.ts";
import type { Authorized } from "../pipeline/exchange.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ApiDocuments } from "../routes/api-documents.ts";
import { type ApiService, asApiService, GROUP, nameFor, PLURAL, serviceOf } from "./api-service.ts";
import { Availability } from "./availability.ts";
import type { Identity } from "./backend.ts";
import { Backends } from "./backends.ts";
import { LayeredDocuments } from "./layered-documents.ts";
import type { LocalExtensions } from "./local-backend.ts";
import { type ProxyOptions, proxied } from "./proxy.ts";
import { Registration } from "./registration.ts";
import { RemoteDocuments } from "./remote-documents.ts";

const OPENAPI_V3 = "/openapi/v3/";

/** How extension servers are reached. */
export interface AggregationReach {
  /** At the IP of their Service, which needs a proxy on this machine. Default: at one of its endpoints. */
  readonly toServiceIps?: boolean | undefined;
  /** Their redirects are passed on. Default: they are answered 502. */
  readonly passesRedirects?: boolean | undefined;
}

export interface AggregationOptions {
  /** Of the server that this is a part of: asked for when it is used. */
  readonly loopback: Loopback;
  readonly resources: Resources;
  /** What is part of the server. */
  readonly kinds: readonly Kind[];
  readonly documents: ApiDocuments;
  /** The front-proxy certificate. Undefined: extension servers will not trust the X-Remote-… headers. */
  readonly identity: () => Identity | undefined;
  readonly metrics: MetricsRegistry;
  /** Aborts when this server stops: ends long-running streams. */
  readonly stopping: AbortSignal;
  readonly reach?: AggregationReach | undefined;
  /** Extension servers of this process. */
  readonly local?: LocalExtensions | undefined;
  /** How long an extension server may take to answer. Default: a minute. */
  readonly answerWithinMs?: number | undefined;
}

export interface Aggregation {
  /** Where local APIs are published. A version that an extension server also serves is left to that server. */
  readonly documents: LayeredDocuments;
  /** Registers what this server serves at the feed's revision. To be called before the first request. */
  sync(): Promise<void>;
  /** The response of an extension server; undefined: the request is for this server. */
  serve(exchange: Authorized): Promise<ApiResponse> | undefined;
  /** Runs until its signal aborts; then no connection is left. */
  run(signal: AbortSignal): Promise<void>;
}

export function aggregation(options: AggregationOptions): Aggregation {
  const builtIn = servedVersions(options.kinds);
  const documents = new LayeredDocuments(options.documents, builtIn);
  /** APIServices with a Service: served by an extension server. */
  const remote = new Map<string, ApiService>();
  const parts = lazily(() => partsOf(options, documents, builtIn));

  const followApiServices = () => {
    const { context, apiServices, backends, probes } = parts();
    const forget = (name: string) => {
      remote.delete(name);
      backends.forget(name);
      probes.forget(name);
    };
    return follow(apiServices, context.feed.revision, {
      clear: () => remote.clear(),
      set: (name, object) => {
        const service = asApiService(object);
        if (serviceOf(service) === undefined) forget(name);
        else remote.set(name, service);
      },
      delete: forget,
    });
  };
  let end = () => {};

  return {
    documents,
    sync: async () => {
      end = followApiServices();
      parts().remoteDocuments.sync();
      await parts().registration.sync();
    },
    serve: (exchange) => {
      if (remote.size === 0) return undefined;
      const { request, info } = exchange;
      const name = info.apiVersion === "" ? openApiOf(request.path) : nameFor(info.apiGroup, info.apiVersion);
      const service = name && remote.get(name);
      if (!name || !service) return undefined;
      return proxied(exchange, { name, service }, parts().proxy);
    },
    run: async (signal) => {
      const { context, registration, availability, remoteDocuments, backends, probes } = parts();
      const { revision } = context.feed;
      try {
        await Promise.all([registration.run(signal), availability.run(signal), remoteDocuments.run(revision, signal)]);
      } finally {
        end();
        backends.close();
        probes.close();
      }
    },
  };

  /** The APIService whose OpenAPI v3 document its extension server has. */
  function openApiOf(path: string): string | undefined {
    if (!path.startsWith(`${OPENAPI_V3}apis/`) || !options.documents.openApi.isRemoteV3(path.slice(OPENAPI_V3.length)))
      return undefined;
    const [, group = "", version = ""] = path.slice(OPENAPI_V3.length).split("/");
    return nameFor(group, version);
  }
}

function partsOf(
  { resources, identity, metrics, stopping, ...options }: AggregationOptions,
  documents: LayeredDocuments,
  builtIn: readonly ServedVersion[],
) {
  const { context } = options.loopback;
  const { clock, random, log, egress } = context;
  const apiServices = served(resources, GROUP, PLURAL);
  const services = served(resources, "", "services");
  const slices = served(resources, "discovery.k8s.io", "endpointslices");
  const { toServiceIps = false, passesRedirects = false } = options.reach ?? {};
  const resolve = toServiceIps ? serviceIpResolver(resources) : serviceResolver(resources, () => random);
  const { local } = options;
  const backends = new Backends({ resolve, identity, clock, local, dial: egress?.cluster });
  const probes = new Backends({ resolve, identity, clock, local, dial: egress?.cluster, toAnyone: true });
  const { answerWithinMs } = options;
  const proxy: ProxyOptions = { backends, clock, log, stopping, passesRedirects, answerWithinMs };
  return {
    context,
    apiServices,
    backends,
    probes,
    proxy,
    registration: new Registration({ context, resources, apiServices, builtIn }),
    availability: new Availability({ context, apiServices, services, slices, backends: probes, metrics }),
    remoteDocuments: new RemoteDocuments({ apiServices, documents, backends, clock, random, log }),
  };
}

function served(resources: Resources, group: string, plural: string): Resource {
  const found = resources.find(group, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
