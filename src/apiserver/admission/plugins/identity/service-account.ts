/**
 * ServiceAccount: every Pod runs as a ServiceAccount, `default` unless it names another. Its token, the cluster's CA
 * and its namespace are mounted where clients in the Pod expect them.
 *
 * 1. A mirror Pod stands for a static Pod: it may not use accounts, secrets or other objects of the cluster.
 * 2. Pods of an account that enforces mountable secrets may use only the secrets that it lists.
 */
import { checkPathSegmentName, type core, type Draft, goQuote } from "#api";
import type { Maybe } from "#base";
import { podReferences } from "../../../authz/node/references.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, type ClusterView, MIRROR_POD, podOf, refused, rule } from "../../chain/plugin.ts";
import { secretFault } from "./mountable-secrets.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX = "kube-api-access-";
const TOKEN_SECONDS = 3607;
const DEFAULT_MODE = 0o644;
const ENFORCES = "kubernetes.io/enforce-mountable-secrets";
/** How often and how long a Pod waits for its account to be created. */
const TRIES = 10;
const RETRY_MS = 100;

export interface ServiceAccountOptions {
  /**
   * A controller creates `default` in each namespace: a Pod waits for it for a while, and is then refused. Default: its
   * absence is ignored.
   */
  readonly requireDefault: boolean;
}

type Pod = ReturnType<typeof podOf>;

/** A name that cannot stand in a path is not asked for. */
function whyMissing(name: string): string {
  const faults = checkPathSegmentName(name);
  if (faults.length === 0) return `serviceaccount ${goQuote(name)} not found`;
  return `invalid resource name ${goQuote(name)}: [${faults.join(" ")}]`;
}

export function serviceAccount({ requireDefault }: ServiceAccountOptions): AdmissionPlugin {
  /** Undefined if its absence is ignored. */
  const accountOf = async (attributes: AdmissionAttributes, cluster: ClusterView, name: string) => {
    const { namespace } = attributes;
    for (let tries = 1; ; tries++) {
      await (tries === 1 ? cluster.fresh() : cluster.clock.sleep(RETRY_MS));
      const found = find(cluster, namespace, name);
      if (found !== undefined) return found;
      if (name === "default" && !requireDefault) return undefined;
      if (name === "default" && tries < TRIES) continue;
      throw refused(attributes, `error looking up service account ${namespace}/${name}: ${whyMissing(name)}`);
    }
  };
  const withAccount = (
    attributes: AdmissionAttributes,
    cluster: ClusterView,
    then: (account: core.ServiceAccount | undefined) => void,
  ): Maybe<void> => {
    const name = (attributes.object as core.Pod).spec?.serviceAccountName || "default";
    const found = find(cluster, attributes.namespace, name);
    return found === undefined ? accountOf(attributes, cluster, name).then(then) : then(found);
  };
  return {
    name: "ServiceAccount",
    mutates: [
      rule("CREATE", "pods", (attributes, cluster) => {
        const pod = podOf(attributes);
        if (pod.metadata.annotations?.[MIRROR_POD] !== undefined) return checkMirror(attributes, pod);
        return withAccount(attributes, cluster, (account) => equip(pod, account, cluster));
      }),
    ],
    validates: [
      rule("CREATE", "pods", (attributes, cluster) => {
        const pod = podOf(attributes);
        if (pod.metadata.annotations?.[MIRROR_POD] !== undefined) return checkMirror(attributes, pod);
        if ((pod.spec.serviceAccountName ?? "") === "") {
          const why = `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ""}`;
          throw refused(attributes, why);
        }
        return withAccount(attributes, cluster, (account) => checkSecrets(attributes, account, pod.spec));
      }),
      rule("UPDATE", "pods/ephemeralcontainers", (attributes, cluster) => {
        const pod = podOf(attributes);
        if (pod.metadata.annotations?.[MIRROR_POD] !== undefined) return;
        const { ephemeralContainers = [] } = pod.spec;
        const only = { containers: [], ephemeralContainers };
        return withAccount(attributes, cluster, (account) => checkSecrets(attributes, account, only));
      }),
    ],
  };
}

function find(cluster: ClusterView, namespace: string, name: string): core.ServiceAccount | undefined {
  return cluster.get<core.ServiceAccount>("", "v1", "serviceaccounts", namespace, name);
}

function equip({ spec }: Pod, account: core.ServiceAccount | undefined, cluster: ClusterView): void {
  const name = spec.serviceAccountName || "default";
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  if (spec.automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true) {
    mountToken(spec, VOLUME_PREFIX + cluster.random.string(5));
  }
  const pull = account?.imagePullSecrets ?? [];
  if ((spec.imagePullSecrets ?? []).length === 0 && pull.length > 0)
    spec.imagePullSecrets = pull.map((each) => ({ ...each }));
}

function checkMirror(attributes: AdmissionAttributes, { metadata, spec }: Pod): void {
  if ((spec.serviceAccountName ?? "") !== "")
    throw refused(attributes, "a mirror pod may not reference service accounts");
  const { name = "", namespace = "" } = metadata;
  const references = podReferences({ metadata: { name, namespace }, spec });
  if (references.some(({ kind }) => kind === "secret"))
    throw refused(attributes, "a mirror pod may not reference secrets");
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
    throw refused(attributes, "a mirror pod may not use ServiceAccountToken volume projections");
}

function checkSecrets(
  attributes: AdmissionAttributes,
  account: core.ServiceAccount | undefined,
  spec: core.PodSpec,
): void {
  if (account === undefined || !isTrue(account.metadata.annotations?.[ENFORCES])) return;
  const why = secretFault(account, spec);
  if (why !== undefined) throw refused(attributes, why);
}

/** As Go parses a boolean. */
function isTrue(text: string | undefined): boolean {
  return ["1", "t", "T", "TRUE", "true", "True"].includes(text ?? "");
}

function mountToken(spec: Draft<core.PodSpec>, name: string): void {
  const volume = (spec.volumes ?? []).find((each) => each.name.startsWith(VOLUME_PREFIX))?.name ?? name;
  let used = false;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name: volume, readOnly: true, mountPath: MOUNT_PATH }];
    used = true;
  }
  if (used && volume === name) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function tokenVolume(name: string): Draft<core.Volume> {
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
