/** Bootstrap tokens, with which new nodes join: `ID.SECRET`, each a Secret `bootstrap-token-ID` in kube-system. */
import { timingSafeEqual } from "node:crypto";
import { type core, parseTime, toMs } from "#api";
import type { Clock } from "#base";
import { type ClusterObjects, lookUp } from "./objects.ts";
import type { TokenAuthenticator } from "./verdict.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const BOOTSTRAPPERS = "system:bootstrappers";

export interface BootstrapTokenOptions {
  readonly objects: ClusterObjects;
  readonly clock: Clock;
}

/** Has no opinion on invalid tokens: they may belong to another authenticator. */
export function bootstrapTokens({ objects, clock }: BootstrapTokenOptions): TokenAuthenticator {
  return async (token) => {
    const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
    if (id === "") return undefined;
    const name = `bootstrap-token-${id}`;
    const stored = (await lookUp(objects, "secrets", { namespace: "kube-system", name })) as core.Secret | undefined;
    if (stored === undefined || stored.metadata?.deletionTimestamp !== undefined) return undefined;
    if (stored.type !== "bootstrap.kubernetes.io/token") return undefined;
    const data = (key: string) => Buffer.from(stored.data?.[key] ?? "", "base64").toString("utf8");
    if (!same(data("token-secret"), secret) || data("token-id") !== id) return undefined;
    if (hasExpired(data("expiration"), clock.now()) || data("usage-bootstrap-authentication") !== "true")
      return undefined;
    const groups = groupsOf(data("auth-extra-groups"));
    return groups && { user: { name: `system:bootstrap:${id}`, groups } };
  };
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** An invalid time counts as expired. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === "") return false;
  try {
    return toMs(parseTime(expiration)) <= now;
  } catch {
    return true;
  }
}

/** Undefined if one of the groups is not a bootstrap group. */
function groupsOf(extra: string): readonly string[] | undefined {
  const groups = extra === "" ? [] : extra.split(",");
  return groups.every((group) => GROUP.test(group)) ? [...new Set([BOOTSTRAPPERS, ...groups])].sort() : undefined;
}
