/**
 * What has to happen to a token Secret: fill it in, or delete it.
 *
 * 1. A token belongs to one service account, by name and uid: not to another one that gets the same name later.
 */
import type { core } from "#api";

export const TOKEN_TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";

/** The claims of a token in a Secret, which does not expire. */
export interface TokenClaims {
  readonly iss: "kubernetes/serviceaccount";
  readonly sub: string;
  readonly "kubernetes.io/serviceaccount/namespace": string;
  readonly "kubernetes.io/serviceaccount/secret.name": string;
  readonly "kubernetes.io/serviceaccount/service-account.name": string;
  readonly "kubernetes.io/serviceaccount/service-account.uid": string;
}

export function accountNameOf({ metadata, type }: core.Secret): string | undefined {
  return type === TOKEN_TYPE ? metadata?.annotations?.[ACCOUNT_NAME] : undefined;
}

/** `namespace/name` of its service account. */
export function accountKeys(secret: core.Secret): readonly string[] {
  const name = accountNameOf(secret);
  return name === undefined ? [] : [`${secret.metadata?.namespace ?? ""}/${name}`];
}

/** Whether the account is the one that the Secret refers to, by uid. */
export function isOf({ metadata }: core.Secret, account: core.ServiceAccount): boolean {
  const uid = metadata?.annotations?.[ACCOUNT_UID] ?? "";
  return uid === "" || uid === account.metadata?.uid;
}

/** Undefined if it is complete. */
export async function filled(
  secret: core.Secret,
  account: core.ServiceAccount,
  { caPem, sign }: { readonly caPem: string; sign(claims: TokenClaims): string | Promise<string> },
): Promise<core.Secret | undefined> {
  if ((secret.metadata?.labels?.[INVALID_SINCE] ?? "") !== "") return undefined;
  const { namespace = "", name = "" } = secret.metadata ?? {};
  const { uid = "", name: accountName = "" } = account.metadata ?? {};
  const { data = {} } = secret;
  const ca = encoded(caPem);
  const annotated = secret.metadata?.annotations?.[ACCOUNT_UID] === uid;
  const [hasToken, hasNamespace] = [(data.token ?? "") !== "", (data.namespace ?? "") !== ""];
  if (annotated && hasToken && hasNamespace && data["ca.crt"] === ca) return undefined;
  const token = hasToken ? data.token : encoded(await sign(claimsOf(namespace, name, accountName, uid)));
  return {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: { ...secret.metadata?.annotations, [ACCOUNT_NAME]: accountName, [ACCOUNT_UID]: uid },
    },
    data: {
      ...data,
      "ca.crt": ca,
      ...(!hasNamespace && { namespace: encoded(namespace) }),
      ...(token !== undefined && { token }),
    },
  };
}

function claimsOf(namespace: string, secret: string, account: string, uid: string): TokenClaims {
  return {
    iss: "kubernetes/serviceaccount",
    "kubernetes.io/serviceaccount/namespace": namespace,
    "kubernetes.io/serviceaccount/secret.name": secret,
    "kubernetes.io/serviceaccount/service-account.name": account,
    "kubernetes.io/serviceaccount/service-account.uid": uid,
    sub: `system:serviceaccount:${namespace}:${account}`,
  };
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
