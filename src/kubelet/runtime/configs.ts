/** What a runtime is asked for: sandboxes and containers with their security, mounts and resources. */

export interface PodSandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
}

export interface PodSandboxConfig {
  readonly metadata: PodSandboxMetadata;
  readonly hostname: string;
  readonly logDirectory: string;
  readonly dns?: {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    readonly options: readonly string[];
  };
  readonly portMappings: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux: LinuxSandbox;
}

export interface PortMapping {
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIp: string;
}

export type NamespaceMode = "POD" | "CONTAINER" | "NODE" | "TARGET";

/** Ids in a user namespace, and the node's. */
export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

export interface UserNamespace {
  readonly mode: "POD" | "NODE";
  readonly uids: readonly IdMapping[];
  readonly gids: readonly IdMapping[];
}

export interface NamespaceOptions {
  /** Undefined: the node's users. */
  readonly users?: UserNamespace | undefined;
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  readonly targetId?: string | undefined;
}

export interface SecurityProfile {
  readonly type: "RuntimeDefault" | "Unconfined" | "Localhost";
  readonly localhostRef?: string | undefined;
}

/** Labels of SELinux; a runtime on a machine without SELinux leaves them. */
export interface SelinuxLabels {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  readonly level: string;
}

export interface LinuxSandbox {
  readonly cgroupParent: string;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly namespaces: NamespaceOptions;
  readonly runAsUser?: number | undefined;
  readonly runAsGroup?: number | undefined;
  readonly supplementalGroups: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict" | undefined;
  readonly privileged: boolean;
  readonly readonlyRootfs: boolean;
  readonly seccomp?: SecurityProfile | undefined;
  readonly selinux?: SelinuxLabels | undefined;
  readonly overhead?: LinuxResources | undefined;
  readonly resources?: LinuxResources | undefined;
}

export interface LinuxResources {
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  /** Memory and swap together, on cgroup v1. */
  readonly memorySwapLimitBytes?: number;
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[];
  /** Files of cgroup v2, by name. */
  readonly unified?: Readonly<Record<string, string>>;
}

export interface ContainerConfig {
  readonly metadata: { readonly name: string; readonly attempt: number };
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDir: string;
  readonly envs: readonly { readonly key: string; readonly value: string }[];
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  /** By their qualified names: `vendor.com/gpu=0`. */
  readonly cdiDevices?: readonly { readonly name: string }[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Relative to the sandbox's log directory. */
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly linux: LinuxContainer;
}

export interface Mount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly readonly: boolean;
  readonly propagation: "private" | "hostToContainer" | "bidirectional";
  /** Mounts below it are read-only, too. */
  readonly recursiveReadOnly?: boolean | undefined;
  readonly uidMappings?: readonly IdMapping[] | undefined;
  readonly gidMappings?: readonly IdMapping[] | undefined;
}

export interface Device {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly permissions: string;
}

export interface LinuxContainer {
  readonly resources: LinuxResources;
  readonly privileged: boolean;
  readonly capabilities: { readonly add: readonly string[]; readonly drop: readonly string[] };
  readonly namespaces: NamespaceOptions;
  readonly runAsUser?: number | undefined;
  readonly runAsUsername?: string | undefined;
  readonly runAsGroup?: number | undefined;
  readonly supplementalGroups: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict" | undefined;
  readonly readonlyRootfs: boolean;
  readonly noNewPrivs: boolean;
  readonly maskedPaths: readonly string[];
  readonly readonlyPaths: readonly string[];
  readonly seccomp?: SecurityProfile | undefined;
  readonly apparmor?: SecurityProfile | undefined;
  readonly selinux?: SelinuxLabels | undefined;
}
