/** kubectl's ways to create, and what the server makes of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configMap } from "../support/manifests.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl create", () => {
  const cases: { command: string; says: string; get: string; want: object }[] = [
    {
      command: "create configmap settings --from-literal=color=blue --from-literal=size=3",
      says: "configmap/settings created",
      get: "configmap settings",
      want: { data: { color: "blue", size: "3" } },
    },
    {
      command: "create secret generic password --from-literal=word=open",
      says: "secret/password created",
      get: "secret password",
      want: { type: "Opaque", data: { word: "b3Blbg==" } },
    },
    {
      command: "create namespace team",
      says: "namespace/team created",
      get: "namespace team",
      want: {
        metadata: { labels: { "kubernetes.io/metadata.name": "team" } },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      },
    },
    {
      command: "create deployment web --image=nginx:1 --replicas=2 --port=80",
      says: "deployment.apps/web created",
      get: "deployment web",
      want: {
        metadata: { generation: 1 },
        spec: {
          replicas: 2,
          revisionHistoryLimit: 10,
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
          template: {
            spec: {
              containers: [{ image: "nginx:1", imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" }],
              restartPolicy: "Always",
              schedulerName: "default-scheduler",
            },
          },
        },
      },
    },
    {
      command: "create service clusterip web --tcp=80:8080",
      says: "service/web created",
      get: "service web",
      want: {
        spec: {
          type: "ClusterIP",
          clusterIP: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
          ipFamilies: ["IPv4"],
          sessionAffinity: "None",
          ports: [{ name: "80-8080", port: 80, protocol: "TCP", targetPort: 8080 }],
        },
      },
    },
    {
      command: "create service externalname elsewhere --external-name=db.example",
      says: "service/elsewhere created",
      get: "service elsewhere",
      want: { spec: { type: "ExternalName", externalName: "db.example" } },
    },
    {
      command: "create quota limits --hard=pods=3,cpu=1500m",
      says: "resourcequota/limits created",
      get: "quota limits",
      want: { spec: { hard: { pods: "3", cpu: "1500m" } } },
    },
    {
      command: "create serviceaccount robot",
      says: "serviceaccount/robot created",
      get: "sa robot",
      want: { kind: "ServiceAccount" },
    },
    {
      command: "create role reader --verb=get,list --resource=pods,deployments.apps --resource-name=web",
      says: "role.rbac.authorization.k8s.io/reader created",
      get: "role reader",
      want: {
        rules: [
          { apiGroups: [""], resources: ["pods"], resourceNames: ["web"], verbs: ["get", "list"] },
          { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["web"], verbs: ["get", "list"] },
        ],
      },
    },
    {
      command: "create rolebinding readers --role=reader --user=jane --serviceaccount=default:robot",
      says: "rolebinding.rbac.authorization.k8s.io/readers created",
      get: "rolebinding readers",
      want: {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
        subjects: [
          { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" },
          { kind: "ServiceAccount", name: "robot", namespace: "default" },
        ],
      },
    },
    {
      command: "create clusterrole metrics --verb=get --non-resource-url=/metrics",
      says: "clusterrole.rbac.authorization.k8s.io/metrics created",
      get: "clusterrole metrics",
      want: { rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }] },
    },
    {
      command: "create job once --image=busybox -- date",
      says: "job.batch/once created",
      get: "job once",
      want: {
        spec: {
          backoffLimit: 6,
          completions: 1,
          parallelism: 1,
          template: { spec: { containers: [{ command: ["date"], imagePullPolicy: "Always" }] } },
        },
      },
    },
    {
      command: "create cronjob nightly --image=busybox --schedule=@daily",
      says: "cronjob.batch/nightly created",
      get: "cronjob nightly",
      want: { spec: { schedule: "@daily", concurrencyPolicy: "Allow", suspend: false, failedJobsHistoryLimit: 1 } },
    },
    {
      command: "create ingress front --rule=shop.example/=web:80",
      says: "ingress.networking.k8s.io/front created",
      get: "ingress front",
      want: {
        spec: {
          rules: [
            {
              host: "shop.example",
              http: {
                paths: [{ path: "/", pathType: "Exact", backend: { service: { name: "web", port: { number: 80 } } } }],
              },
            },
          ],
        },
      },
    },
    {
      command: "create poddisruptionbudget careful --selector=app=web --min-available=50%",
      says: "poddisruptionbudget.policy/careful created",
      get: "pdb careful",
      want: { spec: { minAvailable: "50%", selector: { matchLabels: { app: "web" } } } },
    },
    {
      command: "create priorityclass urgent --value=1000 --description=first",
      says: "priorityclass.scheduling.k8s.io/urgent created",
      get: "priorityclass urgent",
      want: { value: 1000, description: "first", preemptionPolicy: "PreemptLowerPriority" },
    },
    {
      command: "expose deployment web --name=web-again --port=8000 --target-port=80",
      says: "service/web-again exposed",
      get: "service web-again",
      want: { spec: { selector: { app: "web" }, ports: [{ port: 8000, targetPort: 80, protocol: "TCP" }] } },
    },
    {
      command: "autoscale deployment web --min=2 --max=5 --cpu=70%",
      says: "horizontalpodautoscaler.autoscaling/web autoscaled",
      get: "hpa web",
      want: {
        apiVersion: "autoscaling/v2",
        spec: {
          minReplicas: 2,
          maxReplicas: 5,
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } },
          ],
        },
      },
    },
  ];
  it.each(cases)("$command", async ({ command, says, get, want }) => {
    expect(await kubectl.ok(...command.split(" "))).toBe(`${says}\n`);
    expect(await kubectl.json("get", ...get.split(" "))).toMatchObject({
      ...want,
      metadata: {
        uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        ...("metadata" in want ? (want.metadata as object) : {}),
      },
    });
  });

  it("takes what files and folders hold", async () => {
    writeFileSync(join(home().dir, "app.ini"), "a=1\n");
    writeFileSync(join(home().dir, "logo.bin"), Buffer.from([0xff, 0xfe, 0]));
    await kubectl.ok("create", "configmap", "files", "--from-file=app.ini", "--from-file=logo.bin");
    expect(await kubectl.json("get", "cm", "files")).toMatchObject({
      data: { "app.ini": "a=1\n" },
      binaryData: { "logo.bin": "//4A" },
    });
  });

  it("makes several objects in one go, and tells of each", async () => {
    const said = await kubectl
      .given(configMap("first", {}), configMap("second", {}))
      .ok("create", "-f", "-", "--save-config");
    expect(said).toBe("configmap/first created\nconfigmap/second created\n");
    expect(await kubectl.ok("apply", "view-last-applied", "cm", "first")).toContain("name: first");
  });

  it("lets the server choose a name", async () => {
    const nameless = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "run-" } };
    expect(await kubectl.given(nameless).ok("create", "-f", "-")).toMatch(
      /^configmap\/run-[bcdfghjklmnpqrstvwxz2456789]{5} created\n$/,
    );
  });

  it("leaves nothing behind after a dry run on the server", async () => {
    await kubectl.ok("create", "serviceaccount", "runner");
    await kubectl.ok("delete", "quota", "--all");
    const run = [
      "run",
      "trial",
      "--image=nginx",
      "--overrides",
      '{"spec":{"serviceAccountName":"runner"}}',
      "--dry-run=server",
    ];
    expect(await kubectl.ok(...run)).toBe("pod/trial created (server dry run)\n");
    expect(await kubectl.json(...run)).toMatchObject({
      metadata: { uid: expect.any(String), creationTimestamp: expect.any(String), labels: { run: "trial" } },
      spec: {
        containers: [{ image: "nginx", imagePullPolicy: "Always" }],
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
      },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
    expect(await kubectl.fails("get", "pod", "trial")).toBe('Error from server (NotFound): pods "trial" not found\n');
  });
});

describe.skipIf(program === undefined)("what kubectl create is refused", () => {
  it("a name that is taken", async () => {
    await kubectl.ok("create", "configmap", "taken");
    expect(await kubectl.fails("create", "configmap", "taken")).toBe(
      'error: failed to create configmap: configmaps "taken" already exists\n',
    );
  });

  it("a name that is none", async () => {
    expect(await kubectl.fails("create", "configmap", "Not_A_Name")).toBe(
      'error: failed to create configmap: ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": ' +
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
        "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n",
    );
  });

  it("a namespace that is not there", async () => {
    expect(await kubectl.fails("create", "configmap", "lost", "-n", "nowhere")).toBe(
      'error: failed to create configmap: namespaces "nowhere" not found\n',
    );
  });

  it("a field that nobody knows: an error, or a warning where that was asked for", async () => {
    const typo = { ...configMap("typo", {}), dada: { a: "b" } };
    expect(await kubectl.given(typo).fails("create", "-f", "-")).toBe(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: ' +
        'strict decoding error: unknown field "dada"\n',
    );
    expect(await kubectl.given(typo).run("create", "-f", "-", "--validate=warn")).toMatchObject({
      code: 0,
      stdout: "configmap/typo created\n",
      stderr: 'Warning: unknown field "dada"\n',
    });
  });

  it("an object that breaks the rules of its kind", async () => {
    const unselected = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "unselected" },
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    };
    expect(await kubectl.given(unselected).fails("create", "-f", "-")).toBe(
      'The Deployment "unselected" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: ' +
        "`selector` does not match template `labels`\n",
    );
  });
});
