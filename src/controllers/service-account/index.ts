/** Creates the ServiceAccount `default` in every namespace. */
import { kinds } from "#api";
import { defineController, keysFrom } from "../runtime/index.ts";

const NAME = "default";

export const serviceAccountController = defineController({
  name: "serviceaccount-controller",
  account: "service-account-controller",
  bind({ cache }) {
    const namespaces = cache(kinds.Namespace);
    const accounts = cache(kinds.ServiceAccount);
    return {
      sources: [
        keysFrom(kinds.Namespace, ({ object }) => [object.metadata.name ?? ""]),
        keysFrom(kinds.ServiceAccount, ({ type, object }) =>
          type === "deleted" && object.metadata.name === NAME ? [object.metadata.namespace ?? ""] : [],
        ),
      ],
      reconcile(namespace) {
        if (namespaces.get(namespace)?.status?.phase === "Terminating") return undefined;
        if (namespaces.get(namespace) === undefined || accounts.get(`${namespace}/${NAME}`) !== undefined)
          return undefined;
        return {
          steps: [
            [{ verb: "create", resource: kinds.ServiceAccount, object: { metadata: { name: NAME, namespace } } }],
          ],
        };
      },
    };
  },
});
