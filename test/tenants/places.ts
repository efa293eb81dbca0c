/**
 * Where a tenant's words stand: objects of every namespaced kind that tenants have, with a word in each place that a
 * tenant can fill. Each call makes new objects with new words.
 */
import type { Canaries } from "./canaries.ts";

export interface Planted {
  /** Below the namespace: `api/v1`, `apis/apps/v1`. */
  readonly api: string;
  readonly plural: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Written to the subresource `status` afterwards. */
  readonly status?: Readonly<Record<string, unknown>> | undefined;
}

type Word = (place: string) => string;

/** Objects of one kind each; `word` registers what it returns. */
const MAKERS: Readonly<Record<string, (word: Word, namespace: string) => Omit<Planted, "body"> & { body: object }>> = {
  ConfigMap: (word) => ({
    api: "api/v1",
    plural: "configmaps",
    body: { data: { [word("key")]: word("value") }, binaryData: { bytes: base64(word("binary value")) } },
  }),
  Secret: (word) => ({
    api: "api/v1",
    plural: "secrets",
    body: { stringData: { [word("key")]: word("value") } },
  }),
  Pod: (word) => ({ api: "api/v1", plural: "pods", body: { spec: podSpec(word) } }),
  "failed Pod": (word) => ({
    api: "api/v1",
    plural: "pods",
    body: { spec: { ...podSpec(word), schedulingGates: [{ name: "example.com/held" }] } },
    status: { status: { phase: "Failed", reason: word("reason"), message: word("message") } },
  }),
  Deployment: (word) => {
    const labels = { app: word("selector") };
    const template = { metadata: { labels, annotations: { note: word("template") } }, spec: podSpec(word) };
    return {
      api: "apis/apps/v1",
      plural: "deployments",
      body: { spec: { replicas: 1, selector: { matchLabels: labels }, template } },
    };
  },
  CronJob: (word) => ({
    api: "apis/batch/v1",
    plural: "cronjobs",
    body: {
      spec: {
        schedule: "0 0 1 1 *",
        jobTemplate: { spec: { template: { spec: { ...podSpec(word), restartPolicy: "Never" } } } },
      },
    },
  }),
  Service: (word) => ({
    api: "api/v1",
    plural: "services",
    body: { spec: { selector: { app: word("selector") }, ports: [{ name: "http", port: 80 }] } },
  }),
  EndpointSlice: (word, namespace) => ({
    api: "apis/discovery.k8s.io/v1",
    plural: "endpointslices",
    body: {
      addressType: "IPv4",
      endpoints: [
        {
          addresses: ["192.0.2.1"],
          hostname: word("hostname"),
          nodeName: word("node"),
          targetRef: { kind: "Pod", namespace, name: word("target") },
        },
      ],
    },
  }),
  Ingress: (word) => ({
    api: "apis/networking.k8s.io/v1",
    plural: "ingresses",
    body: {
      spec: {
        defaultBackend: { service: { name: word("backend"), port: { number: 80 } } },
        tls: [{ hosts: [`${word("host")}.example.com`], secretName: word("certificate") }],
      },
    },
  }),
  Event: (word, namespace) => ({
    api: "api/v1",
    plural: "events",
    body: {
      involvedObject: { kind: "Pod", namespace, name: word("object") },
      reason: word("reason"),
      message: `something happened to ${word("message")}`,
      source: { component: word("source") },
      type: "Normal",
    },
  }),
  Role: (word) => ({
    api: "apis/rbac.authorization.k8s.io/v1",
    plural: "roles",
    body: { rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: [word("object")], verbs: ["get"] }] },
  }),
  RoleBinding: (word) => ({
    api: "apis/rbac.authorization.k8s.io/v1",
    plural: "rolebindings",
    body: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: word("role") },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: word("user") }],
    },
  }),
  Lease: (word) => ({
    api: "apis/coordination.k8s.io/v1",
    plural: "leases",
    body: { spec: { holderIdentity: word("holder") } },
  }),
  ResourceClaim: (word) => ({
    api: "apis/resource.k8s.io/v1",
    plural: "resourceclaims",
    body: { spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: word("class") } }] } } },
  }),
  PersistentVolumeClaim: (word) => ({
    api: "api/v1",
    plural: "persistentvolumeclaims",
    body: {
      spec: {
        storageClassName: word("class"),
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  }),
  ServiceAccount: (word) => ({
    api: "api/v1",
    plural: "serviceaccounts",
    body: { imagePullSecrets: [{ name: word("pull secret") }] },
  }),
  NetworkPolicy: (word) => ({
    api: "apis/networking.k8s.io/v1",
    plural: "networkpolicies",
    body: { spec: { podSelector: { matchLabels: { app: word("selector") } } } },
  }),
  PodDisruptionBudget: (word) => ({
    api: "apis/policy/v1",
    plural: "poddisruptionbudgets",
    body: { spec: { minAvailable: 0, selector: { matchLabels: { app: word("selector") } } } },
  }),
  HorizontalPodAutoscaler: (word) => ({
    api: "apis/autoscaling/v2",
    plural: "horizontalpodautoscalers",
    body: {
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: word("target") }, maxReplicas: 2 },
    },
  }),
  ControllerRevision: (word) => ({
    api: "apis/apps/v1",
    plural: "controllerrevisions",
    body: { revision: 1, data: { of: word("data") } },
  }),
  ReplicaSet: (word) => {
    const labels = { app: word("selector") };
    return {
      api: "apis/apps/v1",
      plural: "replicasets",
      body: {
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: podSpec(word) },
        },
      },
    };
  },
  "custom resource": (word) => ({
    api: "apis/tenants.example.com/v1",
    plural: "widgets",
    body: { apiVersion: "tenants.example.com/v1", kind: "Widget", spec: { size: word("spec") } },
    status: { status: { seen: word("status") } },
  }),
};

export const KINDS = Object.keys(MAKERS);

/** One object of a kind, with words also in its name, a label and an annotation. */
export function objectOf(kind: string, canaries: Canaries, namespace: string): Planted {
  const maker = MAKERS[kind];
  if (maker === undefined) throw new Error(`there is no ${kind} to plant`);
  const word = (place: string) => canaries.word(`${kind}: ${place}`);
  const { body, ...rest } = maker(word, namespace);
  const metadata = { name: word("name"), labels: { tier: word("label") }, annotations: { note: word("annotation") } };
  return { ...rest, body: { metadata, ...body } };
}

function podSpec(word: Word) {
  return {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: word("container"),
        image: `registry.example/${word("image")}:1`,
        env: [{ name: "SETTING", value: word("environment") }],
        args: [word("argument")],
      },
    ],
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
