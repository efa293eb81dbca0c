/**
 * The security settings of a container: its own securityContext, then the Pod's.
 *
 * 1. runAsNonRoot is checked before the container is created: against runAsUser, otherwise against the image's user.
 * 2. Paths in /proc and /sys are masked unless the container is privileged or asks for an unmasked /proc.
 */
import type { core, Int64 } from "#api";
import { podText } from "../pod-status/index.ts";
import type {
  Image,
  LinuxContainer,
  NamespaceOptions,
  SecurityProfile,
  SelinuxLabels,
  UserNamespace,
} from "../runtime/runtime.ts";
import { RuntimeConfigError } from "./config-error.ts";
import type { AnyContainer } from "./names.ts";
import type { NodeFacts } from "./node-facts.ts";

const MASKED = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];
const READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

export type ImageUser = Pick<Image, "uid" | "username">;

export function namespaces(pod: core.Pod, targetId?: string): NamespaceOptions {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = pod.spec ?? {};
  const pid = hostPID ? "NODE" : shareProcessNamespace ? "POD" : targetId !== undefined ? "TARGET" : "CONTAINER";
  return {
    network: hostNetwork ? "NODE" : "POD",
    ipc: hostIPC ? "NODE" : "POD",
    pid,
    targetId: pid === "TARGET" ? targetId : undefined,
  };
}

export interface SecurityFacts extends Pick<NodeFacts, "seccompRoot" | "seccompDefault"> {
  readonly targetId?: string | undefined;
  readonly users?: UserNamespace | undefined;
}

export function containerSecurity(
  pod: core.Pod,
  container: AnyContainer,
  image: ImageUser,
  { seccompRoot, seccompDefault, targetId, users }: SecurityFacts,
): Omit<LinuxContainer, "resources"> {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  const privileged = own.privileged === true;
  const unmasked = privileged || own.procMount === "Unmasked";
  const runAsUser = idOf(own.runAsUser ?? shared.runAsUser);
  const runAsGroup = idOf(own.runAsGroup ?? shared.runAsGroup);
  refuseRoot(pod, container, runAsUser, image);
  const seccomp = profile(own.seccompProfile ?? shared.seccompProfile, (name) => `${seccompRoot}/${name}`);
  const apparmor = profile(own.appArmorProfile ?? shared.appArmorProfile, (name) => name);
  return {
    privileged,
    capabilities: { add: own.capabilities?.add ?? [], drop: own.capabilities?.drop ?? [] },
    namespaces: { ...namespaces(pod, targetId), ...(users !== undefined && { users }) },
    ...userOf(runAsUser, image),
    runAsGroup,
    supplementalGroups: supplementalGroups(pod),
    ...groupsPolicy(pod),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : MASKED,
    readonlyPaths: unmasked ? [] : READ_ONLY,
    seccomp: seccomp ?? { type: seccompDefault ? "RuntimeDefault" : "Unconfined" },
    apparmor,
    selinux: selinuxLabels(own.seLinuxOptions ?? shared.seLinuxOptions),
  };
}

/** Every container of the Pod is in the fsGroup that owns its volumes. */
export function supplementalGroups({ spec }: core.Pod): readonly number[] {
  const { fsGroup, supplementalGroups: groups = [] } = spec?.securityContext ?? {};
  return [...new Set((fsGroup === undefined ? groups : [fsGroup, ...groups]).map(Number))];
}

/** Merge is what runtimes do anyway. */
export function groupsPolicy({ spec }: core.Pod): Pick<LinuxContainer, "supplementalGroupsPolicy"> {
  return spec?.securityContext?.supplementalGroupsPolicy === "Strict" ? { supplementalGroupsPolicy: "Strict" } : {};
}

/** Validation bounds ids to 31 bits. */
export function idOf(id: Int64 | undefined): number | undefined {
  return id === undefined ? undefined : Number(id);
}

export function selinuxLabels(wanted: core.SELinuxOptions | undefined): SelinuxLabels | undefined {
  if (wanted === undefined) return undefined;
  const { user = "", role = "", type = "", level = "" } = wanted;
  return { user, role, type, level };
}

export function profile(
  wanted: core.SeccompProfile | core.AppArmorProfile | undefined,
  locate: (name: string) => string,
): SecurityProfile | undefined {
  if (wanted === undefined) return undefined;
  return wanted.type === "Localhost"
    ? { type: "Localhost", localhostRef: locate(wanted.localhostProfile ?? "") }
    : { type: wanted.type };
}

function userOf(runAsUser: number | undefined, image: ImageUser): Pick<LinuxContainer, "runAsUser" | "runAsUsername"> {
  if (runAsUser !== undefined) return { runAsUser };
  if (image.uid !== undefined) return { runAsUser: image.uid };
  return image.username === undefined || image.username === "" ? {} : { runAsUsername: image.username };
}

function refuseRoot(pod: core.Pod, container: AnyContainer, runAsUser: number | undefined, image: ImageUser): void {
  const nonRoot = container.securityContext?.runAsNonRoot ?? pod.spec?.securityContext?.runAsNonRoot;
  if (nonRoot !== true) return;
  const where = `(pod: "${podText(pod)}", container: ${container.name})`;
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw new RuntimeConfigError(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  if (image.uid === undefined && image.username !== undefined && image.username !== "") {
    throw new RuntimeConfigError(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    );
  }
  if (image.uid === undefined || image.uid === 0)
    throw new RuntimeConfigError(`container has runAsNonRoot and image will run as root ${where}`);
}
