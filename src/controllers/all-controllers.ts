/** All controllers of kube-controller-manager, in start order. */
import { type AttachDetachSettings, attachDetachController } from "./attach-detach/index.ts";
import { bootstrapSigner, tokenCleaner } from "./bootstrap-tokens/index.ts";
import { type CertificateSigner, csrApproving, csrCleaner, csrSigning } from "./certificates/index.ts";
import { clusterRoleAggregation } from "./cluster-role-aggregation/index.ts";
import { cronJobController } from "./cronjob/index.ts";
import { daemonSetController } from "./daemon-set/index.ts";
import { deploymentController } from "./deployment/index.ts";
import { deviceTaintEvictionControllerWith } from "./device-taint-eviction/index.ts";
import { disruptionController } from "./disruption/index.ts";
import { type EndpointSliceSettings, endpointSlices } from "./endpoint-slice/index.ts";
import { type MirroringSettings, mirroredSlices } from "./endpoint-slice-mirroring/index.ts";
import { endpointsController } from "./endpoints/index.ts";
import { ephemeralVolumeController } from "./ephemeral-volume/index.ts";
import { garbageCollector } from "./garbage-collector/index.ts";
import { type AutoscalerSettings, horizontalPodAutoscaler } from "./horizontal-pod-autoscaler/index.ts";
import { jobControllerWith } from "./job/index.ts";
import { type LegacyTokenSettings, legacyTokenCleaner } from "./legacy-service-account-tokens/index.ts";
import { namespaceController } from "./namespace/index.ts";
import { type NodeCidrsOptions, nodeIpamController } from "./node-ipam/index.ts";
import { type NodeLifecycleSettings, nodeLifecycleController } from "./node-lifecycle/index.ts";
import { persistentVolumeBinder } from "./persistent-volume/index.ts";
import { podCertificateCleaner } from "./pod-certificate-cleaner/index.ts";
import { type PodGarbageCollectorOptions, podGarbageCollector } from "./pod-gc/index.ts";
import { podGroupProtection } from "./pod-group-protection/index.ts";
import { volumeProtection } from "./pv-protection/index.ts";
import { claimProtection } from "./pvc-protection/index.ts";
import { replicaSetController, replicationController } from "./replica-set/index.ts";
import { resourceClaimController } from "./resource-claim/index.ts";
import { resourceQuotaController } from "./resource-quota/index.ts";
import { rootCaPublisher } from "./root-ca/index.ts";
import type { Controller } from "./runtime/index.ts";
import { seLinuxWarningController } from "./selinux-warning/index.ts";
import { serviceAccountController } from "./service-account/index.ts";
import { serviceAccountTokens, type TokenClaims } from "./service-account-tokens/index.ts";
import { serviceCidrController } from "./service-cidr/index.ts";
import { statefulSetController } from "./stateful-set/index.ts";
import { storageVersionGc } from "./storage-version-gc/index.ts";
import { storageVersionMigrator } from "./storage-version-migrator/index.ts";
import { taintEvictionController } from "./taint-eviction/index.ts";
import { trustBundlePublisher } from "./trust-bundle-publisher/index.ts";
import { ttlController } from "./ttl/index.ts";
import { ttlAfterFinished } from "./ttl-after-finished/index.ts";
import { attributesClassProtection } from "./vac-protection/index.ts";
import { validatingAdmissionPolicyStatus } from "./validating-admission-policy-status/index.ts";
import { volumeExpander } from "./volume-expander/index.ts";

export interface ClusterFacts {
  /** The CA of the API server's certificate. */
  readonly caPem: string;
  /** Signs certificates with the cluster's CA. */
  readonly signer: CertificateSigner;
  /** Signs service account tokens. Absent if the server has no key for it. */
  readonly signToken?: ((claims: TokenClaims) => Promise<string>) | undefined;
  /** Pod CIDRs of nodes; false: `--allocate-node-cidrs=false`. Default: 10.244.0.0/16, a /24 for each node. */
  readonly nodeCidrs?: Partial<NodeCidrsOptions> | false | undefined;
  /** Grace periods and eviction rates. Default: those of kube-controller-manager. */
  readonly nodeLifecycle?: Partial<NodeLifecycleSettings> | undefined;
  /** Forced detaching. Default: that of kube-controller-manager. */
  readonly attachDetach?: Partial<AttachDetachSettings> | undefined;
  /** `--enable-dynamic-provisioning`. Default: true. */
  readonly dynamicProvisioning?: boolean | undefined;
  /** Limits of single controllers. Default: those of kube-controller-manager. */
  readonly limits?: ControllerLimits | undefined;
  /** The gate WorkloadWithJob. */
  readonly gangJobs?: boolean | undefined;
  /** The gate DRADeviceTaintRules. */
  readonly deviceTaintRules?: boolean | undefined;
  /** Periods and tolerances of autoscalers. Default: those of kube-controller-manager. */
  readonly autoscaler?: Partial<AutoscalerSettings> | undefined;
}

export interface ControllerLimits {
  readonly podGc?: PodGarbageCollectorOptions | undefined;
  readonly endpointSlices?: EndpointSliceSettings | undefined;
  readonly mirroring?: MirroringSettings | undefined;
  readonly legacyTokens?: LegacyTokenSettings | undefined;
}

export function allControllers(facts: ClusterFacts): readonly Controller[] {
  const {
    caPem,
    signer,
    signToken,
    nodeCidrs = {},
    nodeLifecycle = {},
    attachDetach = {},
    autoscaler = {},
    limits = {},
  } = facts;
  return [
    namespaceController,
    serviceAccountController,
    rootCaPublisher(caPem),
    deploymentController,
    replicaSetController,
    replicationController,
    statefulSetController,
    daemonSetController,
    jobControllerWith({ gangs: facts.gangJobs === true }),
    cronJobController,
    ttlAfterFinished,
    endpointsController,
    endpointSlices(limits.endpointSlices ?? {}),
    mirroredSlices(limits.mirroring ?? {}),
    serviceCidrController,
    nodeIpamController(nodeCidrs === false ? { clusterCidrs: [] } : nodeCidrs),
    nodeLifecycleController(nodeLifecycle),
    taintEvictionController,
    disruptionController,
    horizontalPodAutoscaler(autoscaler),
    persistentVolumeBinder(facts),
    attachDetachController(attachDetach),
    volumeExpander,
    volumeProtection,
    claimProtection,
    attributesClassProtection,
    podGroupProtection,
    ephemeralVolumeController,
    resourceClaimController,
    deviceTaintEvictionControllerWith({ rules: facts.deviceTaintRules === true }),
    podGarbageCollector(limits.podGc),
    garbageCollector,
    clusterRoleAggregation,
    resourceQuotaController,
    ttlController,
    validatingAdmissionPolicyStatus,
    csrApproving(signer),
    csrSigning(signer),
    csrCleaner,
    podCertificateCleaner,
    trustBundlePublisher(caPem),
    storageVersionGc,
    storageVersionMigrator,
    seLinuxWarningController,
    bootstrapSigner,
    tokenCleaner,
    legacyTokenCleaner(limits.legacyTokens ?? {}),
    ...(signToken === undefined ? [] : [serviceAccountTokens({ caPem, sign: signToken })]),
  ];
}
