/**
 * The volumes of Pods on a machine.
 *
 *     Pod ──► for each volume: directory (and tmpfs) ──► files, atomically ──► fsGroup ──► path for the containers
 *     uid ──► unmount everything below the Pod's directory, then remove it
 *
 * 1. `mount` is called with every sync: mounted volumes stay, changed contents are updated.
 * 2. A volume that was mounted once stays usable: a failure to update it does not keep containers from restarting.
 * 3. Volumes that can hold secrets are tmpfs, never on disk.
 * 4. Nothing is removed while something is still mounted below it. Leftovers of a crash are found in the file system.
 */
import { access, chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type core, parseQuantity, podLimits, scaledValue } from "#api";
import { type Clock, isAbort, type Logger, type Random } from "#base";
import type { Client } from "#client";
import type { NodeFacts } from "../containers/index.ts";
import type { Mounter } from "../host/index.ts";
import { podDirectory, subPathsDirectory, volumeDirectory, volumesDirectory } from "../host/index.ts";
import type { PodObjects } from "../objects/index.ts";
import { type PodCalls, unrecorded } from "../runtime/recorded.ts";
import type { ImageMounts } from "../runtime/runtime.ts";
import { writeAtomically } from "./atomic-writer.ts";
import { boundVolumeSoon } from "./claims.ts";
import { type ContentSources, volumeContents } from "./contents.ts";
import { type CsiVolumes, noCsi } from "./csi.ts";
import { hostPath } from "./host-path.ts";
import { hugePageSize } from "./huge-pages.ts";
import { mountImage, releaseImages } from "./image-volumes.ts";
import { type MeasuredPath, podVolumeUsage } from "./measure.ts";
import { localPath, localVolume, nfsVolume } from "./node-mounts.ts";
import { pluginOf, unobserved, type VolumeObserver } from "./operation-metrics.ts";
import { giveToGroup } from "./ownership.ts";
import type { PodVolumes } from "./pod-volumes.ts";
import { bindSubPath, readInside } from "./sub-path.ts";
import { PodTokens } from "./tokens.ts";
import { mountFailed, VolumeError } from "./volume-error.ts";

export interface HostVolumesOptions {
  readonly root: string;
  readonly mounter: Mounter;
  readonly client: Client;
  readonly objects: Pick<PodObjects, "configMap" | "secret">;
  readonly facts: () => NodeFacts;
  readonly csi?: CsiVolumes | undefined;
  /** Default: calls to drivers are not recorded. */
  readonly callsOf?: ((podUid: string) => PodCalls) | undefined;
  /** Absent: the runtime has none. */
  readonly images?: ImageMounts | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly observer?: VolumeObserver | undefined;
}

/** Plugins whose volumes are made of API objects. */
const PLUGINS = ["configMap", "secret", "downwardAPI", "projected"] as const;
const DIRECTORIES = {
  configMap: "configmap",
  secret: "secret",
  downwardAPI: "downward-api",
  projected: "projected",
} as const;

export function hostVolumes(options: HostVolumesOptions): PodVolumes {
  const { root, mounter, csi = noCsi, callsOf = () => unrecorded, observer = unobserved } = options;
  const tokens = new PodTokens(options);
  const ready = new Map<string, Map<string, MeasuredPath>>();

  /** `isNew`: with every further sync nothing is mounted any more. */
  const setUp = async (
    pod: core.Pod,
    volume: core.Volume,
    isNew: boolean,
    signal: AbortSignal,
  ): Promise<MeasuredPath> => {
    const mounting = <T>(plugin: string, work: () => Promise<T>) =>
      isNew ? observer.operation(plugin, "volume_mount", work) : work();
    const own = pluginOf(volume);
    const calls = callsOf(pod.metadata.uid ?? "");
    if (volume.hostPath !== undefined) return { path: await hostPath(volume.hostPath) };
    if (volume.emptyDir !== undefined)
      return { path: await mounting(own, () => emptyDir(options, pod, volume)), measure: "folder" };
    if (volume.csi !== undefined) {
      const plugin = pluginOf(volume, volume.csi.driver);
      const request = { pod, volume, readOnly: volume.csi.readOnly === true, calls };
      return { path: await mounting(plugin, () => csi.mount(request, signal)), measure: "driver", plugin };
    }
    if (volume.nfs !== undefined) {
      const nfs = { name: volume.name, source: volume.nfs, readOnly: volume.nfs.readOnly === true };
      return { path: await mounting(own, () => nfsVolume(options, pod, nfs)), measure: "filesystem", plugin: own };
    }
    const claimed = await boundVolumeSoon(options.client, options.clock, pod, volume, signal);
    if (claimed !== undefined) {
      const { claim, persistentVolume, readOnly } = claimed;
      const { hostPath: host, local, nfs, csi: driver, volumeMode, mountOptions } = persistentVolume.spec ?? {};
      const isBlock = volumeMode === "Block";
      checkMode(pod, volume.name, isBlock);
      if (host !== undefined) return { path: await hostPath(host), readOnly };
      const named = { name: persistentVolume.metadata.name ?? "", mountOptions };
      if (nfs !== undefined) {
        const source = { ...named, source: nfs, readOnly: readOnly || nfs.readOnly === true };
        const plugin = pluginOf({ name: "", nfs });
        const path = await mounting(plugin, () => nfsVolume(options, pod, source));
        return { path, readOnly: source.readOnly, measure: "filesystem", plugin };
      }
      if (local !== undefined && isBlock) {
        await localPath(local.path);
        return { path: local.path, readOnly, isBlock };
      }
      if (local !== undefined) {
        const plugin = pluginOf({ name: "" });
        const source = { ...named, source: local, readOnly };
        const path = await mounting(plugin, () => localVolume(options, pod, source));
        return { path, readOnly, measure: "filesystem", plugin };
      }
      if (driver !== undefined) {
        const plugin = pluginOf(volume, driver.driver);
        const request = { pod, volume, persistentVolume, claim, readOnly, calls };
        const path = await mounting(plugin, () => csi.mount(request, signal));
        return { path, readOnly, isBlock, measure: "driver", plugin };
      }
    }
    if (PLUGINS.some((kind) => volume[kind] !== undefined))
      return {
        path: await mounting(own, () => contentVolume(options, tokens, pod, volume, signal)),
        measure: "folder",
      };
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "nothing";
    throw new VolumeError(`no volume plugin matched: this node knows no volumes of ${kind}`);
  };

  return {
    async mount(pod, signal) {
      const { uid = "" } = pod.metadata;
      const paths = ready.get(uid) ?? new Map<string, MeasuredPath>();
      for (const volume of pod.spec?.volumes ?? []) {
        if (volume.image !== undefined) continue;
        try {
          paths.set(volume.name, await setUp(pod, volume, !paths.has(volume.name), signal));
        } catch (error) {
          if (isAbort(error, signal)) throw error;
          const failure = mountFailed(volume.name, error instanceof Error ? error.message : String(error), error);
          const path = paths.get(volume.name) ?? (await writtenBefore(root, uid, volume));
          if (path === undefined) throw failure;
          options.log.warn("volume contents could not be updated; the old contents stay", { error: failure });
          paths.set(volume.name, path);
        }
      }
      ready.set(uid, paths);
      return paths;
    },
    async mountImage({ metadata: { uid = "" } }, name, image, signal) {
      try {
        return { path: await mountImage(options, { uid, name, image }, signal), readOnly: true };
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        throw mountFailed(name, error instanceof Error ? error.message : String(error), error);
      }
    },
    async subPath({ pod, container, volume, volumeName, mountIndex, subPath }) {
      const directory = subPathsDirectory(root, pod.metadata.uid ?? "");
      const target = join(directory, volumeName, container, String(mountIndex));
      await bindSubPath(mounter, { volume: volume.path, subPath, target });
      return target;
    },
    readFile: ({ path: volume }, path) => readInside(volume, path),
    usage: (pod, signal) => podVolumeUsage({ ...options, csi }, pod, ready.get(pod.metadata.uid ?? ""), signal),
    async unmount(uid, signal) {
      const plugins = new Set([...(ready.get(uid)?.values() ?? [])].flatMap(({ plugin }) => plugin ?? []));
      const unmounted = async () => csi.unmount(uid, signal);
      await [...plugins].reduce(
        (work, plugin) => () => observer.operation(plugin, "volume_unmount", work),
        unmounted,
      )();
      const directory = podDirectory(root, uid);
      for (const path of await mounter.below(directory)) await mounter.unmount(path);
      if ((await mounter.below(directory)).length > 0)
        throw new VolumeError(`something is still mounted below ${directory}`);
      await releaseImages(options, uid, signal);
      await rm(subPathsDirectory(root, uid), { recursive: true, force: true });
      await rm(volumesDirectory(root, uid), { recursive: true, force: true });
      tokens.forget(uid);
      ready.delete(uid);
    },
    async podUids() {
      return readdir(join(root, "pods")).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return [];
        throw error;
      });
    },
  };
}

/** A block device is not mounted, and a file system is not a device. */
function checkMode({ spec }: core.Pod, name: string, isBlock: boolean): void {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const isMounted = containers.some(({ volumeMounts }) => volumeMounts?.some((mount) => mount.name === name));
  const isDevice = containers.some(({ volumeDevices }) => volumeDevices?.some((device) => device.name === name));
  if (isBlock && isMounted)
    throw new VolumeError(`volume ${name} has volumeMode Block, but is specified in volumeMounts`);
  if (!isBlock && isDevice)
    throw new VolumeError(`volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`);
}

/** Contents that a kubelet before this one wrote. */
async function writtenBefore(root: string, uid: string, volume: core.Volume): Promise<MeasuredPath | undefined> {
  const kind = PLUGINS.find((each) => volume[each] !== undefined);
  if (kind === undefined) return undefined;
  const path = volumeDirectory(root, uid, DIRECTORIES[kind], volume.name);
  return access(join(path, "..data")).then(
    () => ({ path, measure: "folder" }),
    () => undefined,
  );
}

async function emptyDir(
  { root, mounter, facts }: HostVolumesOptions,
  pod: core.Pod,
  volume: core.Volume,
): Promise<string> {
  const { medium = "", sizeLimit } = volume.emptyDir ?? {};
  const path = volumeDirectory(root, pod.metadata.uid ?? "", "empty-dir", volume.name);
  const isNew = (await mkdir(path, { recursive: true, mode: 0o777 })) !== undefined;
  const isMemory = medium === "Memory";
  const pages = hugePageSize(pod, medium);
  if (!isMemory && pages === undefined && medium !== "") throw new VolumeError(`unknown storage medium ${medium}`);
  const needsMount = (isMemory || pages !== undefined) && !(await mounter.below(path)).includes(path);
  if (needsMount && pages !== undefined)
    await mounter.mount({ type: "hugetlbfs", source: "nodev", options: [`pagesize=${pages}`] }, path);
  else if (needsMount) await mounter.tmpfs(path, tmpfsBytes(pod, sizeLimit, facts().allocatable.memory));
  // Regardless of the umask.
  if (isNew || needsMount) {
    await chmod(path, 0o777);
    await own(pod, path, false);
  }
  return path;
}

/** The smallest of the volume's size limit, the Pod's memory limit, and the node's allocatable memory. */
function tmpfsBytes(pod: core.Pod, sizeLimit: string | undefined, allocatable: string | undefined): number | undefined {
  const bytes = (quantity: string | undefined) =>
    quantity === undefined ? Number.POSITIVE_INFINITY : Number(scaledValue(parseQuantity(quantity), 0));
  const { memory } = podLimits(pod);
  const all = (pod.spec?.containers ?? []).every(({ resources }) => resources?.limits?.memory !== undefined);
  const limit = all && memory !== undefined ? Number(scaledValue(memory, 0)) : bytes(allocatable);
  const asked = sizeLimit === undefined || sizeLimit === "0" ? Number.POSITIVE_INFINITY : bytes(sizeLimit);
  const size = Math.min(asked, limit);
  return Number.isFinite(size) ? size : undefined;
}

async function contentVolume(
  options: HostVolumesOptions,
  tokens: PodTokens,
  pod: core.Pod,
  volume: core.Volume,
  signal: AbortSignal,
): Promise<string> {
  const { root, mounter } = options;
  const kind = PLUGINS.find((each) => volume[each] !== undefined) ?? "projected";
  const path = volumeDirectory(root, pod.metadata.uid ?? "", DIRECTORIES[kind], volume.name);
  const files = volumeContents(volume, await gathered(options, tokens, pod, volume, signal)) ?? new Map();
  await mkdir(path, { recursive: true, mode: 0o777 });
  if (kind !== "configMap" && !(await mounter.below(path)).includes(path)) await mounter.tmpfs(path, undefined);
  await chmod(path, 0o777);
  await writeAtomically(path, files, options, (directory) => own(pod, directory, true));
  return path;
}

async function own({ spec }: core.Pod, path: string, readOnly: boolean): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = spec?.securityContext ?? {};
  if (fsGroup === undefined) return;
  await giveToGroup(path, {
    group: Number(fsGroup),
    readOnly,
    onRootMismatch: fsGroupChangePolicy === "OnRootMismatch",
  });
}

/** Reads everything that the contents are made of. */
async function gathered(
  { objects, facts }: HostVolumesOptions,
  tokens: PodTokens,
  pod: core.Pod,
  { configMap, secret, projected }: core.Volume,
  signal: AbortSignal,
): Promise<ContentSources> {
  const { namespace = "" } = pod.metadata;
  const configMaps = new Map<string, core.ConfigMap>();
  const secrets = new Map<string, core.Secret>();
  const issued = new Map<core.ServiceAccountTokenProjection, string>();
  const sources: readonly core.VolumeProjection[] = [
    ...(configMap !== undefined ? [{ configMap }] : []),
    ...(secret?.secretName !== undefined ? [{ secret: { name: secret.secretName } }] : []),
    ...(projected?.sources ?? []),
  ];
  for (const source of sources) {
    const { name: mapName = "" } = source.configMap ?? {};
    const map = mapName === "" ? undefined : await objects.configMap(namespace, mapName);
    if (map !== undefined) configMaps.set(mapName, map);
    const { name: secretName = "" } = source.secret ?? {};
    const found = secretName === "" ? undefined : await objects.secret(namespace, secretName);
    if (found !== undefined) secrets.set(secretName, found);
    const { serviceAccountToken } = source;
    if (serviceAccountToken !== undefined)
      issued.set(serviceAccountToken, await tokens.get(pod, serviceAccountToken, signal));
  }
  return {
    pod,
    configMap: (name) => configMaps.get(name),
    secret: (name) => secrets.get(name),
    token: (projection) => issued.get(projection) ?? "",
    allocatable: facts().allocatable,
  };
}
