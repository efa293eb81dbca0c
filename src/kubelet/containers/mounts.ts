/**
 * A container's mounts: its Pod's volumes, and the files that the kubelet itself adds.
 *
 * 1. Volumes and subpaths have been prepared: here they are paths on the node.
 * 2. A container that mounts something at /etc/hosts does not get the kubelet's file.
 */
import type { core } from "#api";
import type { Device, Mount, UserNamespace } from "../runtime/runtime.ts";
import { RuntimeConfigError } from "./config-error.ts";
import { expandAll } from "./expand.ts";
import type { AnyContainer } from "./names.ts";

export interface MountPaths {
  /** Host paths of volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumePath>;
  /** Host paths of subpaths by the index of the mount. */
  readonly subPaths: ReadonlyMap<number, string>;
  /** The kubelet's /etc/hosts for the Pod; undefined if it has none. */
  readonly etcHosts?: string | undefined;
  /** The file for the termination message. */
  readonly terminationLog?: string | undefined;
}

export interface VolumePath {
  readonly path: string;
  /** The volume itself is read-only. */
  readonly readOnly?: boolean;
  /** It is a block device, for `volumeDevices`. */
  readonly isBlock?: boolean;
}

const PROPAGATION = { None: "private", HostToContainer: "hostToContainer", Bidirectional: "bidirectional" } as const;

export interface MountAbilities {
  /** The runtime makes mounts below a read-only one read-only, too. */
  readonly recursiveReadOnly?: boolean | undefined;
  /** Files belong to the ids of the Pod's user namespace. */
  readonly users?: UserNamespace | undefined;
}

export function containerMounts(
  container: AnyContainer,
  paths: MountPaths,
  { recursiveReadOnly: isAble = false, users }: MountAbilities = {},
): readonly Mount[] {
  const ids = users === undefined ? {} : { uidMappings: users.uids, gidMappings: users.gids };
  const { volumeMounts = [], terminationMessagePath = "" } = container;
  const mounts = volumeMounts.map((mount, index): Mount => {
    const volume = paths.volumes.get(mount.name);
    if (volume === undefined)
      throw new RuntimeConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    return {
      containerPath: absolute(mount.mountPath),
      hostPath: paths.subPaths.get(index) ?? volume.path,
      readonly: mount.readOnly === true || volume.readOnly === true,
      propagation: PROPAGATION[mount.mountPropagation ?? "None"],
      ...(isRecursive(mount, isAble) && { recursiveReadOnly: true }),
      ...ids,
    };
  });
  const own = (containerPath: string, hostPath: string): Mount => ({
    containerPath,
    hostPath,
    readonly: false,
    propagation: "private",
    ...ids,
  });
  const taken = new Set(mounts.map(({ containerPath }) => containerPath));
  if (paths.etcHosts !== undefined && !taken.has("/etc/hosts")) mounts.push(own("/etc/hosts", paths.etcHosts));
  if (paths.terminationLog !== undefined && terminationMessagePath !== "")
    mounts.push(own(terminationMessagePath, paths.terminationLog));
  return mounts;
}

/** Whether what is mounted below is read-only, too. Throws RuntimeConfigError where that must be, and cannot. */
function isRecursive(mount: core.VolumeMount, isAble: boolean): boolean {
  const { name, recursiveReadOnly = "Disabled", readOnly = false, mountPropagation: propagation = "None" } = mount;
  if (recursiveReadOnly === "Disabled") return false;
  const refuse = (why: string) => {
    const what = `volume "${name}" requested recursive read-only mode, but it is ${why}`;
    if (recursiveReadOnly === "Enabled")
      throw new RuntimeConfigError(`failed to resolve recursive read-only mode: ${what}`);
    return false;
  };
  if (!isAble) return refuse("not supported by the runtime");
  if (!readOnly) return refuse("not read-only");
  if (propagation !== "None") return refuse(`not compatible with propagation "${propagation}"`);
  return true;
}

/** Block volumes. */
export function containerDevices(
  { name, volumeDevices = [] }: AnyContainer,
  { volumes }: MountPaths,
): readonly Device[] {
  return volumeDevices.map((device) => {
    const volume = volumes.get(device.name);
    if (volume === undefined)
      throw new RuntimeConfigError(`cannot find volume "${device.name}" to pass into container "${name}"`);
    return {
      containerPath: device.devicePath,
      hostPath: volume.path,
      permissions: volume.readOnly === true ? "r" : "mrw",
    };
  });
}

/** The expanded subpath of a mount; undefined if the whole volume is mounted. */
export function subPathOf(mount: core.VolumeMount, env: ReadonlyMap<string, string>): string | undefined {
  if (mount.subPathExpr === undefined || mount.subPathExpr === "")
    return mount.subPath === undefined || mount.subPath === "" ? undefined : mount.subPath;
  const { text, missing } = expandAll(mount.subPathExpr, (name) => env.get(name));
  if (missing.length > 0) throw new RuntimeConfigError(`missing value for "${missing[0]}"`);
  if (text.startsWith("/")) throw new RuntimeConfigError(`error SubPath \`${text}\` must not be an absolute path`);
  if (text.split("/").includes(".."))
    throw new RuntimeConfigError(`unable to provision SubPath \`${text}\`: must not contain '..'`);
  return text;
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
