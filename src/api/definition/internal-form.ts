/**
 * Objects as messages of Kubernetes print whole structures: in its internal Go types, with Go's field names, every
 * field written.
 *
 * 1. Names are those of JSON with a capital letter, except where Go writes an abbreviation in capitals or has another
 *    name.
 * 2. Order and structure are those of the API's types, except where the internal type differs: volumes, the pod's spec,
 *    its security context. The internal claim template embeds its metadata.
 */
import { typeSchema } from "../facts/index.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../machinery/schema/schema.ts";
import { zeroValue } from "../machinery/schema/zero.ts";

const api = "io.k8s.api.core.v1.";

/** Go names that are not the JSON name with a capital letter. */
const goNames: Readonly<Record<string, string>> = {
  apiGroup: "APIGroup",
  apiVersion: "APIVersion",
  awsElasticBlockStore: "AWSElasticBlockStore",
  cephfs: "CephFS",
  chapAuthDiscovery: "DiscoveryCHAPAuth",
  chapAuthSession: "SessionCHAPAuth",
  csi: "CSI",
  diskURI: "DataDiskURI",
  dnsConfig: "DNSConfig",
  dnsPolicy: "DNSPolicy",
  endpoints: "EndpointsName",
  fc: "FC",
  fsGroup: "FSGroup",
  fsGroupChangePolicy: "FSGroupChangePolicy",
  fsType: "FSType",
  gcePersistentDisk: "GCEPersistentDisk",
  gmsaCredentialSpec: "GMSACredentialSpec",
  gmsaCredentialSpecName: "GMSACredentialSpecName",
  grpc: "GRPC",
  httpGet: "HTTPGet",
  httpHeaders: "HTTPHeaders",
  ip: "IP",
  iqn: "IQN",
  iscsi: "ISCSI",
  iscsiInterface: "ISCSIInterface",
  nfs: "NFS",
  os: "OS",
  pdName: "PDName",
  rbd: "RBD",
  scaleIO: "ScaleIO",
  seLinuxChangePolicy: "SELinuxChangePolicy",
  seLinuxOptions: "SELinuxOptions",
  sslEnabled: "SSLEnabled",
  storageos: "StorageOS",
  tcpSocket: "TCPSocket",
  tty: "TTY",
  uid: "UID",
  wwids: "WWIDs",
};

/** Names that stand for a different field in other types. */
const rbdNames = { monitors: "CephMonitors", image: "RBDImage", pool: "RBDPool", user: "RadosUser" };
const goNamesOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RBDPersistentVolumeSource: rbdNames,
  RBDVolumeSource: rbdNames,
};

/** The field order of the internal type, where it differs. */
const orders: Readonly<Record<string, readonly string[]>> = {
  Volume: words(`
    name hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd quobyte
    flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume azureDisk photonPersistentDisk projected
    portworxVolume scaleIO storageos csi ephemeral image`),
  PersistentVolumeSource: words(`
    gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker azureFile
    vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi`),
  PodSpec: words(`
    volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy
    nodeSelector serviceAccountName automountServiceAccountToken nodeName securityContext imagePullSecrets hostname subdomain
    setHostnameAsFQDN affinity schedulerName tolerations hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates
    runtimeClassName overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride
    schedulingGroup`),
  PodSecurityContext: words(`
    seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy fsGroup
    fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy`),
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Fields of the spec that the internal type keeps in its security context, before the context's own. */
const hostFields = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];

/** `type` is a type of core/v1, such as `PodSpec`. */
export function internalForm(type: string, value: object): Json {
  return structForm(typeSchema(`${api}${type}`), value as JsonObject);
}

function structForm(schema: ObjectSchema, value: JsonObject): Json {
  const type = (schema.goType ?? "").replace(api, "");
  if (type.includes(".")) return value;
  const form: Record<string, Json> = {};
  for (const name of orders[type] ?? schema.fields.keys()) {
    const field = schema.fields.get(name);
    if (field === undefined) continue;
    if (type === "PersistentVolumeClaimTemplate" && name === "metadata") {
      Object.assign(form, value.metadata);
      continue;
    }
    const goName = goNamesOf[type]?.[name] ?? goNames[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const isPodSecurity = type === "PodSpec" && name === "securityContext";
    form[goName] = isPodSecurity ? podSecurityForm(schema, field, value) : fieldForm(field, value[name]);
  }
  return form;
}

function podSecurityForm(spec: ObjectSchema, field: FieldSchema, value: JsonObject): Json {
  const own = value.securityContext;
  if (own === undefined) return null;
  const host: Record<string, Json> = {};
  for (const name of hostFields) {
    const moved = spec.fields.get(name);
    if (moved !== undefined) host[`${name.charAt(0).toUpperCase()}${name.slice(1)}`] = fieldForm(moved, value[name]);
  }
  return { ...host, ...(fieldForm(field, own) as JsonObject) };
}

/** Fields with defaults that are pointers in the API and plain values in the internal type. */
const plain = new Set(["expirationSeconds"]);

function fieldForm({ name, schema, pointer }: FieldSchema, value: Json | undefined): Json {
  if (value === undefined || value === null) return pointer && !plain.has(name) ? null : zeroForm(schema);
  return valueForm(schema, value);
}

function valueForm(schema: Schema, value: Json): Json {
  switch (schema.type) {
    case "object":
      return structForm(schema, value as JsonObject);
    case "list":
      return (value as readonly Json[]).map((item) => valueForm(schema.items, item));
    case "map":
      return Object.fromEntries(
        Object.keys(value as JsonObject)
          .sort()
          .map((key) => [key, (value as JsonObject)[key] ?? null]),
      );
    default:
      return value;
  }
}

function zeroForm(schema: Schema): Json {
  return schema.type === "object" ? structForm(schema, {}) : zeroValue(schema);
}
