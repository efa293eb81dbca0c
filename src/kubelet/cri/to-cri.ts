/** From the kubelet's values to CRI's messages. Pure. */
import type {
  ContainerConfig,
  ImageAuth,
  LinuxContainer,
  LinuxResources,
  LinuxSandbox,
  NamespaceOptions,
  PodSandboxConfig,
  PortMapping,
  RuntimeFilter,
  SecurityProfile,
} from "../runtime/runtime.ts";
import { type CriRequest, NAMESPACE_MODES, PROFILE_TYPES, PROPAGATIONS, PROTOCOLS } from "./messages.ts";

/** Of SupplementalGroupsPolicy; Merge is 0. */
const STRICT = 1;

export function toPodSandboxConfig(config: PodSandboxConfig): CriRequest<"PodSandboxConfig"> {
  const { metadata, hostname, logDirectory, dns, portMappings, labels, annotations, linux } = config;
  return {
    metadata,
    hostname,
    logDirectory,
    ...(dns !== undefined && { dnsConfig: dns }),
    portMappings: portMappings.map(toPortMapping),
    labels,
    annotations,
    linux: toLinuxSandbox(linux),
  };
}

function toPortMapping({ protocol, containerPort, hostPort, hostIp }: PortMapping): CriRequest<"PortMapping"> {
  return { protocol: PROTOCOLS.indexOf(protocol), containerPort, hostPort, hostIp };
}

function toLinuxSandbox(linux: LinuxSandbox): CriRequest<"LinuxPodSandboxConfig"> {
  const { cgroupParent, sysctls, namespaces, privileged, readonlyRootfs, seccomp, selinux, overhead, resources } =
    linux;
  return {
    cgroupParent,
    sysctls,
    securityContext: {
      namespaceOptions: toNamespaces(namespaces),
      ...toUser(linux),
      privileged,
      readonlyRootfs,
      ...(seccomp !== undefined && { seccomp: toProfile(seccomp) }),
      ...(selinux !== undefined && { selinuxOptions: selinux }),
    },
    ...(overhead !== undefined && { overhead: toResources(overhead) }),
    ...(resources !== undefined && { resources: toResources(resources) }),
  };
}

export function toContainerConfig(config: ContainerConfig): CriRequest<"ContainerConfig"> {
  const { image, mounts, linux, ...same } = config;
  return {
    ...same,
    image: toImageSpec(image),
    mounts: mounts.map(({ propagation, ...mount }) => ({ ...mount, propagation: PROPAGATIONS.indexOf(propagation) })),
    linux: { resources: toResources(linux.resources), securityContext: toSecurityContext(linux) },
  };
}

function toSecurityContext(linux: LinuxContainer): CriRequest<"LinuxContainerSecurityContext"> {
  const { privileged, capabilities, namespaces, readonlyRootfs, noNewPrivs, maskedPaths, readonlyPaths } = linux;
  const { runAsUsername, seccomp, apparmor, selinux } = linux;
  return {
    capabilities: { addCapabilities: capabilities.add, dropCapabilities: capabilities.drop },
    privileged,
    namespaceOptions: toNamespaces(namespaces),
    ...toUser(linux),
    ...(runAsUsername !== undefined && { runAsUsername }),
    readonlyRootfs,
    noNewPrivs,
    maskedPaths,
    readonlyPaths,
    ...(seccomp !== undefined && { seccomp: toProfile(seccomp) }),
    ...(apparmor !== undefined && { apparmor: toProfile(apparmor) }),
    ...(selinux !== undefined && { selinuxOptions: selinux }),
  };
}

function toUser(linux: LinuxSandbox | LinuxContainer) {
  const { runAsUser, runAsGroup, supplementalGroups, supplementalGroupsPolicy } = linux;
  return {
    ...(runAsUser !== undefined && { runAsUser: { value: runAsUser } }),
    ...(runAsGroup !== undefined && { runAsGroup: { value: runAsGroup } }),
    supplementalGroups,
    ...(supplementalGroupsPolicy === "Strict" && { supplementalGroupsPolicy: STRICT }),
  };
}

function toNamespaces({ network, pid, ipc, targetId = "", users }: NamespaceOptions): CriRequest<"NamespaceOption"> {
  const mode = (name: NamespaceOptions["pid"]) => NAMESPACE_MODES.indexOf(name);
  return {
    network: mode(network),
    pid: mode(pid),
    ipc: mode(ipc),
    targetId,
    ...(users !== undefined && { usernsOptions: { ...users, mode: mode(users.mode) } }),
  };
}

function toProfile({ type, localhostRef = "" }: SecurityProfile): CriRequest<"SecurityProfile"> {
  return { profileType: PROFILE_TYPES.indexOf(type), localhostRef };
}

/** Absent fields are 0 in CRI: "leave unchanged". */
export function toResources(resources: LinuxResources): CriRequest<"LinuxContainerResources"> {
  const { memoryLimitBytes, memorySwapLimitBytes, ...same } = resources;
  return {
    ...same,
    ...(memoryLimitBytes !== undefined && { memoryLimitInBytes: memoryLimitBytes }),
    ...(memorySwapLimitBytes !== undefined && { memorySwapLimitInBytes: memorySwapLimitBytes }),
  };
}

export function toImageSpec(image: string): CriRequest<"ImageSpec"> {
  return { image, userSpecifiedImage: image };
}

export function toAuth(auth: ImageAuth): CriRequest<"AuthConfig"> {
  return auth;
}

export function toSandboxFilter({ id, podSandboxId, labels }: RuntimeFilter): CriRequest<"PodSandboxFilter"> {
  const wanted = id ?? podSandboxId;
  return { ...(wanted !== undefined && { id: wanted }), ...(labels !== undefined && { labelSelector: labels }) };
}

/** For containers and their statistics: the fields have the same names. */
export function toContainerFilter({ id, podSandboxId, labels }: RuntimeFilter) {
  return {
    ...(id !== undefined && { id }),
    ...(podSandboxId !== undefined && { podSandboxId }),
    ...(labels !== undefined && { labelSelector: labels }),
  };
}
