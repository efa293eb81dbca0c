/**
 * The modes of the chain, from flags or from an AuthorizationConfiguration file.
 *
 *     --authorization-mode, policy file, webhook file ──┐
 *     --authorization-config ──► checked ───────────────┴──► ModeSpec, in order
 */
import { readFile } from "node:fs/promises";
import { type KubeconfigConnection, PkiError, readKubeconfig } from "#pki";
import { type Policy, parsePolicyFile } from "./abac.ts";
import { AuthorizationConfigError } from "./config-error.ts";
import { type AuthorizerEntry, parseConfigurationFile } from "./configuration-file.ts";
import { MODE_NAMES, type ModeName } from "./mode.ts";
import type { ReviewVersion } from "./webhook/review.ts";

export type ModeSpec =
  | { readonly type: "AlwaysAllow" | "AlwaysDeny" | "Node" | "RBAC"; readonly name: string }
  | { readonly type: "ABAC"; readonly name: string; readonly policies: readonly Policy[] }
  | WebhookSpec;

export interface WebhookSpec {
  readonly type: "Webhook";
  readonly name: string;
  readonly connection: KubeconfigConnection;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
  /** 0: answers are not cached. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly onFailure: "noOpinion" | "deny";
  /** Expressions in CEL. */
  readonly matchConditions: readonly string[];
}

/** As the flags of the same names. */
export interface AuthorizationFlags {
  readonly authorizationMode?: readonly string[];
  readonly authorizationPolicyFile?: string;
  readonly authorizationWebhookConfigFile?: string;
  readonly authorizationWebhookVersion?: ReviewVersion;
  readonly authorizationWebhookCacheAuthorizedTtlMs?: number;
  readonly authorizationWebhookCacheUnauthorizedTtlMs?: number;
  readonly authorizationConfig?: string;
}

export const DEFAULT_MODES: readonly ModeSpec[] = [
  { type: "Node", name: "node" },
  { type: "RBAC", name: "rbac" },
];

const WEBHOOK_TIMEOUT_MS = 30_000;
const AUTHORIZED_TTL_MS = 5 * 60_000;
const UNAUTHORIZED_TTL_MS = 30_000;

export async function readAuthorization(flags: AuthorizationFlags): Promise<readonly ModeSpec[]> {
  const entries = await entriesOf(flags);
  checkFiles(flags, new Set(entries.map(({ type }) => type)));
  return Promise.all(entries.map((entry) => modeSpec(entry, flags)));
}

async function entriesOf(flags: AuthorizationFlags): Promise<readonly AuthorizerEntry[]> {
  const { authorizationConfig: file, authorizationMode: modes } = flags;
  if (file === undefined) {
    return (modes ?? DEFAULT_MODES.map(({ type }) => type)).map((mode, i, all) => {
      if (!isMode(mode)) {
        throw new AuthorizationConfigError(`--authorization-mode: "${mode}" is not one of ${MODE_NAMES.join(", ")}.`);
      }
      if (all.indexOf(mode) !== i) throw new AuthorizationConfigError(`--authorization-mode names ${mode} twice.`);
      return { type: mode, name: mode === "Webhook" ? "default" : mode.toLowerCase() };
    });
  }
  if (modes !== undefined || flags.authorizationWebhookConfigFile !== undefined) {
    throw new AuthorizationConfigError(
      "--authorization-config says all of it: leave out --authorization-mode and the flags of the webhook.",
    );
  }
  return parseConfigurationFile(await text("--authorization-config", file), file);
}

function checkFiles(flags: AuthorizationFlags, modes: ReadonlySet<ModeName>): void {
  const pairs: readonly (readonly [ModeName, string, string | undefined])[] = [
    ["ABAC", "--authorization-policy-file", flags.authorizationPolicyFile],
    ["Webhook", "--authorization-webhook-config-file", flags.authorizationWebhookConfigFile],
  ];
  for (const [mode, flag, file] of pairs) {
    const said = mode === "Webhook" && flags.authorizationConfig !== undefined;
    if (modes.has(mode) && file === undefined && !said)
      throw new AuthorizationConfigError(`The authorization mode ${mode} needs ${flag}.`);
    if (!modes.has(mode) && file !== undefined)
      throw new AuthorizationConfigError(`${flag} goes with the authorization mode ${mode}.`);
  }
}

async function modeSpec(entry: AuthorizerEntry, flags: AuthorizationFlags): Promise<ModeSpec> {
  const { type, name } = entry;
  if (type === "ABAC") {
    const file = flags.authorizationPolicyFile ?? "";
    return { type, name, policies: parsePolicyFile(await text("--authorization-policy-file", file), file) };
  }
  if (type !== "Webhook") return { type, name };
  const { kubeConfigFile, ...settings } = entry.webhook ?? {
    kubeConfigFile: flags.authorizationWebhookConfigFile ?? "",
    version: flags.authorizationWebhookVersion ?? "v1",
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    authorizedTtlMs: flags.authorizationWebhookCacheAuthorizedTtlMs ?? AUTHORIZED_TTL_MS,
    unauthorizedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtlMs ?? UNAUTHORIZED_TTL_MS,
    onFailure: "noOpinion" as const,
    matchConditions: [],
  };
  return { type, name, connection: await connectionOf(kubeConfigFile), ...settings };
}

async function connectionOf(file: string): Promise<KubeconfigConnection> {
  try {
    const connection = await readKubeconfig(file);
    if (URL.canParse(connection.server)) return connection;
    throw new AuthorizationConfigError(`${file}: "${connection.server}" is not a URL.`);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new AuthorizationConfigError(error.message, { cause: error });
  }
}

async function text(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new AuthorizationConfigError(`${flag}: ${(error as Error).message}.`, { cause: error });
  }
}

function isMode(name: string): name is ModeName {
  return (MODE_NAMES as readonly string[]).includes(name);
}
