/**
 * Service account tokens in Secrets.
 *
 *     Secret, ServiceAccount --► does the account exist? ──► ask the API server ══► fill in the Secret, or delete it
 *
 * 1. A Secret is deleted only after the API server has confirmed that its account is gone: the cache may be stale.
 */
import { type core, isStatusError, type KubeObject, kinds } from "#api";
import type { Client } from "#client";
import { type Controller, changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { accountKeys, accountNameOf, filled, isOf, type TokenClaims } from "./plan.ts";

export type { TokenClaims } from "./plan.ts";

export interface ServiceAccountTokensOptions {
  /** The CA of the API server's certificate. */
  readonly caPem: string;
  /** Signs a JSON Web Token with the service account key. */
  sign(claims: TokenClaims): string | Promise<string>;
}

export function serviceAccountTokens(options: ServiceAccountTokensOptions): Controller {
  return defineController({
    name: "serviceaccount-token-controller",
    identity: "manager",
    bind({ cache, client }) {
      const secrets = cache(kinds.Secret);
      const accounts = cache(kinds.ServiceAccount);
      const tokensOf = secrets.index("serviceAccount", accountKeys);
      return {
        sources: [
          changesOf(kinds.Secret, ({ type, object }) => type !== "deleted" && accountNameOf(object) !== undefined),
          keysFrom(kinds.ServiceAccount, ({ object: { metadata } }) =>
            tokensOf(`${metadata.namespace}/${metadata.name}`).map(
              (secret) => `${secret.metadata?.namespace}/${secret.metadata?.name}`,
            ),
          ),
        ],
        async reconcile(key, _now, signal) {
          const secret = secrets.get(key);
          const [accountKey] = secret === undefined ? [] : accountKeys(secret);
          if (secret === undefined || accountKey === undefined) return undefined;
          const known = accounts.get(accountKey);
          const account = known !== undefined && isOf(secret, known) ? known : await live(client, accountKey, signal);
          if (account === undefined || !isOf(secret, account)) {
            const object = secret as KubeObject;
            return { steps: [[{ verb: "delete", resource: kinds.Secret, object, unchanged: true }]] };
          }
          const object = await filled(secret, account, options);
          return object && { steps: [[{ verb: "update", resource: kinds.Secret, object: object as KubeObject }]] };
        },
      };
    },
  });
}

async function live(client: Client, key: string, signal: AbortSignal): Promise<core.ServiceAccount | undefined> {
  const [namespace = "", name = ""] = key.split("/");
  try {
    return await client.of(kinds.ServiceAccount).in(namespace).get(name, { signal });
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") return undefined;
    throw error;
  }
}
