/** The parts of an API server as its options describe them: see assembly/parts.ts. */
import { defaultFeatures, servedKinds, shownAt, withoutPrivileged } from "#api";
import { uuidSource } from "#base";
import {
  type AdmissionOptions,
  admissionChain,
  admissionMetrics,
  clusterView,
  selectPlugins,
} from "./admission/index.ts";
import { aggregation } from "./aggregation/index.ts";
import { allocators } from "./allocate/index.ts";
import type { Core, Foundation, Front, RequestSettings, ServerParts } from "./assembly/parts.ts";
import { audit, type WriteLines } from "./audit/index.ts";
import { type Authentication, authentication } from "./authn/index.ts";
import { clusterObjects, noteTokenUse } from "./authn/server-objects.ts";
import { type Authorization, authorization, matchCondition } from "./authz/index.ts";
import { type AuthenticationFacts, bootstrap, nodeRules } from "./bootstrap/index.ts";
import { connectors } from "./connect/index.ts";
import { type Fairness, fairness, maxInFlight } from "./fairness/index.ts";
import type { ServingCertificate } from "./http/tls-servers.ts";
import { healthChecks } from "./routes/health-checks.ts";
import type { ApiServerOptions } from "./server-options.ts";
import type { Shutdown } from "./shutdown.ts";
import { measuredStore, mediaTypeStore } from "./storage/index.ts";
import { isFirst } from "./threads/index.ts";

/** Watches that missed no more changes than this resume after a restart. */
const RESUMABLE_CHANGES = 5_000;
const HISTORY_WINDOW_MS = 10 * 60_000;

export interface ServerFront extends Front {
  readonly authn: Authentication;
  /** Writes lines of other threads to the audit log. Absent: there is none. */
  readonly writeAuditLines: WriteLines | undefined;
}

/** Where the server is reached. Its port may be known only when it listens. */
export interface Place {
  readonly host: string;
  port: number;
  /** Others can find it. */
  joined: boolean;
  readonly shutdown: Shutdown;
}

export function serverParts(options: ApiServerOptions, place: Place): ServerParts<Authorization, ServerFront> {
  const { encryption, clock, random, log, metrics, sharedStore, recorder, tracer, serviceCidrs, storage } = options;
  const { features = defaultFeatures, thread } = options;
  const served = servedKinds({ ...options.apis, enabled: features.enabled });
  const kinds = options.allowPrivileged === false ? withoutPrivileged(served) : served;
  const stored = encryption?.over(options.store) ?? options.store;
  const store = mediaTypeStore(measuredStore(stored, metrics, clock), storage?.mediaType ?? "application/json", kinds);
  return {
    store,
    sharedStore: sharedStore || thread !== undefined,
    newest: sharedStore ? undefined : thread?.newest,
    isOutdated: (key) => store.isOutdated(key) || encryption?.isOutdated(key) === true,
    storageSettings: storage,
    heavy: { allowPrivileged: options.allowPrivileged !== false },
    clock,
    random,
    log,
    metrics,
    newUid: uuidSource(),
    kinds,
    features,
    resumableChanges: RESUMABLE_CHANGES,
    recorder,
    tracer,
    egress: options.egress,
    requests: requestSettings(options, place),
    historyWindowMs: options.historyWindowMs ?? HISTORY_WINDOW_MS,
    allocation: (foundation) => allocators({ ...foundation, serviceCidrs, nodePorts: options.services?.nodePorts }),
    authorization: (foundation) => authorizationPart(options, foundation),
    admission: async (foundation, authorize) => {
      const measured = admissionMetrics(metrics, clock);
      const plugins = await selectPlugins(
        { featureEnabled: features.enabled, ...admissionOf(options) },
        { ...foundation, authorize, metrics: measured },
      );
      for (const plugin of plugins) foundation.closing.defer(() => plugin.close?.());
      return admissionChain(plugins, clusterView(foundation.resources, foundation.storage), measured);
    },
    aggregation: (foundation) =>
      aggregation({
        ...foundation,
        kinds: shownAt(kinds, foundation.storage.features.emulated),
        identity: options.frontProxyIdentity ?? (() => undefined),
        reach: options.aggregation,
        local: options.extensions,
        answerWithinMs: options.serving?.requestTimeoutMs,
      }),
    bootstrap: !isFirst(options.thread)
      ? undefined
      : ({ context, resources }) =>
          bootstrap(context, resources, {
            ...authenticationFacts(options.certificate, options),
            serviceCidrs,
            enabled: features.enabled,
          }),
    front: (core) => serverFront(options, core, place),
  };
}

/** A plugin that is a feature is off with its gate. */
function admissionOf({ admission = {}, features = defaultFeatures }: ApiServerOptions): AdmissionOptions {
  if (features.enabled("PodTopologyLabelsAdmission")) return admission;
  const { enable = [], disable = [] } = admission;
  const name = "PodTopologyLabels";
  return { ...admission, enable: enable.filter((plugin) => plugin !== name), disable: [...disable, name] };
}

function authorizationPart(
  { authorizationModes: modes, features = defaultFeatures }: ApiServerOptions,
  { storage, resources, metrics, closing }: Foundation,
): Authorization {
  const made = authorization({
    ...storage,
    modes,
    resources,
    nodeRules: nodeRules(features.enabled),
    compileCondition: matchCondition,
    metrics,
  });
  closing.defer(() => made.close());
  return made;
}

function authenticationPart(options: ApiServerOptions, { context, resources, metrics, closing }: Core): Authentication {
  const made = authentication({
    ...context,
    metrics,
    settings: options.authentication ?? {},
    clientCa: options.certificate.clientCaPem,
    requestHeader: options.requestHeader,
    objects: clusterObjects(context, resources),
    noteUse: (secret, day) => noteTokenUse(context, resources, secret, day),
  });
  closing.defer(() => made.close());
  return made;
}

async function serverFront(options: ApiServerOptions, core: Core<Authorization>, place: Place): Promise<ServerFront> {
  const { context, resources, metrics, stopping, closing } = core;
  const authn = authenticationPart(options, core);
  const audited = await audit({
    ...context,
    settings: options.audit ?? {},
    resources,
    metrics,
    logElsewhere: options.thread?.auditLog,
  });
  closing.defer(() => audited.close());
  const { reading = 400, mutating = 200 } = options.fairness ?? {};
  const fair = fairnessPart(options, core, reading + mutating);
  return {
    authn,
    authenticate: authn.authenticate,
    isCredential: authn.isCredential,
    audit: audited.audit,
    writeAuditLines: audited.writeLines,
    turnedAway: audited.turnedAway,
    fairness: fair?.step ?? maxInFlight({ reading, mutating }, { metrics, clock: context.clock }),
    connectors: connectors({
      context,
      resources,
      ...authn,
      tokens: authn.issuer,
      ...core.authorization,
      stopping,
      kubeletIdentity: options.kubeletIdentity,
      kubelets: options.kubelets,
      simulatedMetrics: options.simulatedMetrics,
    }),
    routes: {
      rawStore: options.store,
      health: healthChecks({
        store: context.store,
        stopping,
        joined: () => place.joined,
        timeouts: options.storage,
        leaving: () => place.shutdown.hasBegun,
        livezGrace: { ms: options.serving?.livezGraceMs ?? 0, clock: context.clock },
        others: options.encryption === undefined ? [] : [options.encryption.health],
      }),
      debug: fair?.dump,
      others: options.others,
      allMetrics: options.thread?.metrics,
      start: options.start,
      issuerDocuments: () => authn.documents(publicUrl(options, place)),
    },
  };
}

function fairnessPart(
  { fairness: settings }: ApiServerOptions,
  { context, resources, metrics, stopping, background }: Core,
  total: number,
): Fairness | undefined {
  if (settings?.fair === false) return undefined;
  const made = fairness({ context, resources, metrics, total });
  // Requests that wait are refused at once, so that the server does not wait for them when it stops.
  stopping.addEventListener("abort", () => made.close(), { once: true });
  background.run("priority and fairness", (signal) => made.run(signal));
  return made;
}

function requestSettings({ serving = {} }: ApiServerOptions, { shutdown }: Place): RequestSettings {
  const { requestTimeoutMs: timeoutMs, minRequestTimeoutSeconds: minTimeoutSeconds } = serving;
  const { allowedOrigins, strictTransport } = serving;
  const { gate, drain } = shutdown;
  return { timeoutMs, watches: { minTimeoutSeconds, drain }, gate, allowedOrigins, strictTransport };
}

/** Where others find this server, as it says itself. */
function publicUrl({ serving }: ApiServerOptions, { host, port }: Place): string {
  const { externalHostname = "" } = serving ?? {};
  if (externalHostname !== "")
    return `https://${hasPort(externalHostname) ? externalHostname : join(externalHostname, port)}`;
  return `https://${join(host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host, port)}`;
}

function hasPort(host: string): boolean {
  return /^([^:]+|\[.*\]):\d+$/.test(host);
}

function join(host: string, port: number): string {
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

/** What other components may know about the authorities that this server trusts. */
export function authenticationFacts(
  { clientCaPem }: ServingCertificate,
  { requestHeader }: ApiServerOptions,
): AuthenticationFacts {
  return { clientCa: clientCaPem === "" ? undefined : clientCaPem, requestHeader };
}
