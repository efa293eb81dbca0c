import { describe, expect, it } from "vitest";
import { at, fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../../machinery/json/json.ts";
import { PodReplay } from "./testing/replay.ts";

/** A pod with one container; `spec` and `container` add to it. */
function podWith(spec: JsonObject = {}, container: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name: "p", ...metadata },
    spec: { containers: [{ name: "c", image: "nginx:1", ...container }], ...spec },
  };
}

function faultsOf(pod: JsonObject): readonly string[] {
  const answer = new PodReplay().send({ method: "POST", path: "/api/v1/namespaces/ns/pods", body: pod });
  return (answer?.causes ?? []).map((cause) => cause.replace(/ (FieldValue\w+|InternalError) /, ": "));
}

interface Case {
  readonly name: string;
  readonly pod: JsonObject;
  readonly want: readonly string[];
}

const windows = { os: { name: "windows" } };
const volume = (source: JsonObject): JsonObject => podWith({ volumes: [{ name: "v", ...source }] });
const mounted = (mount: JsonObject, source: JsonObject = { emptyDir: {} }): JsonObject =>
  podWith({ volumes: [{ name: "v", ...source }] }, { volumeMounts: [{ name: "v", mountPath: "/x", ...mount }] });

const cases: readonly Case[] = [
  { name: "a sound pod", pod: podWith(), want: [] },
  {
    name: "a sidecar may have probes and hooks",
    pod: podWith({
      initContainers: [{ name: "i", image: "a", restartPolicy: "Always", livenessProbe: { exec: { command: ["x"] } } }],
    }),
    want: [],
  },
  {
    name: "liveness succeeds at once",
    pod: podWith({}, { livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 2, periodSeconds: -1 } }),
    want: [
      "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
    ],
  },
  {
    name: "a readiness probe has no grace period",
    pod: podWith(
      {},
      { readinessProbe: { httpGet: { port: "no such port!", scheme: "FTP" }, terminationGracePeriodSeconds: 5 } },
    ),
    want: [
      'spec.containers[0].readinessProbe.httpGet.port: Invalid value: "no such port!": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
    ],
  },
  {
    name: "request above limit",
    pod: podWith({}, { resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    want: ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  },
  {
    name: "unknown and odd resources",
    pod: podWith({}, { resources: { limits: { foo: "1", "example.com/gpu": "1500m", memory: "-1" } } }),
    want: [
      'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.containers[0].resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    name: "huge pages",
    pod: podWith({}, { resources: { limits: { "hugepages-2Mi": "3Mi" } } }),
    want: [
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
    ],
  },
  {
    name: "extended resources are not overcommitted",
    pod: podWith({}, { resources: { requests: { "example.com/gpu": "1" } } }),
    want: ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
  },
  {
    name: "a claim that the pod does not bring",
    pod: podWith({}, { resources: { claims: [{ name: "dev" }] } }),
    want: [
      'spec.containers[0].resources.claims[0]: Not found: "dev": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  },
  {
    name: "the pod leaves no room for its containers",
    pod: podWith({ resources: { requests: { cpu: "1" } } }, { resources: { requests: { cpu: "2" } } }),
    want: [
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ],
  },
  {
    name: "only cpu, memory and huge pages at pod level",
    pod: podWith({ resources: { limits: { "ephemeral-storage": "1Gi" } } }),
    want: [
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ],
  },
  {
    name: "privileges",
    pod: podWith({}, { securityContext: { allowPrivilegeEscalation: false, privileged: true, runAsUser: -1 } }),
    want: [
      "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":-1,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  },
  {
    name: "seccomp and AppArmor",
    pod: podWith({ securityContext: { seccompProfile: { type: "Localhost" }, appArmorProfile: { type: "Foo" } } }),
    want: [
      "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
      'spec.securityContext.appArmorProfile.type: Unsupported value: "Foo": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  },
  {
    name: "sysctls of a shared namespace",
    pod: podWith({
      hostNetwork: true,
      securityContext: {
        sysctls: [
          { name: "net.ipv4.tcp_syncookies", value: "1" },
          { name: "A!", value: "" },
        ],
      },
    }),
    want: [
      "spec.securityContext.sysctls[0].name: Invalid value: \"net.ipv4.tcp_syncookies\": may not be specified when 'hostNetwork' is true",
      'spec.securityContext.sysctls[1].name: Invalid value: "A!": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  },
  {
    name: "own users and the host's namespaces",
    pod: podWith({ hostUsers: false, hostNetwork: true, hostPID: true }),
    want: [
      "spec.hostNetwork: Forbidden: when `hostUsers` is false",
      "spec.HostPID: Forbidden: when `hostUsers` is false",
    ],
  },
  {
    name: "Linux fields on Windows",
    pod: podWith(
      { ...windows, hostPID: true, securityContext: { fsGroup: 1 } },
      { securityContext: { privileged: true } },
    ),
    want: [
      "spec.hostPID: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
    ],
  },
  {
    name: "host processes",
    pod: podWith({ ...windows, securityContext: { windowsOptions: { hostProcess: true, runAsUserName: "a\\b\\c" } } }),
    want: [
      'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
      "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
    ],
  },
  {
    name: "a host process that the pod says nothing of",
    pod: podWith(windows, { securityContext: { windowsOptions: { hostProcess: true } } }),
    want: [
      "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
    ],
  },
  {
    name: "processes shared with everyone, in a security context that says nothing",
    pod: podWith({ securityContext: {}, shareProcessNamespace: true, hostPID: true }),
    want: [
      "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
    ],
  },
  {
    name: "tolerations",
    pod: podWith({
      tolerations: [
        { operator: "Equal" },
        { key: "a", operator: "Exists", value: "x" },
        { key: "a", operator: "Foo" },
        { key: "b", effect: "Foo", tolerationSeconds: 1 },
        { key: "c", operator: "Lt", value: "1" },
      ],
    }),
    want: [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      "spec.tolerations[1].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
      'spec.tolerations[2].operator: Unsupported value: "Foo": supported values: "Equal", "Exists"',
      "spec.tolerations[3].effect: Invalid value: \"Foo\": effect must be 'NoExecute' when `tolerationSeconds` is set",
      'spec.tolerations[3].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'spec.tolerations[4].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
    ],
  },
  {
    name: "node affinity",
    pod: podWith({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "a", operator: "In" },
                  { key: "b", operator: "Is" },
                ],
                matchFields: [{ key: "x", operator: "In", values: ["a"] }],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }],
        },
      },
    }),
    want: [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Is": not a valid selector operator',
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "x": not a valid field selector key',
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
    ],
  },
  {
    name: "pod affinity",
    pod: podWith({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "", matchLabelKeys: ["app"] }] },
      },
    }),
    want: [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  },
  {
    name: "spread: too few domains, and only where it binds",
    pod: podWith({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", minDomains: 0, nodeTaintsPolicy: "No" },
      ],
    }),
    want: [
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
      'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "No": supported values: "Honor", "Ignore"',
    ],
  },
  {
    name: "addresses that read otherwise elsewhere",
    pod: podWith({
      hostAliases: [{ ip: "010.1.2.3" }, { ip: "::ffff:1.2.3.4" }, { ip: "1.2.3.4", hostnames: ["ok"] }],
    }),
    want: [
      'spec.hostAliases[0].ip: Invalid value: "010.1.2.3": must not have leading 0s',
      'spec.hostAliases[1].ip: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
    ],
  },
  {
    name: "host name override",
    pod: podWith({ hostnameOverride: "a", setHostnameAsFQDN: true, hostNetwork: true }),
    want: [
      "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
      "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
    ],
  },
  {
    name: "mounts",
    pod: mounted({
      mountPropagation: "Bidirectional",
      subPathExpr: "/abs",
      subPath: "a",
      recursiveReadOnly: "Enabled",
    }),
    want: [
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "/abs": subPathExpr and subPath are mutually exclusive',
      'spec.containers[0].volumeMounts.subPathExpr: Invalid value: "/abs": must be a relative path',
      "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
    ],
  },
  {
    name: "devices come from claims",
    pod: podWith({ volumes: [{ name: "v", emptyDir: {} }] }, { volumeDevices: [{ name: "v", devicePath: "/a/../b" }] }),
    want: [
      'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/a/../b\": can not contain backsteps ('..')",
    ],
  },
  {
    name: "an empty source is an emptyDir, a limit below zero none",
    pod: volume({ emptyDir: { sizeLimit: "-1" } }),
    want: ["spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
  },
  {
    name: "two sources in one projection",
    pod: volume({
      projected: {
        sources: [
          {
            secret: { name: "a", items: [{ key: "k", path: "p" }] },
            configMap: { name: "b", items: [{ key: "k", path: "p" }] },
          },
        ],
      },
    }),
    want: [
      'spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths',
      "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source",
    ],
  },
  { name: "image volume", pod: volume({ image: {} }), want: ["spec.volumes[0].image.reference: Required value"] },
  {
    name: "ephemeral volume",
    pod: volume({ ephemeral: { volumeClaimTemplate: { metadata: { name: "x" }, spec: {} } } }),
    want: [
      "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
    ],
  },
  {
    name: "csi",
    pod: volume({ csi: { driver: "", nodePublishSecretRef: {} } }),
    want: [
      "spec.volumes[0].csi.driver: Required value",
      "spec.volumes[0].csi.nodePublishSecretRef.name: Required value",
    ],
  },
  {
    name: "nfs",
    pod: volume({ nfs: { server: "s", path: "rel" } }),
    want: ['spec.volumes[0].nfs.path: Invalid value: "rel": must be an absolute path'],
  },
  {
    name: "old drivers",
    pod: volume({ iscsi: { targetPortal: "1.2.3.4", iqn: "foo", lun: 300 } }),
    want: [
      'spec.volumes[0].iscsi.iqn: Invalid value: "foo": must be valid format starting with iqn, eui, or naa',
      "spec.volumes[0].iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive",
    ],
  },
  {
    name: "variables from files",
    pod: podWith(
      { volumes: [{ name: "v", configMap: { name: "x" } }] },
      { env: [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "K" } } }] },
    ),
    want: [
      'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir',
    ],
  },
  {
    name: "subscripts of the downward API",
    pod: podWith(
      {},
      {
        env: [
          { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['bad key']" } } },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } },
        ],
      },
    ),
    want: [
      "spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: \"bad key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.name['x']\": error converting fieldPath: field label does not support subscript: metadata.name['x']",
    ],
  },
  {
    name: "divisors",
    pod: podWith(
      {},
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } }] },
    ),
    want: [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
    ],
  },
  {
    name: "envFrom",
    pod: podWith({}, { envFrom: [{}, { configMapRef: {} }] }),
    want: [
      'spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      "spec.containers[0].envFrom[1].configMapRef.name: Required value",
    ],
  },
  {
    name: "restart rules",
    pod: podWith(
      {},
      { restartPolicyRules: [{ action: "Foo", exitCodes: { operator: "Is", values: [1] } }, { action: "Restart" }] },
    ),
    want: [
      "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Foo": supported values: "Restart", "RestartAllContainers"',
      'spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
      "spec.containers[0].restartPolicyRules[1].exitCodes: Required value: must be specified",
    ],
  },
  {
    name: "resize policies",
    pod: podWith(
      { restartPolicy: "Never" },
      {
        resizePolicy: [
          { resourceName: "cpu", restartPolicy: "RestartContainer" },
          { resourceName: "cpu", restartPolicy: "NotRequired" },
        ],
      },
    ),
    want: [
      "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      'spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"',
    ],
  },
  {
    name: "resource claims",
    pod: podWith({ resourceClaims: [{ name: "a" }, { name: "a", resourceClaimName: "x" }] }),
    want: [
      'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'spec.resourceClaims[1].name: Duplicate value: "a"',
    ],
  },
  {
    name: "annotations with a meaning",
    pod: podWith(
      {},
      {},
      {
        annotations: {
          "kubernetes.io/config.mirror": "x",
          "controller.kubernetes.io/pod-deletion-cost": "+1",
          "container.apparmor.security.beta.kubernetes.io/no": "bad",
        },
      },
    ),
    want: [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/no]: Invalid value: "no": container not found',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/no]: Invalid value: "bad": invalid AppArmor profile name: "bad"',
    ],
  },
];

describe("new pods", () => {
  it.each(cases)("$name", ({ pod, want }) => {
    expect(faultsOf(pod)).toEqual(want);
  });
});

describe("changes of a pod", () => {
  const changes: readonly {
    readonly name: string;
    readonly pod: JsonObject;
    readonly patch: Json;
    readonly want: string;
  }[] = [
    { name: "labels", pod: podWith(), patch: { metadata: { labels: { a: "b" } } }, want: "" },
    {
      name: "deadline taken away",
      pod: podWith({ activeDeadlineSeconds: 5 }),
      patch: { spec: { activeDeadlineSeconds: null } },
      want: "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
    },
    {
      name: "a container more",
      pod: podWith(),
      patch: {
        spec: {
          containers: [
            { name: "c", image: "nginx:1" },
            { name: "d", image: "x" },
          ],
        },
      },
      want: "spec.containers: Forbidden: pod updates may not add or remove containers",
    },
    {
      name: "a gated pod narrows its nodes",
      pod: podWith({ schedulingGates: [{ name: "g" }], nodeSelector: { a: "b" } }),
      patch: {
        spec: {
          nodeSelector: { c: "d" },
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }],
              },
            },
          },
        },
      },
      want: "",
    },
    {
      name: "a gated pod does not widen them",
      pod: podWith({ schedulingGates: [{ name: "g" }], nodeSelector: { a: "b" } }),
      patch: { spec: { nodeSelector: { a: "c" } } },
      want: 'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    },
    {
      name: "a pod never becomes a mirror pod",
      pod: podWith(),
      patch: { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } },
      want: "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation",
    },
  ];

  it.each(changes)("$name", ({ pod, patch, want }) => {
    const server = new PodReplay();
    expect(server.send({ method: "POST", path: "/api/v1/namespaces/ns/pods", body: pod })?.status).toBe(201);
    const answer = server.send({
      method: "PATCH",
      path: "/api/v1/namespaces/ns/pods/p",
      body: patch,
      contentType: "application/merge-patch+json",
    });
    const causes = (answer?.causes ?? []).map((cause) => cause.replace(/ (FieldValue\w+) /, ": "));
    if (want === "") expect(causes).toEqual([]);
    else expect(causes).toContain(want);
  });
});

describe("field errors", () => {
  it("of a template stand at the template", async () => {
    const { validatePodTemplateSpec } = await import("./spec/template.ts");
    const errors = validatePodTemplateSpec(
      { metadata: { labels: { "bad key": "" } }, spec: { containers: [] } },
      at("spec", "template"),
    );
    expect(errors.map(fieldErrorText).map((text) => text.slice(0, 40))).toContain(
      "spec.template.spec.containers: Required ",
    );
    expect(errors[0]?.field).toBe("spec.template.labels");
  });
});
