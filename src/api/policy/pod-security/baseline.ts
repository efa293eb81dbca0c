/**
 * The checks of the level baseline, which forbids known privilege escalations. In the order of their ids, which is that
 * of their messages.
 */

import {
  type CheckPod,
  containersText,
  containersWhere,
  distinct,
  hasUserNamespace,
  type PodLike,
  type PodSecurityCheck,
  plural,
  quoted,
  securityOf,
  settersText,
} from "./check.ts";
import { appArmorProfile, seccompAnnotations, seccompProfile } from "./profiles.ts";

const HARMLESS_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const capabilities: CheckPod = (pod) => {
  const added = (capability: string) => !HARMLESS_CAPABILITIES.has(capability);
  const found: string[] = [];
  const names = containersWhere(pod, (container) => {
    const wrong = (securityOf(container).capabilities?.add ?? []).filter(added);
    found.push(...wrong);
    return wrong.length > 0;
  });
  if (names.length === 0) return undefined;
  return {
    reason: "non-default capabilities",
    detail: `${containersText(names)} must not include ${quoted(distinct(found))} in securityContext.capabilities.add`,
  };
};

const hostNamespaces: CheckPod = ({ spec }) => {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") };
};

const hostPathVolumes: CheckPod = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural("volume", names.length)} ${quoted(names)}` };
};

const hostPorts: CheckPod = (pod) => {
  const ports = new Set<number>();
  const names = containersWhere(pod, ({ ports: own }) => {
    const taken = (own ?? []).map(({ hostPort }) => hostPort ?? 0).filter((port) => port !== 0);
    for (const port of taken) ports.add(port);
    return taken.length > 0;
  });
  if (names.length === 0) return undefined;
  const shown = distinct([...ports].map(String));
  return {
    reason: "hostPort",
    detail: `${containersText(names)} ${names.length === 1 ? "uses" : "use"} ${plural("hostPort", shown.length)} ${shown.join(", ")}`,
  };
};

interface Handler {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

/** Since 1.34: the node sends probes and hooks, and must not be made to send them to other hosts. */
const hostProbes: CheckPod = (pod) => {
  const hosts: string[] = [];
  const names = containersWhere(pod, ({ livenessProbe, readinessProbe, startupProbe, lifecycle }) => {
    const handlers: readonly (Handler | undefined)[] = [
      livenessProbe,
      readinessProbe,
      startupProbe,
      lifecycle?.postStart,
      lifecycle?.preStop,
    ];
    const found = handlers.flatMap((each) => [each?.httpGet?.host ?? "", each?.tcpSocket?.host ?? ""]);
    const named = found.filter((host) => host !== "");
    hosts.push(...named);
    return named.length > 0;
  });
  if (names.length === 0) return undefined;
  const [containers, shown] = [distinct(names), distinct(hosts)];
  const verb = containers.length === 1 ? "uses" : "use";
  return {
    reason: "probe or lifecycle host",
    detail: `${containersText(containers)} ${verb} ${plural("probe or lifecycle host", shown.length)} ${quoted(shown)}`,
  };
};

const privileged: CheckPod = (pod) => {
  const names = containersWhere(pod, (container) => securityOf(container).privileged === true);
  if (names.length === 0) return undefined;
  return { reason: "privileged", detail: `${containersText(names)} must not set securityContext.privileged=true` };
};

export const procMount: CheckPod = (pod) => {
  const types: string[] = [];
  const names = containersWhere(pod, (container) => {
    const type = securityOf(container).procMount ?? "Default";
    if (type !== "Default") types.push(type);
    return type !== "Default";
  });
  if (names.length === 0) return undefined;
  return {
    reason: "procMount",
    detail: `${containersText(names)} must not set securityContext.procMount to ${quoted(distinct(types))}`,
  };
};

const SELINUX_TYPES = ["", "container_t", "container_init_t", "container_kvm_t"];

function seLinuxOptions(types: readonly string[]): CheckPod {
  return (pod: PodLike) => {
    const wrong: string[] = [];
    let [user, role] = [false, false];
    const isWrong = (options: { type?: string; user?: string; role?: string } | undefined) => {
      if (options === undefined) return false;
      const hasType = !types.includes(options.type ?? "");
      if (hasType) wrong.push(options.type ?? "");
      const [hasUser, hasRole] = [(options.user ?? "") !== "", (options.role ?? "") !== ""];
      user ||= hasUser;
      role ||= hasRole;
      return hasType || hasUser || hasRole;
    };
    const ofPod = isWrong(pod.spec.securityContext?.seLinuxOptions);
    const names = containersWhere(pod, (container) => isWrong(securityOf(container).seLinuxOptions));
    if (!ofPod && names.length === 0) return undefined;
    const found = distinct(wrong);
    const faults = [
      ...(found.length > 0 ? [`${plural("type", found.length)} ${quoted(found)}`] : []),
      ...(user ? ["user may not be set"] : []),
      ...(role ? ["role may not be set"] : []),
    ];
    return {
      reason: "seLinuxOptions",
      detail: `${settersText(ofPod, names)} set forbidden securityContext.seLinuxOptions: ${faults.join("; ")}`,
    };
  };
}

/** Sysctls that are namespaced, by the version from which they are allowed. */
const SYSCTLS: readonly (readonly [from: number, names: readonly string[]])[] = [
  [
    0,
    [
      "kernel.shm_rmid_forced",
      "net.ipv4.ip_local_port_range",
      "net.ipv4.tcp_syncookies",
      "net.ipv4.ping_group_range",
      "net.ipv4.ip_unprivileged_port_start",
    ],
  ],
  [27, ["net.ipv4.ip_local_reserved_ports"]],
  [
    29,
    [
      "net.ipv4.tcp_keepalive_time",
      "net.ipv4.tcp_fin_timeout",
      "net.ipv4.tcp_keepalive_intvl",
      "net.ipv4.tcp_keepalive_probes",
    ],
  ],
  [32, ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]],
];

function sysctls(version: number): CheckPod {
  const allowed = new Set(SYSCTLS.filter(([from]) => from <= version).flatMap(([, names]) => names));
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
    return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
  };
}

const windowsHostProcess: CheckPod = (pod) => {
  const names = containersWhere(pod, (container) => securityOf(container).windowsOptions?.hostProcess === true);
  const ofPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  if (!ofPod && names.length === 0) return undefined;
  return {
    reason: "hostProcess",
    detail: `${settersText(ofPod, names)} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

export const baselineChecks: readonly PodSecurityCheck[] = [
  { id: "appArmorProfile", versions: [{ from: 0, check: appArmorProfile }] },
  { id: "capabilities_baseline", versions: [{ from: 0, check: capabilities }] },
  { id: "hostNamespaces", versions: [{ from: 0, check: hostNamespaces }] },
  { id: "hostPathVolumes", versions: [{ from: 0, check: hostPathVolumes }] },
  { id: "hostPorts", versions: [{ from: 0, check: hostPorts }] },
  { id: "hostProbesAndHostLifecycle", versions: [{ from: 34, check: hostProbes }] },
  { id: "privileged", versions: [{ from: 0, check: privileged }] },
  {
    id: "procMount",
    versions: [
      { from: 0, check: procMount },
      { from: 35, check: (pod) => (hasUserNamespace(pod) ? undefined : procMount(pod)) },
    ],
  },
  {
    id: "seLinuxOptions",
    versions: [
      { from: 0, check: seLinuxOptions(SELINUX_TYPES) },
      { from: 31, check: seLinuxOptions([...SELINUX_TYPES, "container_engine_t"]) },
    ],
  },
  {
    id: "seccompProfile_baseline",
    versions: [
      { from: 0, check: seccompAnnotations },
      { from: 19, check: seccompProfile },
    ],
  },
  { id: "sysctls", versions: SYSCTLS.map(([from]) => ({ from, check: sysctls(from) })) },
  { id: "windowsHostProcess", versions: [{ from: 0, check: windowsHostProcess }] },
];
