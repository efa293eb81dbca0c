/**
 * What the first control plane leaves for others: the sealed files, and where etcd is.
 *
 *     uploadCerts ══► Secret bootstrap-token-… (2 h) ◄── owner ── Secret kubeadm-certs
 *                 ══► ConfigMap k8ts-etcd, roles by which a bootstrap token may read the two
 *
 * 1. When the token expires, the token cleaner deletes it, and the garbage collector the sealed files with it.
 */
import { type core, isStatusError, type KubeObject, kinds, type rbac } from "#api";
import { Backoff, type Clock, isAbort, type Logger, type Random } from "#base";
import { Client, createUnlessThere, type InProcessHandle, inProcess } from "#client";
import { newToken, TOKEN_GROUP, tokenSecret } from "../machines/index.ts";
import { newCertificateKey } from "./certificate-key.ts";
import { SECRET_NAME, SECRET_NAMESPACE, sealedSecret } from "./shared-files.ts";

const TTL_MS = 2 * 3_600_000;
const ADMIN = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
export const ETCD_CONFIG = "k8ts-etcd";
const ROLE = "kubeadm:kubeadm-certs";
const apiGroup = "rbac.authorization.k8s.io";

export interface UploadOptions {
  /** As an administrator of the cluster. */
  readonly client: Client;
  readonly pkiDir: string;
  /** Default: a new one. */
  readonly certificateKey?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns the certificate key. */
export async function uploadCerts(options: UploadOptions): Promise<string> {
  const { client, pkiDir, certificateKey = newCertificateKey(), clock, random } = options;
  const secrets = client.of<core.Secret>(kinds.Secret).in(SECRET_NAMESPACE);
  const sealed = await sealedSecret(pkiDir, certificateKey);
  const token = tokenSecret({
    ...newToken(random),
    usages: [],
    groups: [],
    description: "Proxy for managing TTL for the kubeadm-certs secret",
    expiresMs: clock.now() + TTL_MS,
  });
  const owner = await secrets.create(token as core.Secret & KubeObject);
  const ownerReferences = [
    {
      apiVersion: "v1",
      kind: "Secret",
      name: owner.metadata?.name ?? "",
      uid: owner.metadata?.uid ?? "",
      controller: true,
      blockOwnerDeletion: true,
    },
  ];
  const wanted = { ...sealed, metadata: { ...sealed.metadata, ownerReferences } } as core.Secret & KubeObject;
  await replaceSecret(client, wanted);
  const role: rbac.Role = {
    metadata: { name: ROLE, namespace: SECRET_NAMESPACE },
    rules: [
      { apiGroups: [""], resources: ["secrets"], resourceNames: [SECRET_NAME], verbs: ["get"] },
      { apiGroups: [""], resources: ["configmaps"], resourceNames: [ETCD_CONFIG], verbs: ["get"] },
    ],
  };
  const binding: rbac.RoleBinding = {
    metadata: { name: ROLE, namespace: SECRET_NAMESPACE },
    roleRef: { apiGroup, kind: "Role", name: ROLE },
    subjects: [{ apiGroup, kind: "Group", name: TOKEN_GROUP }],
  };
  await createUnlessThere(
    client.of<rbac.Role & KubeObject>(kinds.Role).in(SECRET_NAMESPACE),
    role as rbac.Role & KubeObject,
  );
  await createUnlessThere(
    client.of<rbac.RoleBinding & KubeObject>(kinds.RoleBinding).in(SECRET_NAMESPACE),
    binding as rbac.RoleBinding & KubeObject,
  );
  return certificateKey;
}

export interface PublishOptions {
  readonly handle: InProcessHandle;
  /** As of now. */
  readonly endpoints: () => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const RETRY = { initialMs: 1_000, maxMs: 60_000 };

const CHANGED_MS = 5_000;

/** Each control plane says what it knows, at its start and when members come or go; until the signal aborts. */
export async function keepEtcdPublished(options: PublishOptions, signal: AbortSignal): Promise<void> {
  const { handle, endpoints, clock, random, log } = options;
  const client = new Client({ transport: inProcess(handle, ADMIN), clock, userAgent: "k8ts" });
  const backoff = new Backoff(RETRY, random);
  let published = "";
  try {
    for (;;) {
      try {
        const now = endpoints().toSorted();
        if (now.join() !== published) await publishEtcd(client, now, signal);
        published = now.join();
        backoff.reset();
        await clock.sleep(CHANGED_MS, signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("where etcd is could not be published for other control planes", { error });
        await clock.sleep(backoff.next(), signal);
      }
    }
  } finally {
    await client.close();
  }
}

/** Where members of etcd are, for those who join. The signal ends it: without a quorum, each call takes its time. */
export async function publishEtcd(
  client: Client,
  endpoints: readonly string[],
  signal?: AbortSignal | undefined,
): Promise<void> {
  const options = { signal };
  const configMaps = client.of<core.ConfigMap>(kinds.ConfigMap).in(SECRET_NAMESPACE);
  const wanted = {
    metadata: { name: ETCD_CONFIG, namespace: SECRET_NAMESPACE },
    data: { endpoints: endpoints.join() },
  } as core.ConfigMap & KubeObject;
  if (await createUnlessThere(configMaps, wanted, options)) return;
  const found = await configMaps.get(ETCD_CONFIG, options);
  if (found.data?.endpoints === wanted.data?.endpoints) return;
  const next = { ...found, data: { ...found.data, ...wanted.data } } as core.ConfigMap & KubeObject;
  await configMaps.update(next, options);
}

async function replaceSecret(client: Client, wanted: core.Secret & KubeObject): Promise<void> {
  const secrets = client.of<core.Secret>(kinds.Secret).in(SECRET_NAMESPACE);
  for (;;) {
    if (await createUnlessThere(secrets, wanted)) return;
    try {
      const found = await secrets.get(SECRET_NAME);
      const metadata = { ...found.metadata, ownerReferences: wanted.metadata?.ownerReferences };
      await secrets.update({ ...wanted, metadata } as core.Secret & KubeObject);
      return;
    } catch (error) {
      // It was changed or deleted in between.
      if (!isStatusError(error, "Conflict") && !isStatusError(error, "NotFound")) throw error;
    }
  }
}
