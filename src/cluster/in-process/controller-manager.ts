/**
 * The controller manager in the API server's process: caches run as system:kube-controller-manager, each controller as
 * its own service account. If other processes share the store, only the elected leader works.
 */

import { hostname } from "node:os";
import { type Features, kinds } from "#api";
import type { Clock, Logger, Random } from "#base";
import { Client, type InProcessHandle, inProcess, leadElected, traced } from "#client";
import {
  allControllers,
  type ClusterFacts,
  type Controller,
  type ControllersOptions,
  runControllers,
  selected,
  UnknownControllerError,
} from "#controllers";
import { type KeyPair, readSigningRequest, signRequest } from "#pki";
import type { Tracing } from "#tracing";
import { ClusterError } from "../config/errors.ts";

const NAMESPACE = "kube-system";
const MANAGER = "system:kube-controller-manager";

export interface ControllerManagerOptions {
  readonly handle: InProcessHandle;
  readonly authority: KeyPair;
  readonly signToken?: ClusterFacts["signToken"] | undefined;
  /** Others may run controllers on the same store. */
  readonly elects: boolean;
  /** As in `--controllers`. */
  readonly selection?: readonly string[] | undefined;
  /** Which controllers there are. Default: all of kube-controller-manager. */
  readonly controllers?: ((facts: ClusterFacts) => readonly Controller[]) | undefined;
  /** Its instance in Events. Default: the name of this machine. */
  readonly instance?: string | undefined;
  /** Ranges for the Pod CIDRs of nodes. */
  readonly nodeCidrs?: ClusterFacts["nodeCidrs"] | undefined;
  /** Default: as in kube-controller-manager. */
  readonly autoscaler?: ClusterFacts["autoscaler"];
  readonly features: Features;
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ControllersOptions["metrics"];
}

/** For the names of controllers alone, which do not depend on the cluster. */
const NO_FACTS: ClusterFacts = {
  caPem: "",
  signer: { read: readSigningRequest, sign: () => "" },
  signToken: async () => "",
};

function factsOf({ authority, signToken, nodeCidrs, autoscaler, features }: ControllerManagerOptions): ClusterFacts {
  return {
    caPem: authority.certPem,
    signer: { read: readSigningRequest, sign: (der, signing) => signRequest(authority, der, signing) },
    signToken,
    nodeCidrs,
    autoscaler: { ...autoscaler, ...autoscalerGates(features) },
    gangJobs: features.enabled("WorkloadWithJob"),
    deviceTaintRules: features.enabled("DRADeviceTaintRules"),
  };
}

/** The feature gates that matter to autoscalers. */
export function autoscalerGates(features: Features): NonNullable<ClusterFacts["autoscaler"]> {
  return {
    configurableTolerance: features.enabled("HPAConfigurableTolerance"),
    scaleToZero: features.enabled("HPAScaleToZero"),
    podLevelResources: features.enabled("PodLevelResources"),
  };
}

/** Throws ClusterError for an unknown controller. */
export function checkSelection(selection: readonly string[]): void {
  try {
    selected(allControllers(NO_FACTS), selection);
  } catch (error) {
    if (!(error instanceof UnknownControllerError)) throw error;
    throw new ClusterError(`--controllers: ${error.message}.`, { cause: error });
  }
}

/** Runs until the signal aborts. */
export async function runControllerManager(options: ControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { handle, elects, selection, features, tracing, clock, random, log, metrics } = options;
  const { controllers = allControllers, instance = hostname() } = options;
  const tracer = tracing?.tracer("kube-controller-manager");
  const clients: Client[] = [];
  const clientOf = (name: string, groups: readonly string[]) => {
    // The field manager of all controllers.
    const userAgent = `kube-controller-manager/${name}`;
    const client = new Client({
      transport: traced(inProcess(handle, { name, groups }), tracer, "Reconcile"),
      clock,
      userAgent,
    });
    clients.push(client);
    return client;
  };
  const client = clientOf(MANAGER, ["system:authenticated"]);
  const run = (running: AbortSignal) =>
    runControllers(
      {
        controllers: controllers(factsOf(options)),
        selection,
        enabled: features.enabled,
        client,
        clientOf: (account) => clientOf(`system:serviceaccount:${NAMESPACE}:${account}`, serviceAccountGroups()),
        instance,
        clock,
        random,
        log,
        metrics,
      },
      running,
    );
  try {
    if (!elects) return await run(signal);
    const identity = `${instance}_${Buffer.from(random.bytes(8)).toString("hex")}`;
    const leases = client.of(kinds.Lease).in(NAMESPACE);
    await leadElected({ leases, name: "kube-controller-manager", identity, clock, random, log }, signal, run);
  } finally {
    for (const each of clients) await each.close();
  }
}

function serviceAccountGroups(): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
}
