/**
 * Which ways the values of each resource are kept: the first one writes, all of them read.
 *
 * 1. What no entry of the configuration names is kept as it is, and is not readable if something else has encrypted it.
 * 2. A way whose prefix fits and that fails is no reason to give up: another may have the same prefix and the right key.
 */
import { andThen, attempt } from "#base";
import { STORE_PREFIX } from "../rest/resource.ts";
import { groupResource } from "./configuration.ts";
import { identityWay, isEncrypted, startsWith, type Way } from "./way.ts";

export interface Rule {
  readonly resources: readonly string[];
  readonly ways: readonly Way[];
}

const AS_IS: readonly Way[] = [identityWay];
/** Providers say it so when it is only the name of the key that they do not know. */
const NO_SUCH_KEY: readonly (readonly [prefix: string, why: string])[] = [
  ["k8s:enc:aescbc:v1:", "no matching key was found for the provided AES transformer"],
  ["k8s:enc:aesgcm:v1:", "no matching key was found for the provided AES transformer"],
  ["k8s:enc:secretbox:v1:", "no matching key was found for the provided Secretbox transformer"],
];

export class Rules {
  readonly #named = new Map<string, readonly Way[]>();
  /** What was found for the resources seen so far, by the part of the key that names them. */
  readonly #found = new Map<string, readonly Way[]>();

  constructor(rules: readonly Rule[]) {
    for (const { resources, ways } of rules) {
      for (const name of resources) {
        const { group, resource } = groupResource(name);
        const id = `${group}/${resource}`;
        if (!this.#named.has(id)) this.#named.set(id, ways);
      }
    }
  }

  /** Keys are <prefix><group>/<resource>/…, where the group of those without a name is called core. */
  waysOf(key: string): readonly Way[] {
    const end = key.indexOf("/", key.indexOf("/", STORE_PREFIX.length) + 1);
    const id = key.slice(STORE_PREFIX.length, end === -1 ? undefined : end);
    const known = this.#found.get(id);
    if (known !== undefined) return known;
    const slash = id.indexOf("/");
    const [stored, resource] = [id.slice(0, slash), id.slice(slash + 1)];
    const group = stored === "core" ? "" : stored;
    const ways =
      this.#named.get(`${group}/${resource}`) ?? this.#named.get(`${group}/*`) ?? this.#named.get("*/*") ?? AS_IS;
    this.#found.set(id, ways);
    return ways;
  }

  write(key: string, value: Buffer): Buffer {
    const [way = identityWay] = this.waysOf(key);
    const kept = way.write(value, key);
    return way.prefix.length === 0 ? kept : Buffer.concat([way.prefix, kept]);
  }

  /** The mark of what a write of this key gets now. */
  currentMark(key: string): string {
    return this.waysOf(key)[0]?.currentMark ?? "";
  }

  /** Throws, or rejects, with why it cannot be read. Waits only where some way does. */
  read(key: string, value: Buffer): Reading | Promise<Reading> {
    const ways = this.waysOf(key);
    const encrypted = isEncrypted(value);
    if (!encrypted && ways[0] === identityWay) return { value, mark: "" };
    const fitting = ways.filter(({ prefix }) => (prefix.length === 0 ? !encrypted : startsWith(value, prefix)));
    if (fitting.length === 0) throw new Error(whyNot(ways, value));
    return tryEach(fitting, key, value, []);
  }
}

export interface Reading {
  readonly value: Buffer;
  readonly mark: string;
}

function tryEach(
  [way, ...others]: readonly Way[],
  key: string,
  value: Buffer,
  errors: readonly Error[],
): Reading | Promise<Reading> {
  if (way === undefined) {
    const [first] = errors;
    if (errors.length === 1 && first !== undefined) throw first;
    throw new Error(`[${errors.map(({ message }) => message).join(", ")}]`);
  }
  const next = (error: unknown) => tryEach(others, key, value, [...errors, error as Error]);
  return attempt(() => {
    const kept = value.subarray(way.prefix.length);
    const mark = way.mark(kept);
    return andThen(way.read(kept, key), (plain) => ({ value: plain, mark }));
  }, next);
}

function whyNot(ways: readonly Way[], value: Buffer): string {
  const known = NO_SUCH_KEY.find(([name]) => {
    const prefix = Buffer.from(name);
    return startsWith(value, prefix) && ways.some((way) => startsWith(way.prefix, prefix));
  });
  if (known !== undefined) return known[1];
  const asIsOnly = ways.every(({ prefix }) => prefix.length === 0);
  return asIsOnly ? "identity transformer tried to read encrypted data" : "no matching prefix found";
}
