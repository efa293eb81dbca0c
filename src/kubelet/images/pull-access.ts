/**
 * Whether a Pod may use an image that is on the node without pulling it: KubeletEnsureSecretPulledImages. Pure.
 *
 *     policy: must it be verified? ──► record of pulls: for all of the node, or with the Pod's own credentials?
 */
import { parseImageName, withDefaultTag } from "./image-name.ts";
import { type Credential, type CredentialSource, hashOf } from "./keyring.ts";

export const VERIFICATION_POLICIES = [
  "NeverVerify",
  "NeverVerifyPreloadedImages",
  "NeverVerifyAllowlistedImages",
  "AlwaysVerify",
] as const;

export type VerificationPolicy = (typeof VERIFICATION_POLICIES)[number];

export interface Verification {
  readonly policy: VerificationPolicy;
  /** Repositories; those that end with `/*` are prefixes. */
  readonly allowlist: readonly string[];
}

/** An object of a cluster, with the hash of the credentials that it had. */
export interface RecordedObject {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export interface RecordedSecret extends RecordedObject {
  readonly credentialHash: string;
}

/** With what a repository's image was pulled. */
export interface PullCredentials {
  readonly nodePodsAccessible?: boolean;
  readonly kubernetesSecrets?: readonly RecordedSecret[];
  readonly kubernetesServiceAccounts?: readonly RecordedObject[];
}

/** Of one image, by the repositories that it was pulled from. */
export interface PulledRecord {
  readonly imageRef: string;
  readonly lastUpdatedTime: string;
  readonly credentialMapping: Readonly<Record<string, PullCredentials>>;
}

/** `image`: as the Pod names it. */
export function mustVerify({ policy, allowlist }: Verification, image: string, pulledByKubelet: boolean): boolean {
  switch (policy) {
    case "NeverVerify":
      return false;
    case "NeverVerifyPreloadedImages":
      return pulledByKubelet;
    case "NeverVerifyAllowlistedImages":
      return pulledByKubelet || !allowlist.some((pattern) => isAllowed(pattern, withoutTag(image)));
    case "AlwaysVerify":
      return true;
  }
}

export type AccessVerdict =
  | { readonly allowed: false }
  /** `learned`: belongs into the record, so that it is found by both its object and its credentials. */
  | { readonly allowed: true; readonly learned?: PullCredentials };

/** Whether the record knows one of the Pod's credentials for the image. */
export function accessBy(
  record: PulledRecord | undefined,
  image: string,
  credentials: readonly Credential[],
): AccessVerdict {
  const known = record?.credentialMapping[withoutTag(image)];
  if (known === undefined) return { allowed: false };
  if (known.nodePodsAccessible === true) return { allowed: true };
  for (const { auth, source } of credentials) {
    if (source.kind !== "secret") continue;
    const own = { ...objectOf(source), credentialHash: hashOf(auth) };
    for (const recorded of known.kubernetesSecrets ?? []) {
      const hasHash = recorded.credentialHash === own.credentialHash;
      const isSame = isSameObject(recorded, own);
      if (hasHash || isSame)
        return { allowed: true, ...(hasHash !== isSame && { learned: { kubernetesSecrets: [own] } }) };
    }
  }
  const account = credentials.map(({ source }) => source).find(({ kind }) => kind === "serviceAccount");
  const accounts = known.kubernetesServiceAccounts ?? [];
  if (account !== undefined && accounts.some((each) => isSameObject(each, objectOf(account)))) return { allowed: true };
  return { allowed: false };
}

/** What a pull with these credentials shows. Undefined: a pull without any. */
export function shownBy(credential: Credential | undefined): PullCredentials {
  if (credential === undefined || credential.source.kind === "node") return { nodePodsAccessible: true };
  const { auth, source } = credential;
  return source.kind === "secret"
    ? { kubernetesSecrets: [{ ...objectOf(source), credentialHash: hashOf(auth) }] }
    : { kubernetesServiceAccounts: [objectOf(source)] };
}

/** Undefined `shown`: the image was pulled, and nobody knows with what. */
export function withCredentials(
  record: PulledRecord | undefined,
  imageRef: string,
  image: string,
  shown: PullCredentials | undefined,
  lastUpdatedTime: string,
): PulledRecord {
  const before = record ?? { imageRef, lastUpdatedTime, credentialMapping: {} };
  const repository = withoutTag(image);
  const merged = mergedCredentials(before.credentialMapping[repository], shown);
  return { ...before, lastUpdatedTime, credentialMapping: { ...before.credentialMapping, [repository]: merged } };
}

function mergedCredentials(known: PullCredentials = {}, shown: PullCredentials = {}): PullCredentials {
  // Whoever may use it because the node may has no need of more.
  if (known.nodePodsAccessible === true || shown.nodePodsAccessible === true) return { nodePodsAccessible: true };
  const fresh = shown.kubernetesSecrets ?? [];
  const secrets = (known.kubernetesSecrets ?? []).filter((each) => !fresh.some((other) => isSameObject(each, other)));
  const accounts = shown.kubernetesServiceAccounts ?? [];
  const others = (known.kubernetesServiceAccounts ?? []).filter(
    (each) => !accounts.some((other) => isSameObject(each, other)),
  );
  const [allSecrets, allAccounts] = [
    [...secrets, ...fresh],
    [...others, ...accounts],
  ];
  return {
    ...(allSecrets.length > 0 && { kubernetesSecrets: allSecrets }),
    ...(allAccounts.length > 0 && { kubernetesServiceAccounts: allAccounts }),
  };
}

/**
 * Whether the kubelet has pulled the image by this name. The same image may be there by another name too, which
 * somebody gave it: such a name is a tag on the node that no record has.
 */
export function wasPulledAs(record: PulledRecord | undefined, image: string, repoTags: readonly string[]): boolean {
  if (record === undefined) return false;
  const [own, tagged] = [repositoryOf(image), taggedName(image)];
  if (tagged === undefined || !repoTags.some((tag) => taggedName(tag) === tagged)) return true;
  return Object.keys(record.credentialMapping).some((name) => repositoryOf(name) === own);
}

/** `nginx` and `docker.io/library/nginx` are the same. */
function repositoryOf(image: string): string {
  const name = parseImageName(image);
  return name === undefined ? image : `${name.registry}/${name.repository}`;
}

/** Undefined for an image by digest or id. */
function taggedName(image: string): string | undefined {
  const name = parseImageName(withDefaultTag(image));
  return name === undefined || name.digest !== "" ? undefined : `${repositoryOf(image)}:${name.tag}`;
}

/** Without tag and digest. */
export function withoutTag(image: string): string {
  return image.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
}

function isAllowed(pattern: string, repository: string): boolean {
  return pattern.endsWith("/*") ? repository.startsWith(pattern.slice(0, -1)) : pattern === repository;
}

function objectOf(source: CredentialSource): RecordedObject {
  if (source.kind === "node") return { uid: "", namespace: "", name: "" };
  const { uid, namespace, name } = source;
  return { uid, namespace, name };
}

function isSameObject(a: RecordedObject, b: RecordedObject): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}
