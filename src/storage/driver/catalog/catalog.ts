/**
 * The driver's records in memory, with a store behind them that survives.
 *
 * 1. A record is stored before it is seen, and is gone from the store before it is gone here.
 */
import { RECORD_KINDS, type RecordKind, type RecordsByKind } from "../rules/records.ts";

export type AllRecords = { readonly [K in RecordKind]: readonly RecordsByKind[K][] };

export interface RecordStore {
  load(): Promise<AllRecords>;
  /** Returns when it would survive a power failure. */
  write(kind: RecordKind, record: { readonly id: string }): Promise<void>;
  remove(kind: RecordKind, id: string): Promise<void>;
}

export class Catalog {
  readonly volumes: ReadonlyMap<string, RecordsByKind["volumes"]> = new Map();
  readonly snapshots: ReadonlyMap<string, RecordsByKind["snapshots"]> = new Map();
  readonly groups: ReadonlyMap<string, RecordsByKind["groups"]> = new Map();
  readonly #store: RecordStore | undefined;
  #seq = 0;

  /** Without a store it lives in memory only. */
  private constructor(store: RecordStore | undefined) {
    this.#store = store;
  }

  static async open(store?: RecordStore): Promise<Catalog> {
    const catalog = new Catalog(store);
    const known = await store?.load();
    for (const kind of RECORD_KINDS) for (const record of known?.[kind] ?? []) catalog.#keep(kind, record);
    return catalog;
  }

  static inMemory(): Catalog {
    return new Catalog(undefined);
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  async put<K extends RecordKind>(kind: K, record: RecordsByKind[K]): Promise<RecordsByKind[K]> {
    await this.#store?.write(kind, record);
    this.#keep(kind, record);
    return record;
  }

  async remove(kind: RecordKind, id: string): Promise<void> {
    await this.#store?.remove(kind, id);
    this.#map(kind).delete(id);
  }

  #keep<K extends RecordKind>(kind: K, record: RecordsByKind[K]): void {
    this.#map(kind).set(record.id, record);
    this.#seq = Math.max(this.#seq, record.seq);
  }

  #map<K extends RecordKind>(kind: K): Map<string, RecordsByKind[K]> {
    return this[kind] as unknown as Map<string, RecordsByKind[K]>;
  }
}
