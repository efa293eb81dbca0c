/** DefaultIngressClass: an Ingress without a class gets the default one. */
import type { Draft, networking } from "#api";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";
import { newestDefault } from "./default-class.ts";

const ANNOTATION = "ingressclass.kubernetes.io/is-default-class";
/** The annotation that named the class before there was a field. */
const OLD_ANNOTATION = "kubernetes.io/ingress.class";

export const defaultIngressClass: AdmissionPlugin = {
  name: "DefaultIngressClass",
  mutates: [
    rule("CREATE", "ingresses.networking.k8s.io", ({ object }, cluster) => {
      const ingress = object as Draft<networking.Ingress>;
      if (ingress.spec?.ingressClassName !== undefined) return;
      if (ingress.metadata.annotations?.[OLD_ANNOTATION] !== undefined) return;
      const classes = cluster.list<networking.IngressClass>("networking.k8s.io", "v1", "ingressclasses");
      const name = newestDefault(classes, [ANNOTATION])?.metadata.name;
      if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
    }),
  ],
};
