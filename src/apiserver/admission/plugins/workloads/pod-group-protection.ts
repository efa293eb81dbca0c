/**
 * PodGroupProtection: adds the finalizer that holds a PodGroup while Pods of it are active. A controller removes it.
 */
import type { Draft, KubeObject } from "#api";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";
import { GROUP } from "./scheduling-objects.ts";

const FINALIZER = `${GROUP}/podgroup-protection`;

export const podGroupProtection: AdmissionPlugin = {
  name: "PodGroupProtection",
  mutates: [
    rule("CREATE", `podgroups.${GROUP}`, ({ object }) => {
      const { metadata } = object as Draft<KubeObject>;
      const finalizers = metadata.finalizers ?? [];
      if (!finalizers.includes(FINALIZER)) metadata.finalizers = [...finalizers, FINALIZER];
    }),
  ],
};
