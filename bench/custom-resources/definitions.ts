/** The kinds that the benchmark of custom resources defines: twins of built-in ones, and many small ones. */
import { configMap, pod } from "../apiserver/objects.ts";

const group = "bench.example.com";

export interface Twin {
  readonly of: string;
  readonly path: string;
  /** Objects of the same size and shape, with `{i}` where each differs. */
  readonly body: string;
  readonly definition: object;
}

const text = { type: "string", maxLength: 4096 };
const name = { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 };
const integer = { type: "integer", format: "int32", minimum: 0 };
const quantities = { type: "object", additionalProperties: { "x-kubernetes-int-or-string": true } };
const object = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});
const named = (properties: object, key: string) => ({
  type: "array",
  items: object(properties, [key]),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": [key],
});

/** What the Pod of the benchmark says, with defaults as a Pod has them. */
const container = {
  name,
  image: text,
  imagePullPolicy: { type: "string", enum: ["Always", "IfNotPresent", "Never"], default: "IfNotPresent" },
  ports: named({ name, containerPort: integer, protocol: { type: "string", default: "TCP" } }, "containerPort"),
  env: named({ name: text, value: text, valueFrom: object({ fieldRef: object({ fieldPath: text }) }) }, "name"),
  resources: object({ requests: quantities, limits: quantities }),
  readinessProbe: object({
    httpGet: object({ path: text, port: { "x-kubernetes-int-or-string": true } }),
    periodSeconds: { ...integer, default: 10 },
    timeoutSeconds: { ...integer, default: 1 },
  }),
  volumeMounts: named({ name, mountPath: text }, "mountPath"),
};
const podSpec = object(
  {
    containers: named(container, "name"),
    volumes: named({ name, emptyDir: object({ medium: text }) }, "name"),
    restartPolicy: { type: "string", default: "Always" },
    dnsPolicy: { type: "string", default: "ClusterFirst" },
    tolerations: {
      type: "array",
      items: object({ key: text, operator: text, effect: text, tolerationSeconds: integer }),
    },
  },
  ["containers"],
);

export const twins: readonly Twin[] = [
  twin("ConfigMap", configMap, { data: { type: "object", additionalProperties: text } }),
  twin("Pod", pod, { spec: podSpec }),
];

export const sameWithRule: Twin = twin(
  "Pod",
  pod,
  {
    spec: {
      ...podSpec,
      "x-kubernetes-validations": [{ rule: "self.restartPolicy == 'Always' || !has(self.volumes)" }],
    },
  },
  "Ruled",
);

function twin(of: string, body: string, properties: object, prefix = "Custom"): Twin {
  const kind = `${prefix}${of}`;
  const plural = `${kind.toLowerCase()}s`;
  return {
    of,
    path: `/apis/${group}/v1/namespaces/default/${plural}`,
    body: body.replace(`"kind":"${of}","apiVersion":"v1"`, `"kind":"${kind}","apiVersion":"${group}/v1"`),
    definition: definition(group, plural, kind, object(properties)),
  };
}

/** One of many: a group of its own, ten fields with their texts. */
export const oneOfMany: string = JSON.stringify(
  definition(
    "g{i}.example.com",
    "things{i}",
    "Thing{i}",
    object({
      spec: object(
        Object.fromEntries(
          Array.from({ length: 10 }, (_, i) => [
            `field${i}`,
            { ...text, description: `What field ${i} is for is told here in a sentence of the usual length.` },
          ]),
        ),
      ),
      status: object({ phase: text, observedGeneration: integer }),
    }),
  ),
);

function definition(group: string, plural: string, kind: string, schema: object): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
}
