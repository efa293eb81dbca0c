/** The parts of a Pod that policies depend on. */
import type { core } from "#api";

export interface PolicyPod {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly ports: readonly NamedPort[];
  readonly nodeName: string;
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
}

/** Undefined if no policy applies: the Pod uses the host network, has no address yet, or has ended. */
export function policyPod({ metadata, spec, status }: core.Pod): PolicyPod | undefined {
  const { name = "", namespace = "", labels = {} } = metadata;
  const addresses = (status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (spec?.hostNetwork === true || addresses.length === 0 || isOver) return undefined;
  return {
    key: `${namespace}/${name}`,
    namespace,
    labels,
    addresses,
    ports: portsOf(spec),
    nodeName: spec?.nodeName ?? "",
  };
}

/**
 * Every node serves the cluster's DNS itself. To policies it is a Pod of kube-system with the label that DNS Pods have
 * in other clusters, so that rules that allow DNS there allow it here.
 */
export function dnsPod(addresses: readonly string[]): PolicyPod {
  return {
    key: "kube-system/kube-dns",
    namespace: "kube-system",
    labels: { "k8s-app": "kube-dns" },
    addresses,
    ports: [
      { name: "dns", protocol: "UDP", port: 53 },
      { name: "dns-tcp", protocol: "TCP", port: 53 },
    ],
    nodeName: "",
  };
}

function portsOf(spec: core.PodSpec | undefined): NamedPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, protocol = "TCP", containerPort }) =>
      name === undefined ? [] : [{ name, protocol, port: containerPort }],
    ),
  );
}
