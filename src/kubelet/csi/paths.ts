/** Where the kubelet keeps CSI volumes, and what the API calls them: as upstream, since drivers rely on it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { podDirectory, volumeDirectory } from "../host/index.ts";

const PLUGIN = "kubernetes.io/csi";
const ESCAPED = "kubernetes.io~csi";

/** Drivers put their registration sockets there. */
export function registryDirectory(root: string): string {
  return join(root, "plugins_registry");
}

/** The folder of a staged volume: `globalmount` in it is what the driver mounts. */
export function stagedDirectory(root: string, driver: string, handle: string): string {
  return join(root, "plugins", PLUGIN, driver, createHash("sha256").update(handle).digest("hex"));
}

export function stagingPath(root: string, driver: string, handle: string): string {
  return join(stagedDirectory(root, driver, handle), "globalmount");
}

/** The folder of a volume of a Pod: `mount` in it is what containers see. `name`: its PersistentVolume, or itself. */
export function publishedDirectory(root: string, uid: string, name: string): string {
  return volumeDirectory(root, uid, "csi", escaped(name));
}

export function csiVolumesOfPod(root: string, uid: string): string {
  return join(podDirectory(root, uid), "volumes", ESCAPED);
}

/** Links to the block devices of a Pod. */
export function devicesOfPod(root: string, uid: string): string {
  return join(podDirectory(root, uid), "volumeDevices", ESCAPED);
}

const devices = (root: string) => join(root, "plugins", PLUGIN, "volumeDevices");

export function blockStagingPath(root: string, name: string): string {
  return join(devices(root), "staging", escaped(name));
}

export function blockPublishPath(root: string, name: string, uid: string): string {
  return join(devices(root), "publish", escaped(name), uid);
}

/** The folder of what is known of a block volume. */
export function blockDataDirectory(root: string, name: string): string {
  return join(devices(root), escaped(name), "data");
}

export function attachmentName(driver: string, handle: string, nodeName: string): string {
  return `csi-${createHash("sha256").update(`${handle}${driver}${nodeName}`).digest("hex")}`;
}

/** An inline volume has no handle of its own. */
export function inlineHandle(uid: string, volume: string): string {
  return `csi-${createHash("sha256").update(`${uid}${volume}`).digest("hex")}`;
}

function escaped(name: string): string {
  return name.replaceAll("/", "~");
}
