/**
 * Reaches a node's CSI driver from this machine, through the node's disk, or on the machine where the driver is there.
 *
 *     <disk>/var/lib/kubelet/plugins/<driver>/csi.sock ──► opened part by part ──► /proc/self/fd/N ──► connect
 *
 * 1. A Pod of the node may have written anything there: no link is followed, and nothing but a socket is connected to.
 * 2. What was opened is what is connected to: names are not looked up twice.
 * 3. A driver that was restarted has a new socket: after a failure the next call opens it anew.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import type { Clock } from "#base";
import { GrpcError, isGrpcError } from "#grpc";
import { type CsiDriver, openCsiDriver } from "#storage/csi";

/** O_PATH of Linux, which Node does not name: opens for reference only. */
const O_PATH = 0o10000000;
const REFERENCE = O_PATH | constants.O_NOFOLLOW;

export interface SocketPlace {
  /** On this machine: the directory below which nothing is trusted. */
  readonly dir: string;
  /** Below it, with single slashes. */
  readonly path: string;
}

export interface DriverSocketOptions {
  /** Asked before each connection. */
  readonly where: () => SocketPlace;
  readonly clock: Clock;
  /** Called when the driver answers again after a failure. */
  readonly onBack?: (() => void) | undefined;
}

/** Undefined if there is no socket. The caller closes it. Throws for anything else in its place. */
export async function openSocket({ dir, path }: SocketPlace): Promise<FileHandle | undefined> {
  let at = await open(await realpath(dir), REFERENCE | constants.O_DIRECTORY);
  try {
    const parts = path.split("/").filter((part) => part !== "");
    for (const [index, part] of parts.entries()) {
      if (part === "." || part === "..") throw new Error(`${path} is not a plain path`);
      const isLast = index === parts.length - 1;
      const next = await open(`/proc/self/fd/${at.fd}/${part}`, REFERENCE | (isLast ? 0 : constants.O_DIRECTORY));
      await at.close();
      at = next;
      if (isLast && !isSocket(await at.stat())) throw new Error(`${path} is no socket`);
    }
    const socket = at;
    return socket;
  } catch (error) {
    await at.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "ENOTDIR")
      throw new Error(`${path} leads through a link or a file`, { cause: error });
    throw error;
  }
}

function isSocket(stats: Stats): boolean {
  return stats.isSocket();
}

interface Connection {
  readonly driver: CsiDriver;
  readonly socket: FileHandle;
}

/** The driver behind the socket, connected when it is called. `close` it. */
export function driverBehind({ where, clock, onBack }: DriverSocketOptions): CsiDriver {
  let connection: Promise<Connection> | undefined;
  let hasFailed = false;
  const connect = async (): Promise<Connection> => {
    const place = where();
    const socket = await openSocket(place).catch((error: unknown) => {
      throw new GrpcError("UNAVAILABLE", error instanceof Error ? error.message : String(error), { cause: error });
    });
    if (socket === undefined) throw new GrpcError("UNAVAILABLE", `there is no socket ${place.path}`);
    return { socket, driver: openCsiDriver(`/proc/self/fd/${socket.fd}`, { clock }) };
  };
  const drop = () => {
    const dropped = connection;
    connection = undefined;
    hasFailed = true;
    dropped?.then(
      async ({ driver, socket }) => {
        driver.close();
        await socket.close();
      },
      () => {},
    );
  };
  type Calls = Readonly<Record<string, (request: unknown, options?: unknown) => Promise<unknown>>>;
  const call = async (service: string, method: string, request: unknown, options: unknown): Promise<unknown> => {
    try {
      connection ??= connect();
      const { driver } = await connection;
      const calls = (driver as unknown as Readonly<Record<string, Calls>>)[service];
      const answer = await calls?.[method]?.(request, options);
      if (hasFailed) {
        hasFailed = false;
        onBack?.();
      }
      return answer;
    } catch (error) {
      if (isGrpcError(error, "UNAVAILABLE")) drop();
      throw error;
    }
  };
  const service = (name: string) =>
    new Proxy(
      {},
      { get: (_, method: string) => (request: unknown, options?: unknown) => call(name, method, request, options) },
    );
  return {
    endpoint: where().path,
    Identity: service("Identity"),
    Controller: service("Controller"),
    GroupController: service("GroupController"),
    SnapshotMetadata: service("SnapshotMetadata"),
    Node: service("Node"),
    close: drop,
  } as unknown as CsiDriver;
}
