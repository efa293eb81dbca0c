/**
 * Values under a key that a KMS v2 plugin holds.
 *
 *     write   value ──► seed of this server ──► stored: data, and the seed as the plugin encrypted it
 *     read    stored ──► seed, from memory or from the plugin ──► value
 *     poll    Status ···► another key id: a new seed; the same: the seed is valid for three minutes more
 *
 * 1. Writes never wait for the plugin. If it does not answer for three minutes they fail, so that a replaced key is not
 *    used for ever.
 * 2. Reads work as long as the seed is in memory. Concurrent reads request a seed once.
 */
import { createHash, randomBytes } from "node:crypto";
import { checkDns1123Subdomain } from "#api";
import { andThen, type Clock, type Logger, LruMap } from "#base";
import { aesGcm } from "../aes.ts";
import type { Cipher, Transformer } from "../transformer.ts";
import type { KmsPlugin } from "./plugin.ts";
import { SEED_BYTES, seeded } from "./seed.ts";
import { DEK, DEK_SEED, type EncryptedObject, encryptedObject } from "./wire.ts";

export const POLL_MS = 60_000;
export const RETRY_MS = 10_000;
const WRITABLE_MS = 3 * 60_000;
/** How long a health check is valid. */
const HEALTHY_FOR_MS = 20_000;
const SICK_FOR_MS = 3_000;
const MAX_SEEDS = 10_000;
const MAX_ID_BYTES = 1024;
const MAX_ANNOTATION_BYTES = 32 * 1024;
const VERSIONS = ["v2", "v2beta1"];

export interface KmsTransformerOptions {
  readonly name: string;
  readonly plugin: KmsPlugin;
  readonly clock: Clock;
  readonly log: Logger;
  newUid(): string;
  /** Called when the plugin answers again. */
  recovered(): void;
}

export interface KmsTransformer extends Transformer {
  /** Rejects if the plugin was unhealthy at the last check, a few seconds ago. */
  check(): Promise<void>;
  /** Calls the plugin now. Does not reject. */
  poll(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

/** The seed of writes. */
interface Current {
  readonly cipher: Cipher;
  readonly source: Omit<EncryptedObject, "encryptedData">;
  readonly writableUntil: number;
}

export function kmsTransformer({ name, plugin, clock, log, newUid, recovered }: KmsTransformerOptions): KmsTransformer {
  const ciphers = new LruMap<string, Promise<Cipher> | Cipher>(MAX_SEEDS);
  const prefix = `k8s:enc:kms:v2:${name}:`;
  let current: Current | undefined;
  let version: string | undefined;
  let fault: Error | undefined = new Error(`the KMS provider ${name} has not been asked yet`);
  let askedAt = Number.NEGATIVE_INFINITY;

  const cipherOf = (object: EncryptedObject): Promise<Cipher> | Cipher => {
    const id = identityOf(object);
    const known = ciphers.get(id);
    if (known !== undefined) return known;
    const asked = decrypted(plugin, object, newUid()).then(
      (cipher) => {
        ciphers.set(id, cipher);
        return cipher;
      },
      (error: unknown) => {
        ciphers.delete(id);
        throw new Error(`failed to decrypt DEK, error: ${(error as Error).message}`, { cause: error });
      },
    );
    ciphers.set(id, asked);
    return asked;
  };

  const renew = async (keyId: string) => {
    const writableUntil = clock.now() + WRITABLE_MS;
    if (current?.source.keyId === keyId) {
      current = { ...current, writableUntil };
      return;
    }
    const seed = randomBytes(SEED_BYTES);
    const answer = await plugin.encrypt({ plaintext: seed, uid: newUid() });
    const { keyId: used, annotations, ciphertext: encryptedDekSource } = answer;
    const source = { keyId: used, annotations, encryptedDekSource, encryptedDekSourceType: DEK_SEED };
    checkObject({ ...source, encryptedData: Buffer.of(0) });
    if (used !== keyId)
      throw new Error(`it encrypts with key ${hashed(used)} and says that its key is ${hashed(keyId)}`);
    const cipher = seeded(seed);
    current = { cipher, source, writableUntil };
    ciphers.set(identityOf(source), cipher);
    log.info("writes use a new seed", { provider: name, keyId: hashed(keyId) });
  };

  const ask = async () => {
    const { healthz, version: told, keyId } = await plugin.status();
    if (healthz !== "ok") throw new Error(`got unexpected healthz status: ${healthz}`);
    if (!VERSIONS.includes(told)) throw new Error(`expected KMSv2 API version v2, got ${told}`);
    version ??= told;
    if (version !== told) throw new Error(`its API version was ${version} before, and is ${told} now`);
    checkKeyId(keyId);
    await renew(keyId);
  };

  const poll = async () => {
    askedAt = clock.monotonic();
    try {
      await ask();
      const back = fault !== undefined;
      fault = undefined;
      if (back) recovered();
    } catch (error) {
      fault = new Error(`kmsv2 Provider ${name} is not healthy, error: ${(error as Error).message}`, { cause: error });
      log.warn("a KMS provider is not healthy", { provider: name, error });
    }
  };

  const check = async () => {
    if (clock.monotonic() - askedAt > (fault === undefined ? HEALTHY_FOR_MS : SICK_FOR_MS)) await poll();
    if (fault !== undefined) throw fault;
  };

  return {
    prefix: Buffer.from(prefix),
    check,
    poll,
    mark: (kept) => markOf(prefix, kept),
    get currentMark() {
      return `${prefix}${current?.source.keyId ?? ""}`;
    },
    read(kept, key) {
      const object = encryptedObject.decode(kept);
      checkObject(object);
      return andThen(cipherOf(object), (cipher) => cipher.open(object.encryptedData, key));
    },
    write(value, key) {
      if (current === undefined) throw fault ?? new Error(`the KMS provider ${name} has given no key yet`);
      if (clock.now() > current.writableUntil) {
        const expired = new Date(current.writableUntil).toISOString();
        throw new Error(`encryptedDEKSource with keyID hash "${hashed(current.source.keyId)}" expired at ${expired}`);
      }
      const encryptedData = current.cipher.seal(value, key);
      return encryptedObject.encode({ ...current.source, encryptedData });
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(fault === undefined ? POLL_MS : RETRY_MS, signal).catch(() => {});
        if (!signal.aborted) await poll();
      }
    },
  };
}

async function decrypted(plugin: KmsPlugin, object: EncryptedObject, uid: string): Promise<Cipher> {
  const { encryptedDekSource: ciphertext, keyId, annotations } = object;
  const { plaintext } = await plugin.decrypt({ ciphertext, uid, keyId, annotations });
  if (object.encryptedDekSourceType === DEK_SEED) return seeded(plaintext);
  if (plaintext.length !== 32) throw new Error(`crypto/aes: invalid key size ${plaintext.length}`);
  return aesGcm(plaintext);
}

/** Values under another key of the plugin are outdated. */
function markOf(prefix: string, kept: Buffer): string {
  return `${prefix}${encryptedObject.decode(kept).keyId}`;
}

function identityOf({
  encryptedDekSource,
  keyId,
  annotations,
  encryptedDekSourceType,
}: Omit<EncryptedObject, "encryptedData">) {
  const sorted = [...annotations]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, value.toString("base64")]);
  return JSON.stringify([encryptedDekSourceType, encryptedDekSource.toString("base64"), keyId, sorted]);
}

function checkObject(object: EncryptedObject): void {
  const { encryptedDekSourceType: type, encryptedData, encryptedDekSource: source, annotations } = object;
  if (type !== DEK && type !== DEK_SEED) throw new Error(`unknown encryptedDEKSourceType: ${type}`);
  if (encryptedData.length === 0) throw new Error("encrypted data is empty");
  if (source.length === 0) throw new Error("failed to validate encrypted DEK source: encrypted DEK source is empty");
  if (source.length > MAX_ID_BYTES) {
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${source.length} bytes, which exceeds the max size of ${MAX_ID_BYTES}`,
    );
  }
  checkKeyId(object.keyId);
  let bytes = 0;
  for (const [key, value] of annotations) {
    const flaws = checkDns1123Subdomain(key);
    if (flaws.length > 0 || !key.includes(".")) {
      throw new Error(
        `failed to validate annotations: "${key}" should be a domain with at least two segments separated by dots`,
      );
    }
    bytes += Buffer.byteLength(key) + value.length;
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    throw new Error(
      `failed to validate annotations: total size of annotations is ${bytes}, which exceeds the max size of ${MAX_ANNOTATION_BYTES}`,
    );
  }
}

function checkKeyId(keyId: string): void {
  const bytes = Buffer.byteLength(keyId);
  if (bytes === 0) throw new Error("failed to validate key id: keyID is empty");
  if (bytes > MAX_ID_BYTES) {
    throw new Error(
      `failed to validate key id: keyID is ${bytes} bytes, which exceeds the max size of ${MAX_ID_BYTES}`,
    );
  }
}

/** Key ids may reveal where a key is: logs and messages have only their hash. */
function hashed(keyId: string): string {
  return keyId === "" ? "" : `sha256:${createHash("sha256").update(keyId).digest("hex")}`;
}
