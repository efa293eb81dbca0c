/**
 * Every Pod runs as a service account: `default` unless it says another, with its token, the cluster's CA and its namespace mounted where clients in
 * the Pod look for them.
 */
import type { Draft, KubeObject } from "#api";
import { forbidden } from "#api";
import type { AdmissionPlugin } from "./plugin.ts";
import { isAbout } from "./plugin.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";
const TOKEN_SECONDS = 3607;
const DEFAULT_MODE = 0o644;

interface Container {
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface PodSpec {
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name?: string }[];
  volumes?: { name: string; [source: string]: unknown }[];
  containers?: Container[];
  initContainers?: Container[];
}

interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
}

export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",
  mutate(attributes, cluster) {
    if (attributes.operation !== "CREATE" || !isAbout(attributes, "", "pods")) return;
    const pod = attributes.object as Draft<KubeObject> & { spec?: PodSpec };
    if (pod.spec === undefined || pod.metadata.annotations?.[MIRROR] !== undefined) return;
    const { spec } = pod;
    const asked = spec.serviceAccountName ?? "";
    const name = asked === "" ? "default" : asked;
    const account = cluster.get<ServiceAccount>("", "v1", "serviceaccounts", attributes.namespace, name);
    // `default` is made by a controller: while none runs, its absence is no fault of the Pod.
    if (account === undefined && asked !== "") {
      const why = `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`;
      throw forbidden(attributes.resource.groupResource, pod.metadata.name ?? "", why);
    }
    spec.serviceAccountName = name;
    spec.serviceAccount = name;
    if (spec.automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true) {
      mountToken(spec, `kube-api-access-${cluster.random.string(5)}`);
    }
    if ((spec.imagePullSecrets ?? []).length === 0 && (account?.imagePullSecrets ?? []).length > 0) {
      spec.imagePullSecrets = structuredClone(account?.imagePullSecrets ?? []) as { name?: string }[];
    }
  },
};

function mountToken(spec: PodSpec, name: string): void {
  const volume = (spec.volumes ?? []).find((each) => each.name.startsWith("kube-api-access-"))?.name ?? name;
  let used = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name: volume, readOnly: true, mountPath: MOUNT_PATH }];
    used = true;
  }
  if (used && volume === name) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function tokenVolume(name: string): { name: string; projected: unknown } {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
      defaultMode: DEFAULT_MODE,
    },
  };
}
