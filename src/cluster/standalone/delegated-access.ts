/**
 * Delegated authentication and authorization: the API server decides who may read a component's endpoints.
 *
 *     token ──► TokenReview ──► user ──► SubjectAccessReview ──► allowed or not
 */
import { kinds } from "#api";
import type { Client } from "#client";

export const ANONYMOUS: User = { user: "system:anonymous", groups: ["system:unauthenticated"] };

/** `unknown`: the token is not valid. */
export type Verdict = "allowed" | "unknown" | { readonly denied: string };

export interface User {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What is to be done: with a resource, or with a path. */
export type Attributes =
  | { readonly path: string; readonly verb: string }
  | {
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly verb: string;
      readonly namespace?: string;
      readonly name?: string;
    };

/** Undefined: it is allowed. Else why not. */
export async function mayDo(client: Client, user: User, attributes: Attributes): Promise<string | undefined> {
  const isPath = "path" in attributes;
  const spec = { ...user, ...(isPath ? { nonResourceAttributes: attributes } : { resourceAttributes: attributes }) };
  const review = await client.of(kinds.SubjectAccessReview).create({ metadata: {}, spec });
  if (review.status?.allowed === true) return undefined;
  const what = isPath
    ? `path "${attributes.path}"`
    : `resource "${attributes.resource}" in API group "${attributes.group}"`;
  return `forbidden: User "${user.user}" cannot ${attributes.verb} ${what}`;
}

/** Whether the token's user, or system:anonymous without a token, may read the path. */
export async function mayRead(client: Client, path: string, token: string | undefined): Promise<Verdict> {
  const user = token === undefined ? ANONYMOUS : await userOf(client, token);
  if (user === undefined) return "unknown";
  const denied = await mayDo(client, user, { path, verb: "get" });
  return denied === undefined ? "allowed" : { denied };
}

/** Undefined: the token is not valid. */
export async function userOf(client: Client, token: string): Promise<User | undefined> {
  const reviews = client.of(kinds.TokenReview);
  const { status } = await reviews.create({ metadata: {}, spec: { token } });
  if (status?.authenticated !== true) return undefined;
  const { username = "", groups = [], uid, extra } = status.user ?? {};
  return { user: username, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}
