/**
 * A CSI driver behind its socket: every method of the protocol, typed.
 *
 *     const driver = openCsiDriver("unix:///var/lib/kubelet/plugins/example.com/csi.sock", { clock });
 *     const { volume } = await driver.Controller.CreateVolume({ name, volumeCapabilities }, { signal });
 *
 * 1. A method fails with a GrpcError, whose code says what the caller has to do, or with the signal's reason.
 * 2. A call that is aborted or times out is cancelled; whether the driver has done the work is unknown, and a retry
 *    with the same arguments finds out: all of CSI is idempotent.
 * 3. While the driver is away calls fail at once with UNAVAILABLE; they work again on the same value once it is back.
 */
import type { Clock } from "#base";
import { type CallLimits, type Channel, openChannel } from "#grpc";
import {
  type CsiMessages,
  type CsiReceived,
  type CsiSent,
  type CsiServiceName,
  type CsiServiceTables,
  csiServices,
} from "./services.ts";

export interface CsiCallOptions {
  /** Default: the driver's. 0: no timeout. Streams have none. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Call<Row> = Row extends readonly [infer Q extends keyof CsiMessages, infer A extends keyof CsiMessages, "stream"]
  ? (request: CsiSent<Q>, options: { readonly signal: AbortSignal }) => AsyncGenerator<CsiReceived<A>, void>
  : Row extends readonly [infer Q extends keyof CsiMessages, infer A extends keyof CsiMessages]
    ? (request: CsiSent<Q>, options?: CsiCallOptions) => Promise<CsiReceived<A>>
    : never;

export type CsiService<N extends CsiServiceName> = {
  readonly [K in keyof CsiServiceTables[N]]: Call<CsiServiceTables[N][K]>;
};

export type CsiDriver = { readonly [N in CsiServiceName]: CsiService<N> } & {
  readonly endpoint: string;
  close(): void;
};

export interface CsiDriverOptions {
  readonly clock: Clock;
  /** How long a call may take. Default: 2 minutes, as the kubelet's. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 120_000;

/** `endpoint`: the path of a socket, or unix:///path. Connects with the first call. */
export function openCsiDriver(endpoint: string, { clock, timeoutMs = TIMEOUT_MS }: CsiDriverOptions): CsiDriver {
  const channel = openChannel(endpoint, { clock, timeoutMs });
  const services = Object.entries(csiServices()).map(([name, methods]) => [name, callsOf(channel, methods)]);
  return { ...(Object.fromEntries(services) as Omit<CsiDriver, "close">), endpoint, close: () => channel.close() };
}

type AnyMethod = Parameters<Channel["call"]>[0] & { readonly streams: boolean };

/** The tables define the types: CsiService. */
function callsOf(channel: Channel, methods: object): object {
  return Object.fromEntries(
    Object.entries(methods as Readonly<Record<string, AnyMethod>>).map(([name, method]) => [
      name,
      method.streams
        ? (request: unknown, { signal }: { readonly signal: AbortSignal }) => channel.stream(method, request, signal)
        : (request: unknown, limits?: CallLimits) => channel.call(method, request, limits),
    ]),
  );
}
