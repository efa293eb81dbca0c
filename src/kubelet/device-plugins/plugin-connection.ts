/** One device plugin: its calls, and the stream by which it lists its devices. */
import type { Clock } from "#base";
import { devicePluginMethods } from "#devices";
import { openChannel } from "#grpc";
import type { PluginDevice } from "./known-devices.ts";
import type { ContainerResponse } from "./run-options.ts";

export interface PluginOptions {
  readonly preStartRequired: boolean;
  readonly getPreferredAllocationAvailable: boolean;
}

export interface PluginConnection {
  readonly options: PluginOptions;
  /** Each list that the plugin sends, until it goes away. */
  lists(signal: AbortSignal): AsyncIterable<readonly PluginDevice[]>;
  allocate(ids: readonly string[]): Promise<ContainerResponse>;
  preferred(available: readonly string[], mustInclude: readonly string[], size: number): Promise<readonly string[]>;
  preStart(ids: readonly string[]): Promise<void>;
  close(): void;
}

const HEALTHY = "Healthy";
/** The kubelet's bound of PreStartContainer; other calls take as long as they take, as upstream's. */
const PRE_START_TIMEOUT_MS = 30_000;

/** `options`: as registered; undefined: the plugin is asked. */
export async function connectPlugin(
  endpoint: string,
  clock: Clock,
  given: PluginOptions | undefined,
  signal: AbortSignal,
): Promise<PluginConnection> {
  const methods = devicePluginMethods();
  const channel = openChannel(endpoint, { clock, timeoutMs: 0 });
  const asked = async () => channel.call(methods.GetDevicePluginOptions, {}, { signal, timeoutMs: 10_000 });
  let options: PluginOptions;
  try {
    options = given ?? (await asked());
  } catch (error) {
    channel.close();
    throw error;
  }
  return {
    options,
    async *lists(running) {
      for await (const { devices } of channel.stream(methods.ListAndWatch, {}, running))
        yield devices.map(({ id, health, topology }) => ({
          id,
          isHealthy: health === HEALTHY,
          numaNodes: (topology?.nodes ?? []).map((node) => Number(node.id)),
        }));
    },
    async allocate(ids) {
      const { containerResponses } = await channel.call(methods.Allocate, { containerRequests: [{ ids }] });
      const [first] = containerResponses;
      if (first === undefined) throw new Error("no containers return in allocation response");
      return first;
    },
    async preferred(availableIds, mustIncludeIds, allocationSize) {
      if (!options.getPreferredAllocationAvailable) return [];
      const { containerResponses } = await channel.call(methods.GetPreferredAllocation, {
        containerRequests: [{ availableIds, mustIncludeIds, allocationSize }],
      });
      return containerResponses[0]?.ids ?? [];
    },
    async preStart(ids) {
      if (options.preStartRequired)
        await channel.call(methods.PreStartContainer, { ids }, { timeoutMs: PRE_START_TIMEOUT_MS });
    },
    close: () => channel.close(),
  };
}
