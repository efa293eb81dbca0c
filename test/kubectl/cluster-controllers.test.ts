/**
 * Controllers that look after nodes, volumes, tokens and rules, as kubectl sees them on simulated nodes; those of
 * workloads are in controllers.test.ts, and test/controller-stories.test.ts says which story is about which controller.
 *
 * 1. A node fails before the first story begins, and the last one looks at what became of it: until then its silence
 *    costs no time.
 * 2. Node lifecycle runs in a process of its own, because only there can it be made less patient.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeRequest } from "../../src/pki/testing/request.ts";
import { Home } from "../support/k8ts.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);
const LOST = "node-3";

beforeAll(async () => {
  if (program === undefined) return;
  home = new Home();
  const up = await home.k8ts(
    ...["up", "--store", "memory", "--port", "0", "--detach", "--runtime", "simulated", "--nodes", "3"],
    ...["--controllers", "*,bootstrapsigner,-node-lifecycle-controller"],
  );
  if (up.code !== 0) throw new Error(up.stderr);
  home.start(
    "controller-manager",
    `--kubeconfig=${join(home.dataDir, "kubeconfig")}`,
    "--controllers=node-lifecycle-controller",
    "--node-monitor-grace-period=20s",
    "--node-eviction-rate=10",
    "--secure-port=0",
  );
  const tolerations = [forSeconds("node.kubernetes.io/unreachable", 1)];
  await create(pod("lost", { nodeName: LOST, tolerations }));
  await waited("pod/lost", "condition=Ready");
  const stopped = await home.k8ts("node", "stop", LOST);
  if (stopped.code !== 0) throw new Error(stopped.stderr);
});
afterAll(() => home?.[Symbol.asyncDispose]());

const PATIENT = "--timeout=60s";
const value = (resource: string, path: string) => kubectl.ok("get", ...resource.split(" "), "-o", `jsonpath=${path}`);
const becomes = (resource: string, path: string) => expect.poll(() => value(resource, path).catch(() => "(absent)"));
const waited = (resource: string, condition: string) =>
  kubectl.ok("wait", ...resource.split(" "), `--for=${condition}`, PATIENT);
const create = (object: object) => kubectl.given(object).ok("create", "-f", "-");
const forSeconds = (key: string, tolerationSeconds?: number) => ({
  ...{ key, operator: "Exists", effect: "NoExecute" },
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image: "app:1" }], ...spec },
});

describe.skipIf(program === undefined)("controllers of a cluster (needs kubectl)", () => {
  it("a taint drives out who does not tolerate it, at once or when the time is over", async () => {
    const on = { nodeName: "node-2" };
    await create(pod("intolerant", on));
    await create(pod("patient", { ...on, tolerations: [forSeconds("story", 2)] }));
    await create(pod("tolerant", { ...on, tolerations: [forSeconds("story")] }));
    for (const name of ["intolerant", "patient", "tolerant"]) await waited(`pod/${name}`, "condition=Ready");
    await kubectl.ok("taint", "node", "node-2", "story=on:NoExecute");
    await waited("pod/intolerant", "delete");
    await waited("pod/patient", "delete");
    expect(await value("pod/tolerant", "{.status.phase}")).toBe("Running");
    await kubectl.ok("taint", "node", "node-2", "story-");
    await kubectl.ok("delete", "pod", "tolerant", PATIENT);
  });

  it("a request for a certificate is signed once it is approved", async () => {
    const { pem } = makeRequest({ commonName: "kim", organizations: ["team"] });
    await create({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "kim" },
      spec: {
        request: Buffer.from(pem).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
      },
    });
    await kubectl.ok("certificate", "approve", "kim");
    await waited("csr/kim", "jsonpath={.status.certificate}");
  });

  it("a volume stays while a claim is bound to it, and goes with the claim", async () => {
    const capacity = { storage: "1Gi" };
    const access = { accessModes: ["ReadWriteOnce"], storageClassName: "story" };
    const spec = { ...access, capacity, hostPath: { path: "/data" } };
    await create({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "disk" }, spec });
    const claim = { ...access, resources: { requests: capacity } };
    await create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec: claim });
    await waited("pvc/data", "jsonpath={.status.phase}=Bound");
    await kubectl.ok("delete", "pv", "disk", "--wait=false");
    expect(await value("pv/disk", "{.status.phase} {.metadata.finalizers[0]}")).toBe(
      "Bound kubernetes.io/pv-protection",
    );
    await kubectl.ok("delete", "pvc", "data", PATIENT);
    await waited("pv/disk", "delete");
  });

  it("a CSI volume is attached before its Pod runs, detached after it, and expanded by somebody else", async () => {
    await create({
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "csi" },
      provisioner: "csi.example.com",
      allowVolumeExpansion: true,
    });
    const capacity = { storage: "1Gi" };
    const access = { accessModes: ["ReadWriteOnce"], storageClassName: "csi" };
    const csi = { driver: "csi.example.com", volumeHandle: "disk-1" };
    await create({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "csi-disk" },
      spec: { ...access, capacity, csi },
    });
    const claim = { ...access, resources: { requests: capacity }, volumeName: "csi-disk" };
    await create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "csi-data" }, spec: claim });
    await create(pod("disk-user", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "csi-data" } }] }));
    await becomes("volumeattachments", "{.items[*].spec.source.persistentVolumeName}").toBe("csi-disk");
    expect(await value("pod/disk-user", "{.status.phase}")).toBe("Pending");
    const attachment = await value("volumeattachments", "{.items[0].metadata.name}");
    const status = JSON.stringify({ status: { attached: true } });
    await kubectl.ok("patch", "volumeattachment", attachment, "--subresource=status", "--type=merge", "-p", status);
    await waited("pod/disk-user", "condition=Ready");
    const node = await value("pod/disk-user", "{.spec.nodeName}");
    const name = "kubernetes.io/csi/csi.example.com^disk-1";
    const inStatus = "{.status.volumesAttached[*].name} {.status.volumesInUse[*]}";
    expect(await value(`node/${node}`, inStatus)).toBe(`${name} ${name}`);
    expect(await kubectl.ok("describe", "pod", "disk-user")).toMatch(
      /SuccessfulAttachVolume .*attachdetach-controller +AttachVolume.Attach succeeded for volume "csi-disk"/,
    );
    const larger = JSON.stringify({ spec: { resources: { requests: { storage: "2Gi" } } } });
    await kubectl.ok("patch", "pvc", "csi-data", "-p", larger);
    await expect
      .poll(() => kubectl.ok("describe", "pvc", "csi-data"))
      .toMatch(/ExternalExpanding .*volume_expand +waiting for an external controller to expand this PVC/);
    await kubectl.ok("delete", "pod", "disk-user", PATIENT);
    await waited(`volumeattachment/${attachment}`, "delete");
    expect(await value(`node/${node}`, inStatus)).toBe(" ");
    await kubectl.ok("delete", "pvc/csi-data", "pv/csi-disk", PATIENT);
  });

  it("a Pod's own volumes and devices have claims, which go with it", async () => {
    const request = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const volume = { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: request } } };
    const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] };
    await create({
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaimTemplate",
      metadata: { name: "gpu" },
      spec: { spec: { devices } },
    });
    await create(
      pod("greedy", { volumes: [volume], resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }] }),
    );
    await becomes("pvc/greedy-scratch", "{.metadata.ownerReferences[0].name}").toBe("greedy");
    await becomes("resourceclaims", "{.items[*].metadata.ownerReferences[0].name}").toBe("greedy");
    await kubectl.ok("delete", "pod", "greedy", PATIENT);
    await waited("pvc/greedy-scratch", "delete");
    await becomes("resourceclaims", "{.items}").toBe("[]");
  });

  it("what new nodes learn of the cluster is signed with each token that is for it", async () => {
    const stringData = {
      "token-id": "story1",
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-signing": "true",
    };
    const secret = { metadata: { name: "bootstrap-token-story1", namespace: "kube-system" }, stringData };
    await create({ apiVersion: "v1", kind: "Secret", type: "bootstrap.kubernetes.io/token", ...secret });
    const info = "configmap/cluster-info -n kube-public";
    await becomes(info, "{.data.jws-kubeconfig-story1}").toMatch(/^[\w-]+\.\.[\w-]+$/);
    await kubectl.ok("-n", "kube-system", "delete", "secret", "bootstrap-token-story1");
    await becomes(info, "{.data.jws-kubeconfig-story1}").toBe("");
  });

  it("a Secret for an account is given its token, and goes with the account", async () => {
    await kubectl.ok("create", "serviceaccount", "robot");
    const metadata = { name: "robot-token", annotations: { "kubernetes.io/service-account.name": "robot" } };
    await create({ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/service-account-token", metadata });
    await becomes("secret/robot-token", "{.data.token}").toMatch(/^\w{100,}/);
    await kubectl.ok("delete", "serviceaccount", "robot", PATIENT);
    await waited("secret/robot-token", "delete");
  });

  it("a policy says where its expressions are wrong; a range of addresses is ready", async () => {
    const resourceRules = [
      { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] },
    ];
    await create({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "story" },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression: "object.spec.nosuch == 1" }] },
    });
    await becomes("validatingadmissionpolicy/story", "{.status.typeChecking.expressionWarnings[0].warning}").toContain(
      "undefined field 'nosuch'",
    );
    const spec = { cidrs: ["10.99.0.0/24"] };
    await create({ apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name: "more" }, spec });
    await waited("servicecidr/more", "condition=Ready");
    expect(await value("servicecidr/more", "{.metadata.finalizers[0]}")).toBe(
      "networking.k8s.io/service-cidr-finalizer",
    );
    await kubectl.ok("delete", "servicecidr", "more", "--wait=false");
  });

  it("a node that falls silent is NotReady and tainted, its Pods are driven out; one that comes back is Ready", async () => {
    const ready = '{.status.conditions[?(@.type=="Ready")].status}';
    await becomes(`node/${LOST}`, ready).toBe("Unknown");
    expect(await kubectl.ok("get", "node", LOST)).toContain("NotReady");
    await becomes(`node/${LOST}`, "{.spec.taints[*].key}:{.spec.taints[*].effect}").toMatch(/unreachable.*NoExecute/);
    await becomes("pod/lost", "{.metadata.deletionTimestamp}").toMatch(/^(\(absent\)|20.+)$/);
    expect(await value("node/node-1", ready)).toBe("True");
    expect((await home.k8ts("node", "start", LOST)).code).toBe(0);
    await becomes(`node/${LOST}`, ready).toBe("True");
    await becomes(`node/${LOST}`, "{.spec.taints}").toBe("");
    await waited("pod/lost", "delete");
  });
});
