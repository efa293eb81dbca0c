/**
 * A standalone API server, like kube-apiserver: configured by flags and the files that they name.
 *
 *     files ──► store (etcd, or what stands in for it) ──► API server ··· companions
 */
import type { FeatureFlags } from "#api";
import {
  type ApiServerOptions,
  type AuthorizationFlags,
  type RequestHeaderOptions,
  SCHEDULING_PATH,
  type ServiceSettings,
  STANDARD_HEADERS,
  type StorageSettings,
} from "#apiserver";
import { MetricsRegistry, type MetricsSettings, registerProcessMetrics, systemRandom, TaskGroup } from "#base";
import { Recorder } from "#flows";
import { openStore, type Store, type StoreOptions } from "#store";
import { type AdmissionFlags, readAdmission } from "../config/admission.ts";
import { readApis } from "../config/apis.ts";
import { type AuditFlags, readAudit } from "../config/audit.ts";
import { type AuthenticationFlags, readAuthentication } from "../config/authentication.ts";
import { followAuthorization, readModes } from "../config/authorization.ts";
import { readChangingFiles } from "../config/changing-files.ts";
import { type Environment, type FlowRecording, historyOf, type StoreConfig } from "../config/cluster-config.ts";
import { openEgress } from "../config/egress.ts";
import { type EncryptionFlags, openEncryption } from "../config/encryption.ts";
import { ClusterError } from "../config/errors.ts";
import { withExternalSigner } from "../config/external-signer.ts";
import { featureNotes, readFeatures } from "../config/features.ts";
import { readFlag } from "../config/flag-files.ts";
import { listenOrExplain } from "../config/listen.ts";
import { readNamed } from "../config/named-certificates.ts";
import { type ServingSettings, servingOptions } from "../config/serving.ts";
import { readServing, type ServingFlags, servingDnsNames, servingFiles } from "../config/serving-files.ts";
import { storeSpec } from "../config/store-spec.ts";
import { openTracing } from "../config/tracing.ts";
import { figuresOfControllers } from "../in-process/controller-figures.ts";
import type { LeadershipTimes } from "../in-process/coordinated-elections.ts";
import { SchedulingAnswers, SchedulingReasons } from "../reasons/scheduling-reasons.ts";
import { type CompanionsConfig, startCompanions } from "../stand-in/companions.ts";
import { findStandIn } from "../stand-in/find-stand-in.ts";
import { serverThreads, type ThreadCount } from "../threads/server-threads.ts";
import { shareOfLimits, type ThreadShare } from "../threads/thread-share.ts";
import { type Following, followConfiguration, followServing, servedFiles } from "./following.ts";
import { type KubeletFlags, readKubelets } from "./kubelets.ts";

/** Disabled by default in kube-apiserver. */
const NOT_BY_DEFAULT = "NodeRestriction";
const ALWAYS_ALLOW = "AlwaysAllow";

export interface ApiServerConfig extends ServingFlags {
  readonly bindAddress: string;
  readonly port: number;
  readonly advertiseAddress?: string | undefined;
  readonly store: StoreConfig;
  readonly storage?: StorageSettings | undefined;
  readonly serviceCidrs?: readonly string[] | undefined;
  readonly services?: ServiceSettings | undefined;
  /** `--runtime-config`: API versions and resources that are served or not. Default: those of a default server. */
  readonly runtimeConfig?: string | undefined;
  /** How long it leads coordinated elections. */
  readonly leadership?: LeadershipTimes | undefined;
  readonly eventTtlMs?: number | undefined;
  readonly historyWindowMs?: number | undefined;
  /** `file` is not possible without a data directory. */
  readonly flowRecords?: FlowRecording | undefined;
  readonly authentication: AuthenticationFlags;
  /** Default: AlwaysAllow, as in kube-apiserver. */
  readonly authorization: AuthorizationFlags;
  readonly admission: AdmissionFlags;
  /** Default: false, as in kube-apiserver. */
  readonly allowPrivileged?: boolean | undefined;
  readonly audit?: AuditFlags | undefined;
  readonly encryption?: EncryptionFlags | undefined;
  readonly serving?: ServingSettings | undefined;
  /** Feature gates and the emulated version. Default: those of v1.36. */
  readonly features?: FeatureFlags | undefined;
  /** How many threads serve requests. Default: one. */
  readonly servingThreads?: ThreadCount | undefined;
  readonly fairness?: NonNullable<ApiServerOptions["fairness"]> | undefined;
  /** Client certificate for aggregated API servers. */
  readonly proxyClient?: { readonly certFile: string; readonly keyFile: string };
  readonly kubelets?: KubeletFlags | undefined;
  readonly metrics?: MetricsSettings | undefined;
  /** For /flagz: values by the flags' names. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** `--tracing-config-file`. Default: nothing is traced. */
  readonly tracingConfigFile?: string | undefined;
  /** `--egress-selector-config-file`. Default: connections are made directly. */
  readonly egressSelectorConfigFile?: string | undefined;
  /** What runs beside the server in its process. Default: nothing. */
  readonly companions?: CompanionsConfig | undefined;
  /** How extension API servers are reached. */
  readonly aggregation?: ApiServerOptions["aggregation"];
}

/** How the other threads of this server are started: values that can be sent. */
export interface StandaloneServer {
  readonly kind: "standalone";
  readonly config: ApiServerConfig;
}

/** A server as one of the other threads, over the first one's store. */
export interface OtherThread {
  readonly port: number;
  readonly store: Store;
  /** Other processes write to it. */
  readonly isShared: boolean;
  readonly share: ThreadShare;
  readonly metrics: MetricsRegistry;
}

export interface StandaloneApiServer {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startStandaloneApiServer(
  config: ApiServerConfig,
  environment: Environment,
  other?: OtherThread,
): Promise<StandaloneApiServer> {
  const { clock, log } = environment;
  const { bindAddress, admission, proxyClient } = config;
  const port = other?.port ?? config.port;
  const features = readFeatures(config.features);
  if (other === undefined)
    for (const note of featureNotes(features, config.features, ["kube-apiserver"])) log.warn(note);
  const noneGiven = Object.keys(config.authorization).length === 0;
  const authorizationFlags = noneGiven ? { authorizationMode: [ALWAYS_ALLOW] } : config.authorization;
  const flags = authenticationFlags(config, authorizationFlags);
  await using starting = new AsyncDisposableStack();
  const files = await servingFiles(config, servingNames(config), clock);
  const readCertificate = async () => ({
    ...(await readServing(files)),
    named: await readNamed(config.serving?.namedCertificates),
  });
  const certificate = await readCertificate();
  const changing = await readChangingFiles(withoutClientCa(flags));
  const read = await readAuthentication(flags, changing, await keyOf(flags));
  const settings = await withExternalSigner(read, flags, environment, starting);
  const authorization = await readModes(authorizationFlags);
  const requestHeader = await readRequestHeader(flags);
  const frontProxy = proxyClient && {
    certPem: await readFlag("--proxy-client-cert-file", proxyClient.certFile),
    keyPem: await readFlag("--proxy-client-key-file", proxyClient.keyFile),
  };
  const kubelets = await readKubelets(config.kubelets ?? {});
  const metrics = other?.metrics ?? new MetricsRegistry(config.metrics);
  if (other === undefined) metrics.describeItself();
  const tracing = await openTracing(config.tracingConfigFile, { clock, log, metrics }, starting);
  const tracer = tracing?.tracer("apiserver");
  const egress = await openEgress(config.egressSelectorConfigFile, { clock, metrics });
  const dial = egress?.etcd;
  const random = systemRandom();
  const { isShared, opened } =
    other === undefined
      ? await openOwnStore(config, { clock, log, tracer, dial })
      : { isShared: other.isShared, opened: other.store };
  if (other === undefined) starting.defer(() => opened.close());
  const { servingThreads: count = 1 } = config;
  const threads =
    other === undefined ? serverThreads({ count, store: opened, isShared, clock, random, log }) : undefined;
  const store = threads?.store ?? opened;
  const share = threads?.share ?? other?.share;
  const encrypted = await openEncryption(config.encryption ?? {}, { clock, log });
  starting.defer(async () => encrypted?.encryption.close());
  starting.use(registerProcessMetrics(metrics));
  const reasons = new SchedulingReasons();
  const answers = new SchedulingAnswers(reasons, clock);
  const recorder = share?.recorder ?? (config.flowRecords === "off" ? undefined : new Recorder());
  const server = await listenOrExplain(
    { bindAddress, port, portFlag: "--secure-port" },
    {
      store,
      recorder,
      tracer,
      egress,
      historyWindowMs: config.historyWindowMs,
      others: { [SCHEDULING_PATH]: answers.answer },
      start: { startedMs: share?.startedMs ?? performance.timeOrigin, flags: config.flags ?? {} },
      sharedStore: isShared,
      thread: share?.thread,
      storage: config.storage,
      apis: readApis(config.runtimeConfig),
      certificate,
      serving: servingOptions(config.serving, log),
      authentication: settings,
      authorizationModes: authorization.modes,
      admission: readAdmission(withoutNodeRestriction(admission)),
      allowPrivileged: config.allowPrivileged ?? false,
      audit: await readAudit(config.audit ?? {}, log),
      encryption: encrypted?.encryption,
      fairness: shareOfLimits(config.fairness, share?.count),
      features,
      requestHeader,
      frontProxyIdentity: () => frontProxy,
      ...kubelets,
      aggregation: config.aggregation,
      serviceCidrs: config.serviceCidrs,
      services: config.services,
      advertiseAddress: config.advertiseAddress,
      eventTtlMs: config.eventTtlMs,
      metrics,
      clock,
      random,
      log,
    },
  );
  starting.defer(async () => {
    const stop = server.stop();
    await Promise.all([stop, share?.stopOthers?.(stop)]);
  });
  await threads?.start({ kind: "standalone", config } satisfies StandaloneServer, { ...server, recorder });
  starting.use(answers);
  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
  starting.defer(() => background.stop());
  const following: Following = { server, background, metrics, ...environment };
  followServing(servedFiles(files, config, certificate), readCertificate, following);
  followConfiguration(flags, changing.configuration, following);
  followAuthorization(authorizationFlags, authorization.configuration, following);
  encrypted?.follow(background);
  if (other !== undefined) return moved(starting, server.port);
  const figures = figuresOfControllers(metrics);
  if (features.enabled("CoordinatedLeaderElection")) {
    background.run("coordinated elections", async (signal) => {
      const { runCoordinatedElections } = await import("../in-process/coordinated-elections.ts");
      const own = { handle: server.handle, times: config.leadership, metrics: await figures() };
      await runCoordinatedElections({ ...own, features, clock, random: systemRandom(), log }, signal);
    });
  }
  await startCompanions(
    config.companions ?? {},
    {
      server,
      caPem: certificate.certPem,
      elects: isShared,
      ...{ reasons, features, metrics, figures, clock, random, log },
    },
    background,
  );
  return moved(starting, server.port);
}

function moved(starting: AsyncDisposableStack, port: number): StandaloneApiServer {
  const parts = starting.move();
  return { port, stop: () => parts.disposeAsync() };
}

interface OpenedStore {
  readonly opened: Store;
  /** Others write to it. */
  readonly isShared: boolean;
}

async function openOwnStore(
  config: ApiServerConfig,
  { clock, ...options }: Omit<StoreOptions, "history">,
): Promise<OpenedStore> {
  const standIn = await findStandIn(config.store, clock);
  const spec = standIn === undefined ? storeSpec(config.store) : { kind: "embedded" as const, ...standIn };
  const opened = await openStore({ ...spec, clock, ...options, ...historyOf(config) });
  return { opened, isShared: spec.kind === "etcd" };
}

/** As in kube-apiserver: bootstrap tokens are off by default, and AlwaysAllow disables anonymous requests. */
function authenticationFlags(
  { authentication }: ApiServerConfig,
  { authorizationMode = [] }: AuthorizationFlags,
): AuthenticationFlags {
  const open = authorizationMode.includes(ALWAYS_ALLOW) ? { anonymousAuth: false } : {};
  return { enableBootstrapTokenAuth: false, ...authentication, ...open };
}

/** The signing key for service account tokens: a standalone server has no key of its own. */
async function keyOf(flags: AuthenticationFlags) {
  const { serviceAccountSigningKeyFile: file, serviceAccountIssuer: issuers = [] } = flags;
  const { serviceAccountSigningEndpoint: socket } = flags;
  // An external signer needs no key; readers of the flags refuse both.
  if (socket !== undefined && file === undefined && issuers.length > 0)
    return { dir: socket, serviceAccount: { keyPem: "", publicKeyPem: "" } };
  if (file === undefined || issuers.length === 0) {
    throw new ClusterError(
      "service-account-issuer is a required flag, --service-account-signing-key-file and --service-account-issuer are required",
    );
  }
  const keyPem = await readFlag("--service-account-signing-key-file", file);
  return { dir: file, serviceAccount: { keyPem, publicKeyPem: "" } };
}

async function readRequestHeader({ requestHeader }: AuthenticationFlags): Promise<RequestHeaderOptions | undefined> {
  const { clientCaFile, allowedNames = [] } = requestHeader ?? {};
  if (clientCaFile === undefined) return undefined;
  return {
    ca: await readFlag("--requestheader-client-ca-file", clientCaFile),
    allowedNames,
    headers: {
      username: requestHeader?.usernameHeaders ?? STANDARD_HEADERS.username,
      uid: requestHeader?.uidHeaders ?? STANDARD_HEADERS.uid,
      group: requestHeader?.groupHeaders ?? STANDARD_HEADERS.group,
      extraPrefixes: requestHeader?.extraHeadersPrefix ?? STANDARD_HEADERS.extraPrefixes,
    },
  };
}

function withoutClientCa({ clientCaFile: _, ...flags }: AuthenticationFlags): AuthenticationFlags {
  return flags;
}

function withoutNodeRestriction({ enable = [], disable = [], ...rest }: AdmissionFlags): AdmissionFlags {
  if (enable.includes(NOT_BY_DEFAULT)) return { enable, disable, ...rest };
  return { enable, disable: [...disable, NOT_BY_DEFAULT], ...rest };
}

function servingNames({ bindAddress, advertiseAddress }: ApiServerConfig) {
  const any = bindAddress === "0.0.0.0" || bindAddress === "::";
  const own = [any ? undefined : bindAddress, advertiseAddress, "127.0.0.1"].filter((address) => address !== undefined);
  return { dnsNames: servingDnsNames(), ipAddresses: [...new Set(own)] };
}
