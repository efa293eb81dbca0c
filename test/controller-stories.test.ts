/**
 * Which story is about which controller. A controller without one, and one whose story is gone, is an error.
 *
 * 1. Most stories are told with kubectl on simulated nodes. Where a controller waits for an hour or a year, its story
 *    runs in virtual time beside it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allControllers } from "#controllers";

const WORKLOADS = "test/kubectl/controllers.test.ts";
const CLUSTER = "test/kubectl/cluster-controllers.test.ts";
const GATED = "test/gated-controllers.test.ts";

const STORIES: Readonly<Record<string, readonly [file: string, story: string]>> = {
  "namespace-controller": [WORKLOADS, "a namespace goes with everything in it"],
  "serviceaccount-controller": [WORKLOADS, "comes with what every namespace has"],
  "root-ca-certificate-publisher-controller": [WORKLOADS, "comes with what every namespace has"],
  "deployment-controller": [WORKLOADS, "a Deployment is created, changed, undone"],
  "replicaset-controller": [WORKLOADS, "a Deployment is created, changed, undone"],
  "replicationcontroller-controller": [WORKLOADS, "a ReplicationController keeps its number"],
  "statefulset-controller": [WORKLOADS, "a StatefulSet comes up in order"],
  "daemonset-controller": [WORKLOADS, "a DaemonSet is on every node"],
  "job-controller": [WORKLOADS, "Jobs complete, fail, count indexes"],
  "cronjob-controller": [WORKLOADS, "a CronJob makes Jobs"],
  "ttl-after-finished-controller": [WORKLOADS, "and are cleared away"],
  "endpoints-controller": [WORKLOADS, "a Service leads to the Pods that are ready"],
  "endpointslice-controller": [WORKLOADS, "a Service leads to the Pods that are ready"],
  "endpointslice-mirroring-controller": [WORKLOADS, "a Service leads to the Pods that are ready"],
  "service-cidr-controller": [CLUSTER, "a range of addresses is ready"],
  "node-ipam-controller": [WORKLOADS, "every node has a range of addresses"],
  "node-lifecycle-controller": [CLUSTER, "a node that falls silent is NotReady and tainted"],
  "taint-eviction-controller": [CLUSTER, "a taint drives out who does not tolerate it"],
  // Needs a driver with devices: `test/containerd/devices.test.ts` has one.
  "device-taint-eviction-controller": [
    "src/controllers/device-taint-eviction/device-taint-eviction.test.ts",
    "go at once, and their condition says why",
  ],
  // Behind gates: a cluster by default has no PodGroups.
  "podgroup-protection-controller": [
    "src/controllers/pod-group-protection/pod-group-protection.test.ts",
    "lasts while a Pod is active",
  ],
  "disruption-controller": [WORKLOADS, "one by one where a budget says so"],
  "horizontal-pod-autoscaler-controller": ["test/kubectl/autoscaling.test.ts", "autoscale acts on it"],
  "persistentvolume-binder-controller": [WORKLOADS, "a claim is bound to a volume that fits"],
  "persistentvolume-attach-detach-controller": [CLUSTER, "a CSI volume is attached before its Pod runs"],
  "persistentvolume-expander-controller": [CLUSTER, "and expanded by somebody else"],
  "persistentvolume-protection-controller": [CLUSTER, "a volume stays while a claim is bound to it"],
  "persistentvolumeclaim-protection-controller": [WORKLOADS, "neither goes while it is used"],
  // Nothing in the stories changes the attributes of volumes.
  "volumeattributesclass-protection-controller": [
    "src/controllers/vac-protection/vac-protection.test.ts",
    "stays while a claim names it",
  ],
  "ephemeral-volume-controller": [CLUSTER, "a Pod's own volumes and devices have claims"],
  "resourceclaim-controller": [CLUSTER, "a Pod's own volumes and devices have claims"],
  // Waits for 40 seconds before it believes that a node is gone.
  "pod-garbage-collector-controller": [
    "src/controllers/pod-gc/pod-gc.test.ts",
    "is marked and deleted after 40 seconds",
  ],
  "garbage-collector-controller": [WORKLOADS, "delete --cascade: foreground waits for all"],
  "clusterrole-aggregation-controller": [WORKLOADS, "a role gathers the rules of others"],
  "resourcequota-controller": [WORKLOADS, "a ResourceQuota counts, and keeps to its limit"],
  "ttl-controller": [WORKLOADS, "how long to keep Secrets"],
  "validatingadmissionpolicy-status-controller": [CLUSTER, "a policy says where its expressions are wrong"],
  "certificatesigningrequest-approving-controller": ["test/tls-bootstrap.test.ts", "gives a node its certificate"],
  "certificatesigningrequest-signing-controller": [CLUSTER, "a request for a certificate is signed"],
  // Waits for an hour, or a day.
  "certificatesigningrequest-cleaner-controller": [
    "src/controllers/certificates/certificates.test.ts",
    "clears away what is done after an hour",
  ],
  // Behind feature gates, and for kinds that `--runtime-config` adds. The first one waits for a quarter of an hour.
  "podcertificaterequest-cleaner-controller": [
    "src/controllers/pod-certificate-cleaner/pod-certificate-cleaner.test.ts",
    "is deleted 15 minutes after its creation",
  ],
  "kube-apiserver-serving-clustertrustbundle-publisher-controller": [GATED, "publishes whom to trust"],
  "storageversion-garbage-collector-controller": [GATED, "forgets API servers that are gone"],
  "storage-version-migrator-controller": [GATED, "stores custom resources in their new version"],
  "selinux-warning-controller": [
    "src/controllers/selinux-warning/selinux-warning.test.ts",
    "with different labels: an Event for each",
  ],
  "bootstrap-signer-controller": [CLUSTER, "what new nodes learn of the cluster is signed"],
  "token-cleaner-controller": [WORKLOADS, "tokens that are over are taken away"],
  // Waits for a year, twice.
  "legacy-serviceaccount-token-cleaner-controller": [
    "src/controllers/legacy-service-account-tokens/legacy-service-account-tokens.test.ts",
    "marks after a year, deletes after another",
  ],
  "serviceaccount-token-controller": [CLUSTER, "a Secret for an account is given its token"],
};

const nothing = () => {
  throw new Error("there is nothing to read here");
};

describe("every controller", () => {
  it("has a story", () => {
    const facts = { caPem: "", signer: { read: nothing, sign: () => "" }, signToken: async () => "" };
    const names = allControllers(facts).map(({ name }) => name);
    expect(Object.keys(STORIES).sort()).toEqual([...names].sort());
  });

  it.each(Object.entries(STORIES))("%s has one that is told", (_, [file, story]) => {
    const titles = readFileSync(join(import.meta.dirname, "..", file), "utf8").match(/\bit\(\s*"[^"]+"/g) ?? [];
    expect(titles.filter((title) => title.includes(story))).toHaveLength(1);
  });
});
