/**
 * Credentials for images by programs of the node: kubelet credential providers.
 *
 *     image ──► providers whose matchImages match ──► cached? ──► program: request on stdin ──► answer ──► keyring
 *
 * 1. A program that fails gives no credentials: it is logged, and the pull goes on without.
 * 2. Answers are kept as long as they say; programs are asked once for the same question at a time.
 */
import { createHash } from "node:crypto";
import { access, constants, readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { type authentication, type core, kinds } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import type { Client } from "#client";
import { askProgram, type ProviderAnswer } from "./credential-program.ts";
import { type Credential, type CredentialSource, locationMatches, lookup, repositoryOf } from "./keyring.ts";
import { type CredentialProvider, parseProviders, type TokenAttributes } from "./provider-config.ts";

export interface CredentialProvidersOptions {
  /** A file, or a folder of files. */
  readonly config: string;
  readonly binDir: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

export type ProviderCredentials = (image: string, pod: core.Pod, signal: AbortSignal) => Promise<readonly Credential[]>;

/** Throws Error if the configuration is invalid, or a program is missing. */
export async function credentialProviders(options: CredentialProvidersOptions): Promise<ProviderCredentials> {
  const providers = await readProviders(options);
  const asked = providers.map((provider) => new Provider(provider, options));
  return async (image, pod, signal) => {
    const repository = repositoryOf(image);
    if (repository === undefined) return [];
    const found: Credential[] = [];
    for (const provider of asked) found.push(...(await provider.credentials(repository, pod, signal)));
    return found;
  };
}

async function readProviders({ config, binDir }: CredentialProvidersOptions): Promise<readonly CredentialProvider[]> {
  const files = (await stat(config)).isDirectory()
    ? (await readdir(config))
        .filter((name) => [".json", ".yaml", ".yml"].includes(extname(name)))
        .sort()
        .map((name) => join(config, name))
    : [config];
  if (files.length === 0) throw new Error(`no configuration files found in directory ${JSON.stringify(config)}`);
  const providers = parseProviders(await Promise.all(files.map((file) => readFile(file, "utf8"))));
  for (const { name } of providers) {
    const program = join(binDir, name);
    await access(program, constants.X_OK).catch((error: unknown) => {
      throw new Error(`plugin binary executable ${program} did not exist`, { cause: error });
    });
  }
  return providers;
}

interface Account {
  readonly source: CredentialSource;
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly cacheKey: string;
}

interface Kept {
  readonly answer: ProviderAnswer;
  readonly untilMs: number;
}

const MAX_KEPT = 1000;

class Provider {
  readonly #provider: CredentialProvider;
  readonly #options: CredentialProvidersOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<ProviderAnswer>>();

  constructor(provider: CredentialProvider, options: CredentialProvidersOptions) {
    this.#provider = provider;
    this.#options = options;
  }

  async credentials(repository: string, pod: core.Pod, signal: AbortSignal): Promise<readonly Credential[]> {
    const { matchImages, name, tokenAttributes } = this.#provider;
    if (!matchImages.some((pattern) => locationMatches(pattern.replace(/^https?:\/\//, ""), repository))) return [];
    try {
      const account = tokenAttributes && (await this.#account(pod, tokenAttributes, signal));
      if (account === "none") return [];
      const source = account?.source ?? { kind: "node" };
      const { auth } = await this.#answer(repository, account, signal);
      const entries = Object.entries(auth).map(([location, { username = "", password = "" }]) => ({
        location,
        source,
        auth: { username, password },
      }));
      return lookup(entries, repository);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      this.#options.log.error("a credential provider has given no credentials", { provider: name, error });
      return [];
    }
  }

  /** `none`: the provider is not asked for such a Pod. */
  async #account(pod: core.Pod, wanted: TokenAttributes, signal: AbortSignal): Promise<Account | "none" | undefined> {
    const { namespace = "", name: podName = "", uid: podUid = "" } = pod.metadata;
    const name = pod.spec?.serviceAccountName ?? "";
    if (name === "") return wanted.requireServiceAccount ? "none" : undefined;
    const accounts = this.#options.client.of(kinds.ServiceAccount).in(namespace);
    const { metadata } = await accounts.get(name, { signal });
    const { uid = "", annotations: all = {} } = metadata;
    if (wanted.requiredAnnotations.some((key) => all[key] === undefined)) return "none";
    const annotations = Object.fromEntries(
      [...wanted.requiredAnnotations, ...wanted.optionalAnnotations].flatMap((key) => {
        const value = all[key];
        return value === undefined ? [] : [[key, value]];
      }),
    );
    const bound = { apiVersion: "v1", kind: "Pod", name: podName, uid: podUid };
    const spec = { audiences: [wanted.audience], boundObjectRef: bound };
    const { status } = await accounts
      .subresource<authentication.TokenRequest>(name, "token")
      .create({ metadata: {}, spec } as authentication.TokenRequest, { signal });
    const { token = "" } = status ?? {};
    if (token === "") throw new Error("no token in the answer to the request for one");
    const secret = wanted.cacheType === "Token" ? token : "";
    const key = JSON.stringify([namespace, name, uid, Object.entries(annotations).sort(), secret]);
    const cacheKey = createHash("sha256").update(key).digest("hex");
    return { source: { kind: "serviceAccount", uid, namespace, name }, token, annotations, cacheKey };
  }

  async #answer(repository: string, account: Account | undefined, signal: AbortSignal): Promise<ProviderAnswer> {
    const { clock } = this.#options;
    const keyFor = (what: string) => JSON.stringify([what, account?.cacheKey ?? ""]);
    const [registry = ""] = repository.split("/");
    const keys = { Image: keyFor(repository), Registry: keyFor(registry), Global: keyFor("global") };
    const now = clock.now();
    for (const key of Object.values(keys)) {
      const kept = this.#kept.get(key);
      if (kept !== undefined && now <= kept.untilMs) return kept.answer;
    }
    const running = this.#asking.get(keys.Image);
    if (running !== undefined) return running;
    const asking = this.#ask(repository, account, signal).finally(() => this.#asking.delete(keys.Image));
    this.#asking.set(keys.Image, asking);
    const answer = await asking;
    const cacheMs = answer.cacheMs ?? this.#provider.defaultCacheMs;
    if (cacheMs > 0) this.#keep(keys[answer.cacheKeyType], { answer, untilMs: clock.now() + cacheMs });
    return answer;
  }

  #keep(key: string, kept: Kept): void {
    const now = this.#options.clock.now();
    if (this.#kept.size >= MAX_KEPT)
      for (const [each, { untilMs }] of this.#kept) if (untilMs < now) this.#kept.delete(each);
    this.#kept.set(key, kept);
  }

  async #ask(repository: string, account: Account | undefined, signal: AbortSignal): Promise<ProviderAnswer> {
    const { apiVersion, name, args, env } = this.#provider;
    const request = {
      kind: "CredentialProviderRequest",
      apiVersion,
      image: repository,
      ...(account !== undefined && {
        serviceAccountToken: account.token,
        ...(Object.keys(account.annotations).length > 0 && { serviceAccountAnnotations: account.annotations }),
      }),
    };
    return askProgram({ program: join(this.#options.binDir, name), args, env, apiVersion, request }, signal);
  }
}
