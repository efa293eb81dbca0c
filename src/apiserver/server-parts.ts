/** The parts of an API server as its options describe them: see assembly/parts.ts. */
import { servedKinds } from "#api";
import { uuidSource } from "#base";
import { admissionChain, clusterView, selectPlugins } from "./admission/index.ts";
import { aggregation } from "./aggregation/index.ts";
import { allocators } from "./allocate/index.ts";
import type { Core, Foundation, Front, ServerParts } from "./assembly/parts.ts";
import { audit } from "./audit/index.ts";
import { type Authentication, authentication } from "./authn/index.ts";
import { clusterObjects, noteTokenUse } from "./authn/server-objects.ts";
import { type Authorization, authorization, matchCondition } from "./authz/index.ts";
import { type AuthenticationFacts, bootstrap, nodeRules } from "./bootstrap/index.ts";
import { connectors } from "./connect/index.ts";
import { type Fairness, fairness, maxInFlight } from "./fairness/index.ts";
import type { ServingCertificate } from "./http/listener.ts";
import { healthChecks } from "./routes/health-checks.ts";
import type { ApiServerOptions } from "./server-options.ts";

/** Watches that missed no more changes than this resume after a restart. */
const RESUMABLE_CHANGES = 5_000;
const HISTORY_WINDOW_MS = 10 * 60_000;

export interface ServerFront extends Front {
  readonly authn: Authentication;
}

/** Where the server is reached. Its port may be known only when it listens. */
export interface Place {
  readonly host: string;
  port: number;
  /** Others can find it. */
  joined: boolean;
}

export function serverParts(options: ApiServerOptions, place: Place): ServerParts<Authorization, ServerFront> {
  const { encryption, clock, random, log, metrics, sharedStore, recorder, serviceCidrs } = options;
  const kinds = servedKinds(options.apis);
  return {
    store: encryption?.over(options.store) ?? options.store,
    sharedStore,
    isOutdated: encryption && ((key) => encryption.isOutdated(key)),
    clock,
    random,
    log,
    metrics,
    newUid: uuidSource(),
    kinds,
    resumableChanges: RESUMABLE_CHANGES,
    recorder,
    historyWindowMs: options.historyWindowMs ?? HISTORY_WINDOW_MS,
    allocation: (foundation) => allocators({ ...foundation, serviceCidrs }),
    authorization: (foundation) => authorizationPart(options, foundation),
    admission: (foundation, authorize) => {
      const plugins = selectPlugins(options.admission ?? {}, { ...foundation, authorize });
      for (const plugin of plugins) foundation.closing.defer(() => plugin.close?.());
      return admissionChain(plugins, clusterView(foundation.resources, foundation.storage));
    },
    aggregation: (foundation) =>
      aggregation({ ...foundation, kinds, identity: options.frontProxyIdentity ?? (() => undefined) }),
    bootstrap: ({ context, resources }) =>
      bootstrap(context, resources, {
        ...authenticationFacts(options.certificate, options),
        serviceCidrs,
        enabled: options.apis?.enabled,
      }),
    front: (core) => serverFront(options, core, place),
  };
}

function authorizationPart(
  { authorizationModes: modes, apis }: ApiServerOptions,
  { storage, resources, metrics, closing }: Foundation,
): Authorization {
  const made = authorization({
    ...storage,
    modes,
    resources,
    nodeRules: nodeRules(apis?.enabled),
    compileCondition: matchCondition,
    metrics,
  });
  closing.defer(() => made.close());
  return made;
}

function authenticationPart(options: ApiServerOptions, { context, resources, closing }: Core): Authentication {
  const made = authentication({
    ...context,
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
  const audited = await audit({ ...context, settings: options.audit ?? {}, resources, metrics });
  closing.defer(() => audited.close());
  const { reading = 400, mutating = 200 } = options.fairness ?? {};
  const fair = fairnessPart(options, core, reading + mutating);
  return {
    authn,
    authenticate: authn.authenticate,
    isCredential: authn.isCredential,
    audit: audited.audit,
    turnedAway: audited.turnedAway,
    fairness: fair?.step ?? maxInFlight({ reading, mutating }),
    connectors: connectors({
      context,
      resources,
      ...authn,
      tokens: authn.issuer,
      ...core.authorization,
      stopping,
      kubeletIdentity: options.kubeletIdentity,
      kubelets: options.kubelets,
    }),
    routes: {
      rawStore: options.store,
      health: healthChecks({
        store: context.store,
        stopping,
        joined: () => place.joined,
        others: options.encryption === undefined ? [] : [options.encryption.health],
      }),
      debug: fair?.dump,
      others: options.others,
      issuerDocuments: () => authn.documents(urlOf(place)),
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

function urlOf({ host, port }: Place): string {
  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `https://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** What other components may know about the authorities that this server trusts. */
export function authenticationFacts(
  { clientCaPem }: ServingCertificate,
  { requestHeader }: ApiServerOptions,
): AuthenticationFacts {
  return { clientCa: clientCaPem === "" ? undefined : clientCaPem, requestHeader };
}
