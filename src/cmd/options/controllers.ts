/**
 * `--controllers`: which controllers run, by kube-controller-manager's names, including those of earlier versions.
 *
 * 1. An empty list, as in `--controllers ""`, disables all controllers: they run in another process.
 */

import { Option } from "commander";
import { table } from "#base";

/** Former names of controllers, and their current names. */
const EARLIER: Readonly<Record<string, string>> = table({
  attachdetach: "persistentvolume-attach-detach-controller",
  bootstrapsigner: "bootstrap-signer-controller",
  "clusterrole-aggregation": "clusterrole-aggregation-controller",
  cronjob: "cronjob-controller",
  csrapproving: "certificatesigningrequest-approving-controller",
  csrcleaner: "certificatesigningrequest-cleaner-controller",
  csrsigning: "certificatesigningrequest-signing-controller",
  daemonset: "daemonset-controller",
  deployment: "deployment-controller",
  disruption: "disruption-controller",
  endpoint: "endpoints-controller",
  endpointslice: "endpointslice-controller",
  endpointslicemirroring: "endpointslice-mirroring-controller",
  "ephemeral-volume": "ephemeral-volume-controller",
  garbagecollector: "garbage-collector-controller",
  horizontalpodautoscaling: "horizontal-pod-autoscaler-controller",
  job: "job-controller",
  "legacy-service-account-token-cleaner": "legacy-serviceaccount-token-cleaner-controller",
  namespace: "namespace-controller",
  nodeipam: "node-ipam-controller",
  nodelifecycle: "node-lifecycle-controller",
  "persistentvolume-binder": "persistentvolume-binder-controller",
  "persistentvolume-expander": "persistentvolume-expander-controller",
  podgc: "pod-garbage-collector-controller",
  "pv-protection": "persistentvolume-protection-controller",
  "pvc-protection": "persistentvolumeclaim-protection-controller",
  replicaset: "replicaset-controller",
  replicationcontroller: "replicationcontroller-controller",
  resourcequota: "resourcequota-controller",
  "root-ca-cert-publisher": "root-ca-certificate-publisher-controller",
  serviceaccount: "serviceaccount-controller",
  "serviceaccount-token": "serviceaccount-token-controller",
  statefulset: "statefulset-controller",
  "storage-version-gc": "storageversion-garbage-collector-controller",
  tokencleaner: "token-cleaner-controller",
  ttl: "ttl-controller",
  "ttl-after-finished": "ttl-after-finished-controller",
});

export function controllersOption(): Option {
  return new Option(
    "--controllers <names>",
    'controllers to run, comma-separated: * for all defaults, a name, or -name to disable one; "" for none',
  ).argParser(controllerNames);
}

export function controllerNames(value: string): readonly string[] {
  return value
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => {
      const without = each.startsWith("-") ? "-" : "";
      const name = each.slice(without.length);
      return without + (EARLIER[name] ?? name);
    });
}
