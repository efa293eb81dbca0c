/**
 * Tokens in Secrets: they do not expire, and end with their Secret.
 *
 * 1. With `--service-account-lookup=false` the signature is enough: nothing is looked up or recorded.
 * 2. The day of the last use is recorded in the Secret, so that unused tokens can be found and deleted.
 */
import { type core, formatTime, instantOf } from "#api";
import type { Logger } from "#base";
import {
  parseServiceAccountUser,
  serviceAccountGroups,
  serviceAccountUser,
} from "../../identity/service-account-name.ts";
import { lookUp } from "../objects.ts";
import { type Refused, refused } from "../verdict.ts";
import { type LegacyClaims, legacyClaims, text } from "./claims.ts";
import type { AccountTokenOptions, Judge } from "./tokens.ts";

export const LEGACY_ISSUER = "kubernetes/serviceaccount";
export const LAST_USED = "kubernetes.io/legacy-token-last-used";
export const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
const GENERATED =
  "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.";
const DAY_MS = 24 * 3600 * 1000;

export interface LegacyTokenOptions extends AccountTokenOptions {
  /** Records the day of the last use in a Secret. */
  noteUse(secret: core.Secret, day: string): Promise<void>;
  readonly log: Logger;
  /** Whether Secret and ServiceAccount have to exist. Default: yes. */
  readonly lookUp?: boolean | undefined;
}

export function legacyTokenJudge(options: LegacyTokenOptions): Judge {
  const { objects, clock, noteUse, log, counts } = options;
  const noting = new Set<string>();

  /** At most one write for a Secret at a time. A failure does not fail the request. */
  const note = async (secret: core.Secret): Promise<void> => {
    const [today, tomorrow] = [0, DAY_MS].map((ms) => formatTime(instantOf(clock.now() + ms)).slice(0, 10));
    const lastUsed = secret.metadata?.labels?.[LAST_USED];
    const { uid = "" } = secret.metadata ?? {};
    if (today === undefined || lastUsed === today || lastUsed === tomorrow || noting.has(uid)) return;
    noting.add(uid);
    try {
      await noteUse(secret, today);
    } catch (error) {
      log.warn("the last use of a token could not be recorded in its Secret", { secret: secret.metadata?.name, error });
    } finally {
      noting.delete(uid);
    }
  };

  return async (claims, token) => {
    const legacy = legacyClaims(claims);
    const fault = claimFault(legacy, text(claims.sub));
    if (fault !== undefined) return fault;
    const { namespace, secret: secretName, serviceAccount } = legacy;
    const user = {
      name: serviceAccountUser({ namespace, name: serviceAccount.name }),
      uid: serviceAccount.uid,
      groups: serviceAccountGroups(namespace),
    };
    if (options.lookUp === false) return { user };
    const secret = (await lookUp(objects, "secrets", { namespace, name: secretName })) as core.Secret | undefined;
    if (secret === undefined || secret.metadata?.deletionTimestamp !== undefined)
      return refused("Token has been invalidated");
    if (Buffer.from(secret.data?.token ?? "", "base64").toString("utf8") !== token)
      return refused("Token does not match server's copy");
    const found = await lookUp(objects, "serviceaccounts", { namespace, ...serviceAccount });
    if (found === undefined) return refused(`serviceaccounts ${JSON.stringify(serviceAccount.name)} not found`);
    const account = found as core.ServiceAccount;
    if (account.metadata?.deletionTimestamp !== undefined)
      return refused(`ServiceAccount ${namespace}/${serviceAccount.name} has been deleted`);
    if (account.metadata?.uid !== serviceAccount.uid)
      return refused(`ServiceAccount UID (${account.metadata?.uid}) does not match claim (${serviceAccount.uid})`);
    const generated = (account.secrets ?? []).some(({ name }) => name === secretName);
    if ((secret.metadata?.labels?.[INVALID_SINCE] ?? "") !== "") {
      counts?.legacyInvalid();
      return refused(markedInvalid(legacy));
    }
    (generated ? counts?.legacyGenerated : counts?.legacyManual)?.();
    await note(secret);
    return {
      user,
      ...(generated && { warnings: [GENERATED] }),
    };
  };
}

function claimFault({ namespace, secret, serviceAccount }: LegacyClaims, sub: string): Refused | undefined {
  const needed = {
    sub,
    namespace,
    secretName: secret,
    serviceAccountName: serviceAccount.name,
    serviceAccountUID: serviceAccount.uid,
  };
  for (const [claim, value] of Object.entries(needed)) if (value === "") return refused(`${claim} claim is missing`);
  const subject = parseServiceAccountUser(sub);
  const fits = subject?.namespace === namespace && subject.name === serviceAccount.name;
  return fits ? undefined : refused("sub claim is invalid");
}

function markedInvalid({ namespace, secret, serviceAccount }: LegacyClaims): string {
  return `the token in secret ${namespace}/${secret} for service account ${namespace}/${serviceAccount.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`;
}
