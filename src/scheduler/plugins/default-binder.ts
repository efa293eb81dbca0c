/** DefaultBinder: creates a Binding, which the API server accepts once for each pod. */
import { kinds } from "#api";
import { revisionOf } from "#client";
import { Works } from "#flows";
import { definePlugin, type PluginFactory } from "../framework/index.ts";

const NAME = "DefaultBinder";

export const defaultBinder: PluginFactory = {
  name: NAME,
  make: (_, { client, clock }) => {
    const pods = client.of(kinds.Pod);
    const works = new Works("scheduler");
    return definePlugin({
      name: NAME,
      async bind({ key, namespace, name, uid, pod }, node, signal, wokenBy) {
        const binding = {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { namespace, name, uid },
          target: { kind: "Node", name: node },
        };
        const cause = works.cause({
          about: key,
          resource: "pods",
          woken: wokenBy === undefined ? [revisionOf(pod)] : [revisionOf(pod), revisionOf(wokenBy)],
          startedAt: clock.now(),
          decided: `${name} on ${node}`,
        });
        await pods.in(namespace).subresource(name, "binding").create(binding, { signal, cause });
        return "bound";
      },
    });
  },
};
