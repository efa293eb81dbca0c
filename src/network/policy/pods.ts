/** What policies have to know of a Pod. */
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

/** Undefined for those whom no policy is about: on the network of their node, without an address yet, or at their end. */
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

function portsOf(spec: core.PodSpec | undefined): NamedPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, protocol = "TCP", containerPort }) =>
      name === undefined ? [] : [{ name, protocol, port: containerPort }],
    ),
  );
}
