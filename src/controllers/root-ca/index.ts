/** Publishes the cluster's CA in every namespace, for Pods that talk to the API server. */
import { kinds } from "#api";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";

const NAME = "kube-root-ca.crt";
const DESCRIPTION = {
  "kubernetes.io/description": "The authority that signs for the API server as it is reached from inside the cluster.",
};

export function rootCaPublisher(caPem: string): Controller {
  return defineController({
    name: "root-ca-certificate-publisher-controller",
    account: "root-ca-cert-publisher",
    bind({ cache }) {
      const namespaces = cache(kinds.Namespace);
      const configMaps = cache(kinds.ConfigMap);
      return {
        sources: [
          keysFrom(kinds.Namespace, ({ object }) => [object.metadata.name ?? ""]),
          keysFrom(kinds.ConfigMap, ({ object }) =>
            object.metadata.name === NAME ? [object.metadata.namespace ?? ""] : [],
          ),
        ],
        reconcile(key) {
          const namespace = namespaces.get(key);
          if (namespace === undefined || namespace.status?.phase === "Terminating") return undefined;
          const current = configMaps.get(`${key}/${NAME}`);
          const data = { "ca.crt": caPem };
          if (current === undefined) {
            const object = { metadata: { name: NAME, namespace: key, annotations: DESCRIPTION }, data };
            return { steps: [[{ verb: "create", resource: kinds.ConfigMap, object }]] };
          }
          const described = current.metadata.annotations?.["kubernetes.io/description"] !== undefined;
          if (current.data?.["ca.crt"] === caPem && Object.keys(current.data).length === 1 && described)
            return undefined;
          const annotations = { ...current.metadata.annotations, ...DESCRIPTION };
          const object = { ...current, metadata: { ...current.metadata, annotations }, data };
          return { steps: [[{ verb: "update", resource: kinds.ConfigMap, object }]] };
        },
      };
    },
  });
}
