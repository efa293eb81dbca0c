/**
 * Devices of containers in a user namespace, where nobody makes device files: the node's own files are mounted. The
 * runtime would look for a file of the node at the container's path.
 *
 * The cgroup of the node says what may be opened, and how; "r" and "w" of one container are not told apart.
 */
import { bound } from "../runtime/bound.ts";
import type { ContainerConfig, Runtime } from "../runtime/runtime.ts";

export function withMountedDevices(runtime: Runtime): Runtime {
  return {
    ...bound(runtime),
    createContainer: (sandboxId, config, sandbox, signal) =>
      runtime.createContainer(sandboxId, mountingDevices(config), sandbox, signal),
  };
}

export function mountingDevices(config: ContainerConfig): ContainerConfig {
  const { devices, mounts } = config;
  if (devices.length === 0) return config;
  const files = devices.map(({ containerPath, hostPath, permissions }) => ({
    ...{ containerPath, hostPath, readonly: !permissions.includes("w"), propagation: "private" as const },
  }));
  return { ...config, devices: [], mounts: [...mounts, ...files] };
}
