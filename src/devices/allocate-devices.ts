/** What the simulated device plugin says about its devices. Pure. */
import type { SimulatedResource } from "./device-config.ts";

export interface ListedDevice {
  readonly id: string;
  readonly health: "Healthy" | "Unhealthy";
  readonly topology: { readonly nodes: readonly { readonly id: number }[] } | null;
}

export function listedDevices({ ids, unhealthy, numaNodes }: SimulatedResource): readonly ListedDevice[] {
  return ids.map((id) => {
    const node = numaOf({ ids, numaNodes }, id);
    return {
      id,
      health: unhealthy.has(id) ? "Unhealthy" : "Healthy",
      topology: node === undefined ? null : { nodes: [{ id: node }] },
    };
  });
}

/** What a container gets with these devices. Throws if the plugin has none of that name. */
export function containerAnswer({ name, ids, env, file }: SimulatedResource, asked: readonly string[]) {
  const stranger = asked.find((id) => !ids.includes(id));
  if (stranger !== undefined) throw new Error(`${name} has no device ${stranger}`);
  return {
    envs: { [variableOf(name)]: [...asked].sort().join(","), ...env },
    devices:
      file === undefined
        ? []
        : asked.map((id) => ({ containerPath: `/dev/${name}/${id}`, hostPath: file, permissions: "rw" })),
  };
}

/** Those that are wanted anyway, then those on the NUMA node that has the most. */
export function preferredDevices(
  resource: SimulatedResource,
  available: readonly string[],
  mustInclude: readonly string[],
  size: number,
): readonly string[] {
  const groups = Map.groupBy(
    available.filter((id) => !mustInclude.includes(id)),
    (id) => numaOf(resource, id),
  );
  const largest = [...groups.values()].sort((a, b) => b.length - a.length);
  return [...mustInclude, ...largest.flat()].slice(0, size);
}

function numaOf({ ids, numaNodes }: Pick<SimulatedResource, "ids" | "numaNodes">, id: string): number | undefined {
  return numaNodes.length === 0 ? undefined : numaNodes[ids.indexOf(id) % numaNodes.length];
}

/** `EXAMPLE_COM_GPU`. */
function variableOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}
