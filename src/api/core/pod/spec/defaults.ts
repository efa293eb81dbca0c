/**
 * Defaults of a pod and of a pod template.
 *
 * 1. Pods and templates share most defaults. Requests from limits, pod-level resources, host ports and
 *    enableServiceLinks are defaults of pods only, so that a template stays as it was written.
 * 2. `serviceAccount` is the former name of `serviceAccountName`: both always have the same value.
 * 3. A negative grace period was once accepted. In a pod it becomes one second; a template keeps it.
 */
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod, PodSpec, PodTemplateSpec } from "../../../types/core-v1.ts";
import { defaultContainer } from "../containers/defaults.ts";
import { defaultPodLevelResources, defaultRequests, roundResources } from "../resources/defaults.ts";
import { defaultVolume } from "../volumes/defaults.ts";

/** Annotations of removed alpha features, which old manifests may still have. */
const forgottenAnnotations = [
  "pod.beta.kubernetes.io/init-containers",
  "pod.alpha.kubernetes.io/init-containers",
  "pod.beta.kubernetes.io/init-container-statuses",
  "pod.alpha.kubernetes.io/init-container-statuses",
];

export function defaultPod(pod: Draft<Pod>): void {
  pod.spec ??= { containers: [] };
  defaultPodStatus(pod);
  defaultPodSpec(pod.spec);
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  for (const container of containers) defaultRequests(container);
  defaultPodLevelResources(pod.spec);
  pod.spec.enableServiceLinks ??= true;
  if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  if (pod.spec.hostNetwork === true) for (const container of containers) takeHostPorts(container.ports ?? []);
}

/** Defaults outside of the spec. */
export function defaultPodStatus(pod: Draft<Pod>): void {
  dropForgottenAnnotations(pod.metadata);
  joinPodIps(pod);
}

/** The pod template of a workload; an absent one gets the defaults too. */
export function defaultPodTemplateSpec(template: Draft<PodTemplateSpec>): void {
  template.spec ??= { containers: [] };
  if (template.metadata !== undefined) dropForgottenAnnotations(template.metadata);
  defaultPodSpec(template.spec);
}

function defaultPodSpec(spec: Draft<PodSpec>): void {
  if (isUnset(spec.dnsPolicy)) spec.dnsPolicy = "ClusterFirst";
  if (isUnset(spec.restartPolicy)) spec.restartPolicy = "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  if (isUnset(spec.schedulerName)) spec.schedulerName = "default-scheduler";
  joinServiceAccountNames(spec);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  for (const container of [...containers, ...(spec.ephemeralContainers ?? [])]) defaultContainer(container);
  roundResources(spec.resources);
  if (spec.overhead !== undefined) roundResources({ requests: spec.overhead });
}

export function joinServiceAccountNames(spec: Draft<PodSpec>): void {
  const name = spec.serviceAccountName || spec.serviceAccount || "";
  if (name === "") {
    delete spec.serviceAccountName;
    delete spec.serviceAccount;
    return;
  }
  // A spec that several versions of a pod share is frozen, and has both fields already.
  if (spec.serviceAccountName !== name) spec.serviceAccountName = name;
  if (spec.serviceAccount !== name) spec.serviceAccount = name;
}

/** `podIP` is the first of `podIPs`; where they differ, the client knows only `podIP`. */
function joinPodIps({ status }: Draft<Pod>): void {
  if (status === undefined) return;
  const { podIP = "", podIPs = [] } = status;
  if (podIP !== "" && podIPs[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIP === "" && podIPs[0] !== undefined) status.podIP = podIPs[0].ip;
}

/** On the host's network, container ports are host ports. */
function takeHostPorts(ports: Draft<NonNullable<PodSpec["containers"][number]["ports"]>>): void {
  for (const port of ports) if ((port.hostPort ?? 0) === 0) port.hostPort = port.containerPort;
}

function dropForgottenAnnotations(meta: Draft<Pod["metadata"]>): void {
  const { annotations } = meta;
  if (annotations === undefined) return;
  for (const name of forgottenAnnotations) delete annotations[name];
  if (Object.keys(annotations).length === 0) delete meta.annotations;
}

function isUnset(value: string | undefined): boolean {
  return value === undefined || value === "";
}
