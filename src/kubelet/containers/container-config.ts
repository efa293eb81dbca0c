/** The ContainerConfig for the runtime. Pure: everything that has to be looked up, pulled or mounted is passed in. */
import type { core } from "#api";
import type { ContainerConfig, Device, Mount, UserNamespace } from "../runtime/runtime.ts";
import { expand } from "./expand.ts";
import { containerDevices, containerMounts, type MountPaths } from "./mounts.ts";
import { type AnyContainer, containerAnnotations, containerLabels, containerLogPath } from "./names.ts";
import type { NodeFacts } from "./node-facts.ts";
import { type CpuPlacement, containerResources } from "./resources.ts";
import { containerSecurity, type ImageUser } from "./security.ts";

export interface ContainerParts {
  readonly pod: core.Pod;
  readonly container: AnyContainer;
  readonly attempt: number;
  /** The runtime's reference of the image. */
  readonly imageRef: string;
  readonly imageUser: ImageUser;
  readonly env: ReadonlyMap<string, string>;
  readonly paths: MountPaths;
  /** What its devices add. */
  readonly devices?: DeviceParts | undefined;
  /** The container whose processes an ephemeral container sees. */
  readonly targetId?: string | undefined;
  readonly users?: UserNamespace | undefined;
  /** The runtime makes mounts below a read-only one read-only, too. */
  readonly recursiveReadOnly?: boolean | undefined;
  readonly placement?: CpuPlacement | undefined;
}

export interface DeviceParts {
  /** The container's own variables override these. */
  readonly envs: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly annotations: Readonly<Record<string, string>>;
  /** CDI devices, by their qualified names. */
  readonly cdiDevices: readonly string[];
}

const NO_DEVICES: DeviceParts = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

export function containerConfig(parts: ContainerParts, facts: NodeFacts): ContainerConfig {
  const { pod, container, attempt, imageRef, imageUser, env, paths, devices = NO_DEVICES, targetId } = parts;
  const { placement, users, recursiveReadOnly } = parts;
  const expanded = (words: readonly string[] = []) => words.map((word) => expand(word, (name) => env.get(name)));
  const { seccompRoot, seccompDefault } = facts;
  return {
    metadata: { name: container.name, attempt },
    image: imageRef,
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? "",
    envs: [...new Map([...Object.entries(devices.envs), ...env])].map(([key, value]) => ({ key, value })),
    mounts: [...devices.mounts, ...containerMounts(container, paths, { recursiveReadOnly, users })],
    devices: [...devices.devices, ...containerDevices(container, paths)],
    ...(devices.cdiDevices.length > 0 && { cdiDevices: devices.cdiDevices.map((name) => ({ name })) }),
    labels: containerLabels(pod, container),
    annotations: { ...devices.annotations, ...containerAnnotations(pod, container, attempt) },
    logPath: containerLogPath(container.name, attempt),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      ...containerSecurity(pod, container, imageUser, { seccompRoot, seccompDefault, targetId, users }),
      resources: containerResources(pod, container, {
        memoryCapacityBytes: facts.memoryCapacityBytes,
        rules: facts.rules,
        placement,
      }),
    },
  };
}
