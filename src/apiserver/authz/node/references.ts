/**
 * The objects that a Pod or a PersistentVolume refers to, which its kubelet may read. Missing fields are not
 * references.
 */

/** The kinds of these objects. */
export type ReferredKind = "secret" | "configmap" | "pvc" | "serviceaccount" | "resourceclaim";

export interface Reference {
  readonly kind: ReferredKind;
  readonly namespace: string;
  readonly name: string;
}

interface Named {
  readonly name?: string;
  readonly namespace?: string;
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName?: string };
  readonly configMap?: Named;
  readonly azureFile?: { readonly secretName?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
  readonly csi?: { readonly nodePublishSecretRef?: Named };
  readonly projected?: { readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] };
}

interface Container {
  readonly env?: readonly {
    readonly valueFrom?: { readonly secretKeyRef?: Named; readonly configMapKeyRef?: Named };
  }[];
  readonly envFrom?: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[];
}

export interface Pod {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly imagePullSecrets?: readonly Named[];
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
    readonly volumes?: readonly Volume[];
    readonly resourceClaims?: readonly {
      readonly name: string;
      readonly resourceClaimName?: string;
      readonly resourceClaimTemplateName?: string;
    }[];
  };
  readonly status?: {
    readonly resourceClaimStatuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[];
    readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string };
  };
}

/** Volume sources with a Secret in `secretRef`. */
const WITH_SECRET_REF = ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"];
const MIRROR = "kubernetes.io/config.mirror";

export function podReferences({ metadata, spec = {}, status = {} }: Pod): readonly Reference[] {
  // A node creates mirror Pods itself: they must not grant it anything.
  if (metadata.annotations?.[MIRROR] !== undefined) return [];
  const found: Reference[] = [];
  const refer = (kind: ReferredKind, name: string | undefined) => {
    if (name !== undefined && name !== "") found.push({ kind, namespace: metadata.namespace ?? "", name });
  };
  refer("serviceaccount", spec.serviceAccountName);
  for (const secret of spec.imagePullSecrets ?? []) refer("secret", secret.name);
  for (const { env = [], envFrom = [] } of containersOf(spec)) {
    for (const { valueFrom } of env) {
      refer("secret", valueFrom?.secretKeyRef?.name);
      refer("configmap", valueFrom?.configMapKeyRef?.name);
    }
    for (const { secretRef, configMapRef } of envFrom) {
      refer("secret", secretRef?.name);
      refer("configmap", configMapRef?.name);
    }
  }
  for (const volume of spec.volumes ?? []) referVolume(volume, metadata.name ?? "", refer);
  for (const { name, resourceClaimName, resourceClaimTemplateName } of spec.resourceClaims ?? []) {
    if (resourceClaimName !== undefined) refer("resourceclaim", resourceClaimName);
    else if (resourceClaimTemplateName !== undefined)
      refer("resourceclaim", status.resourceClaimStatuses?.find((made) => made.name === name)?.resourceClaimName);
  }
  refer("resourceclaim", status.extendedResourceClaimStatus?.resourceClaimName);
  return found;
}

function containersOf(spec: NonNullable<Pod["spec"]>): readonly Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

function referVolume(
  volume: Volume,
  podName: string,
  refer: (kind: ReferredKind, name: string | undefined) => void,
): void {
  refer("secret", volume.secret?.secretName);
  refer("secret", volume.azureFile?.secretName);
  refer("secret", volume.csi?.nodePublishSecretRef?.name);
  for (const kind of WITH_SECRET_REF) refer("secret", secretRefOf(volume, kind)?.name);
  refer("configmap", volume.configMap?.name);
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    refer("secret", secret?.name);
    refer("configmap", configMap?.name);
  }
  if (volume.persistentVolumeClaim !== undefined) refer("pvc", volume.persistentVolumeClaim.claimName);
  else if (volume.ephemeral !== undefined) refer("pvc", `${podName}-${volume.name}`);
}

export interface PersistentVolume {
  readonly spec?: {
    readonly claimRef?: Named;
    readonly azureFile?: { readonly secretName?: string; readonly secretNamespace?: string | null };
    readonly csi?: {
      readonly nodePublishSecretRef?: Named;
      readonly nodeStageSecretRef?: Named;
      readonly nodeExpandSecretRef?: Named;
    };
  };
}

export interface VolumeReferences {
  readonly claim: Reference;
  /** The Secrets that a kubelet needs to mount it; others are for controllers. */
  readonly secrets: readonly Reference[];
}

/** Undefined for an unbound volume. */
export function volumeReferences({ spec = {} }: PersistentVolume): VolumeReferences | undefined {
  const { claimRef, azureFile, csi } = spec;
  if (claimRef === undefined) return undefined;
  const home = claimRef.namespace ?? "";
  const named: readonly (Named | undefined)[] = [
    azureFile && { name: azureFile.secretName ?? "", namespace: azureFile.secretNamespace ?? "" },
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    ...WITH_SECRET_REF.map((kind) => secretRefOf(spec, kind)),
  ];
  const secrets = named.flatMap((one): readonly Reference[] => {
    if (one?.name === undefined || one.name === "") return [];
    const namespace = one.namespace === undefined || one.namespace === "" ? home : one.namespace;
    return [{ kind: "secret", namespace, name: one.name }];
  });
  return { claim: { kind: "pvc", namespace: home, name: claimRef.name ?? "" }, secrets };
}

function secretRefOf(volume: object, kind: string): Named | undefined {
  const source = (volume as Readonly<Record<string, { readonly secretRef?: Named } | undefined>>)[kind];
  return source?.secretRef;
}
