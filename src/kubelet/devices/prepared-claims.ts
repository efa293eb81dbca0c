/**
 * Which claims are prepared on this node, for which Pods, and with which devices: kept in a file, so that the next
 * kubelet can start containers with them, and can give them back.
 *
 *     begin ══► file ──► driver prepares ──► prepared ══► file        driver has given back ──► forget ══► file
 *
 * 1. A claim is in the file before its driver hears of it: a kubelet that ends in between gives it back later.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import type { ClaimName, PreparedDevice } from "./dra-drivers.ts";

export interface PreparedClaim extends ClaimName {
  /** Of the Pods that use it. */
  readonly podUids: readonly string[];
  /** By driver; undefined until the driver has prepared it. */
  readonly drivers: Readonly<Record<string, readonly PreparedDevice[] | null>>;
}

const FILE = "dra_manager_state";
const VERSION = "k8ts/v1";

export class PreparedClaims {
  readonly #claims = new Map<string, PreparedClaim>();
  readonly #path: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** `dir`: undefined for a node without a disk. */
  private constructor(dir: string | undefined) {
    this.#path = dir === undefined ? undefined : `${dir}/${FILE}`;
  }

  /** For a node without a disk. */
  static inMemory(): PreparedClaims {
    return new PreparedClaims(undefined);
  }

  /** Throws if the file is there but cannot be read: devices would be lost. */
  static async open(dir: string | undefined): Promise<PreparedClaims> {
    const claims = new PreparedClaims(dir);
    const text = claims.#path === undefined ? undefined : await readFile(claims.#path, "utf8").catch(unlessThere);
    if (text === undefined) return claims;
    const { version, claims: list } = JSON.parse(text) as { version?: string; claims: readonly PreparedClaim[] };
    if (version !== VERSION) throw new Error(`${claims.#path} has the version ${version}, not ${VERSION}`);
    for (const claim of list) claims.#claims.set(claim.uid, claim);
    return claims;
  }

  get(uid: string): PreparedClaim | undefined {
    return this.#claims.get(uid);
  }

  named(namespace: string, name: string): PreparedClaim | undefined {
    return this.list().find((claim) => claim.namespace === namespace && claim.name === name);
  }

  list(): readonly PreparedClaim[] {
    return [...this.#claims.values()];
  }

  async set(claim: PreparedClaim): Promise<void> {
    this.#claims.set(claim.uid, claim);
    await this.#save();
  }

  async delete(uid: string): Promise<void> {
    this.#claims.delete(uid);
    await this.#save();
  }

  /** Saves are one after the other; each has everything that was set before it. */
  #save(): Promise<void> {
    const write = async () => {
      if (this.#path === undefined) return;
      await writeFile(`${this.#path}.new`, JSON.stringify({ version: VERSION, claims: this.list() }), { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
