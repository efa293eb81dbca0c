/**
 * An object at one revision: one immutable value and one Buffer of JSON, each made once, when first needed, and shared by everyone.
 *
 * 1. What the store keeps is the JSON without metadata.resourceVersion: that is the store's revision, and known only after the write.
 *    Reading puts it in at the one place where it belongs, without parsing.
 * 2. Whoever writes has the value at hand and passes it on: while it is new, it need not be parsed again. Later, values are kept only of
 *    objects that somebody has asked for: a collector that has to carry all of them costs a write more than its decoding does.
 * 3. Bytes that cannot be decrypted are replaced by the sentence that says why: it is what anybody gets who asks for the object.
 */
import { internalError, isStatusError, type KubeObject } from "#api";
import type { Entry, Revision } from "#store";

/** Every stored object begins like this: kind, apiVersion, then metadata, which is never empty. */
const METADATA = Buffer.from('"metadata":{');
const NEWLINE = 0x0a;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Begins bytes that are a sentence instead of an object: no stored value begins like this. */
const SENTENCE = 0x00;
const ENCRYPTED = Buffer.from("k8s:enc:");
const NOTHING = Buffer.alloc(0);

export class StoredObject {
  readonly key: string;
  readonly revision: Revision;
  /** As the store has it, until the line is made: one of the two is enough. */
  #bytes: Buffer | undefined;
  #line: Buffer | undefined;
  #metadataAt = -1;
  #object: KubeObject | undefined;
  /** What was written, without its revision, until somebody wants the object or nobody has for a while. */
  #form: KubeObject | undefined;

  /** `value` may be left out where the object is known: its bytes are then made when somebody asks for them. */
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

  /** What this process has just written. */
  static written(entry: Pick<Entry, "key" | "revision" | "value">, form: KubeObject): StoredObject {
    const stored = new StoredObject(entry);
    stored.#form = form;
    return stored;
  }

  /** Who wants the object from now on reads it from the bytes: values that nobody asks for are not worth their memory. */
  letGo(): void {
    this.#form = undefined;
  }

  /** Whether asking for the object, or its line, throws: as far as both ends of its bytes tell. */
  get isUnreadable(): boolean {
    return this.#bytes !== undefined && isFaulty(this.#bytes);
  }

  /** As clients get it: its JSON and a newline. */
  get line(): Buffer {
    if (this.#line === undefined) {
      const bytes = this.#bytes ?? this.#encoded();
      if (isFaulty(bytes)) throw internalError(faultOf(this.key, bytes));
      this.#line = lineOf(bytes, this.revision);
      this.#bytes = undefined;
    }
    return this.#line;
  }

  /** Where its metadata begins in the line. Behind an opening brace, the rest is an item of a list that says kind and apiVersion for all. */
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

  /** The object for somebody who has asked for it just once: it is not kept for that. */
  get seen(): KubeObject {
    if (this.#object !== undefined) return this.#object;
    return this.#form === undefined ? this.#decoded() : atRevision(this.#form, this.revision);
  }

  /** The same state as of a later revision: what a deletion shows. */
  asOf(revision: Revision): StoredObject {
    const object = this.#object === undefined ? undefined : atRevision(this.#object, revision);
    return new StoredObject({ key: this.key, value: this.#stored(), revision }, object);
  }

  #decoded(): KubeObject {
    try {
      return JSON.parse(this.line.toString("utf8")) as KubeObject;
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

/** In the place of an object that cannot be read: the sentence that says why. */
export function unreadable(why: string): Buffer {
  return Buffer.concat([Buffer.of(SENTENCE), Buffer.from(why)]);
}

/** Why these bytes cannot be read. Without a key for decryption, values that were encrypted before arrive as they are. */
function faultOf(key: string, bytes: Buffer): string {
  if (bytes[0] === SENTENCE) return bytes.toString("utf8", 1);
  return bytes.subarray(0, ENCRYPTED.length).equals(ENCRYPTED)
    ? `unable to transform key ${JSON.stringify(key)}: identity transformer tried to read encrypted data`
    : `unable to decode key ${JSON.stringify(key)}: the value is not a JSON object`;
}

/** A look at both ends: enough for what is encrypted, cut off, or written by a program that stores another form. */
function isFaulty(bytes: Buffer): boolean {
  return bytes.length > 0 && (bytes[0] !== BRACE || bytes.at(-1) !== CLOSING_BRACE || !bytes.includes(METADATA));
}

function lineOf(bytes: Buffer, revision: Revision): Buffer {
  const at = bytes.indexOf(METADATA) + METADATA.length;
  const version = versionText(revision);
  const line = Buffer.allocUnsafe(bytes.length + version.length + 1);
  bytes.copy(line, 0, 0, at);
  line.write(version, at, "latin1");
  bytes.copy(line, at + version.length, at);
  line[line.length - 1] = NEWLINE;
  return line;
}

/** The bytes to store. `object` may carry any resourceVersion: it is left out. */
export function encodeForStore(object: KubeObject): Buffer {
  // Decoded objects have their fields in this order already: nothing need be taken apart.
  if (object.metadata.resourceVersion === undefined && isInOrder(object)) return Buffer.from(JSON.stringify(object));
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...stored } = metadata;
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: stored, ...rest }));
}

function isInOrder(object: KubeObject): boolean {
  const [first, second, third] = Object.keys(object);
  return first === "kind" && second === "apiVersion" && third === "metadata";
}

/** The object as it is once its write got this revision. */
export function atRevision<T extends KubeObject>(object: T, revision: Revision): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function versionText(revision: Revision): string {
  return `"resourceVersion":"${revision}",`;
}
