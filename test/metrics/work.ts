/**
 * What happens within the scripted minute: something for each metric that needs more than a running cluster.
 */
import type { Site } from "./site.ts";

const simulated = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`simulated.k8ts.io/${name}`, value]));

const container = (more: object = {}) => ({ name: "c", image: "i", ...more });
const requests = { resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "128Mi" } } };

const podTemplate = (app: string, annotations: Readonly<Record<string, string>> = {}, spec: object = {}) => ({
  metadata: { labels: { app }, annotations: simulated(annotations) },
  spec: { containers: [container(requests)], ...spec },
});

const job = (name: string, annotations: Readonly<Record<string, string>>, spec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: {
    backoffLimit: 0,
    template: podTemplate(name, { "run-for": "100ms", ...annotations }, { restartPolicy: "Never" }),
    ...spec,
  },
});

const WORKLOADS = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: podTemplate("web", { "cpu-usage": "80m" }),
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }], trafficDistribution: "PreferSameZone" },
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
    },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "too-large" },
    spec: { containers: [container({ resources: { requests: { cpu: "1000" } } })] },
  },
  job("succeeds", {}),
  job(
    "fails",
    { "exit-code": "1" },
    {
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] },
    },
  ),
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "nightly" },
    spec: { schedule: "* * * * *", jobTemplate: { spec: job("nightly", {}).spec } },
  },
];

/** A node that nobody reports for: down from the start. */
const DOWN = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "down", labels: { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r" } },
};

const RULES = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
const ADMISSION = [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "unreachable" },
    webhooks: [
      {
        name: "unreachable.example.com",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: RULES,
        failurePolicy: "Ignore",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "no-bad-names" },
    spec: {
      matchConstraints: { resourceRules: RULES },
      validations: [{ expression: "object.metadata.name != 'bad'" }],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "no-bad-names" },
    spec: { policyName: "no-bad-names", validationActions: ["Deny"] },
  },
];

export async function work(site: Site): Promise<void> {
  await site.kubectl("create", "namespace", "work");
  await site.apply(...ADMISSION, DOWN);
  await site.kubectl("patch", "node", "down", "--subresource=status", "--type=merge", "-p", notReady());
  await site.kubectl("config", "set-context", "--current", "--namespace=work");
  await site.apply(...WORKLOADS);
  // Times that were missed are made up for: nobody has to wait for the next minute.
  const status = JSON.stringify({ status: { lastScheduleTime: new Date(Date.now() - 180_000).toISOString() } });
  await site.kubectl("patch", "cronjob", "nightly", "--subresource=status", "--type=merge", "-p", status);
  await site.until("a policy refuses a ConfigMap", async () => isRefused(site, "bad"));
  await site.kubectl("create", "configmap", "good");
  await site.kubectl("get", "endpoints,componentstatuses").catch(() => "");
  const list = "/api/v1/namespaces/work/pods?watch=true&sendInitialEvents=true&allowWatchBookmarks=true";
  await site.kubectl("get", "--raw", `${list}&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`);
  site.configureAuthentication(false);
  await site.until("Jobs have ended", async () => {
    const types = "{range .items[*]}{.metadata.name}={.status.conditions[*].type} {end}";
    const ended = await site.kubectl("get", "jobs", "-o", `jsonpath=${types}`);
    return (
      /succeeds=\S* ?Complete|succeeds=.*Complete/.test(ended) && /fails=.*Failed/.test(ended) && /nightly-/.test(ended)
    );
  });
  await site.until("Pods are ready", async () => {
    const ready = await site.kubectl("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}");
    return Number(ready) >= 2;
  });
}

async function isRefused(site: Site, name: string, ...more: readonly string[]): Promise<boolean> {
  return site.kubectl("create", "configmap", name, ...more).then(
    () => false,
    () => true,
  );
}

function notReady(): string {
  const time = new Date().toISOString();
  const condition = {
    type: "Ready",
    status: "False",
    reason: "Test",
    message: "down",
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  return JSON.stringify({ status: { conditions: [condition] } });
}
