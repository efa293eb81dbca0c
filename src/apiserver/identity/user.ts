/** The user of a request, as authentication returns it. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Extra;
}

export type Extra = Readonly<Record<string, readonly string[]>>;

export const ANONYMOUS_NAME = "system:anonymous";
/** The group of all authenticated users. */
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const MASTERS = "system:masters";
export const NODES = "system:nodes";

export const ANONYMOUS: UserInfo = { name: ANONYMOUS_NAME, groups: [UNAUTHENTICATED] };

/** Keys of `extra` that the server sets. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";
export const NODE_NAME = "authentication.kubernetes.io/node-name";
export const NODE_UID = "authentication.kubernetes.io/node-uid";
export const POD_NAME = "authentication.kubernetes.io/pod-name";
export const POD_UID = "authentication.kubernetes.io/pod-uid";

/** The `extra` that identifies a token by its `jti`. */
export function credentialIdOf(jti: unknown): Extra {
  return typeof jti === "string" && jti !== "" ? { [CREDENTIAL_ID]: [`JTI=${jti}`] } : {};
}

export function withAuthenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
