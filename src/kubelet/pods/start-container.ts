/**
 * Starts one container, from its image to its postStart hook. Failures are StartErrors with the reason for the
 * container's status.
 *
 *     image ──► environment ──► mounts ──► config ──► create ──► start ──► postStart
 *
 * 1. The end of the Pod does not cancel a create or a start half-way: the runtime would report a container that failed
 *    to start. What has started is stopped like any other container.
 */
import type { core } from "#api";
import { isAbort } from "#base";
import {
  type AnyContainer,
  containerConfig,
  type Environment,
  environment,
  envReferences,
  etcHosts,
  type MountPaths,
  messageOf,
  RuntimeConfigError,
  StartError,
  serviceEnv,
  subPathOf,
  type VolumePath,
} from "../containers/index.ts";
import { MIN_TERM_SECONDS } from "../lifecycle/index.ts";
import type { Image, PodSandboxConfig, RuntimeHandler } from "../runtime/runtime.ts";
import { containerGraceSeconds, killContainer } from "./kill.ts";
import type { PodParts } from "./parts.ts";

export interface StartRequest {
  readonly pod: core.Pod;
  readonly container: AnyContainer;
  readonly attempt: number;
  readonly sandboxId: string;
  readonly sandbox: PodSandboxConfig;
  readonly podIps: readonly string[];
  readonly volumes: ReadonlyMap<string, VolumePath>;
  /** What the runtime offers for this Pod. */
  readonly abilities?: RuntimeHandler | undefined;
  /** The target of an ephemeral container. */
  readonly targetId?: string | undefined;
}

export async function startContainer(parts: PodParts, request: StartRequest, signal: AbortSignal): Promise<void> {
  const { pod, container, sandbox, sandboxId } = request;
  const fromMs = parts.clock.monotonic();
  const image = await parts.images.ensure({ pod, container, sandbox }, signal);
  parts.metrics.imagePulled(pod, fromMs, parts.clock.monotonic());
  const volumes = await withImages(parts, request, signal);
  const config = await configured(parts, { ...request, volumes }, image, signal);
  signal.throwIfAborted();
  const { stopping } = parts;
  const id = await attempt("CreateContainerError", stopping, () =>
    parts.runtime.createContainer(sandboxId, config, sandbox, stopping),
  ).catch((error: unknown) => recorded(parts, pod, error));
  parts.events.record(pod, "Normal", "Created", `Container created`);
  signal.throwIfAborted();
  await attempt("RunContainerError", stopping, () => parts.runtime.startContainer(id, stopping)).catch(
    (error: unknown) => recorded(parts, pod, error),
  );
  parts.events.record(pod, "Normal", "Started", `Container started`);
  await postStart(parts, request, id, signal);
}

/** The volumes of images that the container mounts are pulled and mounted for it, by their own pull policy. */
async function withImages(
  parts: PodParts,
  { pod, container, sandbox, volumes }: StartRequest,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, VolumePath>> {
  const all = new Map(volumes);
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name));
  for (const { name, image } of pod.spec?.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue;
    const { reference = "", pullPolicy } = image;
    const policy = pullPolicy !== undefined && { imagePullPolicy: pullPolicy };
    const wanted = { name: container.name, image: reference, ...policy };
    parts.imageVolumes.volumeRequested();
    const { id } = await parts.images.ensure({ pod, container: wanted, sandbox }, signal);
    const mounting = attempt("CreateContainerError", signal, () => parts.volumes.mountImage(pod, name, id, signal));
    all.set(
      name,
      await mounting.catch((error: unknown) => {
        if (!isAbort(error, signal)) parts.imageVolumes.volumeMounted(false);
        return recorded(parts, pod, error);
      }),
    );
    parts.imageVolumes.volumeMounted(true);
  }
  return all;
}

async function configured(parts: PodParts, request: StartRequest, image: Image, signal: AbortSignal) {
  const { pod, container, attempt: count, targetId } = request;
  try {
    const devices = await parts.devices.runOptions(pod, container);
    const { variables, skipped } = await environmentOf(parts, request);
    for (const { source, keys } of skipped) {
      const note = `Keys [${keys.join(", ")}] from the EnvFrom ${source} were skipped since they are considered invalid environment variable names.`;
      parts.events.record(pod, "Warning", "InvalidEnvironmentVariableNames", note);
    }
    const paths = await mountPaths(parts, request, variables, signal);
    return containerConfig(
      {
        pod,
        container,
        attempt: count,
        imageRef: container.image ?? "",
        imageUser: { uid: image.uid, username: image.username },
        env: variables,
        paths,
        devices,
        users: request.sandbox.linux.namespaces.users,
        recursiveReadOnly: request.abilities?.recursiveReadOnlyMounts,
        placement: parts.topology?.placementOf(pod, container.name),
        targetId,
      },
      parts.facts(),
    );
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const reason = error instanceof RuntimeConfigError ? "CreateContainerConfigError" : "CreateContainerError";
    return recorded(parts, pod, new StartError(reason, messageOf(error), { cause: error }));
  }
}

async function environmentOf(parts: PodParts, { pod, container, podIps, volumes }: StartRequest): Promise<Environment> {
  const { namespace = "" } = pod.metadata;
  const { nodeIps, allocatable } = parts.facts();
  const references = envReferences(container);
  const configMaps = new Map<string, core.ConfigMap>();
  const secrets = new Map<string, core.Secret>();
  for (const name of references.configMaps) {
    const found = await parts.objects.configMap(namespace, name);
    if (found !== undefined) configMaps.set(name, found);
  }
  for (const name of references.secrets) {
    const found = await parts.objects.secret(namespace, name);
    if (found !== undefined) secrets.set(name, found);
  }
  const files = new Map<string, string>();
  for (const { volumeName, path } of references.files) {
    const volume = volumes.get(volumeName);
    const text = volume && (await parts.volumes.readFile(volume, path));
    if (text !== undefined) files.set(`${volumeName}/${path}`, text);
  }
  const own = pod.spec?.hostNetwork === true ? nodeIps : podIps;
  return environment(pod, container, {
    configMaps,
    secrets,
    files,
    services: serviceEnv(pod, parts.objects.services(namespace)),
    addresses: { podIps: own, hostIps: nodeIps },
    allocatable,
  });
}

async function mountPaths(
  parts: PodParts,
  request: StartRequest,
  env: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<MountPaths> {
  const { pod, container, attempt: count, volumes, podIps } = request;
  const subPaths = new Map<number, string>();
  for (const [mountIndex, mount] of (container.volumeMounts ?? []).entries()) {
    const subPath = subPathOf(mount, env);
    const volume = volumes.get(mount.name);
    if (subPath === undefined || volume === undefined) continue;
    const readOnly = mount.readOnly === true;
    const asked = { pod, container: container.name, volume, volumeName: mount.name, mountIndex, subPath, readOnly };
    try {
      subPaths.set(mountIndex, await parts.volumes.subPath(asked, signal));
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      // Details could tell a user about files of the node.
      parts.log.warn("a subPath cannot be mounted", { pod: pod.metadata.name, container: container.name, error });
      const what = `volumeMount "${mount.name}" of container "${container.name}"`;
      throw new RuntimeConfigError(`failed to prepare subPath for ${what}`, { cause: error });
    }
  }
  const hosts = await hostsFile(parts, pod, podIps);
  const wantsMessage = (container.terminationMessagePath ?? "") !== "";
  return {
    volumes,
    subPaths,
    etcHosts: hosts,
    terminationLog: wantsMessage ? await parts.files.makeTerminationLog(pod, container.name, count) : undefined,
  };
}

/** Undefined if the Pod has no addresses yet. */
async function hostsFile(parts: PodParts, pod: core.Pod, podIps: readonly string[]): Promise<string | undefined> {
  const isHost = pod.spec?.hostNetwork === true;
  if (!isHost && podIps.length === 0) return undefined;
  const { clusterDomain } = parts.facts();
  const nodeHosts = isHost ? await parts.files.nodeHosts() : "";
  return parts.files.writeEtcHosts(pod, etcHosts(pod, podIps, { clusterDomain, nodeHosts }));
}

async function postStart(parts: PodParts, request: StartRequest, id: string, signal: AbortSignal): Promise<void> {
  const { pod, container, podIps } = request;
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return;
  const podIp = (pod.spec?.hostNetwork === true ? parts.facts().nodeIps : podIps)[0] ?? "";
  try {
    await parts.hooks.run({ handler, containerId: id, container, podIp }, signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    parts.log.warn("postStart hook failed", { pod: pod.metadata.name, container: container.name, error });
    parts.events.record(pod, "Warning", "FailedPostStartHook", "PostStartHook failed");
    const status = await parts.runtime.containerStatus(id, signal);
    if (status !== undefined) {
      const graceSeconds = containerGraceSeconds(pod, container, "Over");
      const message = "FailedPostStartHook";
      await killContainer(
        parts,
        { pod, container: status, message, graceSeconds, minSeconds: MIN_TERM_SECONDS, podIp },
        signal,
      );
    }
    throw new StartError("PostStartHookError", messageOf(error), { cause: error });
  }
}

async function attempt<T>(reason: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    throw new StartError(reason, messageOf(error), { cause: error });
  }
}

function recorded(parts: PodParts, pod: core.Pod, error: unknown): never {
  if (error instanceof StartError) parts.events.record(pod, "Warning", "Failed", `Error: ${error.message}`);
  throw error;
}
