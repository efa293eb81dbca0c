/** Configurations of sandboxes and containers for tests. */
import type { ContainerConfig, PodSandboxConfig } from "../../runtime/runtime.ts";

const NAMESPACES = { network: "POD", pid: "CONTAINER", ipc: "POD" } as const;

export function sandboxConfig(changes: Partial<PodSandboxConfig>): PodSandboxConfig {
  return {
    metadata: { name: "web", uid: "5f1c", namespace: "default", attempt: 0 },
    hostname: "web",
    logDirectory: "",
    portMappings: [],
    labels: {},
    annotations: {},
    linux: {
      cgroupParent: "",
      sysctls: {},
      namespaces: NAMESPACES,
      supplementalGroups: [],
      privileged: false,
      readonlyRootfs: false,
    },
    ...changes,
  };
}

export function containerConfig(changes: Partial<ContainerConfig>): ContainerConfig {
  return {
    metadata: { name: "main", attempt: 0 },
    image: "localhost/busybox:1",
    command: [],
    args: [],
    workingDir: "",
    envs: [],
    mounts: [],
    devices: [],
    labels: {},
    annotations: {},
    logPath: "",
    stdin: false,
    stdinOnce: false,
    tty: false,
    linux: {
      resources: {},
      privileged: false,
      capabilities: { add: [], drop: [] },
      namespaces: NAMESPACES,
      supplementalGroups: [],
      readonlyRootfs: false,
      noNewPrivs: false,
      maskedPaths: [],
      readonlyPaths: [],
    },
    ...changes,
  };
}
