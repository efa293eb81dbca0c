/**
 * Standalone controllers, like kube-controller-manager: configured by flags and the files that they name.
 *
 * 1. Controllers whose keys are missing do not run, and a warning is logged.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import { formatMs } from "#api";
import { KeyFileError, tokenSigner } from "#apiserver";
import { traced } from "#client";
import type { ClusterFacts, ControllerLimits } from "#controllers";
import { type KeyPair, readSigningRequest, signRequest } from "#pki";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { accountClients, anonymous } from "./account-clients.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";

const NAME = "kube-controller-manager";
const ROOT_CA = "root-ca-certificate-publisher-controller";
const TRUST_BUNDLE = "kube-apiserver-serving-clustertrustbundle-publisher-controller";

export interface StandaloneControllerManagerConfig extends Omit<ComponentConfig, "name"> {
  /** As in `--controllers`. */
  readonly selection?: readonly string[] | undefined;
  /** CA bundle for Pods. Default: that of the kubeconfig. */
  readonly rootCaFile?: string | undefined;
  /** One for all signers, or one for each. */
  readonly signing?: SigningFlags | undefined;
  readonly limits?: ControllerLimits | undefined;
  readonly nodeCidrs?: NonNullable<ClusterFacts["nodeCidrs"]> | undefined;
  readonly nodeLifecycle?: NonNullable<ClusterFacts["nodeLifecycle"]> | undefined;
  readonly attachDetach?: ClusterFacts["attachDetach"];
  readonly dynamicProvisioning?: ClusterFacts["dynamicProvisioning"];
  readonly autoscaler?: NonNullable<ClusterFacts["autoscaler"]> | undefined;
  /** Signs tokens in Secrets. */
  readonly serviceAccountKeyFile?: string | undefined;
  /** Each controller uses its own service account instead of the kubeconfig's user. */
  readonly useServiceAccountCredentials: boolean;
}

export interface SigningFlags {
  readonly pairs: readonly SigningPair[];
  /** Maximum lifetime of signed certificates. */
  readonly durationMs: number;
}

export interface SigningPair {
  /** Their names are `--<flag>-cert-file` and `--<flag>-key-file`. */
  readonly flag: string;
  /** Absent: all signers. */
  readonly signers?: readonly string[] | undefined;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Runs until the signal aborts. */
export async function runStandaloneControllerManager(
  config: StandaloneControllerManagerConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { selection, useServiceAccountCredentials: ownAccounts } = config;
  // Loaded on demand: other commands start without it.
  const { allControllers, CidrPoolError, controllerMetrics, runControllers } = await import("#controllers");
  const { autoscalerGates, checkSelection } = await import("../in-process/controller-manager.ts");
  if (selection !== undefined) checkSelection(selection);
  const [rootCa, signer, signToken] = await Promise.all([
    config.rootCaFile === undefined ? undefined : readFlag("--root-ca-file", config.rootCaFile),
    config.signing === undefined ? undefined : signerOf(config.signing, clock),
    config.serviceAccountKeyFile === undefined ? undefined : tokensOf(config.serviceAccountKeyFile),
  ]);
  const prepare = ({ client, connection, random, metrics, features, tracer }: Component): Work => {
    const caPem = rootCa ?? connection.caPem;
    const publishers = features.enabled("ClusterTrustBundle") ? [ROOT_CA, TRUST_BUNDLE] : [ROOT_CA];
    const absent = [
      ...(caPem === undefined ? publishers : []),
      ...(signer === undefined ? ["certificatesigningrequest-signing-controller"] : []),
    ];
    for (const controller of absent) log.warn("a controller lacks its key files and does not run", { controller });
    const facts: ClusterFacts = {
      caPem: caPem ?? "",
      signer: signer ?? { read: readSigningRequest, sign: noKey },
      signToken,
      nodeCidrs: config.nodeCidrs,
      nodeLifecycle: config.nodeLifecycle,
      attachDetach: config.attachDetach,
      dynamicProvisioning: config.dynamicProvisioning,
      limits: config.limits,
      gangJobs: features.enabled("WorkloadWithJob"),
      deviceTaintRules: features.enabled("DRADeviceTaintRules"),
      autoscaler: { ...config.autoscaler, ...autoscalerGates(features) },
    };
    const controllers = orClusterError(() => allControllers(facts), CidrPoolError);
    const options = {
      controllers,
      selection: withoutAbsent(selection, controllers, absent),
      enabled: features.enabled,
      client,
      instance: hostname(),
      clock,
      random,
      log,
      metrics: controllerMetrics(metrics),
    };
    return async (running) => {
      const transport = traced(anonymous(connection, clock), tracer, "Reconcile");
      const clientOf = ownAccounts ? accountClients({ client, transport, userAgent: NAME, clock, log }) : () => client;
      try {
        await runControllers({ ...options, clientOf }, running);
      } finally {
        await transport.close();
      }
    };
  };
  const reports = { "/configz": () => configz(config) };
  await runComponent({ ...config, name: NAME, reports }, { clock, log }, prepare, signal);
}

/** The effective configuration, with the field names of KubeControllerManagerConfiguration. */
function configz({
  serving,
  election,
  selection = ["*"],
  kubeconfig,
  signing,
  ...config
}: StandaloneControllerManagerConfig) {
  const { nodeCidrs, nodeLifecycle, autoscaler } = config;
  const general = signing?.pairs.find(({ signers }) => signers === undefined);
  return {
    "kubecontrollermanager.config.k8s.io": {
      Generic: {
        Address: serving?.bindAddress ?? "",
        Port: serving?.port ?? 0,
        ClientConnection: { Kubeconfig: kubeconfig },
        Controllers: selection,
        LeaderElection: {
          LeaderElect: election !== undefined,
          ...(election !== undefined && {
            LeaseDuration: formatMs(election.leaseMs),
            RenewDeadline: formatMs(election.renewDeadlineMs),
            RetryPeriod: formatMs(election.retryMs),
            ResourceLock: "leases",
            ResourceName: election.lease ?? NAME,
            ResourceNamespace: election.namespace,
          }),
        },
      },
      KubeCloudShared: {
        UseServiceAccountCredentials: config.useServiceAccountCredentials,
        AllocateNodeCIDRs: nodeCidrs !== false && nodeCidrs !== undefined,
        ClusterCIDR: nodeCidrs === false ? "" : (nodeCidrs?.clusterCidrs ?? []).join(","),
      },
      CSRSigningController: {
        ClusterSigningCertFile: general?.certFile ?? "",
        ClusterSigningKeyFile: general?.keyFile ?? "",
        ...(signing !== undefined && { ClusterSigningDuration: formatMs(signing.durationMs) }),
      },
      SAController: {
        RootCAFile: config.rootCaFile ?? "",
        ServiceAccountKeyFile: config.serviceAccountKeyFile ?? "",
      },
      ...(nodeLifecycle?.monitorGraceMs !== undefined && {
        NodeLifecycleController: { NodeMonitorGracePeriod: formatMs(nodeLifecycle.monitorGraceMs) },
      }),
      ...(autoscaler?.syncPeriodMs !== undefined && {
        HPAController: { HorizontalPodAutoscalerSyncPeriod: formatMs(autoscaler.syncPeriodMs) },
      }),
    },
  };
}

/** Turns user errors into ClusterErrors. */
function orClusterError<T>(make: () => T, userError: new (message: string) => Error): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof userError ? new ClusterError(error.message, { cause: error }) : error;
  }
}

/** Also ignores names of controllers that are absent without their keys. */
function withoutAbsent(
  wanted: readonly string[] = ["*"],
  controllers: readonly { readonly name: string }[],
  absent: readonly string[],
): readonly string[] {
  const known = new Set(["*", ...controllers.map(({ name }) => name)]);
  const possible = wanted.filter((name) => known.has(name.replace(/^-/, "")) && !absent.includes(name));
  return [...possible, ...absent.map((name) => `-${name}`)];
}

async function signerOf(
  { pairs, durationMs }: SigningFlags,
  clock: Environment["clock"],
): Promise<ClusterFacts["signer"]> {
  const read = await Promise.all(pairs.map(async (pair) => ({ ...pair, ...(await readPair(pair)) })));
  const pairOf = (signerName: string) => read.find(({ signers }) => signers?.includes(signerName) ?? true);
  return {
    read: readSigningRequest,
    signs: (signerName) => pairOf(signerName) !== undefined,
    sign: (der, { signerName, notAfter, ...signing }) => {
      const pair = pairOf(signerName) ?? noKey();
      return signRequest(pair, der, { ...signing, notAfter: Math.min(notAfter, clock.now() + durationMs) });
    },
  };
}

async function readPair({ flag, certFile, keyFile }: SigningPair): Promise<KeyPair> {
  const certPem = await readFlag(`--${flag}-cert-file`, certFile);
  const keyPem = await readFlag(`--${flag}-key-file`, keyFile);
  try {
    if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)))
      throw new Error("the certificate does not match the key");
  } catch (error) {
    const why = (error as Error).message;
    throw new ClusterError(
      `--${flag}-cert-file ${certFile} and --${flag}-key-file ${keyFile} cannot be used: ${why}.`,
      {
        cause: error,
      },
    );
  }
  return { certPem, keyPem };
}

async function tokensOf(file: string): Promise<NonNullable<ClusterFacts["signToken"]>> {
  const pem = await readFlag("--service-account-private-key-file", file);
  const sign = orClusterError(() => tokenSigner(pem, file), KeyFileError);
  return (claims) => sign({ ...claims });
}

function noKey(): never {
  throw new Error("there is no signing key");
}
