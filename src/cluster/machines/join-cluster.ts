/**
 * The first steps of a machine in a cluster: which cluster it is, and how its nodes are configured. Nothing is written.
 *
 *     discovery ──► kubeadm-config, kubelet-config, kube-proxy, read with the token ──► JoinRecord
 */
import { connect } from "node:net";
import { type core, isStatusError, type KubeObject, kinds } from "#api";
import type { Clock } from "#base";
import { Client, https } from "#client";
import { ClusterError } from "../config/errors.ts";
import { commandFor, type DataDir } from "../data/data-dir.ts";
import { CLUSTER_CONFIG, CONFIG_NAMESPACE, describedCluster, KUBELET_CONFIG, PROXY_CONFIG } from "./cluster-objects.ts";
import { discoverCluster } from "./discovery.ts";
import type { JoinRecord } from "./join-record.ts";

const CONNECT_MS = 10_000;

/** What `k8ts join` is told. */
export interface JoinRequest {
  /** `host:port`. */
  readonly endpoint: string;
  /** Undefined: the machine has joined before. */
  readonly token?: string | undefined;
  readonly caHash?: string | undefined;
  readonly nodeName: string;
  /** Default: the address by which this machine reaches the API server. */
  readonly nodeIp?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
}

/** Throws ClusterError. */
export async function joinCluster(
  dir: DataDir,
  known: JoinRecord | undefined,
  request: JoinRequest | undefined,
  clock: Clock,
): Promise<JoinRecord> {
  if (known !== undefined) return request === undefined ? known : again(dir, known, request);
  if (request === undefined)
    throw new ClusterError(`${dir.path} belongs to no cluster: \`k8ts join ADDRESS --token … --ca-hash …\`.`);
  const { endpoint, token, caHash, nodeName, labels, taints } = request;
  if (token === undefined || caHash === undefined)
    throw new ClusterError(
      "A machine that joins for the first time needs --token and --ca-hash: `k8ts token create --print-join-command` on the control plane prints them.",
    );
  const { caPem } = await discoverCluster({ endpoint, token, caHash, clock });
  const client = new Client({
    transport: https({ server: `https://${endpoint}`, caPem, token }, { clock }),
    clock,
    userAgent: "k8ts-join",
  });
  try {
    const cluster = await configuration(client, endpoint);
    await refuseTakenName(client, nodeName);
    const nodeIp = request.nodeIp ?? (await addressTowards(endpoint, clock));
    return { endpoint, caPem, nodeName, nodeIp, labels, taints, ...cluster };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new ClusterError(
      error.reason === "Unauthorized"
        ? `The cluster at ${endpoint} does not accept the token: it may have expired, or is not for authentication.`
        : `The cluster at ${endpoint} refused: ${error.message}. Is the token one for machines that join?`,
      { cause: error },
    );
  } finally {
    await client.close();
  }
}

/** A later start may have another address of the control plane, other labels for new nodes; never another cluster. */
function again(dir: DataDir, known: JoinRecord, request: JoinRequest): JoinRecord {
  const { endpoint, nodeName, nodeIp, labels, taints } = request;
  if (nodeName !== known.nodeName)
    throw new ClusterError(
      `This machine is node ${known.nodeName} of the cluster ${known.clusterName}, not ${nodeName}: \`${commandFor(dir, "reset")}\` first.`,
    );
  return { ...known, endpoint, nodeIp: nodeIp ?? known.nodeIp, labels, taints };
}

async function configuration(client: Client, endpoint: string) {
  const configMaps = client.of<core.ConfigMap>(kinds.ConfigMap).in(CONFIG_NAMESPACE);
  const read = async (name: string) => (await configMaps.get(name)) as KubeObject;
  try {
    const [cluster, kubelet] = [await read(CLUSTER_CONFIG), await read(KUBELET_CONFIG)];
    const proxy = await read(PROXY_CONFIG).catch((error: unknown) => {
      if (isStatusError(error, "NotFound") || isStatusError(error, "Forbidden")) return undefined;
      throw error;
    });
    return describedCluster({ cluster, kubelet, proxy });
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw new ClusterError(
      `The configuration of the cluster at ${endpoint} is none of k8ts: ${(error as Error).message}.`,
      {
        cause: error,
      },
    );
  }
}

/** Two machines with one name would take turns at being the node. */
async function refuseTakenName(client: Client, nodeName: string): Promise<void> {
  const node = await client
    .of<core.Node>(kinds.Node)
    .get(nodeName)
    .catch((error: unknown) => {
      if (isStatusError(error, "NotFound")) return undefined;
      throw error;
    });
  const isReady = node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  if (isReady === true)
    throw new ClusterError(
      `The cluster has a node ${nodeName} that is Ready: give this machine another --name. If that node is no more, \`k8ts node remove ${nodeName}\` on the control plane first.`,
    );
}

/** The address of this machine that the API server sees. */
async function addressTowards(endpoint: string, clock: Clock): Promise<string> {
  const { hostname, port } = new URL(`https://${endpoint}`);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443) });
  const connected = Promise.withResolvers<string>();
  const timer = clock.timer(CONNECT_MS, () => socket.destroy(new Error("no connection")));
  socket.once("connect", () => connected.resolve(socket.localAddress ?? ""));
  socket.once("error", (error) => connected.reject(error));
  try {
    return (await connected.promise).replace(/^::ffff:/, "");
  } finally {
    timer.cancel();
    socket.destroy();
  }
}
