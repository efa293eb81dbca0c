/**
 * Delegated authentication and authorization: the API server decides who may read a component's endpoints.
 *
 *     token ──► TokenReview ──► user ──► SubjectAccessReview ──► allowed or not
 */
import { kinds } from "#api";
import type { Client } from "#client";

const ANONYMOUS: User = { user: "system:anonymous", groups: ["system:unauthenticated"] };

/** `unknown`: the token is not valid. */
export type Verdict = "allowed" | "unknown" | { readonly denied: string };

interface User {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Whether the token's user, or system:anonymous without a token, may read the path. */
export async function mayRead(client: Client, path: string, token: string | undefined): Promise<Verdict> {
  const user = token === undefined ? ANONYMOUS : await userOf(client, token);
  if (user === undefined) return "unknown";
  const spec = { ...user, nonResourceAttributes: { path, verb: "get" } };
  const review = await client.of(kinds.SubjectAccessReview).create({ metadata: {}, spec });
  if (review.status?.allowed === true) return "allowed";
  return { denied: `forbidden: User "${user.user}" cannot get path "${path}"` };
}

async function userOf(client: Client, token: string): Promise<User | undefined> {
  const reviews = client.of(kinds.TokenReview);
  const { status } = await reviews.create({ metadata: {}, spec: { token } });
  if (status?.authenticated !== true) return undefined;
  const { username = "", groups = [], uid, extra } = status.user ?? {};
  return { user: username, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}
