/** The ContainerConfig for the runtime. Pure: everything that has to be looked up, pulled or mounted is passed in. */
import type { core } from "#api";
import type { ContainerConfig, UserNamespace } from "../runtime/runtime.ts";
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
  /** CDI devices, by their qualified names. */
  readonly cdiDevices?: readonly string[];
  /** The container whose processes an ephemeral container sees. */
  readonly targetId?: string | undefined;
  readonly users?: UserNamespace | undefined;
  /** The runtime makes mounts below a read-only one read-only, too. */
  readonly recursiveReadOnly?: boolean | undefined;
  readonly placement?: CpuPlacement | undefined;
}

export function containerConfig(parts: ContainerParts, facts: NodeFacts): ContainerConfig {
  const {
    pod,
    container,
    attempt,
    imageRef,
    imageUser,
    env,
    paths,
    cdiDevices = [],
    targetId,
    placement,
    users,
    recursiveReadOnly,
  } = parts;
  const expanded = (words: readonly string[] = []) => words.map((word) => expand(word, (name) => env.get(name)));
  const { seccompRoot, seccompDefault } = facts;
  return {
    metadata: { name: container.name, attempt },
    image: imageRef,
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? "",
    envs: [...env].map(([key, value]) => ({ key, value })),
    mounts: containerMounts(container, paths, { recursiveReadOnly, users }),
    devices: containerDevices(container, paths),
    ...(cdiDevices.length > 0 && { cdiDevices: cdiDevices.map((name) => ({ name })) }),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
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
