/** The container port behind a Service port. */
import type { core } from "#api";

/** Undefined: the Pod has no container port of this name. */
export function targetPort({ spec }: core.Pod, port: core.ServicePort): number | undefined {
  const { targetPort: target = port.port, protocol = "TCP" } = port;
  if (typeof target === "number") return target === 0 ? port.port : target;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === target && (each.protocol ?? "TCP") === protocol)?.containerPort;
}
