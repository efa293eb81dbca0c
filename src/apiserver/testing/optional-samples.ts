/** A minimal valid object of every kind that is served only on request, by apiVersion and kind. */

const selector = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const policy = {
  spec: {
    failurePolicy: "Ignore",
    reinvocationPolicy: "Never",
    matchConstraints: { resourceRules: [selector], objectSelector: { matchLabels: { mutated: "yes" } } },
    mutations: [
      { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{metadata: Object.metadata{}}" } },
    ],
  },
};
const binding = { spec: { policyName: "sample" } };
const candidate = {
  spec: {
    leaseName: "sample",
    binaryVersion: "1.36.4",
    emulationVersion: "1.36.0",
    strategy: "OldestEmulationVersion",
  },
};
const requests = { devices: { requests: [{ name: "one", exactly: { deviceClassName: "sample" } }] } };
const olderRequests = { devices: { requests: [{ name: "one", deviceClassName: "sample" }] } };
const slice = {
  driver: "devices.example.com",
  pool: { name: "sample", generation: 1, resourceSliceCount: 1 },
  nodeName: "sample",
};
const rule = { spec: { deviceSelector: { driver: "devices.example.com" }, taint: { key: "a", effect: "NoExecute" } } };

export interface OptionalSampleOptions {
  /** The certificate of an authority. */
  readonly authorityPem: string;
  /** A PKCS#10 request, as DER. */
  readonly certificateRequest: Buffer;
}

/** Everything but kind and apiVersion. The name is `sample` unless `metadata` has another. */
export function optionalSamples(options: OptionalSampleOptions): ReadonlyMap<string, Record<string, unknown>> {
  const { authorityPem, certificateRequest } = options;
  const bundle = { spec: { trustBundle: authorityPem } };
  const podRequest = {
    spec: {
      signerName: "example.com/signer",
      podName: "sample",
      podUID: "1",
      serviceAccountName: "sample",
      serviceAccountUID: "2",
      nodeName: "sample",
      nodeUID: "3",
      stubPKCS10Request: certificateRequest.toString("base64"),
    },
  };
  const address = { metadata: { name: "192.0.2.7" }, spec: { parentRef: { resource: "services", name: "sample" } } };
  return new Map<string, Record<string, unknown>>([
    ["certificates.k8s.io/v1beta1 ClusterTrustBundle", bundle],
    ["certificates.k8s.io/v1alpha1 ClusterTrustBundle", bundle],
    ["certificates.k8s.io/v1beta1 PodCertificateRequest", podRequest],
    ["networking.k8s.io/v1beta1 IPAddress", address],
    ["networking.k8s.io/v1beta1 ServiceCIDR", { spec: { cidrs: ["198.51.100.0/24"] } }],
    ["storage.k8s.io/v1beta1 VolumeAttributesClass", { driverName: "csi.example.com", parameters: { a: "b" } }],
    ["admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy", policy],
    ["admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy", policy],
    ["admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding", binding],
    ["admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding", binding],
    ["scheduling.k8s.io/v1alpha2 PodGroup", { spec: { schedulingPolicy: { gang: { minCount: 2 } } } }],
    [
      "scheduling.k8s.io/v1alpha2 Workload",
      { spec: { podGroupTemplates: [{ name: "one", schedulingPolicy: { gang: { minCount: 2 } } }] } },
    ],
    ["coordination.k8s.io/v1beta1 LeaseCandidate", candidate],
    ["coordination.k8s.io/v1alpha2 LeaseCandidate", candidate],
    ["resource.k8s.io/v1beta2 DeviceClass", { spec: {} }],
    ["resource.k8s.io/v1beta2 DeviceTaintRule", rule],
    ["resource.k8s.io/v1beta2 ResourceClaim", { spec: requests }],
    ["resource.k8s.io/v1beta2 ResourceClaimTemplate", { spec: { spec: requests } }],
    ["resource.k8s.io/v1beta2 ResourceSlice", { spec: { ...slice, devices: [{ name: "one" }] } }],
    ["resource.k8s.io/v1beta1 DeviceClass", { spec: {} }],
    ["resource.k8s.io/v1beta1 ResourceClaim", { spec: olderRequests }],
    ["resource.k8s.io/v1beta1 ResourceClaimTemplate", { spec: { spec: olderRequests } }],
    ["resource.k8s.io/v1beta1 ResourceSlice", { spec: { ...slice, devices: [{ name: "one", basic: {} }] } }],
    ["resource.k8s.io/v1alpha3 DeviceTaintRule", rule],
    ["resource.k8s.io/v1alpha3 ResourcePoolStatusRequest", { spec: { driver: "devices.example.com" } }],
    ["internal.apiserver.k8s.io/v1alpha1 StorageVersion", { metadata: { name: "apps.deployments" }, spec: {} }],
    [
      "storagemigration.k8s.io/v1beta1 StorageVersionMigration",
      { spec: { resource: { group: "apps", resource: "deployments" } } },
    ],
  ]);
}
