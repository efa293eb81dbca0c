/** Binds by a Binding, which the API server takes once for a pod. */

import { definePlugin, type PluginFactory } from "../framework/index.ts";
import { Pod } from "../kinds.ts";

const NAME = "DefaultBinder";

export const defaultBinder: PluginFactory = {
  name: NAME,
  make: (_, { client }) => {
    const pods = client.of(Pod);
    return definePlugin({
      name: NAME,
      async bind({ namespace, name, uid }, node, signal) {
        const binding = {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { namespace, name, uid },
          target: { kind: "Node", name: node },
        };
        await pods.in(namespace).subresource(name, "binding").create(binding, { signal });
        return "bound";
      },
    });
  },
};
