/** Every namespace has a ServiceAccount called `default`: Pods that name no other run as it. */
import { defineController, keysFrom, Namespace, ServiceAccount } from "../runtime/index.ts";

const NAME = "default";

export const serviceAccountController = defineController({
  name: "serviceaccount-controller",
  account: "service-account-controller",
  bind({ cache }) {
    const namespaces = cache(Namespace);
    const accounts = cache(ServiceAccount);
    return {
      sources: [
        keysFrom(Namespace, ({ object }) => [object.metadata.name ?? ""]),
        keysFrom(ServiceAccount, ({ type, object }) =>
          type === "deleted" && object.metadata.name === NAME ? [object.metadata.namespace ?? ""] : [],
        ),
      ],
      reconcile(namespace) {
        if (namespaces.get(namespace)?.status?.phase === "Terminating") return undefined;
        if (namespaces.get(namespace) === undefined || accounts.get(`${namespace}/${NAME}`) !== undefined)
          return undefined;
        return {
          steps: [[{ verb: "create", resource: ServiceAccount, object: { metadata: { name: NAME, namespace } } }]],
        };
      },
    };
  },
});
