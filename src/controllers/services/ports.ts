/** Which port of a Pod stands behind a port of a Service. */
import type { core } from "#api";

/** Undefined: the Pod has no port of the name that the Service asks for. */
export function targetPort({ spec }: core.Pod, port: core.ServicePort): number | undefined {
  const { targetPort: target = port.port, protocol = "TCP" } = port;
  if (typeof target === "number") return target === 0 ? port.port : target;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === target && (each.protocol ?? "TCP") === protocol)?.containerPort;
}
