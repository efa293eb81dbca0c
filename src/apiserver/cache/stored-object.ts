/**
 * An object at one revision: one immutable value and one Buffer of JSON, each made once, on first use, and shared by
 * all readers.
 *
 * 1. The stored JSON has no metadata.resourceVersion: that is the store's revision, which is known only after the
 *    write. Reading inserts it at its place without parsing.
 * 2. A write passes its value on, so that it need not be parsed. Values of objects that nobody reads are dropped after
 *    a while.
 * 3. Its bytes have memory of their own: in a slab of Node's pool they keep the short-lived ones around them, which
 *    made 4.7 kB of 1.4 kB (24,000 ConfigMaps took 130 MB of such memory, now 81; 2026-11-20).
 * 4. Bytes that cannot be decrypted are replaced by a message that says why: reading the object throws it.
 *
 * Speed (2026-11-18): `ResourceCache` has the figures of 2. Inserting the resourceVersion instead of parsing and
 * encoding the object is what makes a list of 3,000 Pods cost 0.6 instead of 22 ms (`bench/apiserver.ts`, list);
 * `stored-object.test.ts` compares both.
 */
import { internalError, isStatusError, type KubeObject, parseJson, writeJson } from "#api";
import type { Entry, Revision } from "#store";

/** Every stored object has this after kind and apiVersion; metadata is never empty. */
const METADATA = Buffer.from('"metadata":{');
const NEWLINE = 0x0a;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The first byte of a message instead of an object: no stored value begins with it. */
const MESSAGE = 0x00;
const ENCRYPTED = Buffer.from("k8s:enc:");
const NOTHING = Buffer.alloc(0);

export class StoredObject {
  readonly key: string;
  readonly revision: Revision;
  /** The stored bytes, until the line is made of them. */
  #bytes: Buffer | undefined;
  #line: Buffer | undefined;
  #metadataAt = -1;
  #object: KubeObject | undefined;
  /** The written value, without its revision, until the object is read or the value is dropped. */
  #form: KubeObject | undefined;

  /** `value` may be left out if the object is known: its bytes are then made on first use. */
  constructor({ key, revision, value }: Pick<Entry, "key" | "revision"> & Partial<Entry>, object?: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.#bytes = value;
    this.#object = object;
  }

  /** The same object in another form. */
  inForm(object: KubeObject): StoredObject {
    return new StoredObject({ key: this.key, revision: this.revision }, object);
  }

  /** A write of this process. */
  static written(entry: Pick<Entry, "key" | "revision" | "value">, form: KubeObject): StoredObject {
    const stored = new StoredObject(entry);
    stored.#form = form;
    return stored;
  }

  /** Drops the written value, to save memory: the object is parsed from its bytes if somebody reads it. */
  letGo(): void {
    this.#form = undefined;
  }

  /** Whether reading the object or its line throws, judging by both ends of its bytes. */
  get isUnreadable(): boolean {
    return this.#bytes !== undefined && isFaulty(this.#bytes);
  }

  /** The length of its JSON. 0 if that has not been made. */
  get bytes(): number {
    return (this.#line ?? this.#bytes)?.length ?? 0;
  }

  /** The stored bytes: its JSON without its revision. */
  get value(): Buffer {
    return this.#stored();
  }

  /** Its JSON and a newline, as clients get it. */
  get line(): Buffer {
    if (this.#line === undefined) {
      const bytes = this.#bytes ?? this.#encoded();
      const at = isFaulty(bytes) ? -1 : bytes.indexOf(METADATA);
      if (at === -1) throw internalError(faultOf(this.key, bytes));
      this.#line = lineOf(bytes, at + METADATA.length, this.revision);
      this.#bytes = undefined;
    }
    return this.#line;
  }

  /**
   * The start of its metadata in the line. An item of a list is an opening brace and the line from there on: the list
   * has kind and apiVersion.
   */
  get metadataAt(): number {
    if (this.#metadataAt === -1) this.#metadataAt = this.line.indexOf(METADATA);
    return this.#metadataAt;
  }

  get object(): KubeObject {
    if (this.#object === undefined) {
      this.#object = this.#form === undefined ? this.#decoded() : atRevision(this.#form, this.revision);
      this.#form = undefined;
    }
    return this.#object;
  }

  /** The object for a single use: it is not kept. */
  get seen(): KubeObject {
    if (this.#object !== undefined) return this.#object;
    return this.#form === undefined ? this.#decoded() : atRevision(this.#form, this.revision);
  }

  /** The same state at a later revision, for the event of a deletion. */
  asOf(revision: Revision): StoredObject {
    const object = this.#object === undefined ? undefined : atRevision(this.#object, revision);
    return new StoredObject({ key: this.key, value: this.#stored(), revision }, object);
  }

  #decoded(): KubeObject {
    try {
      return parseJson(this.line.toString("utf8")) as unknown as KubeObject;
    } catch (cause) {
      if (isStatusError(cause)) throw cause;
      throw internalError(`unable to decode key ${JSON.stringify(this.key)}: ${(cause as Error).message}`);
    }
  }

  #encoded(): Buffer {
    return this.#object === undefined ? NOTHING : encodeForStore(this.#object);
  }

  #stored(): Buffer {
    if (this.#bytes !== undefined) return this.#bytes;
    const at = this.metadataAt + METADATA.length;
    return Buffer.concat([this.line.subarray(0, at), this.line.subarray(at + versionText(this.revision).length, -1)]);
  }
}

/** Stands for an object that cannot be read, and says why. */
export function unreadable(why: string): Buffer {
  return Buffer.concat([Buffer.of(MESSAGE), Buffer.from(why)]);
}

/** Why these bytes cannot be read. Without a decryption key, encrypted values arrive as they are. */
function faultOf(key: string, bytes: Buffer): string {
  if (bytes[0] === MESSAGE) return bytes.toString("utf8", 1);
  return bytes.subarray(0, ENCRYPTED.length).equals(ENCRYPTED)
    ? `unable to transform key ${JSON.stringify(key)}: identity transformer tried to read encrypted data`
    : `unable to decode key ${JSON.stringify(key)}: the value is not a JSON object`;
}

/** Both ends show values that are encrypted, truncated, or written by a program that stores another format. */
function isFaulty(bytes: Buffer): boolean {
  return bytes.length > 0 && (bytes[0] !== BRACE || bytes[bytes.length - 1] !== CLOSING_BRACE);
}

/** `at`: where the fields of its metadata begin. */
function lineOf(bytes: Buffer, at: number, revision: Revision): Buffer {
  const version = versionText(revision);
  const line = Buffer.allocUnsafeSlow(bytes.length + version.length + 1);
  bytes.copy(line, 0, 0, at);
  line.write(version, at, "latin1");
  bytes.copy(line, at + version.length, at);
  line[line.length - 1] = NEWLINE;
  return line;
}

/** The bytes to store. `object` may carry any resourceVersion: it is left out. */
export function encodeForStore(object: KubeObject): Buffer {
  const text = writeJson(isInStoredForm(object) ? object : inStoredForm(object));
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Decoded objects are in this form already. Copying a small Pod takes 0.25 µs more (2026-11-18). */
function isInStoredForm(object: KubeObject): boolean {
  const [first, second, third] = Object.keys(object);
  return (
    first === "kind" && second === "apiVersion" && third === "metadata" && object.metadata.resourceVersion === undefined
  );
}

/** Kind, apiVersion and metadata first, without the resourceVersion. */
function inStoredForm(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...stored } = metadata;
  return { kind, apiVersion, metadata: stored, ...rest } as KubeObject;
}

/** The object with the resourceVersion of its write. */
export function atRevision<T extends KubeObject>(object: T, revision: Revision): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function versionText(revision: Revision): string {
  return `"resourceVersion":"${revision}",`;
}
