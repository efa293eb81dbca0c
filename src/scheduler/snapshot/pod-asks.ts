/** Computes what pods require of a node, from their specs. */

import { type core, podRequests, writeJson } from "#api";
import { table } from "#base";
import type { HostPort, NodeAsk, Request } from "../framework/index.ts";
import { amountOf, isCounted, type ResourceNames } from "./resource-names.ts";

/** Requests of containers without requests, in scores. */
const DEFAULT_REQUESTS: Readonly<Record<string, string>> = table({ cpu: "100m", memory: String(200 * 1024 * 1024) });
const NO_LABELS = {};

/** Everything that `askOf` reads: equal keys, equal asks. Node affinity is left out: see PodInfos. */
export function askKey({ spec, status }: core.Pod): string {
  if (spec === undefined) return "";
  return writeJson([
    spec.priority,
    spec.containers.map(containerKey),
    spec.initContainers?.map((container) => [container.restartPolicy, containerKey(container)]),
    spec.resources?.requests,
    spec.overhead,
    spec.nodeSelector,
    spec.tolerations,
    imageVolumes(spec),
    allocationOf(status),
  ]);
}

function containerKey({ image, resources, ports }: core.Container) {
  return [
    image,
    resources?.requests,
    ports?.map(({ hostPort, hostIP, protocol }) => hostPort && [hostPort, hostIP, protocol]),
  ];
}

/** The allocated resources in a status, and whether a resize is infeasible. Undefined if there are none. */
export function allocationOf(status: core.PodStatus | undefined) {
  if (status === undefined) return undefined;
  const { containerStatuses, initContainerStatuses, resources, allocatedResources } = status;
  const [main, init] = [allocated(containerStatuses), allocated(initContainerStatuses)];
  if (main === undefined && init === undefined && resources === undefined) return undefined;
  const isInfeasible = status.conditions?.some(
    ({ type, reason }) => type === "PodResizePending" && reason === "Infeasible",
  );
  return [main, init, resources?.requests, allocatedResources, isInfeasible === true];
}

function allocated(statuses: readonly core.ContainerStatus[] | undefined) {
  return statuses?.some(({ resources }) => resources !== undefined)
    ? statuses.map(({ name, resources, allocatedResources }) => [name, resources?.requests, allocatedResources])
    : undefined;
}

/**
 * Without the node's name and node affinity: the first differs from pod to pod, the second between pods of a DaemonSet.
 */
export function askOf(pod: core.Pod, names: ResourceNames): NodeAsk {
  const { spec } = pod;
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return {
    nodeName: "",
    priority: spec?.priority ?? 0,
    requests: requestsOf(pod, names),
    scored: scoredOf(pod),
    nodeSelector: spec?.nodeSelector ?? NO_LABELS,
    nodeAffinity: undefined,
    tolerations: spec?.tolerations ?? [],
    hostPorts: hostPortsOf(spec),
    images: [...containers.map(({ image = "" }) => image), ...(imageVolumes(spec) ?? [])].map(normalImage),
    containers: containers.length,
  };
}

function requestsOf(pod: core.Pod, names: ResourceNames): readonly Request[] {
  return Object.entries(podRequests(pod, { useStatus: true }))
    .filter(([name]) => isCounted(name) && name !== "pods")
    .map(([name, quantity]) => ({ resource: names.indexOf(name), name, amount: amountOf(name, quantity) }))
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => a.resource - b.resource);
}

/** With pod-level requests, only resources that they do not mention get default amounts. */
function scoredOf(pod: core.Pod): NodeAsk["scored"] {
  const own = pod.spec?.resources?.requests ?? {};
  const isPodLevel = ["cpu", "memory"].some((name) => own[name] !== undefined);
  const requested = isPodLevel ? podRequests(pod, { useStatus: true }) : {};
  const nonMissingContainerRequests = Object.fromEntries(
    Object.entries(DEFAULT_REQUESTS).filter(([name]) => requested[name] === undefined),
  );
  const { cpu, memory } = podRequests(pod, { useStatus: true, nonMissingContainerRequests });
  return {
    cpu: cpu === undefined ? 0 : amountOf("cpu", cpu),
    memory: memory === undefined ? 0 : amountOf("memory", memory),
  };
}

export function hostPortsOf(spec: core.PodSpec | undefined): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort = 0, hostIP = "", protocol = "TCP" }) => ({
      ip: hostIP === "" ? "0.0.0.0" : hostIP,
      protocol,
      port: hostPort,
    }));
}

/** Images of image volumes; undefined if there are none. */
function imageVolumes(spec: core.PodSpec | undefined): readonly string[] | undefined {
  if (spec?.volumes?.some(({ image }) => image !== undefined) !== true) return undefined;
  return spec.volumes.flatMap(({ image }) => image?.reference ?? []);
}

/** Adds `:latest` to an image without a tag. */
export function normalImage(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}
