/**
 * Encryption at rest, as a configuration describes it, and as it changes.
 *
 *     configuration ──► rules ──► encrypted store
 *                          ···► KMS plugins: asked how they are, once a minute
 *
 * 1. A new configuration counts from one write to the next. One that makes no sense, or whose plugins do not answer, leaves all as it was.
 * 2. Providers of KMS that both configurations have keep their seeds.
 */
import type { Clock, Logger } from "#base";
import type { Store } from "#store";
import type { HealthCheck } from "../routes/health.ts";
import { aesCbc, aesGcm } from "./aes.ts";
import type { CipherName, ProviderSettings, ResourceSettings } from "./configuration.ts";
import { type EncryptedStore, encryptedStore } from "./encrypted-store.ts";
import { type KmsWay, kmsWay } from "./kms/kms-way.ts";
import type { KmsPlugin, KmsPluginOptions } from "./kms/plugin.ts";
import { Rules } from "./rules.ts";
import { secretbox } from "./secretbox.ts";
import { type Cipher, cipherWay, identityWay, type Way } from "./way.ts";

const CIPHERS: Readonly<Record<CipherName, (secret: Buffer) => Cipher>> = { aescbc: aesCbc, aesgcm: aesGcm, secretbox };

export interface EncryptionOptions {
  readonly clock: Clock;
  readonly log: Logger;
  newUid(): string;
}

/** A provider of KMS while it is in use. */
interface Provider {
  readonly way: KmsWay;
  readonly plugin: KmsPlugin;
  readonly stopping: AbortController;
  readonly running: Promise<void>;
}

type KmsSettings = Extract<ProviderSettings, { type: "kms" }>;

export class Encryption {
  readonly #options: EncryptionOptions;
  #rules = new Rules([]);
  #providers = new Map<string, Provider>();
  #store: EncryptedStore | undefined;

  private constructor(options: EncryptionOptions) {
    this.#options = options;
  }

  /** Plugins that do not answer yet are no reason not to start: what they hold the key of cannot be read until they do. */
  static async open(settings: readonly ResourceSettings[], options: EncryptionOptions): Promise<Encryption> {
    const encryption = new Encryption(options);
    const next = await encryption.#providersOf(settings);
    await Promise.all([...next.values()].map(({ way }) => way.poll()));
    await encryption.#use(settings, next);
    return encryption;
  }

  over(store: Store): Store {
    this.#store = encryptedStore(store, () => this.#rules, this.#options.log);
    return this.#store;
  }

  /** Whether the value at a key was written in another way than it would be now. */
  isOutdated(key: string): boolean {
    return this.#store?.isOutdated(key) ?? false;
  }

  /** Rejects, and leaves all as it was, if a plugin that was not there before does not answer. */
  async configure(settings: readonly ResourceSettings[]): Promise<void> {
    const next = await this.#providersOf(settings);
    const fresh = [...next].filter(([id]) => !this.#providers.has(id)).map(([, provider]) => provider);
    try {
      await Promise.all(fresh.map(({ way }) => way.poll().then(() => way.check())));
    } catch (error) {
      await Promise.all(fresh.map(end));
      throw error;
    }
    await this.#use(settings, next);
    this.#store?.readAgain();
  }

  readonly health: HealthCheck = {
    name: "kms-providers",
    check: async () => {
      await Promise.all([...this.#providers.values()].map(({ way }) => way.check()));
    },
  };

  async close(): Promise<void> {
    await Promise.all([...this.#providers.values()].map(end));
    this.#providers.clear();
  }

  async #providersOf(settings: readonly ResourceSettings[]): Promise<Map<string, Provider>> {
    const kms = settings.flatMap(({ providers }) => providers).filter((one) => one.type === "kms");
    if (kms.length === 0) return new Map();
    // gRPC is large: only those who ask a plugin load it.
    const { kmsPlugin } = await import("./kms/plugin.ts");
    return new Map(kms.map((one) => [idOf(one), this.#providers.get(idOf(one)) ?? this.#start(one, kmsPlugin)]));
  }

  #start({ name, endpoint, timeoutMs }: KmsSettings, kmsPlugin: (options: KmsPluginOptions) => KmsPlugin): Provider {
    const { clock, log, newUid } = this.#options;
    const plugin = kmsPlugin({ endpoint, timeoutMs, clock });
    const way = kmsWay({ name, plugin, clock, log, newUid, recovered: () => this.#store?.readAgain() });
    const stopping = new AbortController();
    return { way, plugin, stopping, running: way.run(stopping.signal) };
  }

  async #use(settings: readonly ResourceSettings[], next: Map<string, Provider>): Promise<void> {
    const left = [...this.#providers].filter(([id]) => !next.has(id)).map(([, provider]) => provider);
    this.#rules = new Rules(
      settings.map(({ resources, providers }) => ({
        resources,
        ways: providers.flatMap((one) => (one.type === "kms" ? wayOf(next, one) : waysOf(one))),
      })),
    );
    this.#providers = next;
    await Promise.all(left.map(end));
  }
}

function wayOf(providers: ReadonlyMap<string, Provider>, settings: KmsSettings): readonly Way[] {
  const provider = providers.get(idOf(settings));
  return provider === undefined ? [] : [provider.way];
}

function waysOf(settings: Exclude<ProviderSettings, KmsSettings>): readonly Way[] {
  if (settings.type === "identity") return [identityWay];
  const { type, keys } = settings;
  return keys.map(({ name, secret }) => cipherWay(`k8s:enc:${type}:v1:${name}:`, CIPHERS[type](secret)));
}

function idOf({ name, endpoint, timeoutMs }: KmsSettings): string {
  return JSON.stringify([name, endpoint, timeoutMs]);
}

async function end({ plugin, stopping, running }: Provider): Promise<void> {
  stopping.abort();
  plugin.close();
  await running;
}
