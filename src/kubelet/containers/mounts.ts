/**
 * What a container sees of its Pod's volumes, and the files that the kubelet itself puts into it.
 *
 * 1. Where volumes and subpaths are on the node is decided before: here they are paths.
 * 2. A container that mounts something at /etc/hosts has its own file there.
 */
import type { core } from "#api";
import type { Mount } from "../runtime/runtime.ts";
import { RuntimeConfigError } from "./config-error.ts";
import { expandAll } from "./expand.ts";
import type { AnyContainer } from "./names.ts";

export interface MountPaths {
  /** Host paths of volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumePath>;
  /** Host paths of subpaths by the index of the mount. */
  readonly subPaths: ReadonlyMap<number, string>;
  /** The kubelet's /etc/hosts of the Pod; undefined where it keeps none. */
  readonly etcHosts?: string;
  /** The file that takes the container's last words. */
  readonly terminationLog?: string;
}

export interface VolumePath {
  readonly path: string;
  /** The volume itself cannot be written to. */
  readonly readOnly?: boolean;
}

const PROPAGATION = { None: "private", HostToContainer: "hostToContainer", Bidirectional: "bidirectional" } as const;

export function containerMounts(container: AnyContainer, paths: MountPaths): readonly Mount[] {
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
    };
  });
  const own = (containerPath: string, hostPath: string): Mount => ({
    containerPath,
    hostPath,
    readonly: false,
    propagation: "private",
  });
  const taken = new Set(mounts.map(({ containerPath }) => containerPath));
  if (paths.etcHosts !== undefined && !taken.has("/etc/hosts")) mounts.push(own("/etc/hosts", paths.etcHosts));
  if (paths.terminationLog !== undefined && terminationMessagePath !== "")
    mounts.push(own(terminationMessagePath, paths.terminationLog));
  return mounts;
}

/** The subpath of a mount, expanded; undefined where the whole volume is mounted. */
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
