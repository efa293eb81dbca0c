/**
 * CSI volumes of Pods on this node.
 *
 *     mount    ──► reported in use ──► attached? ──► NodeStage, once for the node ──► NodePublish, for each Pod
 *     unmount  ──► NodeUnpublish ──► NodeUnstage, if no other Pod has it ──► no longer in use
 *
 * 1. All calls are idempotent: what an earlier attempt, or an earlier kubelet, has done is asked for again.
 * 2. What there is to take down is read from the disk: `vol_data.json` of the Pod and of the node is written before the
 *    driver is called, and removed after it has answered: with success, or finally that it has not staged the volume.
 * 3. A volume is staged and unstaged by one Pod at a time.
 * 4. A volume is reported in use before it is staged, and until it is unstaged: it is not detached in between. One that
 *    a Pod has waited for in vain is given back with the Pod.
 */
import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type core, isStatusError, kinds, type storage } from "#api";
import { type Clock, KeyedLock } from "#base";
import type { Client, EventRecorder } from "#client";
import { NodeRpc } from "#storage/csi";
import { type PodCalls, unrecorded } from "../runtime/recorded.ts";
import { type CsiMountRequest, type CsiVolumes, giveToGroup, type PodTokens, VolumeError } from "../volumes/index.ts";
import type { AttachedVolumes } from "./attached-volumes.ts";
import type { CsiDrivers, NodePlugin } from "./drivers.ts";
import { expandOnNode } from "./expand.ts";
import { isFinal } from "./final-errors.ts";
import { type Labelling, labelled, refuseOtherLabel } from "./labels.ts";
import { forget, isUsed, nameOf, type PublishedOnDisk, removeEmpty, volumesOn } from "./on-disk.ts";
import * as paths from "./paths.ts";
import { capabilityOf, podAttributes, supportsGroup, type Wanted, wantedVolume } from "./requests.ts";
import { type PublishedVolume, volumeUsage } from "./usage.ts";
import { type VolumeData, writeVolumeData } from "./volume-data.ts";

export interface CsiVolumesOptions extends Labelling {
  readonly root: string;
  readonly nodeName: string;
  readonly client: Client;
  readonly drivers: Pick<CsiDrivers, "get">;
  readonly attached: AttachedVolumes;
  readonly tokens: PodTokens;
  readonly clock: Clock;
  /** For expansions. Default: nobody is told. */
  readonly recorder?: Pick<EventRecorder, "record"> | undefined;
  /** Whether drivers are asked if something is wrong with a volume: gate CSIVolumeHealth. */
  readonly isHealthWanted?: boolean | undefined;
}

const TOKENS = "csi.storage.k8s.io/serviceAccount.tokens";

export function csiVolumes(options: CsiVolumesOptions): CsiVolumes {
  const { root, nodeName, attached, isHealthWanted = false } = options;
  const locks = new KeyedLock();
  /** Targets that this process has published: asking again is only needed where the driver wants it. */
  const published = new Map<string, PublishedVolume>();
  /** Volumes that Pods wait for, until they have something on the disk. */
  const awaited = new Map<string, Map<string, VolumeData>>();

  return {
    async mount(request, signal) {
      const unlabelled = wantedVolume(request, nodeName);
      const { calls = unrecorded } = request;
      const plugin = recordedPlugin(options.drivers.get(unlabelled.driver), unlabelled.driver, calls);
      const target = targetOf(root, request.pod, unlabelled);
      const about = await driverObject(options.client, unlabelled, signal);
      const wanted = labelled(unlabelled, options, request, about);
      const isKnown = published.has(target);
      if (!isKnown || about.requiresRepublish === true) {
        await locks.run(wanted.attachedName, async () => {
          await refuseSecondPod(root, request.pod, wanted);
          await refuseOtherLabel(root, request.pod, wanted);
          const { uid = "" } = request.pod.metadata;
          const waiting = awaited.get(uid) ?? new Map<string, VolumeData>();
          awaited.set(uid, waiting.set(wanted.attachedName, dataOf(wanted, nodeName)));
          const publishContext = await attached.wait(wanted, about.attachRequired !== false, calls, signal);
          const note = await noteOf(options, request.pod, wanted, target);
          waiting.delete(wanted.attachedName);
          await stage(options, plugin, wanted, publishContext, signal).catch(async (error: unknown) => {
            if (isFinal(error) && note.isNew) await notStaged(note.volume);
            throw error;
          });
          await publish(options, plugin, { request, wanted, about, target, publishContext }, signal);
        });
        published.set(target, { driver: wanted.driver, handle: wanted.handle, stagingPath: stagingOf(root, wanted) });
      }
      if (request.claim !== undefined)
        await expandOnNode(
          { ...options, plugin, wanted, request, target, stagingPath: stagingOf(root, wanted) },
          signal,
        );
      return target;
    },
    async usage(path, signal) {
      const volume = published.get(path);
      if (volume === undefined) return undefined;
      return volumeUsage(options.drivers.get(volume.driver), { ...volume, path, isHealthWanted }, signal);
    },
    async unmount(uid, signal) {
      for (const volume of await volumesOn(root, uid)) {
        const { data, target, directory } = volume;
        await locks.run(nameOf(data), async () => {
          const { node, can } = options.drivers.get(data.driverName);
          await node.NodeUnpublishVolume({ volumeId: data.volumeHandle, targetPath: target }, { signal });
          published.delete(target);
          await forget(volume);
          if (await isUsed(root, data)) return;
          if (data.volumeLifecycleMode === "Persistent" && can.has(NodeRpc.STAGE_UNSTAGE_VOLUME)) {
            const path = volume.isBlock
              ? paths.blockStagingPath(root, data.specVolID)
              : paths.stagingPath(root, data.driverName, data.volumeHandle);
            await node.NodeUnstageVolume({ volumeId: data.volumeHandle, stagingTargetPath: path }, { signal });
            await removeEmpty(path);
          }
          await rm(keptFor(root, volume), { recursive: true, force: true });
          attached.release(nameOf(data));
        });
        await removeEmpty(dirname(directory));
      }
      for (const [name, data] of awaited.get(uid) ?? [])
        await locks.run(name, async () => {
          if (!(await isUsed(root, data))) attached.release(name);
        });
      awaited.delete(uid);
    },
  };

  /** The driver says that it has not, and nobody else has the volume here. */
  async function notStaged(volume: PublishedOnDisk): Promise<void> {
    await forget(volume);
    await removeEmpty(dirname(volume.directory));
    if (await isUsed(root, volume.data)) return;
    await rm(keptFor(root, volume), { recursive: true, force: true });
    attached.release(nameOf(volume.data));
  }
}

/** The folder of what the node knows of a volume. */
function keptFor(root: string, { data, isBlock }: Pick<PublishedOnDisk, "data" | "isBlock">): string {
  return isBlock
    ? dirname(paths.blockDataDirectory(root, data.specVolID))
    : paths.stagedDirectory(root, data.driverName, data.volumeHandle);
}

interface Note {
  readonly volume: PublishedOnDisk;
  /** The Pod had none of it before. */
  readonly isNew: boolean;
}

/** On the disk, for whoever takes the volume down: written before the driver is called for the first time. */
async function noteOf(
  { root, nodeName }: CsiVolumesOptions,
  { metadata: { uid = "" } }: core.Pod,
  wanted: Wanted,
  target: string,
): Promise<Note> {
  const { name, isBlock } = wanted;
  const data = dataOf(wanted, nodeName);
  const known = (await volumesOn(root, uid)).some((volume) => volume.target === target);
  const own = paths.publishedDirectory(root, uid, name);
  await writeVolumeData(isBlock ? paths.blockDataDirectory(root, name) : own, data);
  if (isBlock) await linkDevice(root, uid, name, target);
  const directory = isBlock ? join(paths.devicesOfPod(root, uid), name) : own;
  return { volume: { data, target, directory, isBlock }, isNew: !known };
}

/** What is asked of the driver for a Pod joins the Pod's record. */
function recordedPlugin({ node, can }: NodePlugin, driver: string, calls: PodCalls): NodePlugin {
  const recorded: typeof node = {
    ...node,
    NodeStageVolume: (...args) => calls.record(driver, "NodeStageVolume", () => node.NodeStageVolume(...args)),
    NodePublishVolume: (...args) => calls.record(driver, "NodePublishVolume", () => node.NodePublishVolume(...args)),
    NodeExpandVolume: (...args) => calls.record(driver, "NodeExpandVolume", () => node.NodeExpandVolume(...args)),
  };
  return { node: recorded, can };
}

function targetOf(root: string, { metadata: { uid = "" } }: core.Pod, { isBlock, name }: Wanted): string {
  return isBlock ? paths.blockPublishPath(root, name, uid) : join(paths.publishedDirectory(root, uid, name), "mount");
}

function stagingOf(root: string, { isBlock, name, driver, handle }: Wanted): string {
  return isBlock ? paths.blockStagingPath(root, name) : paths.stagingPath(root, driver, handle);
}

async function driverObject(
  client: Client,
  { driver, isInline }: Wanted,
  signal: AbortSignal,
): Promise<storage.CSIDriverSpec> {
  const found = await client
    .of(kinds.CSIDriver)
    .get(driver, { resourceVersion: "0", signal })
    .catch((error: unknown) => {
      if (isStatusError(error, "NotFound")) return undefined;
      throw error;
    });
  const spec = found?.spec ?? {};
  const mode = isInline ? "Ephemeral" : "Persistent";
  const modes = spec.volumeLifecycleModes ?? ["Persistent"];
  if (!modes.includes(mode)) {
    const why = found === undefined ? "no CSIDriver object" : `only supports ${JSON.stringify(modes)}`;
    throw new VolumeError(`volume mode "${mode}" not supported by driver ${driver} (${why})`);
  }
  return isInline ? { ...spec, attachRequired: false } : spec;
}

/** A volume with access mode ReadWriteOncePod has one Pod at a time, also on one node. */
async function refuseSecondPod(root: string, { metadata }: core.Pod, wanted: Wanted): Promise<void> {
  if (wanted.accessModes.length !== 1 || wanted.accessMode !== "ReadWriteOncePod") return;
  const volume = { driverName: wanted.driver, volumeHandle: wanted.handle };
  if (await isUsed(root, volume, metadata.uid))
    throw new VolumeError("volume uses the ReadWriteOncePod access mode and is already in use by another pod");
}

async function stage(
  { root, nodeName, client }: CsiVolumesOptions,
  { node, can }: NodePlugin,
  wanted: Wanted,
  publishContext: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  if (wanted.isInline || !can.has(NodeRpc.STAGE_UNSTAGE_VOLUME)) return;
  const { driver, handle, name, isBlock, attributes, stageSecret } = wanted;
  const stagingTargetPath = stagingOf(root, wanted);
  const directory = isBlock ? paths.blockDataDirectory(root, name) : paths.stagedDirectory(root, driver, handle);
  await writeVolumeData(directory, dataOf(wanted, nodeName));
  await mkdir(stagingTargetPath, { recursive: true, mode: 0o750 });
  await node.NodeStageVolume(
    {
      volumeId: handle,
      publishContext,
      stagingTargetPath,
      volumeCapability: capabilityOf(wanted, can.has(NodeRpc.SINGLE_NODE_MULTI_WRITER)),
      secrets: await secretOf(client, stageSecret, signal),
      volumeContext: attributes,
    },
    { signal },
  );
}

interface Publishing {
  readonly request: CsiMountRequest;
  readonly wanted: Wanted;
  readonly about: storage.CSIDriverSpec;
  readonly target: string;
  readonly publishContext: Readonly<Record<string, string>>;
}

async function publish(
  options: CsiVolumesOptions,
  { node, can }: NodePlugin,
  { request: { pod }, wanted, about, target, publishContext }: Publishing,
  signal: AbortSignal,
): Promise<void> {
  const { root, client } = options;
  const { handle, readOnly, attributes, publishSecret } = wanted;
  const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
  const givesGroup = fsGroup !== undefined && supportsGroup(wanted, about.fsGroupPolicy);
  const isDriversTask = givesGroup && can.has(NodeRpc.VOLUME_MOUNT_GROUP);
  const tokens = await tokensOf(options.tokens, pod, about, signal);
  const inSecrets = about.serviceAccountTokenInSecrets === true;
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  await node.NodePublishVolume(
    {
      volumeId: handle,
      publishContext,
      stagingTargetPath: can.has(NodeRpc.STAGE_UNSTAGE_VOLUME) && !wanted.isInline ? stagingOf(root, wanted) : "",
      targetPath: target,
      volumeCapability: capabilityOf(
        wanted,
        can.has(NodeRpc.SINGLE_NODE_MULTI_WRITER),
        isDriversTask ? String(fsGroup) : undefined,
      ),
      readonly: readOnly,
      secrets: { ...(await secretOf(client, publishSecret, signal)), ...(inSecrets && tokens) },
      volumeContext: {
        ...attributes,
        ...(about.podInfoOnMount === true && podAttributes(pod, wanted.isInline)),
        ...(!inSecrets && tokens),
      },
    },
    { signal },
  );
  if (givesGroup && !isDriversTask) {
    const onRootMismatch = fsGroupChangePolicy === "OnRootMismatch";
    await giveToGroup(target, { group: Number(fsGroup), readOnly: false, onRootMismatch });
  }
}

function dataOf(wanted: Wanted, nodeName: string): VolumeData {
  const { name, handle, driver, attachment, isInline, mountLabel: label } = wanted;
  return {
    specVolID: name,
    volumeHandle: handle,
    driverName: driver,
    nodeName,
    attachmentID: attachment,
    volumeLifecycleMode: isInline ? "Ephemeral" : "Persistent",
    ...(label !== undefined && { seLinuxMountContext: label }),
  };
}

async function secretOf(
  client: Client,
  reference: core.SecretReference | undefined,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { name = "", namespace = "" } = reference ?? {};
  if (name === "") return {};
  const { data = {} } = await client.of(kinds.Secret).in(namespace).get(name, { signal });
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));
}

/** Tokens of the Pod's ServiceAccount, for each audience that the driver names. */
async function tokensOf(
  tokens: PodTokens,
  pod: core.Pod,
  { tokenRequests = [] }: storage.CSIDriverSpec,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (tokenRequests.length === 0) return {};
  const issued: Record<string, object> = {};
  for (const { audience, expirationSeconds } of tokenRequests) {
    const projection = { path: "", audience, ...(expirationSeconds !== undefined && { expirationSeconds }) };
    issued[audience] = await tokens.issued(pod, projection, signal);
  }
  return { [TOKENS]: JSON.stringify(issued) };
}

async function linkDevice(root: string, uid: string, name: string, target: string): Promise<void> {
  const link = join(paths.devicesOfPod(root, uid), name);
  await mkdir(dirname(link), { recursive: true, mode: 0o750 });
  await rm(link, { force: true });
  await symlink(target, link);
}
