/**
 * The transformers of each resource: the first one writes, all of them read.
 *
 * 1. Resources that the configuration does not name are stored as they are, and encrypted values of them cannot be
 *    read.
 * 2. If a transformer with the right prefix fails, the next one is tried: it may have the same prefix and the right
 *    key.
 */
import { andThen, attempt } from "#base";
import { STORE_PREFIX } from "../rest/resource.ts";
import { groupResource } from "./configuration.ts";
import { identityTransformer, isEncrypted, startsWith, type Transformer } from "./transformer.ts";

export interface Rule {
  readonly resources: readonly string[];
  readonly transformers: readonly Transformer[];
}

const AS_IS: readonly Transformer[] = [identityTransformer];
/** The providers' message if only the name of the key is unknown. */
const NO_SUCH_KEY: readonly (readonly [prefix: string, why: string])[] = [
  ["k8s:enc:aescbc:v1:", "no matching key was found for the provided AES transformer"],
  ["k8s:enc:aesgcm:v1:", "no matching key was found for the provided AES transformer"],
  ["k8s:enc:secretbox:v1:", "no matching key was found for the provided Secretbox transformer"],
];

export class Rules {
  readonly #named = new Map<string, readonly Transformer[]>();
  /** The transformers of resources seen so far, by the part of the key that names the resource. */
  readonly #found = new Map<string, readonly Transformer[]>();

  constructor(rules: readonly Rule[]) {
    for (const { resources, transformers } of rules) {
      for (const name of resources) {
        const { group, resource } = groupResource(name);
        const id = `${group}/${resource}`;
        if (!this.#named.has(id)) this.#named.set(id, transformers);
      }
    }
  }

  /** Keys are <prefix><group>/<resource>/…, with `core` for the group without a name. */
  transformersOf(key: string): readonly Transformer[] {
    const end = key.indexOf("/", key.indexOf("/", STORE_PREFIX.length) + 1);
    const id = key.slice(STORE_PREFIX.length, end === -1 ? undefined : end);
    const known = this.#found.get(id);
    if (known !== undefined) return known;
    const slash = id.indexOf("/");
    const [stored, resource] = [id.slice(0, slash), id.slice(slash + 1)];
    const group = stored === "core" ? "" : stored;
    const transformers =
      this.#named.get(`${group}/${resource}`) ?? this.#named.get(`${group}/*`) ?? this.#named.get("*/*") ?? AS_IS;
    this.#found.set(id, transformers);
    return transformers;
  }

  write(key: string, value: Buffer): Buffer {
    const [transformer = identityTransformer] = this.transformersOf(key);
    const kept = transformer.write(value, key);
    return transformer.prefix.length === 0 ? kept : Buffer.concat([transformer.prefix, kept]);
  }

  /** The mark that a write of this key gets now. */
  currentMark(key: string): string {
    return this.transformersOf(key)[0]?.currentMark ?? "";
  }

  /** Throws, or rejects, with the reason if the value cannot be read. A promise only if a transformer returns one. */
  read(key: string, value: Buffer): Reading | Promise<Reading> {
    const transformers = this.transformersOf(key);
    const encrypted = isEncrypted(value);
    if (!encrypted && transformers[0] === identityTransformer) return { value, mark: "" };
    const fitting = transformers.filter(({ prefix }) => (prefix.length === 0 ? !encrypted : startsWith(value, prefix)));
    if (fitting.length === 0) throw new Error(whyNot(transformers, value));
    return tryEach(fitting, key, value, []);
  }
}

export interface Reading {
  readonly value: Buffer;
  readonly mark: string;
}

function tryEach(
  [transformer, ...others]: readonly Transformer[],
  key: string,
  value: Buffer,
  errors: readonly Error[],
): Reading | Promise<Reading> {
  if (transformer === undefined) {
    const [first] = errors;
    if (errors.length === 1 && first !== undefined) throw first;
    throw new Error(`[${errors.map(({ message }) => message).join(", ")}]`);
  }
  const next = (error: unknown) => tryEach(others, key, value, [...errors, error as Error]);
  return attempt(() => {
    const kept = value.subarray(transformer.prefix.length);
    const mark = transformer.mark(kept);
    return andThen(transformer.read(kept, key), (plain) => ({ value: plain, mark }));
  }, next);
}

function whyNot(transformers: readonly Transformer[], value: Buffer): string {
  const known = NO_SUCH_KEY.find(([name]) => {
    const prefix = Buffer.from(name);
    return startsWith(value, prefix) && transformers.some((transformer) => startsWith(transformer.prefix, prefix));
  });
  if (known !== undefined) return known[1];
  const asIsOnly = transformers.every(({ prefix }) => prefix.length === 0);
  return asIsOnly ? "identity transformer tried to read encrypted data" : "no matching prefix found";
}
