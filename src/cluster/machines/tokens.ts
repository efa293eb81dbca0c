/**
 * Bootstrap tokens, by which machines join: `ID.SECRET`, each in a Secret `bootstrap-token-ID` of kube-system. Pure.
 */
import { type core, parseTime, toMs } from "#api";
import type { Random } from "#base";

export const TOKEN_NAMESPACE = "kube-system";
export const TOKEN_TYPE = "bootstrap.kubernetes.io/token";
export const DEFAULT_TTL_MS = 24 * 3_600_000;
export const TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token";
export const TOKEN_USAGES = ["signing", "authentication"] as const;
export type TokenUsage = (typeof TOKEN_USAGES)[number];

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

export interface BootstrapToken {
  readonly id: string;
  /** Unknown to those who may list Secrets only by name. */
  readonly secret: string;
  readonly usages: readonly TokenUsage[];
  readonly groups: readonly string[];
  readonly description: string;
  /** Undefined: it does not expire. */
  readonly expiresMs: number | undefined;
}

export function newToken(random: Random): Pick<BootstrapToken, "id" | "secret"> {
  return { id: random.string(6, ALPHABET), secret: random.string(16, ALPHABET) };
}

/** Undefined if it is not of the form of a token. */
export function parseToken(text: string): Pick<BootstrapToken, "id" | "secret"> | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

export function tokenText({ id, secret }: Pick<BootstrapToken, "id" | "secret">): string {
  return `${id}.${secret}`;
}

/** Why a group may not be one of a token's, as a sentence. */
export function groupProblem(group: string): string | undefined {
  if (GROUP.test(group)) return undefined;
  return `bootstrap group ${JSON.stringify(group)} is invalid (must match ${GROUP.source}).`;
}

export function tokenSecret(token: BootstrapToken): core.Secret {
  const { id, secret, usages, groups, description, expiresMs } = token;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: TOKEN_NAMESPACE },
    type: TOKEN_TYPE,
    stringData: {
      "token-id": id,
      "token-secret": secret,
      ...(description !== "" && { description }),
      ...(expiresMs !== undefined && { expiration: new Date(expiresMs).toISOString().replace(/\.\d+Z$/, "Z") }),
      ...Object.fromEntries(usages.map((usage) => [`usage-bootstrap-${usage}`, "true"])),
      ...(groups.length > 0 && { "auth-extra-groups": groups.join() }),
    },
  };
}

/** Undefined if the Secret is no token that works. */
export function readToken(secret: core.Secret): BootstrapToken | undefined {
  if (secret.type !== TOKEN_TYPE) return undefined;
  const data = (key: string) => Buffer.from(secret.data?.[key] ?? "", "base64").toString("utf8");
  const token = parseToken(`${data("token-id")}.${data("token-secret")}`);
  if (token === undefined || secret.metadata?.name !== `bootstrap-token-${token.id}`) return undefined;
  const expiration = data("expiration");
  return {
    ...token,
    usages: TOKEN_USAGES.filter((usage) => data(`usage-bootstrap-${usage}`) === "true"),
    groups: data("auth-extra-groups").split(",").filter(Boolean),
    description: data("description"),
    expiresMs: expiration === "" ? undefined : instant(expiration),
  };
}

/** Whether a machine can still join with it, for a while at least. */
export function isUsable({ usages, groups, expiresMs }: BootstrapToken, now: number, leastMs = 0): boolean {
  const lasts = expiresMs === undefined || expiresMs > now + leastMs;
  return lasts && usages.length === TOKEN_USAGES.length && groups.includes(TOKEN_GROUP);
}

/** What cannot be read counts as expired. */
function instant(text: string): number {
  try {
    return toMs(parseTime(text));
  } catch {
    return 0;
  }
}
