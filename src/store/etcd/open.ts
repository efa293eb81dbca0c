/** Opening: checks options and files, and calls the cluster once, so that a store that opens works. */

import { readFile } from "node:fs/promises";
import { type Clock, type Dial, type Logger, type Random, silentLogger, systemRandom } from "#base";
import type { Tracer } from "#tracing";
import type { HistoryPolicy } from "../history/history.ts";
import { StoreError } from "../model/errors.ts";
import type { Store } from "../model/store.ts";
import { addressOf, endpointProblem, type TlsMaterial } from "./channel.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { type MovedKeys, movedKeys } from "./moved-keys.ts";
import { Relays } from "./relay.ts";
import { shiftedRevisions } from "./shifted-revisions.ts";
import { EtcdStore } from "./store.ts";
import { revisionShift } from "./takeover-keys.ts";

export interface EtcdTlsFiles {
  /** Signs the members' certificates; without it, those known to the system. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface EtcdOptions {
  /** http:// or https:// URLs of the members, in the order in which they are tried. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsFiles;
  readonly clock: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  readonly tracer?: Tracer | undefined;
  /** Opens the connections to the members. Default: plain TCP. */
  readonly dial?: Dial | undefined;
  /** How long opening may take. Default: 5 s. */
  readonly timeoutMs?: number;
  /**
   * The interval at which one of the servers on this etcd compacts it. 0: this server never does. Default:
   * `history.maxAgeMs`, or 5 minutes.
   */
  readonly compactionIntervalMs?: number | undefined;
  /** Callers' keys are stored below another prefix. Default: they are stored as they are. */
  readonly moved?: MovedKeys | undefined;
  /** Only `maxAgeMs` applies: etcd keeps its history on disk. */
  readonly history?: Partial<HistoryPolicy>;
  /** How much of the latest changes is held in memory for watches. Default: 16 MB. */
  readonly windowBytes?: number;
  /**
   * Follows the list of members, which are reached at the URLs that they advertise, and is called with them. Default:
   * the endpoints stay.
   */
  readonly onMembers?: ((urls: readonly string[]) => void) | undefined;
}

const COMPACTION_INTERVAL_MS = 5 * 60_000;
const WINDOW_BYTES = 16 * 1024 * 1024;

export async function openEtcdStore(options: EtcdOptions): Promise<Store> {
  const {
    endpoints,
    clock,
    random = systemRandom(),
    log = silentLogger,
    history,
    tracer,
    dial,
    windowBytes = WINDOW_BYTES,
  } = options;
  if (endpoints.length === 0) throw new RangeError("etcd needs the URL of one member at least.");
  const problem = endpoints.map(endpointProblem).find((found) => found !== undefined);
  if (problem !== undefined) throw new RangeError(problem);

  const tls = await tlsMaterial(options.tls ?? {});
  const relays = dial && (await relaysTo(endpoints, dial, log));
  const connection = await connect(() => new Connection({ endpoints, tls, clock, random, tracer, relays }), relays);
  let shift: number;
  try {
    const { timeoutMs } = options;
    shift = await revisionShift(
      connection,
      options.moved,
      connection.deadline(timeoutMs === undefined ? {} : { timeoutMs }),
    );
  } catch (error) {
    await connection.close();
    throw error;
  }
  const compactionIntervalMs = options.compactionIntervalMs ?? history?.maxAgeMs ?? COMPACTION_INTERVAL_MS;
  const { onMembers } = options;
  const store = new EtcdStore({ connection, clock, random, log, compactionIntervalMs, windowBytes, onMembers });
  const own = options.moved === undefined ? store : movedKeys(store, options.moved);
  return shift === 0 ? own : shiftedRevisions(own, shift);
}

export async function tlsMaterial({ caFile, certFile, keyFile }: EtcdTlsFiles): Promise<TlsMaterial> {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new RangeError("A client certificate for etcd needs its key, and the key its certificate.");
  }
  const [ca, cert, key] = await Promise.all([
    read(caFile, "CA of etcd"),
    read(certFile, "client certificate for etcd"),
    read(keyFile, "key of the client certificate for etcd"),
  ]);
  return { ca, cert, key };
}

async function read(file: string | undefined, name: string): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    throw new StoreError("Unavailable", `The ${name} cannot be read from ${file}.`, { cause });
  }
}

async function relaysTo(endpoints: readonly string[], dial: Dial, log: Logger) {
  const relays = await Relays.open(dial, (error) => log.warn("no connection to etcd through the proxy", { error }));
  const sockets = new Map<string, string>();
  for (const url of endpoints) sockets.set(url, await relays.to(addressOf(url)));
  return { sockets, close: () => relays.close() };
}

/** Bad PEM and keys that do not belong to their certificate show up when the first channel is made. */
async function connect(make: () => Connection, relays: ConnectionOptions["relays"]): Promise<Connection> {
  try {
    return make();
  } catch (cause) {
    await relays?.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError("Unavailable", `The certificates for etcd cannot be used: ${reason}.`, { cause });
  }
}
