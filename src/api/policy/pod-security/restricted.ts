/** The checks that the level restricted adds for hardening. Some override a check of baseline that is less strict. */
import { procMount } from "./baseline.ts";
import {
  type CheckPod,
  containersText,
  containersWhere,
  distinct,
  hasUserNamespace,
  isWindows,
  type PodSecurityCheck,
  plural,
  quoted,
  securityOf,
  settersText,
} from "./check.ts";
import { requiredSeccompProfile } from "./profiles.ts";

const allowPrivilegeEscalation: CheckPod = (pod) => {
  const names = containersWhere(pod, (container) => securityOf(container).allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const capabilities: CheckPod = (pod) => {
  const added: string[] = [];
  const keeping = containersWhere(pod, (each) => !(securityOf(each).capabilities?.drop ?? []).includes("ALL"));
  const adding = containersWhere(pod, (each) => {
    const wrong = (securityOf(each).capabilities?.add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
    added.push(...wrong);
    return wrong.length > 0;
  });
  const details = [
    ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [`${containersText(adding)} must not include ${quoted(distinct(added))} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
};

const VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);
/** Volume types that the message can name. */
const OTHER_VOLUMES = new Set([
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "gitRepo",
  "nfs",
  "iscsi",
  "glusterfs",
  "rbd",
  "flexVolume",
  "cinder",
  "cephfs",
  "flocker",
  "fc",
  "azureFile",
  "vsphereVolume",
  "quobyte",
  "azureDisk",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
]);

const restrictedVolumes: CheckPod = ({ spec }) => {
  const types: string[] = [];
  const names: string[] = [];
  for (const volume of spec.volumes ?? []) {
    const sources = Object.entries(volume).flatMap(([field, value]) =>
      field === "name" || value === undefined ? [] : [field],
    );
    if (sources.some((source) => VOLUMES.has(source))) continue;
    names.push(volume.name);
    types.push(sources.find((source) => OTHER_VOLUMES.has(source)) ?? "unknown");
  }
  if (names.length === 0) return undefined;
  const shown = distinct(types);
  const verb = names.length === 1 ? "uses" : "use";
  return {
    reason: "restricted volume types",
    detail: `${plural("volume", names.length)} ${quoted(names)} ${verb} ${plural("restricted volume type", shown.length)} ${quoted(shown)}`,
  };
};

const runAsNonRoot: CheckPod = (pod) => {
  const reason = "runAsNonRoot != true";
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const wrong = containersWhere(pod, (container) => securityOf(container).runAsNonRoot === false);
  if (ofPod === false || wrong.length > 0) {
    return { reason, detail: `${settersText(ofPod === false, wrong)} must not set securityContext.runAsNonRoot=false` };
  }
  if (ofPod === true) return undefined;
  const silent = containersWhere(pod, (container) => securityOf(container).runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: CheckPod = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsUser === 0;
  const names = containersWhere(pod, (container) => securityOf(container).runAsUser === 0);
  if (!ofPod && names.length === 0) return undefined;
  return { reason: "runAsUser=0", detail: `${settersText(ofPod, names)} must not set runAsUser=0` };
};

const exceptOnWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    isWindows(pod) ? undefined : check(pod);
const exceptForUserNamespaces =
  (check: CheckPod): CheckPod =>
  (pod) =>
    hasUserNamespace(pod) ? undefined : check(pod);

export const restrictedChecks: readonly PodSecurityCheck[] = [
  {
    id: "allowPrivilegeEscalation",
    versions: [
      { from: 8, check: allowPrivilegeEscalation },
      { from: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: "capabilities_restricted",
    versions: [
      { from: 22, check: capabilities, replaces: "capabilities_baseline" },
      { from: 25, check: exceptOnWindows(capabilities), replaces: "capabilities_baseline" },
    ],
  },
  { id: "procMount_restricted", versions: [{ from: 35, check: procMount, replaces: "procMount" }] },
  { id: "restrictedVolumes", versions: [{ from: 0, check: restrictedVolumes, replaces: "hostPathVolumes" }] },
  {
    id: "runAsNonRoot",
    versions: [
      { from: 0, check: runAsNonRoot },
      { from: 35, check: exceptForUserNamespaces(runAsNonRoot) },
    ],
  },
  {
    id: "runAsUser",
    versions: [
      { from: 23, check: runAsUser },
      { from: 35, check: exceptForUserNamespaces(runAsUser) },
    ],
  },
  {
    id: "seccompProfile_restricted",
    versions: [
      { from: 19, check: requiredSeccompProfile, replaces: "seccompProfile_baseline" },
      { from: 25, check: exceptOnWindows(requiredSeccompProfile), replaces: "seccompProfile_baseline" },
    ],
  },
];
