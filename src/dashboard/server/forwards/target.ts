/**
 * Which Pod and port a forwarded connection goes to: a Pod itself, or one that a Service selects.
 *
 * 1. A Service's Pod is chosen for each connection: a forward outlives the Pods behind it.
 */
import type { core } from "#api";
import { type ApiServer, RefusedByServer } from "../upstream.ts";

export interface Destination {
  readonly resource: "pods" | "services";
  readonly namespace: string;
  readonly name: string;
  /** Of the Pod, or of the Service. */
  readonly port: number;
}

export interface PodPort {
  readonly pod: string;
  readonly port: number;
}

/** Throws RefusedByServer. */
export async function podPortOf(
  api: Pick<ApiServer, "json">,
  { resource, namespace, name, port }: Destination,
): Promise<PodPort> {
  if (resource === "pods") return { pod: name, port };
  const inside = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const service = await api.json<core.Service>(`${inside}/services/${encodeURIComponent(name)}`);
  const selector = Object.entries(service.spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (selector.length === 0)
    throw new RefusedByServer(400, "BadRequest", `Service ${name} selects no Pods: there is nothing to forward to.`);
  const query = `labelSelector=${encodeURIComponent(selector.join(","))}`;
  const { items = [] } = await api.json<{ items?: core.Pod[] }>(`${inside}/pods?${query}`);
  return choosePod(service, port, items);
}

/** A ready Pod, or at least one that runs. */
export function choosePod(service: core.Service, port: number, pods: readonly core.Pod[]): PodPort {
  const name = service.metadata?.name ?? "";
  const wanted = service.spec?.ports?.find((each) => each.port === port);
  if (wanted === undefined) throw new RefusedByServer(400, "BadRequest", `Service ${name} has no port ${port}.`);
  if ((wanted.protocol ?? "TCP") !== "TCP")
    throw new RefusedByServer(400, "BadRequest", `Port ${port} of Service ${name} is ${wanted.protocol}, not TCP.`);
  const running = pods.filter(
    ({ metadata, status }) => status?.phase === "Running" && metadata?.deletionTimestamp === undefined,
  );
  const pod = running.find(isReady) ?? running[0];
  if (pod === undefined)
    throw new RefusedByServer(503, "ServiceUnavailable", `Service ${name} has no running Pod at the moment.`);
  const { targetPort = port } = wanted;
  const number = typeof targetPort === "number" ? targetPort : numberOf(pod, targetPort);
  const podName = pod.metadata?.name ?? "";
  if (number === undefined)
    throw new RefusedByServer(400, "BadRequest", `No container of Pod ${podName} has a port named ${targetPort}.`);
  return { pod: podName, port: number };
}

function isReady({ status }: core.Pod): boolean {
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
}

function numberOf({ spec }: core.Pod, name: string): number | undefined {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === name)?.containerPort;
}
