/**
 * Encryption at rest by a configuration that may change.
 *
 *     configuration ──► rules ──► encrypted store
 *                          ···► KMS plugins: Status, once a minute
 *
 * 1. A new configuration applies from one write to the next. One that is invalid, or whose plugins do not answer,
 *    changes nothing.
 * 2. KMS providers that both configurations have keep their seeds.
 */
import type { Clock, Logger } from "#base";
import type { Store } from "#store";
import type { HealthCheck } from "../routes/health.ts";
import { aesCbc, aesGcm } from "./aes.ts";
import type { CipherName, ProviderSettings, ResourceSettings } from "./configuration.ts";
import { type EncryptedStore, encryptedStore } from "./encrypted-store.ts";
import { type KmsTransformer, kmsTransformer } from "./kms/kms-transformer.ts";
import type { KmsPlugin, KmsPluginOptions } from "./kms/plugin.ts";
import { Rules } from "./rules.ts";
import { secretbox } from "./secretbox.ts";
import { type Cipher, cipherTransformer, identityTransformer, type Transformer } from "./transformer.ts";

const CIPHERS: Readonly<Record<CipherName, (secret: Buffer) => Cipher>> = { aescbc: aesCbc, aesgcm: aesGcm, secretbox };

export interface EncryptionOptions {
  readonly clock: Clock;
  readonly log: Logger;
  newUid(): string;
}

/** A KMS provider in use. */
interface Provider {
  readonly transformer: KmsTransformer;
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

  /** A plugin that does not answer does not prevent the start: its values cannot be read until it does. */
  static async open(settings: readonly ResourceSettings[], options: EncryptionOptions): Promise<Encryption> {
    const encryption = new Encryption(options);
    const next = await encryption.#providersOf(settings);
    await Promise.all([...next.values()].map(({ transformer }) => transformer.poll()));
    await encryption.#use(settings, next);
    return encryption;
  }

  over(store: Store): Store {
    this.#store = encryptedStore(store, () => this.#rules, this.#options.log);
    return this.#store;
  }

  /** Whether the value at a key was written with another provider or key than a write would use now. */
  isOutdated(key: string): boolean {
    return this.#store?.isOutdated(key) ?? false;
  }

  /** Rejects, and changes nothing, if a new plugin does not answer. */
  async configure(settings: readonly ResourceSettings[]): Promise<void> {
    const next = await this.#providersOf(settings);
    const fresh = [...next].filter(([id]) => !this.#providers.has(id)).map(([, provider]) => provider);
    try {
      await Promise.all(fresh.map(({ transformer }) => transformer.poll().then(() => transformer.check())));
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
      await Promise.all([...this.#providers.values()].map(({ transformer }) => transformer.check()));
    },
  };

  async close(): Promise<void> {
    await Promise.all([...this.#providers.values()].map(end));
    this.#providers.clear();
  }

  async #providersOf(settings: readonly ResourceSettings[]): Promise<Map<string, Provider>> {
    const kms = settings.flatMap(({ providers }) => providers).filter((one) => one.type === "kms");
    if (kms.length === 0) return new Map();
    // gRPC is large: it is loaded only for plugins.
    const { kmsPlugin } = await import("./kms/plugin.ts");
    return new Map(kms.map((one) => [idOf(one), this.#providers.get(idOf(one)) ?? this.#start(one, kmsPlugin)]));
  }

  #start({ name, endpoint, timeoutMs }: KmsSettings, kmsPlugin: (options: KmsPluginOptions) => KmsPlugin): Provider {
    const { clock, log, newUid } = this.#options;
    const plugin = kmsPlugin({ endpoint, timeoutMs, clock });
    const transformer = kmsTransformer({ name, plugin, clock, log, newUid, recovered: () => this.#store?.readAgain() });
    const stopping = new AbortController();
    return { transformer, plugin, stopping, running: transformer.run(stopping.signal) };
  }

  async #use(settings: readonly ResourceSettings[], next: Map<string, Provider>): Promise<void> {
    const left = [...this.#providers].filter(([id]) => !next.has(id)).map(([, provider]) => provider);
    this.#rules = new Rules(
      settings.map(({ resources, providers }) => ({
        resources,
        transformers: providers.flatMap((one) =>
          one.type === "kms" ? kmsTransformerOf(next, one) : transformersOf(one),
        ),
      })),
    );
    this.#providers = next;
    await Promise.all(left.map(end));
  }
}

function kmsTransformerOf(providers: ReadonlyMap<string, Provider>, settings: KmsSettings): readonly Transformer[] {
  const provider = providers.get(idOf(settings));
  return provider === undefined ? [] : [provider.transformer];
}

function transformersOf(settings: Exclude<ProviderSettings, KmsSettings>): readonly Transformer[] {
  if (settings.type === "identity") return [identityTransformer];
  const { type, keys } = settings;
  return keys.map(({ name, secret }) => cipherTransformer(`k8s:enc:${type}:v1:${name}:`, CIPHERS[type](secret)));
}

function idOf({ name, endpoint, timeoutMs }: KmsSettings): string {
  return JSON.stringify([name, endpoint, timeoutMs]);
}

async function end({ plugin, stopping, running }: Provider): Promise<void> {
  stopping.abort();
  plugin.close();
  await running;
}
