/** A host port can be used once for each address and protocol; 0.0.0.0 is every address. */
import type { core } from "#api";
import { type PlainPlugin, podsOn, unschedulable } from "./cluster.ts";

export const nodePorts: PlainPlugin = {
  name: "NodePorts",
  filter({ pod, cluster }, node) {
    const taken = podsOn(cluster, node).flatMap(hostPortsOf);
    return hostPortsOf(pod).some((port) => taken.some((other) => collides(port, other)))
      ? unschedulable("node(s) didn't have free ports for the requested pod ports")
      : undefined;
  },
};

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** Init containers have ended before the others start, except sidecars. */
export function hostPortsOf({ spec }: core.Pod): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...sidecars, ...(spec?.containers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP = "", protocol = "TCP", hostPort = 0 }) => ({
      ip: hostIP === "" ? "0.0.0.0" : hostIP,
      protocol,
      port: hostPort,
    }));
}

function collides(a: HostPort, b: HostPort): boolean {
  const sameAddress = a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0";
  return sameAddress && a.protocol === b.protocol && a.port === b.port;
}
