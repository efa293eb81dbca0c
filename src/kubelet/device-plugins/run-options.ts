/** What plugins add to a container: variables, mounts, device nodes, annotations, CDI devices. Pure. */
import type { containerResponseCodec } from "#devices";
import type { DeviceParts } from "../containers/index.ts";

export type ContainerResponse = ReturnType<ReturnType<typeof containerResponseCodec>["decode"]>;

export type RunOptions = DeviceParts;

export const NO_OPTIONS: RunOptions = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

/** Of two plugins that say something about the same variable, path or key the first one counts. */
export function runOptions(responses: readonly ContainerResponse[]): RunOptions {
  const mounts = responses.flatMap((response) => response.mounts);
  const devices = responses.flatMap((response) => response.devices);
  return {
    envs: Object.assign({}, ...responses.map(({ envs }) => envs).reverse()),
    annotations: Object.assign({}, ...responses.map(({ annotations }) => annotations).reverse()),
    mounts: firstBy(mounts, ({ containerPath }) => containerPath).map(({ containerPath, hostPath, readOnly }) => ({
      containerPath,
      hostPath,
      readonly: readOnly,
      propagation: "private" as const,
    })),
    devices: firstBy(devices, ({ containerPath }) => containerPath),
    cdiDevices: [...new Set(responses.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name)))],
  };
}

function firstBy<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...Map.groupBy(items, key).values()].flatMap(([first]) => (first === undefined ? [] : [first]));
}
