/**
 * Reads an LMDB data file without LMDB. LMDB trusts its file: a wrong page number ends the process by a signal. This
 * reader verifies everything; it checks the data before LMDB maps it.
 *
 *     meta page 0/1 ──► main tree ──► tables by name ──► records
 *                 └───► free tree
 *
 * 1. Every page is visited at most once, lies inside the file, and has its own number in its header.
 * 2. Keys are in order, between the separators above them, and as many as the tree's count.
 * 3. A yielded record is valid until the next step. The file is opened read-only.
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const HEADER = 24;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
const IN_OVERFLOW = 0x01;
const IS_TREE = 0x02;
const NODE_HEADER = 8;
const META_BYTES = 136;
const TREE_BYTES = 48;
const MAX_DEPTH = 32;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

export class DamagedFile extends Error {
  override readonly name = "DamagedFile";
}

export interface Tree {
  readonly depth: number;
  readonly entries: number;
  /** Undefined: the tree is empty. */
  readonly root: number | undefined;
}

export interface FileRecord {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isTree: boolean;
}

interface Meta {
  readonly pageSize: number;
  readonly transaction: bigint;
  readonly free: Tree;
  readonly main: Tree;
}

export class LmdbFile {
  readonly #file: number;
  readonly #pages: number;
  readonly #meta: Meta;
  readonly #visited: Uint8Array;
  readonly #levels: Buffer[] = [];

  /** Fails as DamagedFile unless this is an LMDB file with two sound meta pages. */
  constructor(path: string) {
    this.#file = openSync(path, "r");
    try {
      const { size } = fstatSync(this.#file);
      this.#meta = readMeta(this.#file, size);
      this.#pages = Math.floor(size / this.#meta.pageSize);
      this.#visited = new Uint8Array(this.#pages);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  tables(): ReadonlyMap<string, Tree> {
    const tables = new Map<string, Tree>();
    for (const { key, value, isTree } of this.records(this.#meta.main)) {
      // lmdb ends the names of tables with a zero byte.
      if (isTree && value.length === TREE_BYTES) tables.set(key.toString("utf8").replace("\0", ""), readTree(value, 0));
    }
    return tables;
  }

  /** Visits the list of free pages. */
  checkFree(): void {
    for (const _ of this.#walk(this.#meta.free, false));
  }

  /** The records of a tree, in the order of their keys' bytes. */
  records(tree: Tree): Generator<FileRecord> {
    return this.#walk(tree, true);
  }

  *#walk(tree: Tree, byBytes: boolean): Generator<FileRecord> {
    if (tree.root === undefined) return;
    let count = 0;
    let last: Buffer | undefined;
    let floor: Buffer | undefined;
    for (const step of this.#descend(tree.root, tree.depth)) {
      if (byBytes) {
        const bound = step.kind === "separator" ? last : (floor ?? last);
        const inOrder = bound === undefined || Buffer.compare(bound, step.key) < (floor === bound ? 1 : 0);
        if (!inOrder) throw new DamagedFile("keys are out of order");
      }
      if (step.kind === "separator") {
        floor = Buffer.from(step.key);
        continue;
      }
      floor = undefined;
      last = Buffer.from(step.key);
      count++;
      yield step;
    }
    if (count !== tree.entries) throw new DamagedFile(`a table holds ${count} records instead of ${tree.entries}`);
  }

  *#descend(page: number, depth: number): Generator<Separator | Found> {
    const bytes = this.#read(page, depth === 1 ? LEAF : BRANCH, this.#level(depth));
    // Offsets in a page count from the end of its header: slots grow up to `end`, records down to `start`.
    const end = HEADER + bytes.readUInt16LE(20);
    const start = HEADER + bytes.readUInt16LE(22);
    if (end > start || start > bytes.length) throw new DamagedFile(`page ${page} has no sound bounds`);
    for (let slot = HEADER; slot < end; slot += 2) {
      const at = HEADER + bytes.readUInt16LE(slot);
      const keyStart = at + NODE_HEADER;
      const valueStart =
        at < start || keyStart > bytes.length ? bytes.length + 1 : keyStart + bytes.readUInt16LE(at + 6);
      if (valueStart > bytes.length) throw new DamagedFile(`page ${page} has a record outside of itself`);
      const key = bytes.subarray(keyStart, valueStart);
      if (depth === 1) yield this.#found(page, bytes, at, key, valueStart);
      else {
        // The first key of a branch page stands for everything below it, and is not meaningful.
        if (slot > HEADER) yield { kind: "separator", key };
        yield* this.#descend(bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32, depth - 1);
      }
    }
  }

  #found(page: number, bytes: Buffer, at: number, key: Buffer, valueStart: number): Found {
    const size = bytes.readUInt32LE(at);
    const flags = bytes.readUInt16LE(at + 4);
    const isTree = (flags & IS_TREE) !== 0;
    const inOverflow = (flags & IN_OVERFLOW) !== 0;
    if (valueStart + (inOverflow ? 24 : size) > bytes.length)
      throw new DamagedFile(`page ${page} has a value outside of itself`);
    if (!inOverflow) return { kind: "found", key, value: bytes.subarray(valueStart, valueStart + size), isTree };
    const first = Number(bytes.readBigUInt64LE(valueStart));
    const run = Math.ceil((HEADER + size) / this.#meta.pageSize);
    if (run > this.#pages) throw new DamagedFile(`page ${page} has a value outside of the file`);
    const pages = this.#read(first, OVERFLOW, Buffer.allocUnsafe(run * this.#meta.pageSize), run);
    return { kind: "found", key, value: pages.subarray(HEADER, HEADER + size), isTree };
  }

  #read(page: number, kind: number, target: Buffer, run = 1): Buffer {
    for (let i = page; i < page + run; i++) {
      if (i < 2 || i >= this.#pages) throw new DamagedFile(`page ${i} lies outside of the file`);
      if (this.#visited[i] === 1) throw new DamagedFile(`page ${i} is used twice`);
      this.#visited[i] = 1;
    }
    readSync(this.#file, target, 0, target.length, page * this.#meta.pageSize);
    const sound =
      target.readBigUInt64LE(0) === BigInt(page) && (target.readUInt16LE(18) & (BRANCH | LEAF | OVERFLOW)) === kind;
    if (!sound) throw new DamagedFile(`page ${page} is malformed`);
    return target;
  }

  /** One buffer for each level of a tree: only one page of a level is read at a time. */
  #level(depth: number): Buffer {
    let buffer = this.#levels[depth];
    if (buffer === undefined) {
      buffer = Buffer.alloc(this.#meta.pageSize);
      this.#levels[depth] = buffer;
    }
    return buffer;
  }
}

interface Separator {
  readonly kind: "separator";
  readonly key: Buffer;
}

interface Found extends FileRecord {
  readonly kind: "found";
}

/** Two meta pages take turns; the one with the newer transaction counts. */
function readMeta(file: number, size: number): Meta {
  const first = readMetaPage(file, 0, 0);
  const second = readMetaPage(file, first.pageSize, 1);
  if (second.pageSize !== first.pageSize || size < 2 * first.pageSize)
    throw new DamagedFile("its meta pages do not agree");
  return first.transaction > second.transaction ? first : second;
}

function readMetaPage(file: number, offset: number, number: number): Meta {
  const bytes = Buffer.alloc(HEADER + META_BYTES);
  if (readSync(file, bytes, 0, bytes.length, offset) !== bytes.length) throw new DamagedFile("data.mdb is too short");
  const isMeta = bytes.readBigUInt64LE(0) === BigInt(number) && (bytes.readUInt16LE(18) & META) !== 0;
  if (!isMeta || bytes.readUInt32LE(HEADER) !== MAGIC) throw new DamagedFile("data.mdb is not an LMDB file");
  const version = bytes.readUInt32LE(HEADER + 4) & 0xffff;
  if (version !== DATA_VERSION)
    throw new DamagedFile(`data.mdb has LMDB's format ${version} instead of ${DATA_VERSION}`);
  const pageSize = bytes.readUInt32LE(HEADER + 24);
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0)
    throw new DamagedFile("its page size makes no sense");
  return {
    pageSize,
    transaction: bytes.readBigUInt64LE(HEADER + 128),
    free: readTree(bytes, HEADER + 24),
    main: readTree(bytes, HEADER + 24 + TREE_BYTES),
  };
}

function readTree(bytes: Buffer, at: number): Tree {
  const depth = bytes.readUInt16LE(at + 6);
  const root = bytes.readBigUInt64LE(at + 40);
  if (depth > MAX_DEPTH || (depth === 0) !== (root === NO_PAGE)) throw new DamagedFile("a tree makes no sense");
  return { depth, entries: Number(bytes.readBigUInt64LE(at + 32)), root: depth === 0 ? undefined : Number(root) };
}
