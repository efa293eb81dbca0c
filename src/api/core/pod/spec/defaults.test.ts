import { describe, expect, it } from "vitest";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, Pod, PodSpec, PodTemplateSpec, Volume } from "../../../types/core-v1.ts";
import { imageTag } from "../fields/image.ts";
import { defaultPod, defaultPodTemplateSpec } from "./defaults.ts";

function defaulted(spec: Partial<PodSpec>): PodSpec | undefined {
  const pod = structuredClone({ metadata: {}, spec: { containers: [], ...spec } }) as Draft<Pod>;
  defaultPod(pod);
  return pod.spec;
}

describe("defaults of a pod", () => {
  it("makes a negative grace period one second, but not in a template", () => {
    const terminationGracePeriodSeconds = -1;
    expect(defaulted({ terminationGracePeriodSeconds })?.terminationGracePeriodSeconds).toBe(1);
    const template = { spec: { containers: [], terminationGracePeriodSeconds } } as Draft<PodTemplateSpec>;
    defaultPodTemplateSpec(template);
    expect(template.spec?.terminationGracePeriodSeconds).toBe(-1);
  });

  it("fills in what every pod has", () => {
    expect(defaulted({})).toEqual({
      containers: [],
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
  });

  it("leaves a template's links, ports and requests to its pods", () => {
    const limits = { cpu: "1" };
    const template: Draft<PodTemplateSpec> = {
      spec: { hostNetwork: true, containers: [{ name: "c", ports: [{ containerPort: 80 }], resources: { limits } }] },
    };
    defaultPodTemplateSpec(template);
    expect(template.spec).not.toHaveProperty("enableServiceLinks");
    expect(template.spec?.containers[0]).toMatchObject({ ports: [{ containerPort: 80 }], resources: { limits } });
    expect(template.spec?.containers[0]?.resources).not.toHaveProperty("requests");
  });

  it("keeps both names of the service account the same", () => {
    expect(defaulted({ serviceAccount: "a" })).toMatchObject({ serviceAccountName: "a", serviceAccount: "a" });
    expect(defaulted({ serviceAccount: "a", serviceAccountName: "b" })).toMatchObject({
      serviceAccountName: "b",
      serviceAccount: "b",
    });
  });

  const containers: readonly {
    readonly name: string;
    readonly given: Partial<Container>;
    readonly want: Partial<Container>;
  }[] = [
    {
      name: "requests follow limits",
      given: { resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1m" } } },
      want: { resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1m", memory: "1Gi" } } },
    },
    {
      name: "amounts are kept to the thousandth",
      given: { resources: { requests: { cpu: "1u" } } },
      want: { resources: { requests: { cpu: "1m" } } },
    },
    {
      name: "probes",
      given: { livenessProbe: { httpGet: { port: 80 } } },
      want: {
        livenessProbe: {
          httpGet: { port: 80, path: "/", scheme: "HTTP" },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    },
    {
      name: "references to fields",
      given: { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
      want: { env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }] },
    },
  ];
  it.each(containers)("$name", ({ given, want }) => {
    expect(defaulted({ containers: [{ name: "c", ...given }] })?.containers[0]).toMatchObject(want);
  });

  const volumes: readonly { readonly given: Omit<Volume, "name">; readonly want: Omit<Volume, "name"> }[] = [
    { given: {}, want: { emptyDir: {} } },
    { given: { hostPath: { path: "/x" } }, want: { hostPath: { path: "/x", type: "" } } },
    { given: { secret: { secretName: "s" } }, want: { secret: { secretName: "s", defaultMode: 420 } } },
    { given: { image: { reference: "a" } }, want: { image: { reference: "a", pullPolicy: "Always" } } },
    {
      given: { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      want: {
        projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }], defaultMode: 420 },
      },
    },
  ];
  it.each(volumes)("volume $given", ({ given, want }) => {
    expect(defaulted({ volumes: [{ name: "v", ...given }] })?.volumes?.[0]).toEqual({ name: "v", ...want });
  });

  it("works out the pod's own resources from its containers", () => {
    const spec = defaulted({
      resources: { limits: { cpu: "4", memory: "1Gi" } },
      containers: [
        { name: "a", resources: { requests: { cpu: "1" } } },
        { name: "b", resources: { requests: { cpu: "500m" } } },
      ],
    });
    expect(spec?.resources?.requests).toEqual({ cpu: "1500m", memory: "1Gi" });
  });

  it.each([
    { name: "in order and complete", requests: { cpu: "1m", memory: "1Gi" } },
    { name: "complete, but in another order", requests: { memory: "1Gi", cpu: "1m" } },
    { name: "with one missing", requests: { cpu: "1m" } },
  ])("writes requests by name: $name", ({ requests }) => {
    const container = { name: "a", resources: { limits: { memory: "1Gi", cpu: "1" }, requests } };
    const spec = defaulted({ containers: [container] });
    expect(JSON.stringify(spec?.containers[0]?.resources?.requests)).toBe('{"cpu":"1m","memory":"1Gi"}');
  });
});

describe("tags of images", () => {
  it.each([
    ["nginx", "latest"],
    ["nginx:1", "1"],
    ["localhost:5000/a/b", "latest"],
    ["localhost:5000/a/b:v2", "v2"],
    [`nginx@sha256:${"a".repeat(64)}`, undefined],
    [`nginx:1@sha256:${"a".repeat(64)}`, "1"],
    ["Upper", undefined],
    ["", undefined],
    ["a".repeat(64), undefined],
    ["registry.example/team/app:latest", "latest"],
  ])("%s", (image, want) => {
    expect(imageTag(image)).toBe(want);
  });
});
